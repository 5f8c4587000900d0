/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What addresses of the kernel stand for, as a capture has it: functions, and texts that events
 * name by where they are.  One table for all kinds of events: there may be hundreds of them.
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
 * The function that @addr lies in, and where that begins; good until the next call.  NULL: none
 * is known.
 */
const char *xsp_symbols_function(struct xsp_symbols *symbols, uint64_t *addr);

/* Calls @add with every text of printk_formats, quotes and all, as long as there is room. */
void xsp_symbols_texts(struct xsp_symbols *symbols,
		       void (*add)(void *data, uint64_t addr, const char *text), void *data);

#endif /* XSPROF_OUT_SYMBOLS_H */
