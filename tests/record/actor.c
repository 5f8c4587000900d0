// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program to be recorded that behaves as its arguments say: normal, losing records, overwriting,
 * ending in several ways, hostile. It prints what it wrote, in the format of a capture's ledgers.
 *
 *	actor count N		N records over 3 rings, waiting for the reader
 *	actor lose N		N records into a small ring, without waiting
 *	actor overwrite N	N records of 1 to 8 slots into a small OVERWRITE ring
 *	actor end HOW [MS]	100 records, a wait, then: exit, _exit, kill, exec, abort, again
 *				(executes itself, then exits), again-kill (stops its parent,
 *				executes itself, and is killed)
 *	actor scribble SEED MS	writes garbage all over its own file
 *	actor truncate		truncates its own file while the recorder reads it
 *	actor sparse MODE MS	a ring of 2 TB that is a hole and claims to be full;
 *				MODE: 0 discard, 1 overwrite
 *	actor heads		head positions that jump, go back and lie
 *	actor shapes		files that are no producers
 *	actor hold MS FILE [N]	N (100) records, a wait, then 100 more; writes its process id to
 *				FILE after the first ones
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/draw.h"
#include "sim.h"

static void sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000l };

	nanosleep(&ts, NULL);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

static void print_ledger(const struct sim *s)
{
	uint32_t k;

	for (k = 0; k < s->rings; k++)
		printf("wrote pid %d ring %u head %llu drops %llu\n", (int)getpid(), k,
		       (unsigned long long)sim_writer(s, k)->head,
		       (unsigned long long)sim_writer(s, k)->drops);
	fflush(stdout);
}

static int count(uint64_t n, uint32_t rings, uint64_t ring_size, bool wait, uint32_t mode)
{
	uint64_t i, state = 1;
	struct sim s;
	uint32_t name;

	sim_open(&s, rings, ring_size, mode, 0);
	name = sim_name(&s, "record");
	for (i = 0; i < n; i++) {
		uint32_t size = 1 + draw_from(&state) % XSPROF_RECORD_SLOTS;

		sim_put(&s, i % rings, name, size, i, wait);
	}
	print_ledger(&s);
	sim_goodbye(&s);
	return 0;
}

static int end(const char *how, unsigned int ms, uint32_t seq)
{
	struct sim s;
	uint32_t name;
	int i;

	sim_open(&s, 2, 16384, XSPROF_MODE_DISCARD, seq);
	name = sim_name(&s, how);
	for (i = 0; i < 100; i++)
		sim_put(&s, i % 2, name, 1, i, true);
	print_ledger(&s);
	sleep_ms(ms);
	if (!strcmp(how, "exit")) {
		sim_goodbye(&s);
		return 7;
	}
	if (!strcmp(how, "_exit"))
		_exit(8);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "abort"))
		kill(getpid(), SIGABRT);
	if (!strcmp(how, "exec"))
		execlp("sleep", "sleep", "0.3", NULL);
	if (!strcmp(how, "again"))
		execl("/proc/self/exe", "actor", "end", "exit", "0", "1", NULL);
	if (!strcmp(how, "again-kill")) {
		kill(getppid(), SIGSTOP);
		execl("/proc/self/exe", "actor", "end", "kill", "0", "1", NULL);
	}
	return 91;
}

/* For a while, does everything that a process can do to its own file except truncate it. */
static int scribble(uint64_t seed, unsigned int ms)
{
	uint64_t until = now_ms() + ms, state = seed;
	struct sim s;
	struct xsprof_ctl geo;
	uint32_t name, i;

	sim_open(&s, 4, 65536, seed % 2 ? XSPROF_MODE_OVERWRITE : XSPROF_MODE_DISCARD, 0);
	name = sim_name(&s, "scribble");
	geo = *s.ctl;
	while (now_ms() < until) {
		/* Mostly whole records, so that the reader stays busy. */
		if (!s.device)
			*s.ctl = geo;
		for (i = 0; i < 200; i++)
			sim_put(&s, draw_from(&state) % 4, name, 1 + i % 8, i, false);
		for (i = 0; i < 64; i++) {
			uint64_t area = s.device + draw_from(&state) % (4 - s.device), off;
			uint32_t k = draw_from(&state) % 4;
			uint64_t word = draw_from(&state) % 3 ? draw_from(&state) :
					~0ull << draw_from(&state) % 64;

			if (area == 0)
				off = draw_from(&state) % 4096;
			else if (area == 1)
				off = geo.arena_off + draw_from(&state) % 256;
			else if (area == 2)
				off = (uint8_t *)sim_writer(&s, k) - s.base +
				      draw_from(&state) % 128;
			else
				off = (uint8_t *)sim_slot(&s, k, 0) - s.base +
				      draw_from(&state) % 65536;
			/* Our own pointers into the file depend on these. */
			memcpy(s.base + (off & ~7ull), &word, 8);
			if (s.device)
				continue;
			s.ctl->rings_off = geo.rings_off;
			s.ctl->ring_stride = geo.ring_stride;
			s.ctl->mode = geo.mode;
		}
		if (draw_from(&state) % 8 == 0)
			sleep_ms(1);
	}
	return 0;
}

