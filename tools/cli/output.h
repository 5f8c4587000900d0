/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The output file of a capture: created anew, with the previous file of that name kept beside it;
 * and zstd compression for the capture writer.
 */
#ifndef XSPROF_OUTPUT_H
#define XSPROF_OUTPUT_H

#include "capture/writer.h"

/**
 * output_open - create the file of a new capture
 * @path: its path; an existing regular file is renamed to "@path.old", unless it is a capture
 *	without events, which is removed
 *
 * Reports errors, e.g. that another recorder writes to it.
 *
 * Return: a descriptor, or a negative errno.
 */
int output_open(const char *path);

/**
 * output_open_beside - the same for a file whose name the program has chosen
 * @path: its path; if another user's file, or a folder, has that name and cannot be replaced, it is
 *	changed to a name with a number, which is reported
 * @size: bytes of @path
 */
int output_open_beside(char *path, size_t size);

/*
 * Does the suffix claim a compression of the whole file? In a compressed capture each chunk is
 * compressed by itself. Return: -1, or TOOL_USAGE after a message.
 */
int output_name(const char *verb, const char *path);

/* Can a file be created with this name later? Return: 0, or a negative errno after a message. */
int output_check(const char *path);

/* Undoes output_open() if nothing has been recorded: restores the previous file. */
void output_drop(const char *path, int fd);

#define COMPRESS_LEVEL_DEFAULT	3
#define COMPRESS_LEVEL_MAX	19

/**
 * compress_open - creates a zstd compressor of level @level
 * @compressor: filled in
 * @level: 1 to COMPRESS_LEVEL_MAX
 *
 * Return: 0 or -errno.
 */
int compress_open(struct xsp_cap_compressor *compressor, int level);
/*
 * Parses the level of -z, from optarg or, if the next argument is a number, from there; default
 * COMPRESS_LEVEL_DEFAULT. Return: -1, or TOOL_USAGE after a message.
 */
int compress_level(const char *verb, char **argv, int *level);
void compress_close(struct xsp_cap_compressor *compressor);

#endif /* XSPROF_OUTPUT_H */
