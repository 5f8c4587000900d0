/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What collectors could not record, by their own count: counters "not recorded: ...", and facts of
 * the same text, which stay where counters were lost.
 */
#ifndef XSPROF_CLI_MISSED_H
#define XSPROF_CLI_MISSED_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/trace.h>

#define MISSED_ROWS	256u
#define MISSED_OF_ONE	32u	/* of a process */

/**
 * struct missed - a count of a collector in a process
 * @text: behind "not recorded: "
 * @category: of the collector
 * @producer: the process
 * @name: the counter's name; 0: none was read
 * @n: the count
 */
struct missed {
	const char	*text;
	const char	*category;
	uint32_t	producer;
	uint32_t	name;
	uint64_t	n;
};

struct missed_list {
	struct missed	v[MISSED_ROWS];
	uint32_t	nr;
	bool		full;	/* some found no place */
};

/* Takes a counter, of all events. */
void missed_event(struct missed_list *list, const struct xsprof_trace *trace,
		  const struct xsprof_event *ev);
/* Takes the facts, once the trace was read to its end. */
void missed_facts(struct missed_list *list, struct xsprof_trace *trace);
/* Its process; 0: not known. */
uint32_t missed_pid(const struct missed *row, struct xsprof_trace *trace);

#endif /* XSPROF_CLI_MISSED_H */
