/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory shared by a dump (apart.c) and the process that formats events for it (apart-serve.c).
 */
#ifndef XSPROF_OUT_APART_LOCAL_H
#define XSPROF_OUT_APART_LOCAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/common/apart.h"
#include "format/common/library.h"

enum apart_what {
	APART_NOTHING,		/* no text */
	APART_TEXT,
	APART_UNKNOWN,		/* its trace has no such kind */
};

/**
 * struct apart_shared - a batch of events
 * @nr: number of events
 * @done: number of events formatted
 * @ask: position and kind of each event
 * @said: position of its text
 * @events: written by the dump
 * @texts: written by the process, each at a fixed place
 */
struct apart_shared {
	uint32_t		nr;
	_Atomic uint32_t	done;
	struct {
		uint32_t	id;
		uint32_t	at;
		uint32_t	size;	/* 0: not requested any more */
	} ask[XSP_APART_EVENTS];
	struct apart_said {
		uint32_t	what;
		uint32_t	len;
	} said[XSP_APART_EVENTS];
	uint8_t			events[XSP_APART_EVENTS * XSP_LIBRARY_EVENT];
	char			texts[XSP_APART_EVENTS][XSP_LIBRARY_TEXT];
};

/* Main loop of the process: formats a batch for each byte from @fd, until @parent ends. */
void apart_serve(const struct xsprof_trace *trace, struct apart_shared *shared, int fd,
		 pid_t parent) __attribute__((noreturn));

#endif /* XSPROF_OUT_APART_LOCAL_H */
