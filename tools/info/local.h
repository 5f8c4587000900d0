/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of `xsprof info` share: info.c reads the capture, missed.c what collectors say of
 * losses, print.c prints.
 */
#ifndef XSPROF_INFO_LOCAL_H
#define XSPROF_INFO_LOCAL_H

#include "cli/reading.h"
#include "report/open.h"

#define INFO_MISSED	64u

/**
 * struct info - what a capture says of itself
 * @all: the whole, after every event was read
 * @threads: threads seen, by producer number
 * @threads_full: there were more threads than could be told apart
 * @read_slots: slots stored in the file, by the rings' ledgers
 * @open: what was open at the ends of processes
 * @missed: what collectors could not record: how much of it, in which process
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
	struct {
		const char		*text;
		uint64_t		n;
		uint32_t		producer;
		uint32_t		name;
	} missed[INFO_MISSED];
	uint32_t			nr_missed;
};

/* Of every event. */
void info_missed_event(struct info *info, const struct xsprof_event *ev);
void info_missed_print(const struct info *info);
void info_missed_json(const struct info *info);

void info_print(const struct info *info);
void info_print_json(const struct info *info);

#endif /* XSPROF_INFO_LOCAL_H */
