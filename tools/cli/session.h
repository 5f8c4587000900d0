/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All sessions of this user: walking them, and clearing away those that nobody needs.
 */
#ifndef XSPROF_SESSION_H
#define XSPROF_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "read/recording.h"

/**
 * struct session_seen - one session, while it is being looked at
 * @s: open
 * @name: its folder's name
 * @alive: its recorder lives
 * @files: ring files in it
 * @producers: these, and the device's that belong to it
 * @living: of these, held by a process that lives
 * @same_boot: made since this boot
 * @age: seconds since anything was made in it
 */
struct session_seen {
	struct xsp_recording	s;
	const char		*name;
	bool			alive;
	uint32_t		files;
	uint32_t		producers;
	uint32_t		living;
	bool			same_boot;
	int64_t			age;
};

/**
 * session_each - visit every session
 * @visit: called for each; a non-zero return ends the walk
 * @data: passed to it
 *
 * Return: 0, what @visit returned, or -errno; -ENOENT there is no folder of sessions.
 */
int session_each(int (*visit)(void *data, struct session_seen *seen), void *data);

/* Removes what nobody needs; names once, unless @quiet, what `xsprof recover` could still save. */
void session_clean(bool quiet);

/* Says where a session of ours is, if another user has the place where it is looked for. */
/* Root by sudo: says where the recordings of the user who called it are, where there are some. */
void session_say_sudo(void);
void session_say_place(const struct xsp_recording *s);

/* "cannot make a session" and the like: reports an error of read/session.h. */
int session_error(const char *object, int err);

#endif /* XSPROF_SESSION_H */
