// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that calls roctx, and counts the calls by roctx's own callback for tools: prints one
 * line with marks, pushes, pops, starts and stops. With -DPLUGIN the plug-in is linked with roctx,
 * and the program is not.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <roctracer/roctx.h>

void work(const char *what, long n);

#if !defined(PLUGGED)

/* Exported, but in no header: roctracer uses it. */
void roctxRegisterTracerCallback(int (*fn)(uint32_t domain, uint32_t operation, void *data));

/* Indexed by the callback's function numbers, in the order above. */
static unsigned long counts[8];

static int count(uint32_t domain, uint32_t operation, void *data)
{
	(void)domain, (void)data;
	__atomic_fetch_add(&counts[operation & 7], 1, __ATOMIC_RELAXED);
	return 0;
}

static void each(void)
{
	char text[32] = "same place, first";
	roctx_range_id_t id;
	int levels[2];

	roctxMark("a mark");
	levels[0] = roctxRangePush("outer");
	levels[1] = roctxRangePush("inner");
	fprintf(stderr, "levels: %d %d", levels[0], levels[1]);
	levels[0] = roctxRangePop();
	levels[1] = roctxRangePop();
	fprintf(stderr, " %d %d\n", levels[0], levels[1]);
	id = roctxRangeStart("over threads");
	roctxRangeStop(id);
	/* One buffer for many texts, as in real programs. */
	roctxRangePush(text);
	roctxRangePop();
	strcpy(text, "same place, second");
	roctxRangePush(text);
	roctxRangePop();
	for (char *p = text; *p; p++)
		*p = 'x';
}

static void *many(void *n)
{
	for (long i = 0; i < (long)n; i++) {
		roctxRangePush("step");
		roctxMark("at");
		roctxRangeStop(roctxRangeStart("async"));
		roctxRangePop();
	}
	return NULL;
}

static void threads(long n)
{
	pthread_t v[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&v[i], NULL, many, (void *)n))
			abort();
	for (int i = 0; i < 4; i++)
		pthread_join(v[i], NULL);
}

static void forked(void)
{
	roctxRangePush("of the parent");
	if (!fork()) {
		roctxRangePush("of the child");
		roctxRangePop();
		roctxRangePop();
		exit(0);
	}
	wait(NULL);
	roctxRangePop();
}

/* A pop without a push, a stop of an unknown id, and a second stop. */
static void odd(void)
{
	roctx_range_id_t id = roctxRangeStart("once");

	fprintf(stderr, "pop: %s\n", roctxRangePop() < 0 ? "none" : "one");
	roctxRangeStop(id);
	roctxRangeStop(id);
	roctxRangeStop(12345678);
	roctxRangePush("after");
	roctxRangePop();
}

void work(const char *what, long n)
{
	roctxRegisterTracerCallback(count);
	if (!strcmp(what, "each"))
		each();
	else if (!strcmp(what, "many"))
		threads(n);
	else if (!strcmp(what, "fork"))
		forked();
	else if (!strcmp(what, "odd"))
		odd();
	for (int i = 0; i < 5; i++)
		printf("%lu%c", counts[i], i < 4 ? ' ' : '\n');
}

#endif

#if !defined(PLUGIN)

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "each";
	long n = argc > 2 ? atol(argv[2]) : 0;

#if defined(PLUGGED)
	void *lib = dlopen(getenv("PLUGIN"), RTLD_NOW | RTLD_LOCAL);
	void *symbol = lib ? dlsym(lib, "work") : NULL;
	void (*plugged)(const char *what, long n);

	if (!symbol) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	memcpy(&plugged, &symbol, sizeof(plugged));
	plugged(what, n);
#else
	work(what, n);
#endif
	return 0;
}

#endif
