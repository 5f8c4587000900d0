// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Client side of dynolog's IPC fabric: datagrams between unix sockets, each a header with type and
 * length, and a payload. Owns the socket; does not interpret messages.
 *
 * Any user who can reach the socket can send to it. Only root, our user and XSPROF_DAEMON_UID are
 * accepted, and every length they send is checked: a datagram is one complete message, or it is
 * counted and dropped.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "ondemand/dynolog.h"
#include "ondemand/kineto-env.h"

#define DAEMON		"dynolog"
#define TYPE_MAX	32
#define STRAY_MAX	32	/* unrelated messages skipped while waiting for an answer */

/* Header of each datagram, in native byte order. */
struct header {
	size_t	size;		/* size of the payload */
	char	type[TYPE_MAX];
};

struct context {
	int32_t	gpu;
	int32_t	pid;
	int64_t	job;
};

struct request {
	int32_t	type;
	int32_t	n;
	int64_t	job;
	int32_t	pids[XSP_DYNOLOG_PIDS];
};

/*
 * An abstract name has a leading zero byte and, by the fabric's convention, a trailing one that is
 * part of the name. With a folder it is a path.
 */
static int make_address(const char *dir, const char *name, struct sockaddr_un *to, socklen_t *len)
{
	const size_t room = sizeof(to->sun_path);
	size_t n = strlen(name);
	int k;

	memset(to, 0, sizeof(*to));
	to->sun_family = AF_UNIX;
	if (!dir) {
		if (n + 2 > room)
			return -ENAMETOOLONG;
		memcpy(to->sun_path + 1, name, n);
		*len = offsetof(struct sockaddr_un, sun_path) + n + 2;
		return 0;
	}
	k = snprintf(to->sun_path, room, "%s/%s", dir, name);
	if (k < 0 || (size_t)k >= room)
		return -ENAMETOOLONG;
	*len = offsetof(struct sockaddr_un, sun_path) + k + 1;
	return 0;
}

/* "dynoconfigclient" and a random UUID (version 4). */
static int make_name(char *to, size_t room)
{
	uint8_t u[16];

	if (getrandom(u, sizeof(u), 0) != sizeof(u))
		return -EAGAIN;
	u[6] = (u[6] & 0x0f) | 0x40;
	u[8] = (u[8] & 0x3f) | 0x80;
	snprintf(to, room, "dynoconfigclient%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
		 "%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7],
		 u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
	return 0;
}

/*
 * Lets other users send to our socket: the daemon may be another user, and senders are checked
 * here. The folder may belong to another user, who can replace the socket by a link at any moment:
 * changes only what was opened and checked, never what the path names afterwards. A socket with a
 * second name is another one of ours, where the kernel lets users link files of others.
 */
static int open_to_all(const char *path)
{
	char self[32];
	struct stat st;
	int fd, err = 0;

	fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1)
		err = -EPERM;
	else if (chmod(self, 0666))
		err = -errno;
	close(fd);
	return err;
}

/**
 * xsp_dynolog_open() - create the socket
 * @d: filled in
 *
 * In the abstract namespace, or in the folder KINETO_IPC_SOCKET_DIR if set.
 *
 * Return: 0 or a negative errno.
 */
