/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a capture ended: the numbers of struct xsprof_cap_end.why.
 */
#ifndef XSPROF_WHY_ENDED_H
#define XSPROF_WHY_ENDED_H

enum tool_why {
	WHY_ENDED,	/* the command, or the processes named */
	WHY_SIGNAL,
	WHY_DURATION,
	WHY_ERROR,
	WHY_SNAPSHOT,
};

#endif /* XSPROF_WHY_ENDED_H */
