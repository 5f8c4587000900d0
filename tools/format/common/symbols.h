/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Addresses of the kernel in a capture: functions, and strings to which events refer by address.
 * One table for all kinds of events, of which there may be hundreds.
 */
#ifndef XSPROF_OUT_SYMBOLS_H
#define XSPROF_OUT_SYMBOLS_H

#include <stdint.h>

#include <xsprof/trace.h>

struct xsp_symbols;

/* Return: 0 or -ENOMEM. */
int xsp_symbols_new(const struct xsprof_trace *trace, struct xsp_symbols **symbols);
void xsp_symbols_free(struct xsp_symbols *symbols);

/*
 * The function that contains @addr, and its begin; valid until the next call. NULL: not known.
 */
const char *xsp_symbols_function(struct xsp_symbols *symbols, uint64_t *addr);

/* Calls @add for every text of printk_formats, including the quotes, up to a limit. */
void xsp_symbols_texts(struct xsp_symbols *symbols,
		       void (*add)(void *data, uint64_t addr, const char *text), void *data);

#endif /* XSPROF_OUT_SYMBOLS_H */
