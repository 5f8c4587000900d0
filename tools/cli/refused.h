/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a collector was asked to record and could not, and why: sentences that it also said while
 * the program ran.  They are facts of the process, "gpu.refused.N".
 */
#ifndef XSPROF_CLI_REFUSED_H
#define XSPROF_CLI_REFUSED_H

#include <stdint.h>

#include <xsprof/trace.h>

/**
 * struct refused - iterates over the sentences of all processes; {} at first
 * @producer: the process
 * @fact: the next of its facts
 */
struct refused {
	uint32_t	producer;
	uint32_t	fact;
};

/* Return: the next sentence, NULL: there is none. @pid: of its process. */
const char *refused_next(struct refused *at, struct xsprof_trace *trace, uint32_t *pid);

#endif /* XSPROF_CLI_REFUSED_H */
