// SPDX-License-Identifier: LGPL-2.1-only
/*
 * CRC-32C (Castagnoli), the checksum of capture headers and chunks.
 *
 * Uses the CPU's crc32 instruction if there is one, else eight tables. The instruction has a
 * latency of three cycles and a throughput of one, so long buffers are split into three lanes that
 * are computed in parallel and then combined.
 */
#include "base/crc32c.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
#ifndef HWCAP_CRC32
#define HWCAP_CRC32	(1 << 7)
#endif
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "xsprof stores and reads numbers as they are in memory: little-endian machines only"
#endif

#define CRC_POLY	0x82f63b78u	/* bit-reversed */

static inline uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* ---- by tables --------------------------------------------------------------------------- */

static uint32_t crc_table[8][256];
static pthread_once_t crc_once = PTHREAD_ONCE_INIT;

static void crc_fill_tables(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ CRC_POLY : c >> 1;
		crc_table[0][i] = c;
	}
	for (int t = 1; t < 8; t++)
		for (int i = 0; i < 256; i++)
			crc_table[t][i] = crc_table[0][crc_table[t - 1][i] & 255] ^
					  crc_table[t - 1][i] >> 8;
}

uint32_t xsp_crc32c_portable(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	pthread_once(&crc_once, crc_fill_tables);
	crc = ~crc;
	for (; len >= 8; len -= 8, p += 8) {
		uint64_t v = load64(p) ^ crc;

		crc = crc_table[7][v & 255] ^ crc_table[6][v >> 8 & 255] ^
		      crc_table[5][v >> 16 & 255] ^ crc_table[4][v >> 24 & 255] ^
		      crc_table[3][v >> 32 & 255] ^ crc_table[2][v >> 40 & 255] ^
		      crc_table[1][v >> 48 & 255] ^ crc_table[0][v >> 56];
	}
	for (; len; len--, p++)
		crc = crc_table[0][(crc ^ *p) & 255] ^ crc >> 8;
	return ~crc;
}

/* ---- by the CPU -------------------------------------------------------------------------- */

#if defined(__x86_64__)
/* Newer versions of clang treat the instruction as a feature separate from sse4.2. */
#if defined(__clang_major__) && __clang_major__ >= 14
#define CRC_HW		__attribute__((target("sse4.2,crc32")))
#else
#define CRC_HW		__attribute__((target("sse4.2")))
#endif
#define crc_u64(c, v)	((uint32_t)__builtin_ia32_crc32di(c, v))
#define crc_u8(c, v)	__builtin_ia32_crc32qi(c, v)
#elif defined(__aarch64__)
/* Inline assembly: the intrinsics' names and headers differ between compilers. */
#define CRC_HW
static inline uint32_t crc_u64(uint32_t crc, uint64_t v)
{
	__asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(v));
	return crc;
}

static inline uint32_t crc_u8(uint32_t crc, uint8_t v)
{
	__asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"(v));
	return crc;
}
#endif

#ifdef CRC_HW

#define LANE		4096u		/* bytes per lane */
#define LANE_SHIFT	0x35d73a62u	/* x^(8 * LANE) modulo the polynomial, bit-reversed */

/* a * b modulo the polynomial, bit-reversed: advances a checksum over a lane of zeros. */
static uint32_t crc_mul(uint32_t a, uint32_t b)
{
	uint32_t p = 0;

	for (int i = 0; i < 32; i++) {
		p ^= b & -(a >> 31);
		a <<= 1;
		b = b >> 1 ^ (CRC_POLY & -(b & 1));
	}
	return p;
}

CRC_HW static uint32_t crc_hw(uint32_t crc, const uint8_t *p, size_t len)
{
	crc = ~crc;
	for (; len >= 3 * LANE; len -= 3 * LANE, p += 3 * LANE) {
		uint32_t a = crc, b = 0, c = 0;

		for (size_t i = 0; i < LANE; i += 8) {
			a = crc_u64(a, load64(p + i));
			b = crc_u64(b, load64(p + LANE + i));
			c = crc_u64(c, load64(p + 2 * LANE + i));
		}
		crc = crc_mul(crc_mul(a, LANE_SHIFT) ^ b, LANE_SHIFT) ^ c;
	}
	for (; len >= 8; len -= 8, p += 8)
		crc = crc_u64(crc, load64(p));
	for (; len; len--, p++)
		crc = crc_u8(crc, *p);
	return ~crc;
}

static bool crc_have_hw(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("sse4.2");
#else
	return getauxval(AT_HWCAP) & HWCAP_CRC32;
#endif
}
#endif /* CRC_HW */

uint32_t xsp_crc32c(uint32_t crc, const void *data, size_t len)
{
#ifdef CRC_HW
	if (crc_have_hw())
		return crc_hw(crc, data, len);
#endif
	return xsp_crc32c_portable(crc, data, len);
}
