/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Reads memory that may not be mapped.
 */
#ifndef XSPROF_COLLECT_PEEK_H
#define XSPROF_COLLECT_PEEK_H

#include <stdbool.h>
#include <stddef.h>

/* Return: false: the memory is not readable, or this process may not ask. */
bool collect_peek(void *to, const void *from, size_t len);

#endif /* XSPROF_COLLECT_PEEK_H */
