// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several copies of the library in one program: plug-ins that link the archive, and the shared
 * library.
 *
 *	copies [global] PLUGIN...
 *
 * Threads load, use and unload them all at once, and so does a child. Prints the number of markers
 * executed.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS	4
#define ROUNDS	100

static char **plugins;
static int nr, flags = RTLD_NOW | RTLD_LOCAL;

static void use(const char *plugin)
{
	void *so = dlopen(plugin, flags);
	void (*emit)(void) = so ? (void (*)(void))dlsym(so, "plugin_emit") : NULL;

	if (!emit) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	emit();
	dlclose(so);
	/* If the code is unloaded, this thread should be preempted meanwhile. */
	sched_yield();
}

static void *work(void *first)
{
	for (long i = 0; i < ROUNDS * nr; i++)
		use(plugins[(i + (long)first) % nr]);
	return NULL;
}

static void work_in_threads(void)
{
	pthread_t threads[THREADS];

	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			exit(3);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	plugins = argv + 1;
	if (argc > 1 && !strcmp(argv[1], "global")) {
		flags = RTLD_NOW | RTLD_GLOBAL;
		plugins++;
	}
	nr = argv + argc - plugins;
	if (!nr)
		return 1;
	work_in_threads();
	pid = fork();
	if (!pid) {
		work_in_threads();
		exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		return 4;
	printf("events %d\n", 2 * 2 * THREADS * ROUNDS * nr);
	return 0;
}
