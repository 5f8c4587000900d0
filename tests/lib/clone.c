// SPDX-License-Identifier: GPL-2.0-only
/*
 * Children unknown to the C library: created by the system call, so that no fork handler runs. Each
 * is still a process of its own: its records are in its own rings under its own thread id, its
 * parent's rings have only its parent's records, and no lock that a thread of its parent held
 * blocks it.
 *
 *	session XSPROF_BUFFER_SIZE=256k clone
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "lib/numbers.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK	18
#endif

/* A child that hangs is killed after this many seconds, and its parent fails. */
#define PATIENCE	60

static pid_t raw_clone(void)
{
	pid_t pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	if (!pid)
		alarm(PATIENCE);
	return pid;
}

static void end(int status)
{
	syscall(SYS_exit_group, status);
}

/* The other kinds of markers, each as the first of a child that may still have its parent's tid. */
static void first_marker(unsigned int i)
{
	struct xsprof_kv kv[2] = { xsprof_str(name, "0123456789abcdef"), xsprof_u64(name, 1) };
	char text[2000];

	switch (i) {
	case 0:
		xsprof_begin(name);
		break;
	case 1:
		xsprof_end();
		break;
	case 2:
		xsprof_complete(name, xsprof_now());
		break;
	case 3:
		xsprof_span(name, 1, 2, 3, 4);
		break;
	case 4:
		memset(text, 'x', sizeof(text));
		text[sizeof(text) - 1] = 0;
		kv[0] = xsprof_str(name, text);		/* several records */
		xsprof_instant_args(name, kv, 2);
		break;
	case 5:
		xsprof_instant(xsprof_name("named by the child"));
		break;
	default:
		xsprof_instant(xsprof_name_in(xsprof_category("the child's"), "in it"));
	}
}

#define FIRST	7

static void test_first(void)
{
	collect(getpid());
	for (unsigned int i = 0; i < FIRST; i++) {
		pid_t pid = raw_clone();

		if (!pid) {
			first_marker(i);
			end(0);
		}
		CHECK_EQ(wait_for(pid), 0);
		CHECK(collect(pid) >= 1);
		CHECK_EQ(got.files, 1);
		for (unsigned int r = 0; r < got.n; r++) {
			CHECK_EQ(got.rec[r].tid, pid);
			/* Measured on the clock of its rings: not as long as the uptime. */
			if (got.rec[r].type == XSPROF_REC_COMPLETE)
				CHECK(got.rec[r].value < got.rec[r].ts / 2);
		}
		CHECK_EQ(got.drops, 0);
	}
	CHECK_EQ(collect(getpid()), 0);
	tap_result("raw clone: every kind of first marker");
}

static void test_numbers(void)
{
	pid_t pid;

	numbers(0, 500);
	pid = raw_clone();
	if (!pid) {
		struct xsprof_stats stats = { .size = sizeof(stats) };

		/* Not a producer yet, even if its parent is one. */
		if (xsprof_pause() != -ENOTCONN || xsprof_get_stats(&stats) || stats.attached)
			end(1);
		numbers(0, 1000);
		if (xsprof_get_stats(&stats) || !stats.attached || stats.slots < 1000 ||
		    stats.backend != XSPROF_BACKEND_TMPFS)
			end(2);
		end(0);
	}
	numbers(500, 1500);
	CHECK_EQ(wait_for(pid), 0);
	check_numbers_of(pid, 1000, pid);
	CHECK_EQ(got.ctl.ppid, getpid());
	check_numbers_of(getpid(), 1500, getpid());
	tap_result("raw clone: a producer of its own");
}

/* The child of a raw clone forks in both ways, and its exit() runs destructors. */
static void test_generations(void)
{
	pid_t pid, own[2], *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	collect(getpid());
	pid = raw_clone();
	if (!pid) {
		numbers(0, 10);
		pid = raw_clone();
		if (!pid) {
			numbers(0, 20);
			end(0);
		}
		shared[0] = pid;
		wait_for(pid);
		pid = fork();
		if (!pid) {
			numbers(0, 30);
			end(0);
		}
		shared[1] = pid;
		wait_for(pid);
		numbers(10, 40);
		exit(0);
	}
	CHECK_EQ(wait_for(pid), 0);
	memcpy(own, shared, sizeof(own));
	munmap(shared, 4096);
	check_numbers_of(pid, 40, pid);
	CHECK_EQ(got.state, XSPROF_STATE_EXITED);
	check_numbers_of(own[0], 20, own[0]);
	check_numbers_of(own[1], 30, own[1]);
	check_numbers(getpid(), 0);
	tap_result("raw clone: its own children, and its exit");
}

static void test_silent(void)
{
	pid_t pid = raw_clone();

	if (!pid)
		exit(0);
	CHECK_EQ(wait_for(pid), 0);
	collect(pid);
	CHECK_EQ(got.files, 0);
	collect(getpid());
	CHECK_EQ(got.state, XSPROF_STATE_LIVE);
	tap_result("raw clone: one that says nothing ends nothing");
}

/* ---- while other threads are inside the library ---- */

static uint32_t stop;
static uint32_t named;

static void *name_things(void *arg)
{
	char text[32];

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		/* So many that children are often made while a thread adds a name. */
		uint32_t n = __atomic_fetch_add(&named, 1, __ATOMIC_RELAXED) % 12000;

		snprintf(text, sizeof(text), "%s%u", (const char *)arg, n);
		xsprof_name(text);
		xsprof_thread_name(text);
	}
	return NULL;
}

