// SPDX-License-Identifier: GPL-2.0-only
/*
 * C functions that native.py calls and that call it, on x86-64. With -DPAD=N and -DNAME=f: a
 * library whose only function has its own frame size, so that the unwind rules of one do not fit
 * another.
 */
#ifdef NAME
#include <string.h>

__attribute__((noinline)) static long spins(volatile char *room, long n)
{
	for (long i = 0; i < n; i++)
		room[i % PAD] ^= (char)i;
	return room[0];
}

long NAME(long n)
{
	volatile char room[PAD];

	memset((void *)room, 1, sizeof(room));
	return spins(room, n) + room[PAD - 1];
}
#else
#include <pthread.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static long leaf(long n)
{
	volatile long x = 0;

	for (long i = 0; i < n; i++)
		x += i;
	return x;
}

__attribute__((noinline)) static long middle(long n)
{
	return leaf(n) + 1;
}

long outermost(long n)
{
	return middle(n) + 1;
}

__attribute__((noinline)) static int calls_back(int (*call)(int), int n)
{
	return call(n) + 1;
}

int takes_call(int (*call)(int), int n)
{
	return calls_back(call, n) + 1;
}

__attribute__((noinline)) static int nap(unsigned int us)
{
	return usleep(us) + 1;
}

__attribute__((noinline)) static int nap_with_room(unsigned int us)
{
	volatile char room[4096];

	room[us % sizeof(room)] = 1;
	return usleep(us) + room[us % sizeof(room)];
}

/* Naps @n times, in turn by two functions whose frames are not of one size. */
int naps(int n, unsigned int us)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i & 1 ? nap_with_room(us) : nap(us);
	return sum;
}

/* Waits for a condition that nobody signals. */
int waits(long ms)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	struct timespec at;
	int err;

	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_sec += (at.tv_nsec + ms * 1000000) / 1000000000;
	at.tv_nsec = (at.tv_nsec + ms * 1000000) % 1000000000;
	pthread_mutex_lock(&lock);
	err = pthread_cond_timedwait(&never, &lock, &at);
	pthread_mutex_unlock(&lock);
	return err;
}

/*
 * misleads(n, word): pushes a word that its unwind information does not mention, so that the word
 * is where the return address should be.
 */
__asm__(".globl misleads\n"
	".type misleads, @function\n"
	"misleads:\n"
	"	.cfi_startproc\n"
	"	push	%rsi\n"
	"1:	dec	%rdi\n"
	"	jne	1b\n"
	"	pop	%rsi\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size misleads, . - misleads\n");
#endif
