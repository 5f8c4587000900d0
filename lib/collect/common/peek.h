/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Memory that may not be there.
 */
#ifndef XSPROF_COLLECT_PEEK_H
#define XSPROF_COLLECT_PEEK_H

#include <stdbool.h>
#include <stddef.h>

/* Return: false: it is not there, or this process may not ask. */
bool collect_peek(void *to, const void *from, size_t len);

#endif /* XSPROF_COLLECT_PEEK_H */
