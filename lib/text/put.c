// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Formats numbers: see put.h. Digits and doubles.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "text/put.h"

#define ROW(d)	d "0" d "1" d "2" d "3" d "4" d "5" d "6" d "7" d "8" d "9"

const char xsp_digits[201] =
	ROW("0") ROW("1") ROW("2") ROW("3") ROW("4") ROW("5") ROW("6") ROW("7") ROW("8") ROW("9");

/*
 * Fast path: most counters are decimal numbers with few digits. If |v| * 10^6 is an integer below
 * 2^53, one multiplication gives the digits; dividing back verifies them.
 */
static char *put_decimal(char *p, double v)
{
	double scaled = v * 1e6;
	int64_t n, frac;
	int digits = 6;

	if (!(fabs(scaled) < 9007199254740992.0))
		return NULL;
	n = (int64_t)scaled;
	n += scaled - (double)n > 0.5 ? 1 : scaled - (double)n < -0.5 ? -1 : 0;
	if ((double)n / 1e6 != v)
		return NULL;
	if (signbit(v)) {
		*p++ = '-';
		n = -n;
	}
	p = put_u64(p, (uint64_t)n / 1000000);
	frac = n % 1000000;
	if (!frac)
		return p;
	*p++ = '.';
	for (; frac % 10 == 0; frac /= 10)
		digits--;
	for (int i = digits - 1; i >= 0; i--, frac /= 10)
		p[i] = (char)('0' + frac % 10);
	return p + digits;
}

char *xsp_put_double(char *p, double v)
{
	char *end;
	int digits;

	if (isnan(v))
		return put_lit(p, "NaN");
	if (isinf(v))
		return v < 0 ? put_lit(p, "-Infinity") : put_lit(p, "Infinity");
	end = put_decimal(p, v);
	if (end)
		return end;
	for (digits = 15; digits < 17; digits++) {
		snprintf(p, XSP_PUT_MAX, "%.*g", digits, v);
		if (strtod(p, NULL) == v)
			return p + strlen(p);
	}
	return p + snprintf(p, XSP_PUT_MAX, "%.17g", v);
}
