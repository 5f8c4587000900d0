/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files for the kernel's tracer: ftrace.c has the instance and its lifetime, events.c
 * chooses events, tasks.c tasks, read.c copies the buffers into the capture, meta.c writes the
 * metadata to decode them.
 */
#ifndef XSPROF_FTRACE_LOCAL_H
#define XSPROF_FTRACE_LOCAL_H

#include <tracefs.h>

#include "ftrace/ftrace.h"

/**
 * struct ftrace_cpu - one CPU's buffer
 * @cpu: its number
 * @fd: its trace_pipe_raw
 * @pos: slots read
 * @unsaved: slots read that are not in the file
 * @err: the first -errno of a read
 */
struct ftrace_cpu {
	uint32_t	cpu;
	int		fd;
	uint64_t	pos;
	uint64_t	unsaved;
	int		err;
};

/**
 * struct ftrace_list - event names, "system/event"
 * @names: names, sorted, without duplicates
 * @nr: their number
 */
struct ftrace_list {
	char		**names;
	uint32_t	nr;
	uint32_t	room;
};

struct ftrace {
	struct tracefs_instance	*instance;
	const char		*dir;		/* of tracefs */
	const char		*clock;
	bool			tree;
	int			held;		/* an open file of it: prevents removal */
	int			mark;		/* while the command's pid is unknown */
	uint32_t		subbuf;
	uint32_t		data_off;
	uint32_t		commit_off;
	uint32_t		long_size;
	struct ftrace_list	events;
	struct ftrace_cpu	*cpus;
	uint32_t		nr_cpus;
	int			pipe[2];
	uint8_t			*buf;		/* of one chunk */
	uint32_t		buf_size;
	uint64_t		buffer;		/* bytes a CPU */
	uint64_t		period;		/* ns between looks */
	uint64_t		next;		/* time of the next read */
	uint64_t		swept;		/* time of the last read of partial sub-buffers */
	bool			behind;		/* that read left data in the buffers */
};

/* events.c.  Return: 0; TOOL_USAGE after a message. */
int ftrace_choose(const struct ftrace_options *opts, const char *dir, struct ftrace_list *list);
void ftrace_list_free(struct ftrace_list *list);
/*
 * Enables the events; an event that the kernel refuses is reported, on stderr and in the capture,
 * and removed from the list. Return: 0; the first -errno if all were refused.
 */
int ftrace_enable(struct ftrace *ft, struct xsp_cap *cap);

/* tasks.c: traces only these processes and their children; or the process that wrote the mark. */
int ftrace_set_tasks(struct ftrace *ft, const pid_t *processes, uint32_t nr);

/* meta.c */
int ftrace_read_layout(struct ftrace *ft);
int ftrace_write_meta(struct ftrace *ft, struct xsp_cap *cap);
void ftrace_write_tasks(struct ftrace *ft, struct xsp_cap *cap);
/* The tracer's clock now; 0: it cannot be read here. */
uint64_t ftrace_ticks(const struct ftrace *ft);
/* Notes that all events up to @ticks are in the capture; 0: notes nothing. */
void ftrace_write_until(struct xsp_cap *cap, uint64_t ticks);

/* read.c */
int ftrace_open_cpus(struct ftrace *ft);
void ftrace_close_cpus(struct ftrace *ft);
/*
 * Reads full sub-buffers; with @rest also partial ones, and sets @behind. Return: the most bytes
 * that one CPU had.
 */
uint64_t ftrace_read_cpus(struct ftrace *ft, struct xsp_cap *cap, bool rest);
void ftrace_write_ledgers(struct ftrace *ft, struct xsp_cap *cap, struct ftrace_stats *stats);

#endif /* XSPROF_FTRACE_LOCAL_H */
