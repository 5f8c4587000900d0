/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `xsprof record` was asked for.
 */
#ifndef XSPROF_RECORD_H
#define XSPROF_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/attach.h"
#include "ftrace/ftrace.h"
#include "record/flight.h"

/**
 * struct record_options - the options of a recording
 * @output: file
 * @mode: "discard" or "overwrite", NULL for the library's default
 * @categories: list, NULL for all
 * @clock: "auto" or "mono", NULL for the default
 * @backend: "auto", "device" or "tmpfs", NULL where the environment decides
 * @buffer: bytes of a ring, 0 for the library's default
 * @duration: ns to record, 0 for all
 * @level: zstd's, 0 for none
 * @prefault: rings get their memory at once
 * @sched: what the scheduler does with the threads is recorded
 * @itt: programs with ITT calls load our collector
 * @wait_all: until all descendants have ended
 * @quiet: errors only
 * @verbose: say what happens
 * @flight: keep the last part only
 * @kernel: the events of the kernel
 * @attach: running processes instead of a command
 * @argv: the command; empty with @attach
 */
struct record_options {
	const char	*output;
	const char	*mode;
	const char	*categories;
	const char	*clock;
	const char	*backend;
	uint64_t	buffer;
	uint64_t	duration;
	int		level;
	bool		prefault;
	bool		sched;
	bool		itt;
	bool		wait_all;
	bool		quiet;
	bool		verbose;
	struct flight_options flight;
	struct ftrace_options kernel;
	struct attach	attach;
	char		**argv;
};

/**
 * record_parse - read the options
 * @argc: arguments, the verb first
 * @argv: arguments
 * @opts: filled in
 *
 * Return: -1 to go on; else the exit status: help was asked for, or an error reported.
 */
int record_parse(int argc, char **argv, struct record_options *opts);

#endif /* XSPROF_RECORD_H */
