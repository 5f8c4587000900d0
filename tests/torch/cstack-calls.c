// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes ops with the stand-in for libtorch from chains of calls that cstack.py knows. The frames
 * are such as compilers make: without frame pointer, of a size known only at run time, with larger
 * alignment. Also loads each LIBRARY of its arguments, which makes ops as well.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE	__attribute__((noinline))
#else
#define NOINLINE	__attribute__((noinline, noclone))
#endif
/* After a call: prevents a tail call, which would leave no frame. */
#define STAYS()		asm volatile("" ::: "memory")
#define DEEP		40

typedef void *steps_fn(void *ret, uint8_t scope);

steps_fn _ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE;
void stand_in_ops(steps_fn *steps);

static ucontext_t here, fibre;

static NOINLINE void ops(void)
{
	stand_in_ops(_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE);
	STAYS();
}

static NOINLINE void h(int n)
{
	ops();
	asm volatile("" :: "r"(n) : "memory");
}

static NOINLINE void g(int n)
{
	_Alignas(64) char aligned[128];
	char sized[n];

	memset(aligned, n, sizeof(aligned));
	memset(sized, n, (size_t)n);
	h(n);
	asm volatile("" :: "r"(aligned), "r"(sized) : "memory");
}

static NOINLINE void f(int n)
{
	char sized[2 * n];

	memset(sized, n, 2 * (size_t)n);
	g(n);
	asm volatile("" :: "r"(sized) : "memory");
}

static NOINLINE void *in_thread(void *arg)
{
	ops();
	STAYS();
	return arg;
}

static NOINLINE void deep(int n)
{
	if (n)
		deep(n - 1);
	else
		ops();
	STAYS();
}

static NOINLINE void in_child(void)
{
	ops();
	STAYS();
}

static NOINLINE void in_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*run)(void (*call)(void));
	void *symbol = library ? dlsym(library, "run") : NULL;

	if (!symbol) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	memcpy(&run, &symbol, sizeof(run));
	printf("%s %p\n", path, symbol);
	run(ops);
	dlclose(library);
}

static void on_fibre(void)
{
	ops();
	STAYS();
}

int main(int argc, char **argv)
{
	static char stack[1 << 17];
	pthread_t thread;
	pid_t child;

	f(argc + 100);
	f(argc + 1000);
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	deep(DEEP);
	for (int i = 1; i < argc; i++)
		in_library(argv[i]);
	fflush(stdout);
	child = fork();
	if (!child) {
		in_child();
		exit(0);
	}
	waitpid(child, NULL, 0);
	getcontext(&fibre);
	fibre.uc_stack.ss_sp = stack;
	fibre.uc_stack.ss_size = sizeof(stack);
	fibre.uc_link = &here;
	makecontext(&fibre, on_fibre, 0);
	swapcontext(&here, &fibre);
	return 0;
}
