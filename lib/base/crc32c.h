/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * CRC-32C (Castagnoli), the checksum of capture headers and chunks.
 */
#ifndef XSP_CAP_CRC32C_H
#define XSP_CAP_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/**
 * xsp_crc32c() - CRC-32C of a piece of memory
 * @crc: 0, or the checksum of the bytes before these
 * @data: bytes
 * @len: how many
 *
 * Return: the checksum; that of "123456789" is 0xe3069283.
 */
uint32_t xsp_crc32c(uint32_t crc, const void *data, size_t len);

/* The same by tables only: the tests compare the two. */
uint32_t xsp_crc32c_portable(uint32_t crc, const void *data, size_t len);

#endif /* XSP_CAP_CRC32C_H */
