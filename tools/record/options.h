/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `xsprof record` was asked for.  It has no function.
 */
#ifndef XSPROF_RECORD_OPTIONS_H
#define XSPROF_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/attach.h"
#include "ftrace/ftrace.h"

#define FLIGHT_WATCH_MAX	64u	/* names to watch */

/**
 * struct flight_options - what was asked for; all zeros is no flight recorder
 * @on: --flight was given
 * @size: bytes of a ring, 0 where it was not said
 * @last_ns: only the last so many ns, 0 for all that rings hold
 * @watch: names or patterns
 * @nr_watch: how many
 * @stall_ns: how long such a range may stay open, 0 for the default
 * @files: automatic snapshots at most, 0 for the default
 */
struct flight_options {
	bool		on;
	uint64_t	size;
	uint64_t	last_ns;
	const char	*watch[FLIGHT_WATCH_MAX];
	uint32_t	nr_watch;
	uint64_t	stall_ns;
	uint32_t	files;
};

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
 * @nvtx: those with NVTX calls load that one
 * @collectors: programs load collectors that are files, where there are any
 * @gpu: those that use CUDA load the collector of CUPTI
 * @gpu_what: words, of what else is recorded of CUDA; NULL: none
 * @gpu_share: with other users of CUPTI
 * @metrics: counters of GPUs that are sampled, by commas; NULL: none
 * @metrics_hz: how often a second; NULL: the collector's default
 * @gpu_budget: what that may cost, in per cent of a CPU; NULL: any
 * @torch: what is recorded of PyTorch's ops, NULL for the default
 * @cstack: their native stacks as well
 * @python: what Python's threads wait for is recorded
 * @python_trace: modules whose functions are recorded, by commas, "all"; NULL: none
 * @python_native: samples of Python have frames of C as well
 * @python_hz: and where they are, so often a second; 0: not
 * @realtime: the recorder's priority under SCHED_FIFO, 0 for an ordinary one
 * @wait_all: until all descendants have ended
 * @allow_lost: exit with status 0 if records were lost
 * @quiet: errors only
 * @verbose: say what happens
 * @flight: keep the last part only
 * @kernel: the events of the kernel
 * @attach: running processes instead of a command
 * @load: our library is loaded into these
 * @argv: the command; empty with @attach
 */
struct record_options {
	const char	*output;
	const char	*mode;
	const char	*categories;
	const char	*clock;
	const char	*backend;
	const char	*torch;
	bool		cstack;
	bool		python;
	const char	*python_trace;
	bool		python_native;
	uint32_t	python_hz;
	uint64_t	buffer;
	uint64_t	duration;
	int		level;
	bool		prefault;
	bool		sched;
	bool		itt;
	bool		nvtx;
	bool		collectors;
	bool		gpu;
	const char	*gpu_what;
	bool		gpu_share;
	const char	*metrics;
	const char	*metrics_hz;
	const char	*gpu_budget;
	uint32_t	realtime;
	bool		wait_all;
	bool		allow_lost;
	bool		quiet;
	bool		verbose;
	struct flight_options flight;
	struct ftrace_options kernel;
	struct attach	attach;
	bool		load;
	char		**argv;
};

#endif /* XSPROF_RECORD_OPTIONS_H */
