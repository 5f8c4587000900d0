// SPDX-License-Identifier: GPL-2.0-only
/*
 * A session in which a benchmark program is its own reader: it finds its ring file and moves the
 * tails itself between slices, so that no ring is full while it is timed, and no other process adds
 * to the figure.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "common/session.h"

static const char *dir;
static char *base;
static const struct xsprof_ctl *ctl;
static pid_t owner;

static void again(char **argv)
{
	execv("/proc/self/exe", argv);
	bench_die("/proc/self/exe", errno);
}

/**
 * session_enter() - start the program anew as a producer
 * @argv: its arguments
 * @ring_size: bytes of a CPU's ring, as XSPROF_BUFFER_SIZE has it
 *
 * Executes the program again, and returns in that one, before any marker.
 */
void session_enter(char **argv, const char *ring_size)
{
	const char *top = getenv("BENCH_SHM");
	struct session_locks locks;
	char path[256];

	if (getenv("BENCH_SESSION"))
		return;
	snprintf(path, sizeof(path), "%s/bench.XXXXXX", top ? top : "/dev/shm");
	if (!mkdtemp(path))
		bench_die(path, errno);
	/* Not closed by exec: the locks say that a recorder is running. */
	if (session_lock(&locks, path) || fcntl(locks.dir, F_SETFD, 0) ||
	    fcntl(locks.file, F_SETFD, 0))
		bench_die(path, errno);
	setenv("BENCH_SESSION", path, 1);
	setenv("XSPROF_SESSION", path, 1);
	setenv("XSPROF_BUFFER_SIZE", ring_size, 1);
	setenv("XSPROF_PREFAULT", "1", 1);
	setenv("XSPROF_MODE", "discard", 1);
	unsetenv("XSPROF_RECORD");
	unsetenv("XSPROF_CATEGORIES");
	unsetenv("XSPROF_CLOCK");
	again(argv);
}

/* The opposite: start anew where nobody records. */
void session_leave(char **argv)
{
	if (!getenv("XSPROF_SESSION") && !getenv("XSPROF_RECORD"))
		return;
	unsetenv("XSPROF_SESSION");
	unsetenv("XSPROF_RECORD");
	again(argv);
}

static void clean(void)
{
	struct dirent *e;
	DIR *d;

	if (getpid() != owner)
		return;
	d = opendir(dir);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(dir);
}

static int open_ring_file(void)
{
	struct dirent *e;
	DIR *d = opendir(dir);
	int fd = -1;

	if (!d)
		bench_die(dir, errno);
	while (fd < 0 && (e = readdir(d)))
		if (!strncmp(e->d_name, "p.", 2))
			fd = openat(dirfd(d), e->d_name, O_RDWR | O_CLOEXEC);
	closedir(d);
	return fd;
}

/* Find the rings of this process. It has attached: the library does so before main. */
void session_open(void)
{
	struct xsprof_stats st = { .size = sizeof(st) };
	struct stat sb;
	int fd;

	dir = getenv("BENCH_SESSION");
	owner = getpid();
	atexit(clean);
	if (xsprof_get_stats(&st) || !st.attached) {
		fprintf(stderr, "bench: %s: the library did not attach\n", dir);
		exit(1);
	}
	fd = open_ring_file();
	if (fd < 0 || fstat(fd, &sb))
		bench_die(dir, errno);
	base = mmap(NULL, sb.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (base == MAP_FAILED)
		bench_die("mmap", errno);
	ctl = (const struct xsprof_ctl *)base;
	/* The descriptor stays open: closing it would release the producer's own lock. */
}

static struct xsprof_ring_writer *ring(uint32_t k)
{
	return (struct xsprof_ring_writer *)(base + ctl->rings_off + k * ctl->ring_stride);
}

static uint32_t nr_rings(void)
{
	return ctl->nr_rings + ctl->nr_lock_rings;
}

static bool ready(uint32_t k)
{
	return ctl->ready[k / 64] >> (k % 64) & 1;
}

/* Marks all published records as read. For several threads: an old tail is only too low. */
void session_drain(void)
{
	for (uint32_t k = 0; k < nr_rings(); k++) {
		struct xsprof_ring_reader *r;

		if (!ready(k))
			continue;
		r = (struct xsprof_ring_reader *)((char *)ring(k) + ctl->page_size);
		__atomic_store_n(&r->tail, __atomic_load_n(&ring(k)->head, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
	}
}

uint64_t session_ring_slots(void)
{
	return ctl->ring_size >> XSPROF_SLOT_SHIFT;
}

uint64_t session_dropped(void)
{
	struct xsprof_stats st = { .size = sizeof(st) };

	xsprof_get_stats(&st);
	return st.lost;
}

/* Ends the program if markers were dropped: the figure is wrong then. */
void session_check_drops(const char *figure)
{
	if (!session_dropped())
		return;
	fprintf(stderr, "bench: %s: some records were dropped\n", figure);
	exit(1);
}

/* As session_enter() and session_open(); ready to measure on the first CPU. */
void session_begin(char **argv)
{
	session_enter(argv, "2M");
	session_open();
	bench_pin(bench_cpu(0));
	bench_hush_start();
	if (!bench_realtime(true))
		fprintf(stderr, "bench: no right to real-time priority: more noise\n");
}
