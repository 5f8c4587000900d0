/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What a program is asked for by its environment and by xsprof_init().
 */
#ifndef XSP_RING_CONFIG_H
#define XSP_RING_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env-limits.h"
#include "base/own.h"

enum xsp_choice {
	XSP_CHOICE_AUTO = 0,	/* the device where there is one, else tmpfs */
	XSP_CHOICE_DEVICE,
	XSP_CHOICE_TMPFS,
	XSP_CHOICE_NONE,	/* no recording at all */
};

/**
 * struct xsp_config - what the environment and xsprof_init() ask for
 * @session: directory of the recorder's session, NULL for none
 * @record: file that the process records itself into, NULL for none
 * @clock: "auto" or "mono"
 * @categories: list of categories, NULL for all
 * @ring_size: bytes
 * @arena_size: bytes
 * @mode: enum xsprof_mode, when it is given
 * @has_mode: it is
 * @backend: enum xsp_choice
 * @lock_rings: how many, 0 for the default
 * @prefault: touch all ring memory at attach
 * @recording: it does record itself, into @record
 * @sched: the kernel is to record what the scheduler does with the process' threads
 */
struct xsp_config {
	const char	*session;
	const char	*record;
	const char	*clock;
	const char	*categories;
	uint64_t	ring_size;
	uint64_t	arena_size;
	uint32_t	mode;
	uint32_t	backend;
	uint32_t	lock_rings;
	bool		has_mode;
	bool		prefault;
	bool		recording;
	bool		sched;
};

extern struct xsp_config xsp_config XSP_HIDDEN;
void xsp_config_read(void) XSP_HIDDEN;

/**
 * struct xsp_wrong - a variable whose value was not taken as it is
 * @name: of the variable
 * @expected: what it may be
 * @instead: what is used
 */
struct xsp_wrong {
	const char	*name;
	const char	*expected;
	const char	*instead;
};

/* Those of the last xsp_config_read(), each once. */
const struct xsp_wrong *xsp_config_wrong(uint32_t *nr) XSP_HIDDEN;
bool xsp_category_wanted(const char *name, size_t len) XSP_HIDDEN;

#endif /* XSP_RING_CONFIG_H */
