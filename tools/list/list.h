/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints sessions and the device's producers, for `xsprof list` and `xsprof recover --list`.
 */
#ifndef XSPROF_LIST_H
#define XSPROF_LIST_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct list_session - a session with producers on the device
 * @cookie: the device's number of the session
 * @recorder: process id of its recorder
 * @alive: the recorder lives
 */
struct list_session {
	uint64_t	cookie;
	uint32_t	recorder;
	bool		alive;
};

/**
 * struct list_options - which sessions to print
 * @dead_only: only sessions whose recorder is dead
 * @shown: out: number of sessions and device producers printed
 * @device_shown: of these, device producers
 * @sessions: sessions found, freed by list_device()
 * @nr_sessions: number of @sessions
 */
struct list_options {
	bool			dead_only;
	unsigned int		shown;
	unsigned int		device_shown;
	struct list_session	*sessions;
	unsigned int		nr_sessions;
};

/* Return: 0, or an exit status after a message. */
int list_sessions(struct list_options *opts);

/* Prints the device's producers, after the sessions. Return: 0, or an exit status as above. */
int list_device(struct list_options *opts);

#endif /* XSPROF_LIST_H */
