// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finds which of Python's frames were entered from C. Each entry has one evaluator frame on the C
 * stack; since 3.11, functions called from there by Python functions have none of their own.
 * Versions mark entries in three ways, so the mark is found at run time from known calls: all
 * frames are entries; a byte of the frame tells; or a frame without code follows each entry.
 */
#include <string.h>

#include "collect/python/native.h"
#include "collect/python/sample.h"

#define SPAN	128u	/* bytes of a frame that are searched */
#define MOST	4u	/* frames of a probe */

static struct {
	bool		byte[SPAN];	/* candidates */
	bool		shims;
	uint32_t	calls;
	bool		wrong;
} probe;

static struct python_reading reading;

/* The known frames of a call, innermost first. */
struct call {
	uint32_t	nr;
	const char	*function[MOST];
	bool		entered[MOST];
};

static const struct call calls[] = {
	{ 4, { "inner", "middle", "outer", "<module>" }, { false, true, false, true } },
	{ 3, { "alone", "caller", "<module>" }, { true, false, true } },
};

static bool is_shim(uint32_t i)
{
	return !strcmp(reading.code[i].function, "<interpreter trampoline>");
}

/* Finds the program's frames. @at: their indices. */
static bool find(const struct call *call, uint32_t *at, bool *shim)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < reading.nr; i++) {
		if (is_shim(i)) {
			if (n)
				shim[n - 1] = true;
			continue;
		}
		if (n == call->nr)
			break;
		if (strcmp(reading.code[i].function, call->function[n]))
			return false;
		shim[n] = reading.entry[i];
		at[n++] = i;
	}
	return n == call->nr;
}

static bool look_for_byte(const struct call *call, const uint32_t *at)
{
	char bytes[MOST][SPAN];

	for (uint32_t i = 0; i < call->nr; i++)
		if (!sample_peek(bytes[i], (const void *)reading.frame[at[i]], SPAN))
			return false;
	for (uint32_t k = 0; k < SPAN; k++) {
		bool is = !probe.calls || probe.byte[k];

		for (uint32_t i = 0; i < call->nr; i++)
			is &= bytes[i][k] == call->entered[i];
		probe.byte[k] = is;
	}
	return true;
}

static bool look(const struct call *call)
{
	uint32_t at[MOST];
	bool shim[MOST] = { 0 }, same;

	if (!python_read_frames(&reading, python.this_state()) || !find(call, at, shim))
		return false;
	same = !memcmp(shim, call->entered, call->nr * sizeof(*shim));
	probe.shims = same && (!probe.calls || probe.shims);
	return look_for_byte(call, at);
}

static void *called(void *self, void *argument)
{
	(void)self;
	(void)argument;
	probe.wrong |= probe.calls == sizeof(calls) / sizeof(calls[0]) ||
		       !look(&calls[probe.calls]);
	probe.calls++;
	python.incref(python.none);
	return python.none;
}

static struct python_callee method = { "xsprof", called, PYTHON_METH_O, NULL };

static const char program[] =
	"def inner(x):\n"
	"    return xsprof(x)\n"
	"def middle(x):\n"
	"    return inner(x)\n"
	"def outer():\n"
	"    return list(map(middle, [1]))\n"
	"def alone(x):\n"
	"    return xsprof(x)\n"
	"def caller():\n"
	"    return list(map(alone, [1]))\n"
	"outer()\n"
	"caller()\n";

bool python_bounds_find(void)
{
	memset(&probe, 0, sizeof(probe));
	if (!python_run(program, &method) || probe.wrong ||
	    probe.calls != sizeof(calls) / sizeof(calls[0]))
		return false;
	if (python_layout.objects || probe.shims) {
		python_bounds.each = python_layout.objects;
		return true;
	}
	for (uint32_t k = 0; k < SPAN; k++)
		if (probe.byte[k]) {
			python_bounds.at = (uint16_t)k;
			return true;
		}
	return false;
}
