/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of `xsprof info`: info.c reads the capture, missed.c collects losses reported
 * by collectors, clocks.c clock errors, slices.c slices of GPUs, print.c prints.
 */
#ifndef XSPROF_INFO_LOCAL_H
#define XSPROF_INFO_LOCAL_H

#include "cli/missed.h"
#include "cli/reading.h"
#include "ranges/early.h"
#include "report/device-clocks.h"
#include "report/open.h"

/**
 * struct info - contents of a capture
 * @all: the trace's info, after every event was read
 * @threads: threads seen, by producer number
 * @threads_full: there were more threads than can be counted
 * @read_slots: slots stored in the file, by the ledgers of the rings
 * @open: ranges open at the ends of processes
 * @clocks: clocks of devices
 * @early: activities of devices that began before their call
 * @missed: amounts that collectors could not record, by process
 */
struct info {
	struct xsp_source		source;
	struct xsprof_trace_info	all;
	uint32_t			*threads;
	uint32_t			nr_threads;
	bool				threads_full;
	uint64_t			read_slots;
	uint64_t			first_ns;
	uint64_t			last_ns;
	uint64_t			lossy_ns;	/* records may be missing up to this time */
	struct open_ranges		open;
	struct missed_list		missed;
	struct device_clocks		clocks;
	struct xsp_early		early;
};

/* To be called for every event. */
void info_missed_print(const struct info *info);
void info_missed_json(const struct info *info);
/* To be called for every event, likewise for clocks. */
void info_clocks_event(struct info *info, const struct xsprof_event *ev);
void info_clocks_print(const struct info *info);
void info_clocks_json(const struct info *info);

/* Devices that are slices of a GPU. */
void info_slices_print(const struct info *info);

void info_print(const struct info *info);
void info_print_json(const struct info *info);

#endif /* XSPROF_INFO_LOCAL_H */
