/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the kernel's tracer share: ftrace.c has the instance and its life, events.c
 * which events, tasks.c whose, read.c their way into the capture, meta.c what it takes to decode
 * them.
 */
#ifndef XSPROF_FTRACE_LOCAL_H
#define XSPROF_FTRACE_LOCAL_H

#include <tracefs.h>

#include "ftrace/ftrace.h"

/**
 * struct ftrace_cpu - one CPU's buffer
 * @cpu: its number
 * @fd: its trace_pipe_raw
 * @pos: slots read so far
 * @unsaved: of them, how many are not in the file
 * @err: the first -errno of reading it
 */
struct ftrace_cpu {
	uint32_t	cpu;
	int		fd;
	uint64_t	pos;
	uint64_t	unsaved;
	int		err;
};

/**
 * struct ftrace_list - names of events, "system/event"
 * @names: them, sorted, each once
 * @nr: how many
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
	int			held;		/* open: nobody else removes it */
	int			mark;		/* while the command's number is unknown */
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
	uint64_t		next;		/* when the next is due */
	uint64_t		swept;		/* when the last look at what is not full was */
	bool			behind;		/* that look left something in the buffers */
};

/* events.c.  Return: 0; TOOL_USAGE after a message. */
int ftrace_choose(const struct ftrace_options *opts, const char *dir, struct ftrace_list *list);
void ftrace_list_free(struct ftrace_list *list);
/*
 * What the kernel refuses is told, on stderr and in the capture, and taken from the list.
 * Return: 0; the first -errno when it refused all.
 */
int ftrace_enable(struct ftrace *ft, struct xsp_cap *cap);

/* tasks.c: only these processes and what they start; or the one that has written the mark. */
int ftrace_set_tasks(struct ftrace *ft, const pid_t *processes, uint32_t nr);

/* meta.c */
int ftrace_read_layout(struct ftrace *ft);
int ftrace_write_meta(struct ftrace *ft, struct xsp_cap *cap);
void ftrace_write_tasks(struct ftrace *ft, struct xsp_cap *cap);
/* The tracer's clock now; 0: it is none that can be read here. */
uint64_t ftrace_ticks(const struct ftrace *ft);
/* All that the tracer kept until @ticks of its clock is in the capture; 0: says nothing. */
void ftrace_write_until(struct xsp_cap *cap, uint64_t ticks);

/* read.c */
int ftrace_open_cpus(struct ftrace *ft);
void ftrace_close_cpus(struct ftrace *ft);
/*
 * Full sub-buffers; with @rest also those that are not, and then sets @behind.  Return: the most
 * that a CPU had.
 */
uint64_t ftrace_read_cpus(struct ftrace *ft, struct xsp_cap *cap, bool rest);
void ftrace_write_ledgers(struct ftrace *ft, struct xsp_cap *cap, struct ftrace_stats *stats);

#endif /* XSPROF_FTRACE_LOCAL_H */
