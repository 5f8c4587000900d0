/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * How much of what was recorded is missing in a trace.
 */
#ifndef XSP_LOSSES_H
#define XSP_LOSSES_H

#include <stdint.h>

#include <xsprof/trace.h>

/**
 * struct xsp_losses - what a trace has not
 * @records: records that were lost
 * @slots: slots that were overwritten before they were read
 * @bad_slots: slots that are no records
 */
struct xsp_losses {
	uint64_t	records;
	uint64_t	slots;
	uint64_t	bad_slots;
};

/* Of a session's file what was lost during the session, else all that the file counts. */
void xsp_losses_of(struct xsprof_trace *trace, struct xsp_losses *losses);

#endif /* XSP_LOSSES_H */
