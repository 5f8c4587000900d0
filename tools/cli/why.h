/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reasons for the end of a capture: values of struct xsprof_cap_end.why.
 */
#ifndef XSPROF_WHY_ENDED_H
#define XSPROF_WHY_ENDED_H

enum tool_why {
	WHY_ENDED,	/* the command ended, or the named processes */
	WHY_SIGNAL,
	WHY_DURATION,
	WHY_ERROR,
	WHY_SNAPSHOT,
};

#endif /* XSPROF_WHY_ENDED_H */