int xsp_dynolog_open(struct xsp_dynolog *d)
{
	const char *dir = xsp_kineto_env.socket_dir;
	const int on = 1;
	socklen_t len;
	char name[64];
	int err;

	memset(d, 0, sizeof(*d));
	d->fd = -1;
	d->job = xsp_kineto_env.job;
	d->any_uid = xsp_kineto_env.any_uid;
	d->daemon_uid = xsp_kineto_env.daemon_uid;
	err = make_name(name, sizeof(name));
	if (!err)
		err = make_address(dir, DAEMON, &d->daemon, &d->daemon_len);
	if (!err)
		err = make_address(dir, name, &d->own, &len);
	if (err)
		return err;
	d->fd = xsp_fd_high(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (d->fd < 0)
		return -errno;
	/* Before it has a name, so that every message has its sender's credentials. */
	if (setsockopt(d->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) ||
	    bind(d->fd, (struct sockaddr *)&d->own, len)) {
		err = -errno;
		d->own.sun_path[0] = '\0';
		goto err_close;
	}
	err = dir ? open_to_all(d->own.sun_path) : 0;
	if (!err)
		err = xsp_fd_note(&d->id, d->fd);
	if (!err)
		return 0;
err_close:
	if (d->own.sun_path[0])
		unlink(d->own.sun_path);
	close(d->fd);
	d->fd = -1;
	return err;
}

/* Is the socket open, and still ours? Programs close descriptors that they do not know. */
bool xsp_dynolog_usable(const struct xsp_dynolog *d)
{
	return xsp_fd_is(&d->id, d->fd);
}

/* In a forked child: the parent removes the name. */
void xsp_dynolog_forget(struct xsp_dynolog *d)
{
	if (xsp_dynolog_usable(d))
		close(d->fd);
	d->fd = -1;
}

void xsp_dynolog_close(struct xsp_dynolog *d)
{
	if (d->fd >= 0 && d->own.sun_path[0])
		unlink(d->own.sun_path);
	xsp_dynolog_forget(d);
}

static int send_message(struct xsp_dynolog *d, const char *type, const void *data, size_t len)
{
	struct header h = { .size = len };
	struct iovec iov[2] = {
		{ .iov_base = &h, .iov_len = sizeof(h) },
		{ .iov_base = (void *)data, .iov_len = len },
	};
	struct msghdr m = { .msg_name = &d->daemon, .msg_namelen = d->daemon_len, .msg_iov = iov,
		.msg_iovlen = 2 };
	ssize_t n;

	memcpy(h.type, type, strlen(type));
	do
		n = sendmsg(d->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return (size_t)n == sizeof(h) + len ? 0 : -EMSGSIZE;
}

static bool is_daemon(const struct xsp_dynolog *d, struct msghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	struct ucred who;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS ||
	    c->cmsg_len < CMSG_LEN(sizeof(who)))
		return false;
	memcpy(&who, CMSG_DATA(c), sizeof(who));
	return !who.uid || who.uid == geteuid() || d->any_uid ||
	       (d->daemon_uid != (uid_t)-1 && who.uid == d->daemon_uid);
}

/*
 * Receives a datagram. Return: 0, with @h->type terminated; -EAGAIN: none; -EPERM: from another
 * user; -EBADMSG: malformed; or another error.
 */
static int receive(struct xsp_dynolog *d, struct header *h, void *data, size_t room)
{
	/* Room for the sender's credentials only: descriptors sent along are dropped. */
	union {
		struct cmsghdr	align;
		char		room[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec iov[2] = {
		{ .iov_base = h, .iov_len = sizeof(*h) },
		{ .iov_base = data, .iov_len = room },
	};
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2, .msg_control = &control,
		.msg_controllen = sizeof(control) };
	ssize_t n;

	memset(&control, 0, sizeof(control));
	do
		n = recvmsg(d->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	if (!is_daemon(d, &m)) {
		d->bad++;
		return -EPERM;
	}
	if ((size_t)n < sizeof(*h) || m.msg_flags & MSG_TRUNC || h->size != n - sizeof(*h) ||
	    !memchr(h->type, '\0', sizeof(h->type))) {
		d->bad++;
		return -EBADMSG;
	}
	return 0;
}

/* Waits for a message of this type. Return: 0; -ETIMEDOUT; the error of a message that came. */
static int await(struct xsp_dynolog *d, const char *type, struct header *h, void *data,
		 size_t room)
{
	struct pollfd p = { .fd = d->fd, .events = POLLIN };
	int64_t until = xsp_clock_ms(CLOCK_MONOTONIC) + XSP_DYNOLOG_WAIT_MS, left;
	int err, why = -ETIMEDOUT;

	for (unsigned int stray = 0; stray < STRAY_MAX;) {
		err = receive(d, h, data, room);
		if (!err && !strcmp(h->type, type))
			return 0;
		if (err != -EAGAIN) {
			if (err && err != -EPERM && err != -EBADMSG)
				return err;
			why = err ? err : why;
			stray++;
			continue;
		}
		left = until - xsp_clock_ms(CLOCK_MONOTONIC);
		if (left <= 0)
			break;
		if (poll(&p, 1, left) < 0 && errno != EINTR)
			return -errno;
	}
	return why;
}

/**
 * xsp_dynolog_register() - "ctxt": this process uses a GPU
 * @d: client
 * @gpu: number of the GPU
 * @instances: set to the number of processes of the job that use it, as counted by the daemon
 *
 * The daemon does not match processes by it: xsp_dynolog_poll() makes the process known.
 *
 * Return: 0; -ECONNREFUSED, -ENOENT: no daemon; -ETIMEDOUT: no answer; -EBADMSG, -EPERM: an invalid
 * answer.
 */
int xsp_dynolog_register(struct xsp_dynolog *d, int32_t gpu, int32_t *instances)
{
	struct context c = { .gpu = gpu, .pid = getpid(), .job = d->job };
	struct header h;
	int32_t count[2];
	int err;

	err = send_message(d, "ctxt", &c, sizeof(c));
	if (!err)
		err = await(d, "ctxt", &h, count, sizeof(count));
	if (!err && h.size != sizeof(count[0])) {
		d->bad++;
		err = -EBADMSG;
	}
	if (!err)
		*instances = count[0];
	return err;
}

/**
 * xsp_dynolog_poll() - "req": is there a configuration for us?
 * @d: client
 * @types: what we could accept now, XSP_DYNOLOG_ACTIVITIES; 0: only announce us
 * @pids: this process, then its ancestors
 * @n: number of @pids, at least one: the daemon does not answer requests without any
 * @text: filled in; not terminated
 * @room: its size, XSP_DYNOLOG_TEXT_MAX or more
 * @len: set to the length of the text, 0: there is none
 *
 * The daemon hands a text out once: one that came too late for the last call is returned now.
 *
 * Return: as xsp_dynolog_register(); -EINVAL.
 */
int xsp_dynolog_poll(struct xsp_dynolog *d, uint32_t types, const int32_t *pids, uint32_t n,
		     char *text, size_t room, size_t *len)
{
	struct request r = { .type = types, .n = n, .job = d->job };
	struct header h;
	int err = 0;

	*len = 0;
	if (!n || n > XSP_DYNOLOG_PIDS || room < XSP_DYNOLOG_TEXT_MAX)
		return -EINVAL;
	for (unsigned int i = 0; i < STRAY_MAX && err != -EAGAIN; i++) {
		err = receive(d, &h, text, room);
		if (!err && !strcmp(h.type, "req") && h.size) {
			*len = h.size;
			return 0;
		}
		if (err && err != -EAGAIN && err != -EPERM && err != -EBADMSG)
			return err;
	}
	memcpy(r.pids, pids, n * sizeof(*pids));
	err = send_message(d, "req", &r, offsetof(struct request, pids) + n * sizeof(*pids));
	if (!err)
		err = await(d, "req", &h, text, room);
	if (!err)
		*len = h.size;
	return err;
}

/* The parent of a process, 0 if invisible. */
static int32_t parent_of(int32_t pid)
{
	char path[32], stat[512];
	const char *p;
	long n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	n = xsp_proc_read(path, stat, sizeof(stat));
	/* The name in the second field may contain anything: parse from its end. */
	p = n > 0 ? strrchr(stat, ')') : NULL;
	return p && p[1] == ' ' && p[2] && p[3] == ' ' ? atoi(p + 4) : 0;
}

/**
 * xsp_dynolog_pids() - this process and its visible ancestors
 * @pids: filled in, this process first
 * @n: capacity, at least 1
 *
 * Process 1 is left out: it is an ancestor of every process.
 *
 * Return: their number.
 */
uint32_t xsp_dynolog_pids(int32_t *pids, uint32_t n)
{
	uint32_t k = 1;

	pids[0] = getpid();
	while (k < n) {
		int32_t up = parent_of(pids[k - 1]);

		if (up <= 1)
			break;
		pids[k++] = up;
	}
	return k;
}