static int cut(void)
{
	struct sim s;
	uint32_t name;
	int i;

	sim_open(&s, 2, 65536, XSPROF_MODE_DISCARD, 0);
	name = sim_name(&s, "cut");
	for (i = 0; i < 5000; i++)
		sim_put(&s, i % 2, name, 1, i, true);
	/* The kernel's memory cannot be truncated. */
	if (ftruncate(s.fd, 0) == (s.device ? 0 : -1))
		return 92;
	sleep_ms(400);
	return 0;
}

static int sparse(uint32_t mode, unsigned int ms)
{
	struct sim s;

	sim_open(&s, 2, 1ull << 41, mode, 0);
	__atomic_store_n(&sim_writer(&s, 0)->head, s.slots, __ATOMIC_RELEASE);
	puts("ready");
	fflush(stdout);
	sleep_ms(ms);
	return 0;
}

static int heads(void)
{
	static const uint64_t lies[] = { 1ull << 63, ~0ull, 0, 1, 1ull << 32, 77777 };
	struct sim s;
	size_t i;

	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		sim_open(&s, 2, 16384, i % 2, i);
		sim_put(&s, 0, sim_name(&s, "heads"), 1, i, true);
		__atomic_store_n(&sim_writer(&s, 0)->head, lies[i], __ATOMIC_RELEASE);
		sleep_ms(20);
		__atomic_store_n(&sim_writer(&s, 0)->head, lies[i] / 2, __ATOMIC_RELEASE);
		sleep_ms(20);
	}
	return 0;
}

static void put_file(int dir, const char *name, const void *data, size_t len, off_t size)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL, 0600);

	if (fd < 0 || pwrite(fd, data, len, 0) != (ssize_t)len || (size && ftruncate(fd, size)))
		exit(93);
	close(fd);
}

static int shapes(void)
{
	int dir = open(getenv("XSPROF_SESSION"), O_RDONLY | O_DIRECTORY);
	struct xsprof_ctl ctl;
	struct sim s;
	int i;

	sim_open(&s, 2, 16384, 0, 0);
	sim_put(&s, 0, sim_name(&s, "shapes"), 1, 1, true);
	ctl = *s.ctl;
	put_file(dir, "p.1.1.1", "", 0, 0);
	put_file(dir, "p.1.1.2", "not a ring file", 15, 8192);
	ctl.abi_major = 99;
	put_file(dir, "p.1.1.3", &ctl, sizeof(ctl), 1 << 20);
	ctl = *s.ctl;
	ctl.ring_stride = ~0ull;
	put_file(dir, "p.1.1.4", &ctl, sizeof(ctl), 1 << 20);
	ctl = *s.ctl;
	put_file(dir, "p.1.1.5", &ctl, sizeof(ctl), 0);
	ctl.nr_rings = ~0u;
	put_file(dir, "p.1.1.6", &ctl, sizeof(ctl), 1 << 20);
	if (symlinkat("/etc/passwd", dir, "p.1.1.7") || mkfifoat(dir, "p.1.1.8", 0600) ||
	    mkdirat(dir, "p.1.1.9", 0700))
		return 94;
	/* A whole file, but one with a second link, which somebody else may have made. */
	ctl = *s.ctl;
	put_file(dir, "p.1.1.10", &ctl, sizeof(ctl), (off_t)ctl.total_size);
	if (linkat(dir, "p.1.1.10", dir, "second", 0))
		return 95;
	put_file(dir, "p.\033[31m", &ctl, sizeof(ctl), 0);
	put_file(dir, "e.4711.1.0", "no room\nsecond line", 19, 0);
	for (i = 0; i < 30; i++)
		sleep_ms(10);
	unlinkat(dir, "p.1.1.9", AT_REMOVEDIR);
	sim_goodbye(&s);
	return 0;
}

static int hold(unsigned int ms, const char *file, int n)
{
	struct sim s;
	uint32_t name;
	int i, fd;

	sim_open(&s, 2, 65536, XSPROF_MODE_DISCARD, 0);
	name = sim_name(&s, "hold");
	for (i = 0; i < n; i++)
		sim_put(&s, i % 2, name, 1, i, true);
	fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || dprintf(fd, "%d\n", (int)getpid()) < 0)
		return 96;
	close(fd);
	sleep_ms(ms);
	for (i = 0; i < 100; i++)
		sim_put(&s, i % 2, name, 1, n + i, false);
	print_ledger(&s);
	sim_goodbye(&s);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;

	if (!strcmp(what, "count"))
		return count(n, 3, 1 << 20, true, XSPROF_MODE_DISCARD);
	if (!strcmp(what, "lose"))
		return count(n, 2, 16384, false, XSPROF_MODE_DISCARD);
	if (!strcmp(what, "overwrite"))
		return count(n, 2, 65536, false, XSPROF_MODE_OVERWRITE);
	if (!strcmp(what, "end") && argc > 2)
		return end(argv[2], argc > 3 ? atoi(argv[3]) : 0, argc > 4 ? atoi(argv[4]) : 0);
	if (!strcmp(what, "scribble") && argc > 3)
		return scribble(n, atoi(argv[3]));
	if (!strcmp(what, "truncate"))
		return cut();
	if (!strcmp(what, "sparse") && argc > 3)
		return sparse(n, atoi(argv[3]));
	if (!strcmp(what, "heads"))
		return heads();
	if (!strcmp(what, "shapes"))
		return shapes();
	if (!strcmp(what, "hold") && argc > 3)
		return hold(n, argv[3], argc > 4 ? atoi(argv[4]) : 100);
	fprintf(stderr, "actor: what?\n");
	return 95;
}
