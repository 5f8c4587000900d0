// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the control page of a process, sends requests and waits. A caller that may ptrace the
 * process finds the page among its descriptors; others cannot. The process, and any other such
 * caller, can write anything into the page: all values are checked.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "base/regular.h"
#include "cli/tool.h"
#include "ctl/page.h"

#define SLICE_MS	200	/* how often a process that does not answer is checked */
#define END_SLICE_MS	1000
#define TRIES		100
#define SEALS		(F_SEAL_SHRINK | F_SEAL_GROW)

/* ---- finding it ---- */

/* Its pid in its own pid namespace: the last of NSpid in /proc/PID/status. 0: unknown. */
static uint32_t inner_pid(pid_t pid)
{
	char path[64], line[256], *last;
	uint32_t inner = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		last = strrchr(line, '\t');
		inner = last ? strtoul(last, NULL, 10) : 0;
		break;
	}
	fclose(f);
	return inner;
}

/* A child that has inherited the page is not the process that listens. */
static bool is_its_own(const struct ctl_page *cp)
{
	const struct xsp_demand *page = cp->page;
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)cp->pid);
	return !stat(path, &st) && (uint32_t)st.st_ino == page->pid_ns &&
	       inner_pid(cp->pid) == page->pid;
}

static int map_page(struct ctl_page *cp)
{
	int seals = fcntl(cp->fd, F_GET_SEALS), err = -ENOENT;

	if (fstat(cp->fd, &cp->st))
		return -errno;
	/* Without the seals it could be truncated during use. */
	if (!S_ISREG(cp->st.st_mode) || cp->st.st_size != XSP_DEMAND_SIZE || seals < 0 ||
	    (seals & SEALS) != SEALS)
		return -ENOENT;
	cp->page = mmap(NULL, XSP_DEMAND_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, cp->fd, 0);
	if (cp->page == MAP_FAILED)
		return -errno;
	if (__atomic_load_n(&cp->page->magic, __ATOMIC_ACQUIRE) != XSP_DEMAND_MAGIC)
		err = -ENOENT;
	else if (cp->page->version != XSP_DEMAND_VERSION)
		err = -EPROTO;
	else if (is_its_own(cp) && cp->page->now.state != XSP_DEMAND_GONE)
		err = 0;
	if (err)
		munmap(cp->page, XSP_DEMAND_SIZE);
	return err;
}

/*
 * Any file can have the page's name, at the root of a mount made by its user. Files of
 * memfd_create() are all on one device, which has no other files with names.
 */
static bool is_memory(const struct stat *of)
{
	static struct stat ours;
	int fd;

	if (!ours.st_dev) {
		fd = memfd_create("xsprof-ctl: where memory is", MFD_CLOEXEC);
		if (fd < 0 || fstat(fd, &ours))
			ours.st_dev = 0;
		if (fd >= 0)
			close(fd);
	}
	return ours.st_dev && of->st_dev == ours.st_dev;
}

static int open_one(struct ctl_page *cp, int dirfd, const char *name)
{
	char link[sizeof(XSP_DEMAND_LINK) + 1];
	ssize_t n = readlinkat(dirfd, name, link, sizeof(link) - 1);
	struct stat st;
	int err, pin;

	/*
	 * A descriptor closed meanwhile is skipped; one without permission is an error, not "none".
	 */
	if (n < 0)
		return errno == EACCES || errno == EPERM ? -EACCES : -ENOENT;
	link[n] = '\0';
	if (strcmp(link, XSP_DEMAND_LINK))
		return -ENOENT;
	pin = xsp_regular_pin(dirfd, name, &st);
	if (pin < 0)
		return pin;
	if (!is_memory(&st)) {
		close(pin);
		return -ENOENT;
	}
	cp->fd = xsp_regular_open(pin, O_RDWR);
	if (cp->fd < 0)
		return cp->fd;
	err = map_page(cp);
	if (err)
		close(cp->fd);
	return err;
}

