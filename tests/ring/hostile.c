// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another process of the same user writes garbage to every word of the ring file while threads
 * emit: the traced program runs on and ends. Its records are lost or garbage, but nothing else
 * happens. (Truncating the file is different: it causes SIGBUS, as for every program whose mapped
 * file is truncated.)
 *
 *	session XSPROF_BUFFER_SIZE=16k hostile [what=tail|rings|arena|control|all] [writes=N]
 */
#include <sys/wait.h>

#include "writers.h"

static struct rd rd;

enum area { TAIL = 1, RINGS = 2, ARENA = 4, CONTROL = 8 };

/* Garbage that does damage: edge values, small numbers, the old value plus a little. */
static uint64_t garbage(uint64_t x, uint64_t old)
{
	switch (x >> 8 & 7) {
	case 0: return 0;
	case 1: return UINT64_MAX;
	case 2: return old + (x >> 16 & 0xff) - 128;
	case 3: return 1ull << (x >> 16 & 63);
	case 4: return x >> 40;
	case 5: return -(x >> 50);
	default: return stream_mix(x);
	}
}

static uint64_t *pick(unsigned int what, uint64_t x)
{
	struct xsprof_ctl *c = rd.ctl;
	struct rd_ring *r = &rd.ring[(x >> 20) % rd.nr];
	enum area area;

	do {
		area = 1u << (x & 3);
		x = stream_mix(x);
	} while (!(what & area));
	switch (area) {
	case TAIL:
		return (uint64_t *)&r->r->tail;
	case RINGS:	/* the words of writer and reader, rarely the data */
		if (x & 7)
			return (uint64_t *)r->w + (x >> 8) % (sizeof(*r->w) / 8);
		return r->data + (x >> 8) % (r->size * 4);
	case ARENA:
		return (uint64_t *)rd.arena + (x >> 8) % (x & 1 ? 8 : 512);
	default:
		/* The header after the magic, or the bits of ready rings. */
		return (uint64_t *)c + (x >> 8) % (x & 1 ? 40 : sizeof(*c) / 8);
	}
}

static void scribble(unsigned int what, uint64_t writes, uint64_t seed)
{
	for (uint64_t i = 0, x = seed; i < writes; i++) {
		uint64_t *word = pick(what, x = stream_mix(x + i));

		__atomic_store_n(word, garbage(stream_mix(x), *word), __ATOMIC_RELAXED);
		if (!(i & 0xfff))
			sched_yield();
	}
}

static void *busy(void *arg)
{
	uint64_t *stop = arg, n = 0;
	char name[32];

	while (!__atomic_load_n(stop, __ATOMIC_ACQUIRE)) {
		struct xsprof_stats stats = { .size = sizeof(stats) };

		/* Calls that read shared words. */
		snprintf(name, sizeof(name), "hostile.%llu", (unsigned long long)n++ % 5000);
		xsprof_name(name);
		xsprof_thread_name(name);
		xsprof_get_stats(&stats);
		xsprof_category_enable(n % 3, n & 1);
		xsprof_flush(0);
		sched_yield();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const char *name = arg_text(argc, argv, "what");
	uint64_t count = arg_number(argc, argv, "writes", 2000000), stop = 0;
	unsigned int what = TAIL | RINGS | ARENA | CONTROL;
	pthread_t thread;
	pid_t pid[2];

	if (name)
		what = !strcmp(name, "tail") ? TAIL : !strcmp(name, "rings") ? RINGS :
		       !strcmp(name, "arena") ? ARENA : !strcmp(name, "control") ? CONTROL : what;
	writers_setup(argc, argv);
	stream_init();
	if (rd_open_pid(&rd, getpid()))
		tap_bail("not attached: run it under session");
	for (unsigned int i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			tap_bail("fork: %s", strerror(errno));
		if (!pid[i]) {
			scribble(what, count / 2, i + 1);
			_exit(0);
		}
	}
	writers_start();
	if (pthread_create(&thread, NULL, busy, &stop))
		tap_bail("no thread");
	for (unsigned int i = 0; i < 2; i++) {
		int status;

		if (waitpid(pid[i], &status, 0) != pid[i] || status)
			tap_bail("a scribbler ended, status %x", status);
	}
	/* The test is that the writers end at all. */
	tap_note("%llu records begun", (unsigned long long)writers_join());
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	tap_result("%llu words of garbage in %s: the program ends", (unsigned long long)count,
		   name ? name : "all");
	return tap_done();
}
