/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Makes text of other processes safe to print on a terminal.
 */
#ifndef XSP_BASE_PLAIN_H
#define XSP_BASE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/own.h"

/**
 * xsp_plain - replace unprintable bytes by '?': control characters, line breaks, direction changes,
 * and bytes that are not UTF-8
 * @text: changed in place
 * @len: its bytes
 */
void xsp_plain(char *text, size_t len) XSP_HIDDEN;

/**
 * xsp_plain_file - read and remove a one-line file, or a link with the line as target
 * @dirfd: folder
 * @name: name in @dirfd, chosen by any user: links are not followed, and a fifo is not waited for
 * @text: set to the line, without control characters
 * @size: bytes of @text
 *
 * Return: true if there is a line.
 */
bool xsp_plain_file(int dirfd, const char *name, char *text, size_t size) XSP_HIDDEN;

#endif /* XSP_BASE_PLAIN_H */