/* No id has two texts. */
static void check_names(void)
{
	static uint32_t first[XSPROF_NAME_MAX_INDEX + 1];
	const char *arena = got.arena;

	memset(first, 0, sizeof(first));
	for (uint64_t at = 0; at + sizeof(struct xsprof_entry) <= got.arena_used;) {
		const struct xsprof_entry *e = (const struct xsprof_entry *)(arena + at), *o;
		uint32_t index = e->id & XSPROF_NAME_MAX_INDEX;

		if (e->type == XSPROF_ENTRY_NAME) {
			o = (const struct xsprof_entry *)(arena + first[index] - 1);
			if (!first[index])
				first[index] = at + 1;
			else if (o->text_len != e->text_len || memcmp(o + 1, e + 1, e->text_len))
				tap_wrong("id %u is of two names", e->id);
		}
		at += e->size;
	}
}

#define CHILDREN	60

static void test_locks(void)
{
	static pid_t pid[CHILDREN];
	pthread_t thread[2];

	collect(getpid());
	pthread_create(&thread[0], NULL, name_things, (void *)"a");
	pthread_create(&thread[1], NULL, name_things, (void *)"b");
	for (unsigned int i = 0; i < CHILDREN; i++) {
		pid[i] = raw_clone();
		if (!pid[i]) {
			xsprof_instant(xsprof_name("a child's own"));
			xsprof_instant(xsprof_name("a1"));
			xsprof_instant(xsprof_name("another of a child's"));
			numbers(0, 20);
			end(0);
		}
		numbers(10 * i, 10 * (i + 1));
	}
	for (unsigned int i = 0; i < CHILDREN; i++)
		CHECK_EQ(wait_for(pid[i]), 0);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	for (unsigned int i = 0; i < CHILDREN; i++) {
		check_numbers_of(pid[i], 20, pid[i]);
		check_names();
	}
	check_numbers(getpid(), 10 * CHILDREN);
	tap_result("raw clone: while threads hold the names' lock");
}

/* Pins the thread to the first CPU of @all, or to the last. */
static void pin(const cpu_set_t *all, bool last)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, all) && (last || !CPU_COUNT(&set))) {
			CPU_ZERO(&set);
			CPU_SET(i, &set);
		}
	sched_setaffinity(0, sizeof(set), &set);
}

/*
 * The child's first marker comes from another thread. The cloned thread still has its parent's
 * thread id then, and its parent's ring of this CPU, which must not be written. The child's rings
 * are larger, so they are at other addresses.
 */
static void *first_numbers(void *arg)
{
	const struct xsprof_options opts = { .size = sizeof(opts), .ring_size = 4 << 20 };

	pin(arg, true);
	if (xsprof_init(&opts))
		end(2);
	numbers(0, 100);
	return arg;
}

static void test_thread_first(void)
{
	cpu_set_t all;
	pid_t pid;

	collect(getpid());
	sched_getaffinity(0, sizeof(all), &all);
	pin(&all, false);
	numbers(0, 10);
	pid = raw_clone();
	if (!pid) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, first_numbers, &all))
			end(1);
		pthread_join(thread, NULL);
		numbers(100, 200);
		end(0);
	}
	CHECK_EQ(wait_for(pid), 0);
	numbers(10, 20);
	sched_setaffinity(0, sizeof(all), &all);
	check_numbers_of(pid, 200, 0);
	check_numbers_of(getpid(), 20, getpid());
	tap_result("raw clone: another thread of the child is first");
}

/*
 * A child that shares the memory is the same producer: its records have the thread id of the thread
 * that made it, and its parent is not disturbed.
 */
static int share(void *arg)
{
	(void)arg;
	numbers(10, 20);
	return 0;
}

static void test_shared(void)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	pid_t pid;

	collect(getpid());
	numbers(0, 10);
	pid = clone(share, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	CHECK_EQ(wait_for(pid), 0);
	numbers(20, 30);
	collect(pid);
	CHECK_EQ(got.files, 0);
	check_numbers_of(getpid(), 30, getpid());
	tap_result("clone: a child that shares the memory shares the producer");
}

/* vfork() in a child, and in a thread, before its first marker: the grandchild is no producer. */
static void *vfork_first(void *arg)
{
	pid_t pid = vfork();

	if (!pid) {
		xsprof_counter(name, 0);
		_exit(0);
	}
	*(pid_t *)arg = (pid_t)syscall(SYS_gettid);
	CHECK_EQ(wait_for(pid), 0);
	numbers(1, 100);
	return NULL;
}

static void test_vfork(void)
{
	pthread_t thread;
	pid_t pid, tid;

	collect(getpid());
	pthread_create(&thread, NULL, vfork_first, &tid);
	pthread_join(thread, NULL);
	check_numbers(getpid(), 100);
	for (unsigned int r = 0; r < got.n; r++)
		CHECK(got.rec[r].value == 0 || got.rec[r].tid == (uint32_t)tid);
	pid = fork();
	if (!pid) {
		/* Its record is lost, and counted. */
		vfork_first(&tid);
		xsprof_counter(name, 0);
		end(0);
	}
	CHECK_EQ(wait_for(pid), 0);
	collect(pid);
	CHECK_EQ(collect_count(XSPROF_REC_COUNTER_I64, name), 100);
	for (unsigned int r = 0; r < got.n; r++)
		CHECK_EQ(got.rec[r].tid, pid);
	CHECK_EQ(got.drops, 1);
	CHECK_EQ(got.late, 1);
	tap_result("vfork: before the first marker of a thread, and of a child");
}

int main(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *probe = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);

	name = xsprof_name("number");
	test_shared();
	test_vfork();
	if (madvise(probe, page, MADV_WIPEONFORK)) {
		tap_skip("raw clone", "this kernel cannot wipe memory in a child");
		return tap_done();
	}
	test_first();
	test_numbers();
	test_thread_first();
	test_generations();
	test_silent();
	test_locks();
	return tap_done();
}
