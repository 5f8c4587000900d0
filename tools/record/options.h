/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options of `xsprof record`.
 */
#ifndef XSPROF_RECORD_OPTIONS_H
#define XSPROF_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/attach.h"
#include "ftrace/ftrace.h"

#define FLIGHT_WATCH_MAX	64u	/* limit of names to watch */

/**
 * struct flight_options - options of the flight recorder; all zeros: none
 * @on: --flight was given
 * @size: bytes of a ring, 0 if not given
 * @last_ns: keep only the last so many ns, 0 for everything in the rings
 * @watch: names or patterns of ranges
 * @nr_watch: number of @watch
 * @stall_ns: how long such a range may stay open, 0 for the default
 * @files: limit of automatic snapshots, 0 for the default
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
 * @output: path of the file
 * @mode: "discard" or "overwrite", NULL for the library's default
 * @categories: list, NULL for all
 * @clock: "auto" or "mono", NULL for the default
 * @backend: "auto", "device" or "tmpfs", NULL: the environment decides
 * @buffer: bytes of a ring, 0 for the library's default
 * @duration: ns to record, 0 for all
 * @level: zstd level, 0 for none
 * @prefault: allocate all ring memory at once
 * @sched: record scheduler events of the threads
 * @itt: load the ITT collector
 * @nvtx: load the NVTX collector
 * @collectors: load plug-in collectors, if there are any
 * @gpu: load the CUPTI collector in programs with CUDA
 * @gpu_what: further CUDA records, as words; NULL: none
 * @gpu_share: share CUPTI with other users
 * @metrics: metrics of GPUs, comma-separated; NULL: none
 * @metrics_by: of what: "device", sampled, or "kernel"; NULL: the collector's default
 * @metrics_hz: samples per second; NULL: the collector's default
 * @gpu_budget: limit of the collector's cost, in per cent of a CPU; NULL: none
 * @torch: details of PyTorch's ops, NULL for the default
 * @cstack: with native stacks
 * @python: record waits of Python's threads
 * @no_python: --no-python was given: @python is false
 * @python_trace: modules whose functions are recorded, comma-separated, or "all"; NULL: none
 * @python_native: Python samples include native frames
 * @python_hz: Python samples per second; 0: none
 * @realtime: SCHED_FIFO priority of the recorder, 0: not realtime
 * @wait_all: wait until all descendants have ended
 * @allow_lost: exit with status 0 if records were lost
 * @quiet: errors only
 * @verbose: print progress messages
 * @flight: flight recorder
 * @kernel: kernel events
 * @attach: running processes instead of a command
 * @load: load our library into these processes
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
	bool		no_python;
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
	const char	*metrics_by;
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
