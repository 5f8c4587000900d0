/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Printing sessions and the device's producers, for `xsprof list` and `xsprof recover --list`.
 */
#ifndef XSPROF_LIST_H
#define XSPROF_LIST_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct list_session - a session that producers of the device may belong to
 * @cookie: the device's number for it
 * @recorder: process id of its recorder
 * @alive: that lives
 */
struct list_session {
	uint64_t	cookie;
	uint32_t	recorder;
	bool		alive;
};

/**
 * struct list_options - which sessions
 * @dead_only: only those whose recorder is dead, and what it left
 * @shown: out: sessions and producers of the device that were printed
 * @device_shown: of these, the device's
 * @sessions: sessions met, freed by list_device()
 * @nr_sessions: how many
 */
struct list_options {
	bool			dead_only;
	unsigned int		shown;
	unsigned int		device_shown;
	struct list_session	*sessions;
	unsigned int		nr_sessions;
};

/* Return: 0, or an exit status with the error reported. */
int list_sessions(struct list_options *opts);

/* The producers of the device, after the sessions.  Return: 0, or an exit status as above. */
int list_device(struct list_options *opts);

#endif /* XSPROF_LIST_H */
