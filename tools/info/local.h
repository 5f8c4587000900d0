/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of `xsprof info` share: info.c reads the capture, missed.c what collectors say of
 * losses, clocks.c how far clocks are apart, print.c prints.
 */
#ifndef XSPROF_INFO_LOCAL_H
#define XSPROF_INFO_LOCAL_H

#include "cli/reading.h"
#include "report/open.h"

#define INFO_MISSED	64u
#define INFO_CLOCKS	64u

/**
 * struct info_clock - the clock of a device, as a process knows it
 * @producer: the process
 * @pid: its number
 * @name: of the counter
 * @device: number of the device
 * @last_ns: how well it was known in the end
 * @worst_ns: and at worst
 */
struct info_clock {
	uint32_t	producer;
	uint32_t	pid;
	uint32_t	name;
	uint32_t	device;
	uint64_t	last_ns;
	uint64_t	worst_ns;
};

/**
 * struct info - what a capture says of itself
 * @all: the whole, after every event was read
 * @threads: threads seen, by producer number
 * @threads_full: there were more threads than could be told apart
 * @read_slots: slots stored in the file, by the rings' ledgers
 * @open: what was open at the ends of processes
 * @clocks: clocks of devices
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
	struct info_clock		clocks[INFO_CLOCKS];
	uint32_t			nr_clocks;
};

/* Of every event. */
void info_missed_event(struct info *info, const struct xsprof_event *ev);
void info_missed_print(const struct info *info);
void info_missed_json(const struct info *info);
/* The same of clocks. */
void info_clocks_event(struct info *info, const struct xsprof_event *ev);
void info_clocks_print(const struct info *info);
void info_clocks_json(const struct info *info);

void info_print(const struct info *info);
void info_print_json(const struct info *info);

#endif /* XSPROF_INFO_LOCAL_H */
