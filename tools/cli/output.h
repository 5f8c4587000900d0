/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file a capture is written to: made anew, with the one that had its name kept beside it.
 */
#ifndef XSPROF_OUTPUT_H
#define XSPROF_OUTPUT_H

/**
 * output_open - the file for a new capture
 * @path: its name; a regular file of that name is renamed to "@path.old"
 *
 * Errors are reported; one of them is that another recorder writes to it.
 *
 * Return: a descriptor, or a negative errno.
 */
int output_open(const char *path);

/* Takes back output_open(): nothing has been recorded.  What had the name before has it again. */
void output_drop(const char *path, int fd);

#endif /* XSPROF_OUTPUT_H */
