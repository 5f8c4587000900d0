// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text of a double as printf's "%.15g" has it, without a floating point unit: what a counter
 * shows in a kernel trace.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "xsprof.h"

#define DIGITS		15
#define TEN_TO_DIGITS	1000000000000000ull

/**
 * struct number - (hi << 64 | lo) * 2 ^ (bits - 128), the top bit of hi set
 * @hi: upper half
 * @lo: lower half
 * @bits: bits of its whole part
 *
 * 124 bits of it at least are true after each step: more than 300 steps of ten leave the digits
 * right that are shown.
 */
struct number {
	u64	hi;
	u64	lo;
	int	bits;
};

static void normalise(struct number *n)
{
	int shift = 64 - fls64(n->hi);

	if (shift) {
		n->hi = n->hi << shift | n->lo >> (64 - shift);
		n->lo <<= shift;
		n->bits -= shift;
	}
}

static void times_ten(struct number *n)
{
	u64 hi, lo;

	/* Room for the carry, then 8 times it and 2 times it. */
	lo = n->lo >> 4 | n->hi << 60;
	hi = n->hi >> 4;
	n->bits += 4;
	n->lo = (lo << 3) + (lo << 1);
	n->hi = (hi << 3 | lo >> 61) + (hi << 1 | lo >> 63) + (n->lo < lo << 3);
	normalise(n);
}

static void by_ten(struct number *n)
{
	u64 rest, mid, low;

	rest = n->hi % 10;
	n->hi /= 10;
	mid = rest << 32 | n->lo >> 32;
	rest = mid % 10;
	low = rest << 32 | (u32)n->lo;
	n->lo = mid / 10 << 32 | low / 10;
	normalise(n);
}

/* The whole part, and how what is left compares with a half. */
static u64 whole(const struct number *n, int *half)
{
	u64 rest = n->hi << n->bits;

	*half = rest == 1ull << 63 && !n->lo ? 0 : rest >> 63 ? 1 : -1;
	return n->hi >> (64 - n->bits);
}

/* DIGITS decimal digits of it.  Return: the power of ten of the last. */
static int digits_of(struct number *n, u64 *digits)
{
	int power = 0, half;

	for (;;) {
		if (n->bits > 50) {
			by_ten(n);
			power++;
		} else if (n->bits < 46) {
			times_ten(n);
			power--;
		} else {
			*digits = whole(n, &half);
			if (*digits >= TEN_TO_DIGITS) {
				by_ten(n);
				power++;
			} else if (*digits < TEN_TO_DIGITS / 10) {
				times_ten(n);
				power--;
			} else {
				break;
			}
		}
	}
	*digits += half > 0 || (!half && *digits & 1);
	if (*digits == TEN_TO_DIGITS) {
		*digits /= 10;
		power++;
	}
	return power;
}

/* What follows the point, without the zeros at its end; nothing where there is nothing. */
static char *put_fraction(char *to, const char *digits, int n)
{
	while (n && digits[n - 1] == '0')
		n--;
	if (n) {
		*to++ = '.';
		memcpy(to, digits, n);
	}
	to[n] = 0;
	return to + n;
}

static void put(char *to, u64 value, int exponent)
{
	char digits[DIGITS + 1];
	int i;

	snprintf(digits, sizeof(digits), "%llu", value);
	if (exponent < -4 || exponent >= DIGITS) {
		*to++ = digits[0];
		to = put_fraction(to, digits + 1, DIGITS - 1);
		snprintf(to, 6, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
	} else if (exponent >= 0) {
		memcpy(to, digits, exponent + 1);
		put_fraction(to + exponent + 1, digits + exponent + 1, DIGITS - 1 - exponent);
	} else {
		*to++ = '0';
		*to++ = '.';
		for (i = exponent; i < -1; i++)
			*to++ = '0';
		*to++ = digits[0];
		/* The point stands further left: only the zeros at the end are to go. */
		for (i = DIGITS; i > 1 && digits[i - 1] == '0'; i--)
			;
		memcpy(to, digits + 1, i - 1);
		to[i - 1] = 0;
	}
}

/**
 * xsp_decimal() - the text of a double
 * @text: to
 * @bits: the double
 */
void xsp_decimal(char text[XSP_DECIMAL_SIZE], u64 bits)
{
	u64 fraction = bits & ((1ull << 52) - 1), digits;
	int exponent = bits >> 52 & 0x7ff, power;
	struct number n = { .hi = fraction };

	if (bits >> 63)
		*text++ = '-';
	if (exponent == 0x7ff) {
		strscpy(text, fraction ? "nan" : "inf", 4);
		return;
	}
	if (!exponent && !fraction) {
		strscpy(text, "0", 2);
		return;
	}
	if (exponent)
		n.hi |= 1ull << 52;
	else
		exponent = 1;
	/* hi * 2 ^ (exponent - 1075) */
	n.bits = exponent - 1075 + 64;
	normalise(&n);
	power = digits_of(&n, &digits);
	put(text, digits, power + DIGITS - 1);
}
