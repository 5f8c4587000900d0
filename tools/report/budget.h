/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Steps of a GPU budget, which a collector marks in the trace: what it no longer records.
 */
#ifndef XSPROF_REPORT_BUDGET_H
#define XSPROF_REPORT_BUDGET_H

#include <stdint.h>

#include <xsprof/trace.h>

#define GPU_BUDGET_STEPS	16u

/**
 * struct gpu_budget_step - from then on a process records less
 * @ns: when
 * @pid: the process
 * @text: the collector's
 */
struct gpu_budget_step {
	uint64_t	ns;
	uint32_t	pid;
	const char	*text;
};

struct gpu_report;

/* To be called for every event. */
void gpu_budget_event(struct gpu_report *gpu, const struct xsprof_event *ev);
void gpu_print_budget(const struct gpu_report *gpu);
void gpu_json_budget(const struct gpu_report *gpu);

#endif /* XSPROF_REPORT_BUDGET_H */
