/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Text of other processes made fit for a line on a terminal.
 */
#ifndef XSP_BASE_PLAIN_H
#define XSP_BASE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/own.h"

/**
 * xsp_plain - replace by '?' what is not to be printed: control characters, those that break or
 *	turn lines, and bytes that are no UTF-8
 * @text: changed in place
 * @len: its bytes
 */
void xsp_plain(char *text, size_t len) XSP_HIDDEN;

/**
 * xsp_plain_file - read and remove a file of one line, or a link whose target is the line
 * @dirfd: folder
 * @name: in it, of any user's choice: no link is followed, and no pipe waited for
 * @text: set to the line, without control characters
 * @size: bytes of @text
 *
 * Return: is there a line?
 */
bool xsp_plain_file(int dirfd, const char *name, char *text, size_t size) XSP_HIDDEN;

#endif /* XSP_BASE_PLAIN_H */
