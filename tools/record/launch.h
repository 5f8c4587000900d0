/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorded command: how it is started, which signals it gets, and how it and its descendants
 * end. Independent of recording.
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
 * struct launch_reaped - a process that was reaped
 * @pid: process id
 * @start_time: its start time, as a pid may be reused
 * @status: status from wait()
 */
struct launch_reaped {
	pid_t		pid;
	uint64_t	start_time;
	int		status;
};

/**
 * struct launch - a command and its descendants
 * @pid: the command
 * @ended: it has ended
 * @status: its status from wait()
 * @children: we have a child: the command, or an orphaned descendant
 * @sigfd: signalfd
 * @last_signal: the last signal that requests the end
 * @asked: number of such signals
 * @reaped: processes that were reaped
 * @nr_reaped: their number so far
 * @held: called when the process exists and before it executes the command, so that it can be
 *	traced from its first instruction on; may be NULL
 * @held_data: passed to it
 * @data_out: stdout is for our data: the command's stdout is redirected to stderr
 * @mark: -1, or descriptor to which the process writes "xsprof" before it executes the command
 * @old_mask: previous signal mask
 * @old_pipe: previous action of SIGPIPE
 * @old_xfsz: previous action of SIGXFSZ
 * @old_chld: previous action of SIGCHLD
 * @old_files: previous limit of descriptors
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
 * launch_find - look up a command
 * @name: as in argv[0]
 * @path: set to the file that would be executed, or to @name
 *
 * Return: 0; -ENOENT not found; -EACCES, ... found but not executable.
 */
int launch_find(const char *name, char *path, size_t size);

/* Sets up signals, and becomes the reaper of orphaned descendants. */
int launch_prepare(struct launch *l);

/**
 * launch_start - run the command, with stdin, stdout (except with @data_out) and stderr unchanged
 * @l: prepared
 * @argv: the command
 * @env: "NAME=value", ends with NULL: added to the environment
 *
 * Return: 0 when the command is running; else -errno, e.g. that of execve().
 */
int launch_start(struct launch *l, char **argv, char **env);

/* Handles @sigfd: forwards signals, reaps processes. Return: true if one has ended. */
bool launch_serve(struct launch *l);

/* The status of the process with that pid and start time. Return: true if it was reaped. */
bool launch_status(const struct launch *l, pid_t pid, uint64_t start_time, int *status);

#endif /* XSPROF_LAUNCH_H */
