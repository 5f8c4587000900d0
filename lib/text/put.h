/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Formats numbers into memory with enough room: a printf() per event would cost more than the rest
 * of a dump. Does not check for room.
 */
#ifndef XSPROF_OUT_PUT_H
#define XSPROF_OUT_PUT_H

#include <stdint.h>
#include <string.h>

#define XSP_PUT_MAX	40	/* maximum length of a number */

extern const char xsp_digits[201];	/* "00" to "99" */

static inline char *put_2(char *p, uint32_t v)
{
	memcpy(p, xsp_digits + 2 * v, 2);
	return p + 2;
}

/* Exactly 3, 6, 9 digits, with leading zeros. */
static inline char *put_d3(char *p, uint32_t v)
{
	*p++ = (char)('0' + v / 100);
	return put_2(p, v % 100);
}

static inline char *put_d9(char *p, uint32_t v)
{
	uint32_t hi = v / 10000, lo = v % 10000;

	p = put_d3(p, hi / 100);
	p = put_2(p, hi % 100);
	p = put_2(p, lo / 100);
	return put_2(p, lo % 100);
}

static inline char *put_u32(char *p, uint32_t v)
{
	char tmp[10], *t = tmp + 10;
	size_t n;

	while (v >= 100) {
		t -= 2;
		memcpy(t, xsp_digits + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v >= 10) {
		t -= 2;
		memcpy(t, xsp_digits + 2 * v, 2);
	} else {
		*--t = (char)('0' + v);
	}
	n = (size_t)(tmp + 10 - t);
	memcpy(p, t, n);
	return p + n;
}

static inline char *put_u64(char *p, uint64_t v)
{
	if (v <= UINT32_MAX)
		return put_u32(p, (uint32_t)v);
	if (v >= 1000000000000000000u) {
		p = put_u32(p, (uint32_t)(v / 1000000000000000000u));
		v %= 1000000000000000000u;
		p = put_d9(p, (uint32_t)(v / 1000000000u));
	} else {
		p = put_u32(p, (uint32_t)(v / 1000000000u));
	}
	return put_d9(p, (uint32_t)(v % 1000000000u));
}

static inline char *put_i64(char *p, int64_t v)
{
	if (v < 0) {
		*p++ = '-';
		return put_u64(p, 0 - (uint64_t)v);
	}
	return put_u64(p, (uint64_t)v);
}

static inline char *put_hex(char *p, uint64_t v)
{
	int shift = v ? (63 - __builtin_clzll(v)) & ~3 : 0;

	*p++ = '0';
	*p++ = 'x';
	for (; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[(v >> shift) & 15];
	return p;
}

/* Nanoseconds as seconds with 9 decimals. */
static inline char *put_seconds(char *p, uint64_t ns)
{
	p = put_u64(p, ns / 1000000000u);
	*p++ = '.';
	return put_d9(p, (uint32_t)(ns % 1000000000u));
}

/*
 * Microseconds for JSON viewers, which store doubles and compute the end of a range as begin +
 * duration - begin of the trace. Thousandths are not exact doubles: such sums are rounded, and
 * ranges that end together seem to end one after the other. Multiples of 2^-12 us are exact, and so
 * are their sums up to 2^41 us: ranges nest whatever is added. A step is less than a quarter of a
 * ns below its ns: rounded to ns, times and differences are exact.
 */
#define XSP_STEP	"0.000244140625"	/* one of them */

static inline uint64_t xsp_steps(uint64_t ns)
{
	/* A damaged capture: 73 years suffice, and all steps fit into 64 bits. */
	if (__builtin_expect(ns >> 61 != 0, 0))
		ns = 1ull << 61;
	return (ns / 1000 << 12) + ((ns % 1000 << 12) + 999) / 1000;
}

static inline char *xsp_put_steps(char *p, uint64_t steps)
{
	uint32_t part = steps & 4095;
	uint64_t digits = part * 244140625ull;	/* 5^12: twelve digits */

	p = put_u64(p, steps >> 12);
	*p++ = '.';
	if (!part)
		return put_d3(p, 0);
	p = put_d3(p, (uint32_t)(digits / 1000000000u));
	/* Each factor of two is a trailing zero. */
	return put_d9(p, (uint32_t)(digits % 1000000000u)) - __builtin_ctz(part);
}

static inline char *put_micros(char *p, uint64_t ns)
{
	return xsp_put_steps(p, xsp_steps(ns));
}

static inline char *put_micros_between(char *p, uint64_t begin, uint64_t end)
{
	return xsp_put_steps(p, xsp_steps(end) - xsp_steps(begin));
}

/* Constant text, whose length is known at compile time. */
#define put_lit(p, lit)	((char *)memcpy((p), (lit), sizeof(lit) - 1) + sizeof(lit) - 1)

/* The shortest text that gives the same double. NaN, Infinity, -Infinity as these words. */
char *xsp_put_double(char *p, double v);

static inline double xsp_bits_double(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

#endif /* XSPROF_OUT_PUT_H */
