/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file a capture is written to: made anew, with the one that had its name kept beside it; and
 * zstd for the capture writer, which knows no compressor itself.
 */
#ifndef XSPROF_OUTPUT_H
#define XSPROF_OUTPUT_H

#include "capture/writer.h"

/**
 * output_open - the file for a new capture
 * @path: its name; a regular file of that name is renamed to "@path.old", unless it is a
 *	capture without an event, which is removed
 *
 * Errors are reported; one of them is that another recorder writes to it.
 *
 * Return: a descriptor, or a negative errno.
 */
int output_open(const char *path);

/**
 * output_open_beside - the same of a file whose name is the program's choice
 * @path: its name; where what has it is another user's, or a folder, and cannot be replaced, it is
 *	set to another one, with a number behind it, which is said
 * @size: bytes of @path
 */
int output_open_beside(char *path, size_t size);

/*
 * Does a name say of a capture what it is not?  A compressed one has its chunks packed, each by
 * itself.  Return: -1, or TOOL_USAGE after a message.
 */
int output_name(const char *verb, const char *path);

/* Could a file be made by this name later?  Return: 0, or a negative errno after a message. */
int output_check(const char *path);

/* Takes back output_open(): nothing has been recorded.  What had the name before has it again. */
void output_drop(const char *path, int fd);

#define COMPRESS_LEVEL_DEFAULT	3
#define COMPRESS_LEVEL_MAX	19

/**
 * compress_open - a compressor of zstd's level @level
 * @compressor: filled in
 * @level: 1 to COMPRESS_LEVEL_MAX
 *
 * Return: 0 or -errno.
 */
int compress_open(struct xsp_cap_compressor *compressor, int level);
/*
 * The level of -z as getopt_long() left it, in optarg or as the next argument where that is a
 * number, else COMPRESS_LEVEL_DEFAULT.  Return: -1, or TOOL_USAGE after a message.
 */
int compress_level(const char *verb, char **argv, int *level);
void compress_close(struct xsp_cap_compressor *compressor);

#endif /* XSPROF_OUTPUT_H */
