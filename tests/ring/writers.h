/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that write streams under adverse conditions: they change CPUs, yield, and are interrupted
 * by timers whose handlers write too. Owns the threads and their log of each record (when and where
 * it was begun and done); the caller reads.
 */
#ifndef XSP_TEST_WRITERS_H
#define XSP_TEST_WRITERS_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "reader.h"
#include "stream.h"

#define WRITERS_MAX	64

/* Stream 2 * t is thread t's own, 2 * t + 1 is its signal handler's. */
struct writers_log {
	uint64_t	begin;
	uint64_t	end;
	uint32_t	cpu_begin;
	uint32_t	cpu_end;
};

static struct {
	unsigned int	threads;
	uint64_t	records;	/* per thread; at most as many per handler */
	unsigned int	most;		/* slots */
	unsigned int	timer_us;	/* 0: no handlers */
	unsigned int	cpus;
	bool		pinned;		/* no hopping: thread t stays on CPU t % cpus */
	struct rd	*room;		/* wait while its rings are half full, or NULL */
	bool		keep_log;
	uint64_t	emitted[2 * WRITERS_MAX];
	struct writers_log *log[2 * WRITERS_MAX];
	pthread_t	thread[WRITERS_MAX];
	unsigned int	running;
} writers;

static __thread int writers_me = -1;

static inline bool writers_half_full(void)
{
	for (uint32_t k = 0; k < writers.room->nr; k++) {
		struct rd_ring *r = &writers.room->ring[k];

		if (rd_ready(writers.room, k) &&
		    rd_head(r) - __atomic_load_n(&r->r->tail, __ATOMIC_ACQUIRE) > r->size / 2)
			return true;
	}
	return false;
}

static inline void writers_put(unsigned int id)
{
	uint64_t seq = writers.emitted[id];
	struct writers_log *log = &writers.log[id][seq];

	/*
	 * Count first: a handler has its own stream, but a killed process's count must not be
	 * behind its records.
	 */
	__atomic_store_n(&writers.emitted[id], seq + 1, __ATOMIC_RELAXED);
	if (!writers.keep_log) {
		stream_emit(id, seq, writers.most);
		return;
	}
	log->cpu_begin = sched_getcpu();
	log->begin = xsprof_now();
	stream_emit(id, seq, writers.most);
	log->end = xsprof_now();
	log->cpu_end = sched_getcpu();
}

static void writers_signal(int sig)
{
	unsigned int id = 2 * writers_me + 1;

	(void)sig;
	if (writers_me < 0 || writers.emitted[id] >= writers.records)
		return;
	if (writers.room && writers_half_full())
		return;
	writers_put(id);
}

static void writers_on_cpu(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu % writers.cpus, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static bool writers_timer(timer_t *timer)
{
	struct itimerspec every = {
		.it_value.tv_nsec = 1000 * writers.timer_us + 1000 * writers_me,
		.it_interval.tv_nsec = 1000 * writers.timer_us,
	};
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };

	if (!writers.timer_us)
		return false;
	ev._sigev_un._tid = syscall(SYS_gettid);
	return !timer_create(CLOCK_MONOTONIC, &ev, timer) &&
	       !timer_settime(*timer, 0, &every, NULL);
}

static void *writers_main(void *arg)
{
	uint64_t x = stream_mix((uintptr_t)arg + 77);
	sigset_t set;
	timer_t timer;
	bool timed;

	writers_me = (int)(intptr_t)arg;
	writers_on_cpu(writers_me);
	timed = writers_timer(&timer);
	for (uint64_t i = 0; i < writers.records; i++) {
		writers_put(2 * writers_me);
		if (i % 997 == 0 && !writers.pinned) {
			x = stream_mix(x + i);
			writers_on_cpu(x & 0xff);
		}
		if (i % 1499 == 0)
			sched_yield();
		while (i % 64 == 0 && writers.room && writers_half_full())
			sched_yield();
	}
	/* No handler may run while the thread exits. */
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (timed)
		timer_delete(timer);
	__atomic_sub_fetch(&writers.running, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void writers_setup(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = writers_signal, .sa_flags = SA_RESTART };

	writers.threads = arg_number(argc, argv, "threads", 4);
	writers.records = arg_number(argc, argv, "records", 200000);
	writers.most = arg_number(argc, argv, "most", XSPROF_RECORD_SLOTS);
	writers.timer_us = arg_number(argc, argv, "timer", 60);
	writers.pinned = arg_number(argc, argv, "pinned", 0);
	writers.keep_log = arg_number(argc, argv, "place", 0);
	writers.cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (!writers.threads || writers.threads > WRITERS_MAX)
		tap_bail("threads=%u", writers.threads);
	sigaction(SIGUSR1, &sa, NULL);
	for (unsigned int i = 0; writers.keep_log && i < 2 * writers.threads; i++) {
		writers.log[i] = mmap(NULL, writers.records * sizeof(*writers.log[i]),
				      PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (writers.log[i] == MAP_FAILED)
			tap_bail("no memory for the log");
	}
}

static void writers_start(void)
{
	writers.running = writers.threads;
	for (uintptr_t t = 0; t < writers.threads; t++)
		if (pthread_create(&writers.thread[t], NULL, writers_main, (void *)t))
			tap_bail("no thread");
}

static inline bool writers_running(void)
{
	return __atomic_load_n(&writers.running, __ATOMIC_ACQUIRE);
}

/* Return: records begun by all threads. */
static uint64_t writers_join(void)
{
	uint64_t n = 0;

	for (unsigned int t = 0; t < writers.threads; t++) {
		pthread_join(writers.thread[t], NULL);
		n += writers.emitted[2 * t] + writers.emitted[2 * t + 1];
	}
	return n;
}

#endif /* XSP_TEST_WRITERS_H */
