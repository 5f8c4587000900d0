// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Sends and receives notices of processes that cannot reach their session. Uses a stream socket for
 * its longer queue: that of a datagram socket has room for ten.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/notice.h"
#include "base/own-fd.h"

#define BACKLOG		4096
/*
 * A message follows its connection at once; a connection that sends nothing delays others by at
 * most this.
 */
#define MESSAGE_NS	100000000u
#define MESSAGE_LAST_MS	10
#define SEND_TRIES	3
/* Maximum duration of a call. */
#define CALL_NS		1000000u
#define LAST_NS		300000000u

struct message {
	int32_t	err;
	char	session[XSP_NOTICE_NAME];
};

/*
 * Makes the socket's address: "s.PID.START" of "s.PID.START.RANDOM". Return: its length, 0: invalid
 * name.
 */
static socklen_t address(struct sockaddr_un *un, const char *name)
{
	static const char prefix[] = "xsprof.";
	const char *end = strrchr(name, '.');
	size_t len = end ? (size_t)(end - name) : 0;

	memset(un, 0, sizeof(*un));
	un->sun_family = AF_UNIX;
	if (!len || len + sizeof(prefix) > sizeof(un->sun_path))
		return 0;
	/* A leading zero: the abstract namespace, outside all file systems. */
	memcpy(un->sun_path + 1, prefix, sizeof(prefix) - 1);
	memcpy(un->sun_path + sizeof(prefix), name, len);
	return offsetof(struct sockaddr_un, sun_path) + sizeof(prefix) + len;
}

/* Sets @name to the folder's base name, padded with zeros. Return: 0 or -EINVAL. */
static int name_of(const char *session, char name[static XSP_NOTICE_NAME])
{
	const char *at = strrchr(session, '/');
	size_t len = at ? strlen(++at) : 0;

	memset(name, 0, XSP_NOTICE_NAME);
	if (!len || len >= XSP_NOTICE_NAME)
		return -EINVAL;
	memcpy(name, at, len);
	return 0;
}

int xsp_notices_open(struct xsp_notices *n, const char *session)
{
	struct sockaddr_un un;
	socklen_t len;
	int fd, err;

	n->fd = -1;
	n->conn = -1;
	err = name_of(session, n->session);
	if (err)
		return err;
	len = address(&un, n->session);
	if (!len)
		return -EINVAL;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&un, len) || listen(fd, BACKLOG)) {
		err = -errno;
		close(fd);
		return err;
	}
	n->fd = xsp_fd_keep(fd);
	return n->fd < 0 ? n->fd : 0;
}

void xsp_notices_close(struct xsp_notices *n)
{
	xsp_fd_close(n->conn);
	xsp_fd_close(n->fd);
	n->fd = -1;
	n->conn = -1;
}

/* Return: 1 read; 0 not arrived yet; -1 none will arrive. */
static int take(struct xsp_notices *n, bool last, struct xsp_notice *notice)
{
	struct pollfd fd = { .fd = n->conn, .events = POLLIN };
	struct message m;
	struct ucred peer;
	socklen_t len = sizeof(peer);
	ssize_t got;

	if (last)
		poll(&fd, 1, MESSAGE_LAST_MS);
	got = recv(n->conn, &m, sizeof(m), MSG_DONTWAIT);
	if (got < 0 && errno == EAGAIN && !last &&
	    xsp_clock_ns(CLOCK_MONOTONIC) - n->since < MESSAGE_NS)
		return 0;
	/* A sender without the complete name does not belong to the session. */
	if (got != sizeof(m) || memcmp(m.session, n->session, sizeof(m.session)) ||
	    getsockopt(n->conn, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		return -1;
	*notice = (struct xsp_notice){ .pid = peer.pid, .uid = peer.uid, .err = m.err };
	return 1;
}

static bool next(struct xsp_notices *n)
{
	if (n->conn >= 0)
		return true;
	n->conn = xsp_fd_keep(accept4(n->fd, NULL, NULL, SOCK_CLOEXEC));
	n->since = xsp_clock_ns(CLOCK_MONOTONIC);
	return n->conn >= 0;
}

bool xsp_notices_hear(struct xsp_notices *n, bool last,
		      void (*hear)(void *data, const struct xsp_notice *notice), void *data)
{
	uint64_t until = xsp_clock_ns(CLOCK_MONOTONIC) + (last ? LAST_NS : CALL_NS);
	struct xsp_notice notice;
	int got;

	if (n->fd < 0 || !xsp_fd_ours(n->fd))
		return true;
	while (next(n)) {
		if (xsp_clock_ns(CLOCK_MONOTONIC) >= until)
			return false;
		got = take(n, last, &notice);
		if (!got)
			return false;
		xsp_fd_close(n->conn);
		n->conn = -1;
		if (got > 0)
			hear(data, &notice);
	}
	return true;
}

/* Return: 0; -EPIPE the recorder stopped waiting for the message; -ENOTCONN no recorder. */
static int send_once(const struct sockaddr_un *un, socklen_t len, const struct message *m)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), ret = 0;

	if (fd < 0)
		return -ENOTCONN;
	/* EAGAIN: the queue is full, so a recorder exists. */
	if (connect(fd, (const struct sockaddr *)un, len))
		ret = errno == EAGAIN ? 0 : -ENOTCONN;
	else if (m->err && send(fd, m, sizeof(*m), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(*m))
		ret = -EPIPE;
	close(fd);
	return ret;
}

int xsp_notice_send(const char *session, int err)
{
	struct message m = { .err = err };
	int tries = SEND_TRIES, ret = -ENOTCONN;
	struct sockaddr_un un;
	socklen_t len;

	if (name_of(session, m.session))
		return -ENOTCONN;
	len = address(&un, m.session);
	/*
	 * On a busy machine we may be preempted between connect() and send() until the recorder
	 * gives up.
	 */
	while (len && tries-- && (ret = send_once(&un, len, &m)) == -EPIPE)
		;
	return ret == -EPIPE ? 0 : ret;
}

const char *xsp_notice_reason(int err)
{
	switch (err) {
	case -EPERM:
	case -ENOSYS:
		return "its seccomp filter denies opening the session's directory";
	case -EACCES:
		return "its user has no access to the session: start a recorder as that user";
	case -ENOENT:
	case -ENOTDIR:
		return "it cannot find the session's directory (chroot, container): give it the "
		       "recorder's /dev/shm, or the same XSPROF_SHM_DIR";
	default:
		return "it cannot open the session's directory";
	}
}