bool ctl_maps_has(pid_t pid, const char *what)
{
	char path[64], *line = NULL;
	bool found = false;
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	while (f && !found && getline(&line, &room, f) > 0)
		found = strstr(line, what);
	free(line);
	if (f)
		fclose(f);
	return found;
}

int ctl_open(struct ctl_page *cp, pid_t pid)
{
	struct xsp_proc_stat ps;
	struct dirent *entry;
	int err = -ENOENT;
	char path[64];
	DIR *dir;

	memset(cp, 0, sizeof(*cp));
	cp->pid = pid;
	cp->fd = -1;
	if (xsp_proc_stat(pid, &ps) || ps.state == 'Z' || ps.state == 'X')
		return -ESRCH;
	if (xsp_proc_comm(pid, pid, cp->comm))
		strcpy(cp->comm, "?");
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : errno == EPERM ? -EACCES : -errno;
	while (err == -ENOENT && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			err = open_one(cp, dirfd(dir), entry->d_name);
	closedir(dir);
	/* The mapping remains if a program has closed all descriptors. */
	if (err == -ENOENT && ctl_maps_has(pid, XSP_DEMAND_LINK))
		err = -EBADF;
	if (err)
		cp->fd = -1;
	return err;
}

void ctl_close(struct ctl_page *cp)
{
	if (cp->fd < 0)
		return;
	munmap(cp->page, XSP_DEMAND_SIZE);
	close(cp->fd);
	cp->fd = -1;
}

/* Does the process still have the page? Not if it has ended or runs another program. */
static int lives(const struct ctl_page *cp)
{
	return xsp_proc_maps_file(cp->pid, cp->st.st_dev, cp->st.st_ino) == 1;
}

int ctl_now(const struct ctl_page *cp, struct xsp_demand_now *now)
{
	struct xsp_demand_now *from = &cp->page->now;
	unsigned int i;
	uint32_t gen;

	for (i = 0; i < TRIES; i++) {
		/* Acquire: the rest is read after it; odd: it is being written. */
		gen = __atomic_load_n(&from->gen, __ATOMIC_ACQUIRE);
		if (gen & 1) {
			xsp_demand_wait(&from->gen, gen, 1);
			continue;
		}
		now->gen = gen;
		now->state = __atomic_load_n(&from->state, __ATOMIC_RELAXED);
		now->from = __atomic_load_n(&from->from, __ATOMIC_RELAXED);
		now->number = __atomic_load_n(&from->number, __ATOMIC_RELAXED);
		now->err = __atomic_load_n(&from->err, __ATOMIC_RELAXED);
		xsp_demand_copy(now->why, sizeof(now->why), from->why);
		xsp_demand_copy(now->file, sizeof(now->file), from->file);
		now->lost = from->lost;
		/* The copy is complete before the second read of the count. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&from->gen, __ATOMIC_RELAXED) == gen)
			return 0;
	}
	return -EAGAIN;
}

/* ---- asking ---- */

/* Return: 0; -EAGAIN: other requests keep the page busy. */
static int lock_page(const struct ctl_page *cp, int64_t until)
{
	const struct timespec pause = { .tv_nsec = 20000000 };

	/* A lock of this open file description: it ends with this process, however that ends. */
	while (flock(cp->fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (xsp_clock_ms(CLOCK_MONOTONIC) >= until)
			return -EAGAIN;
		nanosleep(&pause, NULL);
	}
	return 0;
}

static uint32_t put(struct ctl_page *cp, uint32_t verb, const char *text)
{
	struct xsp_demand *page = cp->page;
	uint32_t n = __atomic_load_n(&page->asked, __ATOMIC_RELAXED) + 1;

	/* 0 is the initial value of a page. */
	n += !n;
	__atomic_store_n(&page->verb, verb, __ATOMIC_RELAXED);
	__atomic_store_n(&page->len, (uint32_t)strlen(text), __ATOMIC_RELAXED);
	memcpy(page->text, text, strlen(text));
	/*
	 * A: release: a process that sees the number sees the request; the wake-up follows the
	 * number.
	 */
	__atomic_store_n(&page->asked, n, __ATOMIC_RELEASE);
	__atomic_fetch_add(&page->bell, 1, __ATOMIC_RELEASE);
	xsp_demand_wake(&page->bell);
	return n;
}

static int gone(const struct ctl_page *cp)
{
	if (!lives(cp))
		return -ESRCH;
	return __atomic_load_n(&cp->page->now.state, __ATOMIC_RELAXED) == XSP_DEMAND_GONE ?
	       -EPIPE : 0;
}

/* D: acquire: after its number the answer is visible. */
static bool answered(const struct ctl_page *cp, uint32_t n, uint32_t *seen)
{
	*seen = __atomic_load_n(&cp->page->answered, __ATOMIC_ACQUIRE);
	return *seen == n;
}

/* A request that was taken cannot be cancelled: print the reason for the wait. */
static bool tell_stopped(const struct ctl_page *cp)
{
	struct xsp_proc_stat st;

	if (xsp_proc_stat(cp->pid, &st) || (st.state != 'T' && st.state != 't'))
		return false;
	tool_note("process %d has received the request, and is stopped (SIGSTOP, or a debugger): "
		  "it answers when it continues; Ctrl-C stops waiting", (int)cp->pid);
	return true;
}

static int wait_answer(struct ctl_page *cp, uint32_t n, int64_t until)
{
	bool taken = false, told = false;
	uint32_t seen;
	int err;

	while (!answered(cp, n, &seen)) {
		taken |= __atomic_load_n(&cp->page->taken, __ATOMIC_ACQUIRE) == n;
		if (!taken && xsp_clock_ms(CLOCK_MONOTONIC) >= until)
			return -ETIMEDOUT;
		xsp_demand_wait(&cp->page->answered, seen, SLICE_MS);
		if (taken && !told && xsp_clock_ms(CLOCK_MONOTONIC) >= until)
			told = tell_stopped(cp);
		err = gone(cp);
		/* It may have answered just before. */
		if (err && !answered(cp, n, &seen))
			return err;
	}
	return 0;
}

int ctl_ask(struct ctl_page *cp, uint32_t verb, const char *text, int64_t timeout_ms,
	    struct ctl_answer *answer)
{
	int64_t until = xsp_clock_ms(CLOCK_MONOTONIC) + timeout_ms;
	int err;

	if (strlen(text) > XSP_DEMAND_TEXT)
		return -EMSGSIZE;
	err = lock_page(cp, until);
	if (err)
		return err;
	err = wait_answer(cp, put(cp, verb, text), until);
	if (err == -ETIMEDOUT)
		put(cp, XSP_DEMAND_NONE, "");
	if (!err) {
		answer->err = __atomic_load_n(&cp->page->err, __ATOMIC_RELAXED);
		answer->number = __atomic_load_n(&cp->page->number, __ATOMIC_RELAXED);
		xsp_demand_copy(answer->why, sizeof(answer->why), cp->page->why);
		xsp_demand_copy(answer->file, sizeof(answer->file), cp->page->file);
		answer->lost = cp->page->lost;
	}
	flock(cp->fd, LOCK_UN);
	return err;
}

int ctl_wait_end(const struct ctl_page *cp, uint32_t number, struct xsp_demand_now *now)
{
	bool last = false;
	int err = 0;

	for (;;) {
		if (!ctl_now(cp, now)) {
			if (now->number != number)
				return -ESTALE;
			/* A program that ends reports the result of its trace. */
			if (now->state == XSP_DEMAND_IDLE || now->state == XSP_DEMAND_GONE)
				return 0;
			if (last)
				return err;
			xsp_demand_wait(&cp->page->now.gen, now->gen, END_SLICE_MS);
		} else if (last) {
			return err;
		}
		err = gone(cp);
		/* It may have ended normally just before: check once more. */
		last = err != 0;
	}
}
