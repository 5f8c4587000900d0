// SPDX-License-Identifier: GPL-2.0-only
/* A library that a program loads and unloads; INSIDE is the name of its function. */
#ifdef __clang__
#define NOINLINE	__attribute__((noinline))
#else
#define NOINLINE	__attribute__((noinline, noclone))
#endif

static NOINLINE void INSIDE(void (*call)(void))
{
	call();
	asm volatile("" ::: "memory");
}

__attribute__((visibility("default"))) void run(void (*call)(void));

void run(void (*call)(void))
{
	INSIDE(call);
	asm volatile("" ::: "memory");
}
