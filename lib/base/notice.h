/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Notices: how a process that cannot reach the folder of its session says so to the recorder.
 *
 * A program that was executed as another user, in another root folder or with a /dev/shm of its
 * own finds the session's name in its environment and not the folder.  The recorder listens on a
 * socket whose name is not in any file system.  The kernel says which process connects, and as
 * which user; what it sends is the reason, and the session's whole name: the socket's name, which
 * everybody can list, is only a part of it.
 */
#ifndef XSP_BASE_NOTICE_H
#define XSP_BASE_NOTICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/own.h"

#define XSP_NOTICE_NAME	96u	/* bytes of a session's name */

/**
 * struct xsp_notice - a process that cannot be recorded
 * @pid: process, as the receiver sees it; 0 when it cannot
 * @uid: its effective user
 * @err: why: -EACCES, -ENOENT or another negative errno of opening the session
 */
struct xsp_notice {
	pid_t		pid;
	uid_t		uid;
	int		err;
};

/**
 * struct xsp_notices - the recorder's side
 * @fd: listens; -1 for none
 * @conn: a connection whose message has not come yet, -1 for none
 * @since: when @conn came, CLOCK_MONOTONIC, ns
 * @session: name of the session
 */
struct xsp_notices {
	int			fd;
	int			conn;
	uint64_t		since;
	char			session[XSP_NOTICE_NAME];
};

/**
 * xsp_notices_open() - listen
 * @n: filled in; @n->fd is -1 where this fails
 * @session: folder of the session
 *
 * Return: 0 or -errno.
 */
int xsp_notices_open(struct xsp_notices *n, const char *session) XSP_HIDDEN;

/* Stops listening. */
void xsp_notices_close(struct xsp_notices *n) XSP_HIDDEN;

/**
 * xsp_notices_hear() - take the notices that have come
 * @n: open, or not
 * @last: wait some ms for each that is on its way
 * @hear: called for each
 * @data: passed to it
 *
 * Every user of the machine may connect, as often as it wants: a call takes a bounded time, and
 * the next goes on.
 *
 * Return: have all been taken?
 */
bool xsp_notices_hear(struct xsp_notices *n, bool last,
		      void (*hear)(void *data, const struct xsp_notice *notice),
		      void *data) XSP_HIDDEN;

/* What is to be said where the last call has not taken all. */
#define XSP_NOTICES_LEFT \
	"more processes than could be heard say that they are not recorded, or only connect"

/**
 * xsp_notice_send() - tell the recorder that this process cannot reach its session
 * @session: folder of the session
 * @err: why, a negative errno; 0 only asks whether there is a recorder
 *
 * Signal-safe.  Never waits.
 *
 * Return: 0; -ENOTCONN no recorder that can be reached from here.
 */
int xsp_notice_send(const char *session, int err) XSP_HIDDEN;

/* Why, for people, to stand behind "is not recorded: "; constant text. */
const char *xsp_notice_reason(int err) XSP_HIDDEN;

#endif /* XSP_BASE_NOTICE_H */
