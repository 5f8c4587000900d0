/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command being recorded: how it is started, which signals reach it, and how it and its
 * descendants end.  It knows nothing of recording.
 */
#ifndef XSPROF_LAUNCH_H
#define XSPROF_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#define LAUNCH_REAPED	1024	/* descendants remembered, newest first */

/**
 * struct launch_reaped - a process that was waited for
 * @pid: process id
 * @start_time: its start, so that a number used again is not taken for it
 * @status: as wait() gave it
 */
struct launch_reaped {
	pid_t		pid;
	uint64_t	start_time;
	int		status;
};

/**
 * struct launch - a command and its descendants
 * @pid: the command
 * @ended: it has
 * @status: as wait() gave it
 * @children: some child of ours is left, the command or a descendant that lost its parent
 * @sigfd: signals that came for us
 * @last_signal: the last of those that ask to end
 * @asked: how many of them there were
 * @reaped: who was waited for
 * @nr_reaped: how many, ever
 * @held: called once the process is there and before it is the command, so that it can be
 *	looked for from its first instruction on; may be NULL
 * @held_data: passed to it
 * @data_out: standard output is where our data go: what the command prints goes to standard error
 * @mark: -1, or where the process writes "xsprof" before it is the command
 * @old_mask: signal mask before
 * @old_pipe: SIGPIPE before
 * @old_xfsz: SIGXFSZ before
 * @old_chld: SIGCHLD before
 * @old_files: limit on descriptors before
 */
struct launch {
	pid_t			pid;
	bool			ended;
	int			status;
	bool			children;
	int			sigfd;
	int			last_signal;
	unsigned int		asked;
	struct launch_reaped	reaped[LAUNCH_REAPED];
	uint64_t		nr_reaped;
	void			(*held)(void *data, pid_t pid);
	void			*held_data;
	bool			data_out;
	int			mark;
	sigset_t		old_mask;
	struct sigaction	old_pipe;
	struct sigaction	old_xfsz;
	struct sigaction	old_chld;
	struct rlimit		old_files;
};

/**
 * launch_find - is there such a command?
 * @name: as in argv[0]
 * @path: set to what would be executed, or to @name
 *
 * Return: 0; -ENOENT not found; -EACCES, ... found and cannot be executed.
 */
int launch_find(const char *name, char *path, size_t size);

/* Takes signals into our own hands, and makes orphaned descendants ours to wait for. */
int launch_prepare(struct launch *l);

/**
 * launch_start - run the command, with stdin, stdout (but for @data_out) and stderr as they are
 * @l: prepared
 * @argv: the command
 * @env: "NAME=value", ends with NULL: added to the environment
 *
 * Return: 0 once the command is running; else -errno, that of execve() among them.
 */
int launch_start(struct launch *l, char **argv, char **env);

/* Reads @sigfd: passes signals on, waits for who has ended.  Return: true when one has. */
bool launch_serve(struct launch *l);

/* How a process of that id and start ended.  Return: true when it was waited for. */
bool launch_status(const struct launch *l, pid_t pid, uint64_t start_time, int *status);

#endif /* XSPROF_LAUNCH_H */
