/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory that a dump (apart.c) and the process that prints for it (apart-serve.c) have both.
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
 * struct apart_shared - a batch
 * @nr: events of it
 * @done: those before it have been printed
 * @ask: where each event is, and of which kind
 * @said: where its text is
 * @events: the dump writes
 * @texts: the process writes, each into a place of its own
 */
struct apart_shared {
	uint32_t		nr;
	_Atomic uint32_t	done;
	struct {
		uint32_t	id;
		uint32_t	at;
		uint32_t	size;	/* 0: it is not asked for any more */
	} ask[XSP_APART_EVENTS];
	struct apart_said {
		uint32_t	what;
		uint32_t	len;
	} said[XSP_APART_EVENTS];
	uint8_t			events[XSP_APART_EVENTS * XSP_LIBRARY_EVENT];
	char			texts[XSP_APART_EVENTS][XSP_LIBRARY_TEXT];
};

/* The process: prints a batch for each byte from @fd, until @parent ends. */
void apart_serve(const struct xsprof_trace *trace, struct apart_shared *shared, int fd,
		 pid_t parent) __attribute__((noreturn));

#endif /* XSPROF_OUT_APART_LOCAL_H */
