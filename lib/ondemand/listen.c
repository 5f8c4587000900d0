// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The process' side of its control page (base/demand-page.h): creates it, answers requests,
 * publishes what is being recorded, and closes it. Owns the page and its descriptor; request.c
 * interprets requests. Called by the library's own thread unless stated otherwise.
 *
 * Between requests the thread sleeps in the kernel on the page's bell; the program's own threads
 * never run this code.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/proc.h"
#include "ondemand/bell.h"
#include "ondemand/listen.h"
#include "ondemand/request.h"
#include "profiler/log.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL	0x0008u	/* Linux 6.3 */
#endif

static struct {
	struct xsp_demand	*page;	/* NULL: none */
	void			*room;	/* place of a page that was dropped */
	int			fd;
	struct xsp_fd_id	id;
	uint32_t		handled;	/* number of the last request read */
	uint32_t		gen;	/* last page->now.gen: the page's is not trusted */
	uint32_t		told;	/* last result of xsp_request_tell() */
	char			text[XSP_DEMAND_TEXT];
	struct xsp_demand_now	now;	/* last published state */
	struct xsp_demand_now	reply;
} l = { .fd = -1 };

/* ---- the page ---- */

static int make_file(void)
{
	struct rlimit rl;
	int fd, err = 0;

	/* Growing a file beyond RLIMIT_FSIZE raises a signal that kills the program. */
	if (!getrlimit(RLIMIT_FSIZE, &rl) && rl.rlim_cur < XSP_DEMAND_SIZE)
		return -EFBIG;
	fd = memfd_create(XSP_DEMAND_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(XSP_DEMAND_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	/* Allocate all memory now: without it the first access would be SIGBUS. */
	if (fchmod(fd, 0600) || ftruncate(fd, XSP_DEMAND_SIZE) ||
	    fallocate(fd, 0, 0, XSP_DEMAND_SIZE) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		err = -errno;
	if (!err)
		return xsp_fd_high(fd);
	close(fd);
	return err;
}

/*
 * The child of a raw clone() keeps the descriptor, even after giving up privileges. So the one that
 * stays open only names the file (O_PATH): it is opened through /proc, where the kernel checks the
 * rights of the file's owner, as its mode is 0600.
 */
static int name_only(int fd)
{
	char path[32];
	int named;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	named = xsp_fd_high(open(path, O_PATH | O_CLOEXEC));
	if (named < 0)
		return -errno;
	/* Something else may be mounted at /proc. */
	if (xsp_fd_is(&l.id, named))
		return named;
	close(named);
	return -ENOENT;
}

/* Is this the initial user namespace? */
static bool all_users(void)
{
	unsigned int inside, outside, count;
	char map[64];

	return xsp_proc_read("/proc/self/uid_map", map, sizeof(map)) > 0 &&
	       sscanf(map, "%u %u %u", &inside, &outside, &count) == 3 && !inside && !outside &&
	       count == UINT32_MAX;
}

#define NOBODY	65534	/* no user that our child can become without privileges */

/*
 * A child may also give up its capabilities, or enter a user namespace, and keep its uid. So if we
 * may open files that only a privileged process can open, opening the page requires that: any
 * process that may trace us has that privilege too. A child in another user namespace does not have
 * it over this owner.
 */
static void require_our_rights(int fd)
{
	char path[32];
	int again;

	/*
	 * In another user namespace our privileges mean nothing outside, where the same user may
	 * trace us.
	 */
	if (!all_users() || fchmod(fd, 0))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDWR | O_CLOEXEC);
	if (again < 0) {
		/* We lack the privilege: so there is none that a child of ours could give up. */
		(void)fchmod(fd, 0600);
		return;
	}
	close(again);
	/* Without the right to chown(), the mode must suffice. */
	if (fchown(fd, NOBODY, (gid_t)-1))
		return;
}

/* @at: map it there, or NULL. */
static int make_page(void *at)
{
	int fd = make_file(), named, err;
	struct xsp_demand *page;

	if (fd < 0)
		return fd;
	err = xsp_fd_note(&l.id, fd);
	named = err ? err : name_only(fd);
	if (named < 0) {
		close(fd);
		return named;
	}
	page = mmap(at, XSP_DEMAND_SIZE, PROT_READ | PROT_WRITE,
		    MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);
	err = page == MAP_FAILED ? -errno : 0;
	if (!err)
		require_our_rights(fd);
	close(fd);
	/*
	 * A child must not have the page: it could make requests in its parent's name. If this
	 * fails, no page.
	 */
	if (!err && madvise(page, XSP_DEMAND_SIZE, MADV_DONTFORK)) {
		err = -errno;
		if (!at)
			munmap(page, XSP_DEMAND_SIZE);
	}
	if (err) {
		close(named);
		return err;
	}
	page->version = XSP_DEMAND_VERSION;
	page->pid = getpid();
	page->pid_ns = xsp_proc_pid_ns();
	/* Release: a process that finds the page by the magic also sees its owner. */
	__atomic_store_n(&page->magic, XSP_DEMAND_MAGIC, __ATOMIC_RELEASE);
	l.fd = named;
	l.page = page;
	l.handled = 0;
	l.gen = 0;
	return 0;
}

/**
 * xsp_listen_open() - create the page; called before the thread exists
 *
 * Return: 0 or a negative errno: `xsprof ctl` cannot find us, everything else works.
 */
int xsp_listen_open(void)
{
	int err = make_page(l.room);
	char why[80];

	if (!err)
		l.room = NULL;
	if (err) {
		xsp_log(XSP_LOG_WARNING, "on-demand: 'xsprof ctl' cannot find this process: %s",
			err == -ENOENT ? "/proc is not mounted" :
			strerror_r(-err, why, sizeof(why)));
		return err;
	}
	xsp_bell_set(&l.page->bell);
	l.told = xsp_request_tell(&l.now);
	return 0;
}

/*
 * Programs that close all descriptors would not be found any more. The new page replaces the old
 * one at its address: a requester that rings meanwhile stores into one of the two, and its request
 * is seen, as this is called before looking for requests.
 */
void xsp_listen_check(void)
{
	if (l.page && !xsp_fd_is(&l.id, l.fd) && !make_page(l.page))
		l.told--;
}

static void tell_now(const struct xsp_demand_now *from)
{
	struct xsp_demand_now *to = &l.page->now;

	/* As a seqcount writer: the odd number first, the even one last. */
	__atomic_store_n(&to->gen, ++l.gen, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(&to->state, &from->state, sizeof(*to) - offsetof(struct xsp_demand_now, state));
	__atomic_store_n(&to->gen, ++l.gen, __ATOMIC_RELEASE);
	xsp_demand_wake(&to->gen);
}

/* Publishes what is being recorded, if that has changed. */
void xsp_listen_tell(void)
{
	uint32_t changes;

	if (!l.page)
		return;
	changes = xsp_request_tell(&l.now);
	if (changes == l.told)
		return;
	l.told = changes;
	tell_now(&l.now);
}

/* The program ends: wakes a waiting requester. */
void xsp_listen_close(void)
{
	if (!l.page)
		return;
	if (l.now.state != XSP_DEMAND_IDLE) {
		l.now.err = -ECANCELED;
		strcpy(l.now.why, "the program ended before the trace did");
	}
	l.now.state = XSP_DEMAND_GONE;
	tell_now(&l.now);
	xsp_demand_wake(&l.page->answered);
	if (xsp_fd_is(&l.id, l.fd))
		close(l.fd);
	l.fd = -1;
}

/* In a forked child: the page belongs to the parent. */
void xsp_listen_forget(void)
{
	if (xsp_fd_is(&l.id, l.fd))
		close(l.fd);
	l.fd = -1;
	l.page = NULL;
	xsp_bell_set(NULL);
}

/*
 * Stops listening. Private memory replaces the page, which must not be found in /proc/PID/maps;
 * another thread may be about to ring the bell.
 */
void xsp_listen_drop(void)
{
	struct xsp_demand *page = l.page;

	xsp_listen_close();
	xsp_listen_forget();
	if (page && mmap(page, XSP_DEMAND_SIZE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
		l.room = page;
}

/* ---- requests ---- */

static void answer(uint32_t asked, int err, const struct xsp_demand_now *about)
{
	struct xsp_demand *page = l.page;

	/* First: a requester that has the answer may read the state at once. */
	xsp_listen_tell();
	page->err = err;
	page->number = about->number;
	memcpy(page->why, about->why, sizeof(page->why));
	memcpy(page->file, about->file, sizeof(page->file));
	page->lost = about->lost;
	/* C: release: the answer is visible with the number. */
	__atomic_store_n(&page->answered, asked, __ATOMIC_RELEASE);
	xsp_demand_wake(&page->answered);
}

/* Starts at once, and answers whether it could; by iterations it starts with the next one. */
static int start(size_t len)
{
	int err = xsp_request_take(l.text, len, XSP_DEMAND_BY_CTL, l.reply.why);

	if (err) {
		l.reply.number = 0;
		l.reply.file[0] = '\0';
		return err;
	}
	(void)xsp_request_run();
	(void)xsp_request_tell(&l.reply);
	return l.reply.state == XSP_DEMAND_IDLE ? l.reply.err : 0;
}

static int stop(void)
{
	int err = xsp_request_stop();

	if (err == -ENOENT) {
		strcpy(l.reply.why, "nothing is being recorded");
		return err;
	}
	(void)xsp_request_run();
	(void)xsp_request_tell(&l.reply);
	if (err)
		strcpy(l.reply.why, "it had not started: nothing was recorded");
	return err ? err : l.reply.err;
}

/*
 * The daemon's requests still reach the program meanwhile: see the check for dynolog in ondemand.c.
 */
static int act(uint32_t verb, size_t len)
{
	l.reply.why[0] = '\0';
	switch (verb) {
	case XSP_DEMAND_NONE:
		return 0;
	case XSP_DEMAND_START:
		return start(len);
	case XSP_DEMAND_STOP:
		return stop();
	case XSP_DEMAND_SNAPSHOT:
		return xsp_request_snapshot(l.text, len, &l.reply);
	default:
		strcpy(l.reply.why, "the program's library is older and does not support this "
		       "request");
		return -EOPNOTSUPP;
	}
}

/* Handles a request, if any. It is copied once: later changes by its sender are not seen. */
void xsp_listen_run(void)
{
	uint32_t asked, verb, len;
	int err;

	if (!l.page)
		return;
	/* B: acquire: pairs with the requester's release. */
	asked = __atomic_load_n(&l.page->asked, __ATOMIC_ACQUIRE);
	if (asked == l.handled)
		return;
	l.handled = asked;
	__atomic_store_n(&l.page->taken, asked, __ATOMIC_RELEASE);
	verb = __atomic_load_n(&l.page->verb, __ATOMIC_RELAXED);
	len = __atomic_load_n(&l.page->len, __ATOMIC_RELAXED);
	(void)xsp_request_tell(&l.reply);
	if (len > sizeof(l.text)) {
		strcpy(l.reply.why, "the request is too long");
		err = -E2BIG;
	} else {
		memcpy(l.text, l.page->text, len);
		err = act(verb, len);
	}
	if (verb != XSP_DEMAND_NONE)
		answer(asked, err, &l.reply);
}
