/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The kernel's tracer in a capture: its events' descriptions and its tasks. Its sub-buffers are
 * streams like rings.
 */
#ifndef XST_KERNEL_H
#define XST_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "decode/clocks.h"
#include "decode/producer.h"
#include "decode/stream.h"
#include "decode/texts.h"

struct xsprof_event;
struct xsprof_kernel_event;
struct xsprof_kernel_field;

#define XST_KERNEL_FIELDS	256u	/* per kind of event */

/* Exit of a thread. */
struct xst_exit {
	uint64_t	ns;
	uint32_t	pid;
};

/**
 * struct xst_exits - exits of threads, collected to find ends of producers
 * @list: the exits
 * @nr: number of exits
 * @room: capacity of @list
 * @kind: kind of event of an exit
 * @pid: its pid field
 */
struct xst_exits {
	struct xst_exit				*list;
	uint32_t				nr;
	uint32_t				room;
	uint32_t				kind;
	const struct xsprof_kernel_field	*pid;
};

/* The producers that threads belong to (thread-ends.c). */
struct xst_owner;

struct xst_owners {
	struct xst_owner	*list;
	size_t			nr;
};

/**
 * struct xst_kernel - state of the kernel's tracer
 * @any: the capture has data of it
 * @producer: pseudo-producer of its streams, one per CPU
 * @fit: conversion of its clock, if that is not one of the markers' counters
 * @clock: name of its clock
 * @release: kernel release
 * @refused: why its events cannot be shown; NULL
 * @until: ticks up to which all its events are in the file, 0: not stated
 * @subbuf: size of a sub-buffer
 * @data_off: offset of the events in it
 * @commit_off: offset of its commit word
 * @long_size: size of the commit word
 * @kinds: kinds of events by id
 * @tasks: names by tid
 * @tgids: processes by tid: see xst_tgid_get()
 * @renamed: number of names in @tasks that were learnt from exits
 * @hints: times in chunk headers
 */
struct xst_kernel {
	bool			any;
	struct xst_producer	producer;
	struct xst_fit		fit;
	const struct xst_text	*clock;
	const struct xst_text	*release;
	const char		*refused;
	uint64_t		until;
	uint32_t		subbuf;
	uint32_t		data_off;
	uint32_t		commit_off;
	uint32_t		long_size;
	struct xsprof_kernel_event **kinds;
	uint32_t		room_kinds;
	uint32_t		nr_kinds;
	struct xsp_map		tasks;
	struct xsp_map		tgids;
	uint32_t		renamed;
	bool			namespaced;	/* the recorder's pids are not the kernel's */
	bool			learned;	/* tids.c and ends.c have processed all events */
	struct xst_exits	exits;
	struct xsp_map		votes;		/* by thread: the kernel's number, voted */
	struct xsp_map		elected;	/* by the kernel's number: the thread */
	uint32_t		*current;	/* by CPU: running thread, 0: unknown */
	const struct xsprof_kernel_field *next_pid;
	uint32_t		switch_id;
	const struct xsprof_kernel_field *new_pid;	/* of task_newtask, NULL without it */
	const struct xsprof_kernel_field *new_flags;
	uint32_t		new_id;
	const struct xsprof_kernel_field *exit_pid;	/* of sched_process_exit, likewise */
	const struct xsprof_kernel_field *exit_comm;
	uint32_t		exit_id;
	struct xst_owners	owners;
	struct xst_lines	symbols;
	struct xst_lines	printk;
	struct xst_hints	hints;
};

/* Value of @tgids: the process * 2, + 1 if the recorder saw it at the end; 0: unknown. */
static inline uint32_t xst_tgid_get(const struct xst_kernel *k, uint32_t tid)
{
	return (uint32_t)(uintptr_t)xst_map_get(&k->tgids, 0, tid);
}

/* The map stores numbers as pointers, which are never dereferenced. */
static inline int xst_tgid_set(struct xst_kernel *k, uint32_t tid, uint32_t tgid, bool seen)
{
	return xst_map_set(&k->tgids, 0, tid, (void *)(uintptr_t)(tgid << 1 | seen));
}

#define XST_MAX_TASKS	(4u << 20)	/* limit of pids */

int xst_kernel_add(struct xsprof_trace *t, const uint8_t *raw, size_t len);
struct xst_producer *xst_kernel_producer(struct xsprof_trace *t);
void xst_kernel_free(struct xsprof_trace *t);
/* kernel-kinds.c: adds a kind of event. Return: 0, -EBADMSG, -ENOMEM. */
int xst_kernel_add_format(struct xsprof_trace *t, const char *s, size_t len);
void xst_kernel_free_kinds(struct xst_kernel *k);
/* Like xst_stream_run(). */
size_t xst_kernel_run(struct xsprof_trace *t, struct xst_stream *s, struct xsprof_event *evs,
		      size_t max, uint64_t limit);
/* Error bound of the tracer's times. */
uint64_t xst_kernel_error(const struct xsprof_trace *t);

/* The 64-bit number at the start of a text; UINT64_MAX if it does not fit. */
static inline uint64_t xst_number64_of(const char *s, size_t len)
{
	uint64_t v = 0;

	for (; len && *s >= '0' && *s <= '9'; s++, len--)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return UINT64_MAX;
	return v;
}

/* The number at the start of a text. */
static inline uint32_t xst_number_of(const char *s, size_t len)
{
	uint32_t v = 0;

	for (; len && *s >= '0' && *s <= '9' && v < 100000000; s++, len--)
		v = v * 10 + (uint32_t)(*s - '0');
	return v;
}

#endif /* XST_KERNEL_H */
