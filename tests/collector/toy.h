/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The runtime of a made-up device: queues of jobs, which a thread "executes" by waiting. It has its
 * own clock, and like runtimes of real devices it reports its jobs to one tool. It does not use
 * xsprof.
 */
#ifndef TOY_H
#define TOY_H

#include <stdint.h>

/**
 * struct toy_job - a job
 * @name: its name
 * @id: its number, from 1
 * @ns: how long it is to take
 * @queue: which queue
 * @failed: it ended with an error
 * @queued: of toy_clock(), as the two below
 * @started: when it began
 * @ended: when it was over
 * @tool: the tool's
 */
struct toy_job {
	const char	*name;
	uint64_t	id;
	uint64_t	ns;
	uint32_t	queue;
	int		failed;
	uint64_t	queued;
	uint64_t	started;
	uint64_t	ended;
	uint64_t	tool[2];
};

/**
 * struct toy_tool - what a tool is told
 * @enter: a thread of the program is in toy_launch()
 * @leave: and at its end; the job may be over
 * @done: a job is over; by the thread of the device
 */
struct toy_tool {
	void	(*enter)(struct toy_job *job);
	void	(*leave)(struct toy_job *job);
	void	(*done)(const struct toy_job *job);
};

#define TOY_QUEUES	2u

/* NULL: none.  Afterwards none of the functions of the one before runs. */
typedef void toy_set_tool_fn(const struct toy_tool *tool);
toy_set_tool_fn toy_set_tool;
int toy_has_tool(void);

/* Nanoseconds; a clock that is wrong by 10 parts in a million, and some days ahead. */
uint64_t toy_clock(void);

/* A job that takes @ns; it fails where @name begins with "bad". */
void toy_launch(uint32_t queue, const char *name, uint64_t ns);
/* Until all jobs are over. */
void toy_wait(void);

#endif /* TOY_H */
