// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library, and a plugin that uses it, loaded and unloaded at run time, with threads that
 * outlive them. A library loaded late attaches late, and no pointer into unloaded memory remains.
 *
 *	session XSPROF_BUFFER_SIZE=256k dl LIBRARY PLUGIN
 *
 * PLUGIN may have inline markers: then the thread's rseq area must not keep a pointer to its
 * sequences, which the kernel reads when the thread is preempted.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "ring/collect.h"

static void (*emit)(void);
static pthread_barrier_t barrier;

static void *thread_main(void *arg)
{
	for (int i = 0; i < 50; i++) {
		pthread_barrier_wait(&barrier);
		emit();
		pthread_barrier_wait(&barrier);
		/* Yield often after the plugin was unloaded, whose code this thread has run. */
		for (int k = 0; k < 20; k++)
			sched_yield();
	}
	return arg;
}

/* The thread that has just used the plugin unloads it, and is preempted only then. */
static void unload_at_once(const char *plugin)
{
	for (int i = 0; i < 100; i++) {
		void *so = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);

		if (!so)
			tap_bail("%s", dlerror());
		emit = (void (*)(void))dlsym(so, "plugin_emit");
		/* The first marker with a name adds the name, under a lock. */
		emit();
		emit();
		dlclose(so);
		for (int k = 0; k < 20; k++)
			sched_yield();
	}
	CHECK_EQ(collect(getpid()), 400);
	CHECK_EQ(got.files, 1);
	tap_result("a plugin unloaded 100 times by the thread that has just used it");
}

int main(int argc, char **argv)
{
	uint32_t (*name)(const char *);
	void (*instant)(uint32_t, uint32_t);
	pthread_t thread;
	void *so;

	if (argc < 3)
		tap_bail("usage: dl LIBRARY PLUGIN");
	CHECK_EQ(collect(getpid()), 0);
	CHECK_EQ(got.files, 0);
	for (int i = 0; i < 20; i++) {
		so = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
		if (!so)
			tap_bail("%s", dlerror());
		name = (uint32_t (*)(const char *))dlsym(so, "xsprof_name");
		instant = (void (*)(uint32_t, uint32_t))dlsym(so, "xsprof_emit_instant");
		if (!name || !instant)
			tap_bail("%s", dlerror());
		instant(name("library"), 0);
		dlclose(so);
	}
	/* The library stays loaded: there is one producer, which has every record. */
	CHECK_EQ(collect(getpid()), 20);
	CHECK_EQ(got.files, 1);
	tap_result("the library loaded and unloaded 20 times");

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, thread_main, NULL);
	for (int i = 0; i < 50; i++) {
		so = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
		if (!so)
			tap_bail("%s", dlerror());
		emit = (void (*)(void))dlsym(so, "plugin_emit");
		emit();
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		dlclose(so);
	}
	pthread_join(thread, NULL);
	CHECK_EQ(collect(getpid()), 200);
	CHECK_EQ(got.files, 1);
	tap_result("a plugin loaded and unloaded 50 times beside a thread that used it");
	unload_at_once(argv[2]);
	return tap_done();
}
