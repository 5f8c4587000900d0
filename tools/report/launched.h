/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Work of devices by the op or range in which the program launched it.
 */
#ifndef XSPROF_REPORT_LAUNCHED_H
#define XSPROF_REPORT_LAUNCHED_H

#include <stdint.h>

/* Where work was launched. */
enum gpu_launched_in {
	GPU_IN_UNKNOWN,		/* its call is not in the trace */
	GPU_IN_NO_CALL,		/* it has none, as what the driver moves */
	GPU_IN_NO_RANGE,	/* its thread was in none */
	GPU_LAUNCHED_INS,
	GPU_IN_RANGE = GPU_LAUNCHED_INS,
};

/**
 * struct gpu_launcher - ranges of a name
 * @in: enum gpu_launched_in
 * @range: their name, a word of the groups
 * @count: how much they launched themselves
 * @total: duration of what was launched in them, also by ranges inside; ns
 * @self: of what they launched themselves
 * @counted: for the reader
 */
struct gpu_launcher {
	uint32_t	in;
	uint32_t	range;
	uint64_t	count;
	uint64_t	total;
	uint64_t	self;
	uint32_t	counted;
};

#define GPU_LAUNCHED_ROWS	65536u

/**
 * struct gpu_launched_row - work of a name, launched by ranges of a name
 * @in: enum gpu_launched_in
 * @range: the innermost range, a word of the groups
 * @work: name of the work, a word of the groups
 * @count: how much
 * @ns: its duration
 */
struct gpu_launched_row {
	uint32_t	in;
	uint32_t	range;
	uint32_t	work;
	uint64_t	count;
	uint64_t	ns;
};

struct gpu_report;

/* Sets @launchers and @launched.  Return: 0 or -errno. */
int gpu_launched(struct gpu_report *gpu);
/* @rows: at most. */
void gpu_print_launchers(const struct gpu_report *gpu, uint64_t rows);
void gpu_print_launched(const struct gpu_report *gpu);
void gpu_json_launched(const struct gpu_report *gpu);

#endif /* XSPROF_REPORT_LAUNCHED_H */
