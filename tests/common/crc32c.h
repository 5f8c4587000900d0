/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The checksum of captures, by its definition: shares no code with what is tested.
 */
#ifndef XSP_TEST_CRC32C_H
#define XSP_TEST_CRC32C_H

#include <stddef.h>
#include <stdint.h>

static inline uint32_t crc32c(const void *data, size_t len)
{
	static uint32_t table[256];
	const uint8_t *p = data;
	uint32_t crc = ~0u;

	for (uint32_t i = 0; !table[255] && i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
		table[i] = c;
	}
	while (len--)
		crc = table[(crc ^ *p++) & 255] ^ crc >> 8;
	return ~crc;
}

#endif /* XSP_TEST_CRC32C_H */
