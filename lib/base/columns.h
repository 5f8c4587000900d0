/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Converts slots of a capture chunk to the COLUMNS form (capture.h) and back. Allocates nothing and
 * cannot fail, whatever the bytes are.
 */
#ifndef XSP_CAP_COLUMNS_H
#define XSP_CAP_COLUMNS_H

#include <stddef.h>

/**
 * xsp_columns_encode() - slots to columns
 * @dst: room for 32 * @slots bytes, apart from @src
 * @src: slots; any alignment
 * @slots: how many
 */
void xsp_columns_encode(void *dst, const void *src, size_t slots);

/**
 * xsp_columns_decode() - columns to slots
 * @dst: room for 32 * @slots bytes, apart from @src
 * @src: columns of @slots slots; any alignment
 * @slots: how many
 */
void xsp_columns_decode(void *dst, const void *src, size_t slots);

#endif /* XSP_CAP_COLUMNS_H */
