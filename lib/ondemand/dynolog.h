/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Messages between a process and dynolog's daemon.  Documentation/ondemand.rst has
 * the messages.
 */
#ifndef XSP_DYNOLOG_H
#define XSP_DYNOLOG_H

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "base/own.h"

#define XSP_DYNOLOG_TEXT_MAX	65536	/* limit of a configuration; longer ones are refused */
#define XSP_DYNOLOG_PIDS	11	/* this process and up to ten ancestors */
#define XSP_DYNOLOG_WAIT_MS	100	/* timeout of an answer */

/* Kinds of configuration that a process can accept, a bit each. */
#define XSP_DYNOLOG_EVENTS	1u
#define XSP_DYNOLOG_ACTIVITIES	2u

/**
 * struct xsp_dynolog - a client of the daemon
 * @fd: its socket, -1 for none
 * @id: identity of @fd, so that we never use another file of the program at its number
 * @own: address of our socket
 * @daemon: the daemon's address
 * @daemon_len: its size
 * @daemon_uid: uid of the daemon, besides root and our own; -1 for none
 * @any_uid: any uid may be the daemon
 * @job: id in the batch system, 0 for none
 * @bad: messages that are malformed, or not from the daemon
 */
struct xsp_dynolog {
	int			fd;
	struct xsp_fd_id	id;
	struct sockaddr_un	own;
	struct sockaddr_un	daemon;
	socklen_t		daemon_len;
	uid_t			daemon_uid;
	bool			any_uid;
	int64_t			job;
	uint64_t		bad;
};

int xsp_dynolog_open(struct xsp_dynolog *d) XSP_HIDDEN;
void xsp_dynolog_close(struct xsp_dynolog *d) XSP_HIDDEN;
void xsp_dynolog_forget(struct xsp_dynolog *d) XSP_HIDDEN;
bool xsp_dynolog_usable(const struct xsp_dynolog *d) XSP_HIDDEN;
int xsp_dynolog_register(struct xsp_dynolog *d, int32_t gpu, int32_t *instances) XSP_HIDDEN;
int xsp_dynolog_poll(struct xsp_dynolog *d, uint32_t types, const int32_t *pids, uint32_t n,
		     char *text, size_t room, size_t *len) XSP_HIDDEN;
uint32_t xsp_dynolog_pids(int32_t *pids, uint32_t n) XSP_HIDDEN;

#endif /* XSP_DYNOLOG_H */
