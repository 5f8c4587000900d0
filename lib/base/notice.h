/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Notices: how a process that cannot reach its session's folder reports that to the recorder.
 *
 * A program executed as another user, in another root directory or with its own /dev/shm finds the
 * session's name in its environment but cannot reach the folder. The recorder listens on an
 * abstract socket. The kernel reports which process connects and as which user; the message
 * contains the reason and the full name of the session: the socket's name, which every user can
 * list, is only a part of it.
 */
#ifndef XSP_BASE_NOTICE_H
#define XSP_BASE_NOTICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/own.h"

#define XSP_NOTICE_NAME	96u	/* maximum length of a session's name */

/**
 * struct xsp_notice - a process that cannot be recorded
 * @pid: process id in the receiver's namespace; 0 if it has none
 * @uid: its effective user
 * @err: the reason: -EACCES, -ENOENT or another negative errno of opening the session
 */
struct xsp_notice {
	pid_t		pid;
	uid_t		uid;
	int		err;
};

/**
 * struct xsp_notices - the recorder's side
 * @fd: listening socket; -1 for none
 * @conn: a connection whose message has not arrived yet, -1 for none
 * @since: time of @conn, CLOCK_MONOTONIC, ns
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
 * @n: filled in; @n->fd is -1 on failure
 * @session: folder of the session
 *
 * Return: 0 or -errno.
 */
int xsp_notices_open(struct xsp_notices *n, const char *session) XSP_HIDDEN;

/* Stops listening. */
void xsp_notices_close(struct xsp_notices *n) XSP_HIDDEN;

/**
 * xsp_notices_hear() - read the notices that have arrived
 * @n: open, or not
 * @last: wait a few ms for each notice that is under way
 * @hear: called for each
 * @data: passed to it
 *
 * Every user of the machine can connect, as often as they want: a call takes a bounded time, and
 * the next one continues.
 *
 * Return: true if all were read.
 */
bool xsp_notices_hear(struct xsp_notices *n, bool last,
		      void (*hear)(void *data, const struct xsp_notice *notice),
		      void *data) XSP_HIDDEN;

/* Message for when the last call has not read all notices. */
#define XSP_NOTICES_LEFT \
	"more processes than could be heard say that they are not recorded, or only connect"

/**
 * xsp_notice_send() - tell the recorder that this process cannot reach its session
 * @session: folder of the session
 * @err: the reason, a negative errno; 0 only checks whether there is a recorder
 *
 * Signal-safe. Never waits.
 *
 * Return: 0; -ENOTCONN no recorder can be reached from here.
 */
int xsp_notice_send(const char *session, int err) XSP_HIDDEN;

/* The reason as text that follows "is not recorded: "; constant. */
const char *xsp_notice_reason(int err) XSP_HIDDEN;

#endif /* XSP_BASE_NOTICE_H */
