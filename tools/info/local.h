/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the two files of `xsprof info` share: info.c reads the capture, print.c prints.
 */
#ifndef XSPROF_INFO_LOCAL_H
#define XSPROF_INFO_LOCAL_H

#include "cli/reading.h"
#include "report/open.h"

/**
 * struct info - what a capture says of itself
 * @all: the whole, after every event was read
 * @threads: threads seen, by producer number
 * @threads_full: there were more threads than could be told apart
 * @read_slots: slots stored in the file, by the rings' ledgers
 * @open: what was open at the ends of processes
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
	uint64_t			lossy_ns;	/* up to then records may be missing */
	struct open_ranges		open;
};

void info_print(const struct info *info);
void info_print_json(const struct info *info);

#endif /* XSPROF_INFO_LOCAL_H */
