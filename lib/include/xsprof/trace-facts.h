/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Facts about a trace: its producers, their ends and counts, texts of the recorder, and clocks.
 * Part of <xsprof/trace.h>, which includes it and has the rules for threads and errors. Texts are
 * valid until xsprof_trace_close().
 */
#ifndef XSPROF_TRACE_FACTS_H
#define XSPROF_TRACE_FACTS_H

#include <xsprof/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct xsprof_trace_producer - a producer
 * @number: its number in this trace
 * @pid: process id as the recorder saw it, else the producer's own
 * @ctl: its control page when it was found
 * @how: enum xsprof_cap_how, 0 while not known
 * @status: exit status or signal
 * @exit_ns: when it ended, 0 when the recorder did not see it end
 * @records: records returned as events so far, without ARGS records, which continue the record
 *	before them
 * @lost_records: records dropped (drops + busy + nomem + late), and those for which the file had no
 *	room, as far as the recorder counted them per producer
 * @lost_slots: slots overwritten unread
 * @bad_slots: damaged slots, skipped by recorder or decoder
 * @rings: rings with data
 * @exit_within_ns: it ended at @exit_ns or up to so many ns earlier; UINT32_MAX: that or more, see
 *	xsprof_trace_lived_ns(); 0 if @exit_ns is exact, or if its accuracy is not known
 */
struct xsprof_trace_producer {
	uint32_t	number;
	uint32_t	pid;
	const struct xsprof_ctl *ctl;
	uint32_t	how;
	int32_t		status;
	uint64_t	exit_ns;
	uint64_t	records;
	uint64_t	lost_records;
	uint64_t	lost_slots;
	uint64_t	bad_slots;
	uint32_t	rings;
	uint32_t	exit_within_ns;
};

/**
 * struct xsprof_trace_info - facts about the whole trace
 * @size_of: sizeof(struct xsprof_trace_info) of the caller, or 0
 * @producers: how many
 * @chunks: whole chunks in the file
 * @size: bytes of the file
 * @truncated: the file ends inside a chunk, or has no END chunk
 * @bad_chunks: chunks with a wrong checksum or content, skipped
 * @records: the sum over producers
 * @lost_records: the sum over producers, and those for which the file had no room, of any producer
 * @lost_slots: the sum
 * @bad_slots: the sum
 * @first_ns: earliest time seen in the file's hints, 0 when none
 * @last_ns: latest
 * @clock_kind: enum xsprof_clock_kind
 * @clock_freq: ticks per second, fitted
 * @clock_error_ns: bound of the error of times: residual of the fit plus the sync windows
 * @clock_points: sync points
 * @real_offset_ns: CLOCK_REALTIME - CLOCK_MONOTONIC at the first sync point
 * @end: the END chunk, NULL when there is none
 */
struct xsprof_trace_info {
	size_t		size_of;
	uint32_t	producers;
	uint32_t	truncated;
	uint64_t	chunks;
	uint64_t	size;
	uint64_t	bad_chunks;
	uint64_t	records;
	uint64_t	lost_records;
	uint64_t	lost_slots;
	uint64_t	bad_slots;
	uint64_t	first_ns;
	uint64_t	last_ns;
	uint32_t	clock_kind;
	uint32_t	clock_points;
	double		clock_freq;
	uint64_t	clock_error_ns;
	int64_t		real_offset_ns;
	const struct xsprof_cap_end *end;
};

/**
 * xsprof_trace_get_info() - facts about the whole trace, as far as it was read
 * @trace: handle
 * @info: filled, up to its @size_of bytes; @end is valid as long as the handle
 *
 * Counts of records and damage are complete after the last event.
 *
 * Return: 0; -EINVAL: invalid @size_of.
 */
int xsprof_trace_get_info(struct xsprof_trace *trace, struct xsprof_trace_info *info);

/**
 * xsprof_trace_get_producer() - facts about a producer
 * @trace: handle
 * @number: its number, from 0
 * @producer: filled; @ctl is valid as long as the handle
 *
 * Return: 0; -ENOENT: there is no such producer; -ENOMEM.
 */
int xsprof_trace_get_producer(struct xsprof_trace *trace, uint32_t number,
			      struct xsprof_trace_producer *producer);

/**
 * xsprof_trace_lived_ns() - when the process of a producer was last known to exist
 * @trace: handle
 * @producer: its number
 *
 * Return: the last time at which it was seen alive, if its end is known only to lie between that
 *	time and @exit_ns; otherwise @exit_ns; 0 if there is no such producer.
 */
uint64_t xsprof_trace_lived_ns(const struct xsprof_trace *trace, uint32_t producer);

/**
 * xsprof_trace_ran_ns() - when the process of a producer was last known to run
 * @trace: handle
 * @producer: its number
 *
 * A killed process exists until the kernel has freed its memory, but does not run. Ranges that were
 * open at its end ended between this time and @exit_ns.
 *
 * Return: the time; xsprof_trace_lived_ns() if that is all that is known; 0 if there is no such
 *	producer.
 */
uint64_t xsprof_trace_ran_ns(const struct xsprof_trace *trace, uint32_t producer);

/**
 * xsprof_trace_get_ledger() - the counts of a ring
 * @trace: handle
 * @producer: number of its producer
 * @index: 0, 1, ...: which of its rings with counts, in no particular order
 * @ledger: filled
 *
 * Return: 0; -ENOENT past the last, or if there is no such producer.
 */
int xsprof_trace_get_ledger(struct xsprof_trace *trace, uint32_t producer, uint32_t index,
			    struct xsprof_cap_ledger *ledger);

/* A fact about the host ("hostname") or a process ("exe", "cmdline", "env.RANK"); NULL if none. */
const char *xsprof_trace_host_fact(const struct xsprof_trace *trace, const char *key);
const char *xsprof_trace_fact(const struct xsprof_trace *trace, uint32_t producer,
			      const char *key);
/*
 * Fact number @index, 0 or higher: sets the two pointers, which are valid as long as the handle,
 * and returns 0; -ENOENT past the last.
 */
int xsprof_trace_fact_at(const struct xsprof_trace *trace, uint32_t producer, uint32_t index,
			 const char **key, const char **value);
int xsprof_trace_host_fact_at(const struct xsprof_trace *trace, uint32_t index,
			      const char **key, const char **value);
/* Note number @index of the recorder, about the recording; NULL past the last. */
const char *xsprof_trace_note(const struct xsprof_trace *trace, uint32_t index);

/**
 * xsprof_trace_get_sync() - a sync point: several clocks, read together
 * @trace: handle
 * @index: 0, 1, ... in the order of the file, which may differ from the order of time
 * @sync: filled; a clock that was not read is 0
 *
 * Return: 0; -ENOENT past the last.
 */
int xsprof_trace_get_sync(const struct xsprof_trace *trace, uint32_t index,
			  struct xsprof_sync *sync);

/* Convert ticks of this trace's clock to ns of CLOCK_MONOTONIC. */
uint64_t xsprof_trace_ticks_to_ns(const struct xsprof_trace *trace, uint64_t ticks);

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_TRACE_FACTS_H */
