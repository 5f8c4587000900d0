/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times in which devices were not recorded: the collector was off to reduce overhead, its
 * categories were off, or records were lost.
 */
#ifndef XSPROF_REPORT_UNRECORDED_H
#define XSPROF_REPORT_UNRECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/trace.h>

struct gpu_busy;
struct gpu_report;

/**
 * struct gpu_unrecorded - what of its devices a process did not record
 * @times: when; NULL: it recorded all
 * @categories: bits of the categories of its activities
 * @off: since when these are off; 0: one is on
 * @whole: its latest event before which no record is missing
 * @worked: end of the last activity up to then
 * @ns: duration of XSPROF_GPU_UNRECORDED within the window
 * @cut: it ended without its exit handlers, which write what collectors still have
 */
struct gpu_unrecorded {
	struct gpu_busy	*times;
	uint64_t	categories;
	uint64_t	off;
	uint64_t	whole;
	uint64_t	worked;
	uint64_t	ns;
	bool		cut;
};

/* Takes an event, of all.  Return: 0 or -errno. */
int gpu_unrecorded_event(struct gpu_report *gpu, const struct xsprof_event *ev);
/* Then, for each device: @unknown and @unrecorded.  Return: 0 or -errno. */
int gpu_unrecorded_devices(struct gpu_report *gpu);
void gpu_unrecorded_free(struct gpu_report *gpu);

#endif /* XSPROF_REPORT_UNRECORDED_H */
