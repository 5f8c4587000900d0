/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sessions of this user: iterating over them, and removing obsolete ones.
 */
#ifndef XSPROF_SESSION_H
#define XSPROF_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "read/recording.h"

/**
 * struct session_seen - a session during a visit
 * @s: open
 * @name: name of its folder
 * @alive: it has a living recorder
 * @files: ring files in it
 * @producers: these, and its producers in the device
 * @living: of these, producers of living processes
 * @same_boot: created since this boot
 * @age: seconds since its last new file
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

/* Removes obsolete sessions; unless @quiet, reports once what `xsprof recover` could still save. */
void session_clean(bool quiet);

/* Reports the place of our sessions if another user has taken the usual one. */
/* For root by sudo: reports recordings of the user who called it. */
void session_say_sudo(void);
void session_say_place(const struct xsp_recording *s);

/* Prints an error of read/recording.h, such as "cannot make a session". */
int session_error(const char *object, int err);

#endif /* XSPROF_SESSION_H */
