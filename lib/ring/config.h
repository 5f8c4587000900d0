/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Configuration of a program by its environment and by xsprof_init().
 */
#ifndef XSP_RING_CONFIG_H
#define XSP_RING_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env-limits.h"
#include "base/own.h"

enum xsp_choice {
	XSP_CHOICE_AUTO = 0,	/* the device if there is one, else tmpfs */
	XSP_CHOICE_DEVICE,
	XSP_CHOICE_TMPFS,
	XSP_CHOICE_NONE,	/* no recording */
};

/**
 * struct xsp_config - configuration from the environment and xsprof_init()
 * @session: directory of the recorder's session, NULL for none
 * @record: file that the process records itself into, NULL for none
 * @clock: "auto" or "mono"
 * @categories: list of categories, NULL for all
 * @ring_size: bytes
 * @arena_size: bytes
 * @mode: enum xsprof_mode, if given
 * @has_mode: @mode is given
 * @backend: enum xsp_choice
 * @lock_rings: number of lock rings, 0 for the default
 * @prefault: touch all ring memory at attach
 * @recording: the process records itself into @record
 * @sched: the kernel shall record scheduler events of the process' threads
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
 * struct xsp_wrong - a variable with an invalid value
 * @name: of the variable
 * @expected: valid values
 * @instead: value used instead
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
