/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records of Python's GIL, as written by libxsprof-python:
 *
 *	BEGIN and END of "GIL wait"	a thread waits; after the end it holds the GIL, unless the
 *					end has an argument "taken" of 0
 *	INSTANT of "GIL taken"		it took the GIL without waiting, while others wait
 *	SPAN of "GIL held, wanted"	it held the GIL while others waited, and released it
 *	BEGIN of "garbage collection"	its thread collects, and holds the GIL meanwhile
 *
 * all in the category "python". An interpreter's own lock has a number, an argument "gil".
 */
#ifndef XSPROF_CAUSE_GIL_RECORD_H
#define XSPROF_CAUSE_GIL_RECORD_H

#include <stdbool.h>

#include <xsprof/trace.h>

enum gil_record { GIL_NOT_SEEN, GIL_OTHER, GIL_WAIT, GIL_TAKEN, GIL_HELD, GIL_COLLECTION };

#define GIL_NAMES	1024u

/* Cache of the names, the latest in each slot. Initially all zeros. */
struct gil_names {
	struct {
		uint64_t	key;	/* producer, name */
		enum gil_record	what;
	} v[GIL_NAMES];
};

enum gil_record gil_record_of(struct gil_names *names, const struct xsprof_trace *trace,
			      uint32_t producer, uint32_t name);
/* Reads a record. @holder: the thread in the record, 0: none. Return: the lock. */
uint64_t gil_record_lock(const struct xsprof_trace *trace, const struct xsprof_event *ev,
			 uint32_t *holder);
/* Does this END leave the thread without the lock that it waited for? */
bool gil_record_untaken(const struct xsprof_trace *trace, const struct xsprof_event *ev);

#endif /* XSPROF_CAUSE_GIL_RECORD_H */
