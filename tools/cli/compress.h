/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zstd for the capture writer, which knows no compressor itself.
 */
#ifndef XSPROF_COMPRESS_H
#define XSPROF_COMPRESS_H

#include "capture/writer.h"

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
void compress_close(struct xsp_cap_compressor *compressor);

#endif /* XSPROF_COMPRESS_H */
