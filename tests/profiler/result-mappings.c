// SPDX-License-Identifier: GPL-2.0-only
/*
 * Results: which mapping each address of a stack is in, and addresses in no mapping.
 */
#include <string.h>

#include "common/draw.h"
#include "common/tap.h"
#include "profiler/ops.h"

/* New code at the address of old code: a stack belongs to the mapping when it was recorded. */
static void test_reloaded(void)
{
	struct xsprof_result *r;
	struct ops o;

	ops_begin(&o);
	ops_map(&o, "1000-2000 0 - /first");
	ops_stack(&o, 1, (uint64_t[]){ 0x1100, 0x2100 }, 2, 0);
	ops_map(&o, "1000-3000 0 - /second");
	ops_stack(&o, 2, (uint64_t[]){ 0x1100, 0x2100 }, 2, 0);
	ops_stacked(&o, 1, 2000);
	ops_stacked(&o, 2, 3000);
	r = ops_result(&o, NULL);
	CHECK_STR(xsprof_event_frame(xsprof_result_event(r, 0), 0), "/first+0x100");
	CHECK_STR(xsprof_event_frame(xsprof_result_event(r, 0), 1), "0x2100");
	CHECK_STR(xsprof_event_frame(xsprof_result_event(r, 1), 0), "/second+0x100");
	CHECK_STR(xsprof_event_frame(xsprof_result_event(r, 1), 1), "/second+0x1100");
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("code that is where other code was");
}

#define MAPPINGS	3000u
#define STACKS		600u
#define ADDRESSES	40u

/* Mappings of all sizes, with stacks between them: found as by a linear search. */
static void test_many(void)
{
	static uint64_t start[MAPPINGS], end[MAPPINGS];
	const unsigned int each = MAPPINGS / STACKS;
	unsigned int other = 0, of_none = 0;
	struct xsprof_result *r;
	struct ops o;

	ops_begin(&o);
	for (unsigned int i = 0; i < MAPPINGS; i++) {
		uint64_t address[ADDRESSES];
		char text[64];

		start[i] = 0x1000 + draw(5000);
		end[i] = start[i] + 1 + draw(i % 3 ? 20 : 2000);
		snprintf(text, sizeof(text), "%llx-%llx 0 - /%u", (unsigned long long)start[i],
			 (unsigned long long)end[i], i);
		ops_map(&o, i % 50 ? text : "this is no mapping");
		if (!(i % 50))
			start[i] = end[i] = 0;
		if (i % each != each - 1)
			continue;
		for (unsigned int k = 0; k < ADDRESSES; k++)
			address[k] = 0x1000 + (i / each * 7919 + k * 127) % 7500;
		ops_stack(&o, i / each + 1, address, ADDRESSES, 0);
	}
	/* In another order. */
	for (unsigned int i = 0; i < STACKS; i++)
		ops_stacked(&o, i * 7 % STACKS + 1, 2000 + 20 * i);
	r = ops_result(&o, NULL);
	for (unsigned int i = 0; i < STACKS; i++) {
		unsigned int stack = i * 7 % STACKS;

		for (unsigned int k = 0; k < ADDRESSES; k++) {
			uint64_t address = 0x1000 + (stack * 7919 + k * 127) % 7500;
			unsigned int m = (stack + 1) * each;
			char want[64];

			while (m && (address < start[m - 1] || address >= end[m - 1]))
				m--;
			if (m)
				snprintf(want, sizeof(want), "/%u+0x%llx", m - 1,
					 (unsigned long long)(address - start[m - 1]));
			else
				snprintf(want, sizeof(want), "0x%llx",
					 (unsigned long long)address);
			of_none += !m;
			other += !!strcmp(xsprof_event_frame(xsprof_result_event(r, i), k), want);
		}
	}
	CHECK_EQ(other, 0);
	CHECK(of_none > 0 && of_none < STACKS * ADDRESSES / 2);
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("many mappings, each stack of those before it");
}

static void test_unmapped(void)
{
	struct xsprof_profiler_config config = { .size = sizeof(config), .state = 6 };
	struct xsprof_result_options opts = { .size = sizeof(opts), .config = &config };
	const struct xsprof_profiler_event *ev;
	struct xsprof_result *r;
	struct ops o;

	ops_begin(&o);
	ops_stack(&o, 1, (uint64_t[]){ 0x1234, 0 }, 2, 9);
	ops_stacked(&o, 1, 2000);
	ops_stacked(&o, 2, 3000);
	ops_stacked(&o, 0, 4000);
	ops_stacked(&o, XSPROF_STACK_MISSED, 5000);
	r = ops_result(&o, NULL);
	ev = xsprof_result_event(r, 0);
	CHECK_EQ(xsprof_event_nr_frames(ev), 3);
	CHECK_STR(xsprof_event_frame(ev, 0), "0x1234");
	CHECK_STR(xsprof_event_frame(ev, 1), "0x0");
	CHECK_STR(xsprof_event_frame(ev, 2), "[9 more]");
	CHECK_EQ(xsprof_event_nr_frames(xsprof_result_event(r, 1)), 0);
	CHECK_EQ(xsprof_event_nr_frames(xsprof_result_event(r, 2)), 0);
	CHECK_EQ(xsprof_event_nr_frames(xsprof_result_event(r, 3)), 1);
	CHECK_STR(xsprof_event_frame(xsprof_result_event(r, 3), 0), "[stack missed]");
	xsprof_result_free(r);
	r = ops_result(&o, &opts);
	CHECK_EQ(xsprof_event_nr_frames(xsprof_result_event(r, 0)), 0);
	config.with_stack = true;
	xsprof_result_free(r);
	r = ops_result(&o, &opts);
	CHECK_EQ(xsprof_event_nr_frames(xsprof_result_event(r, 0)), 3);
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("addresses of no file, and stacks that nobody asked for");
}

int main(void)
{
	test_reloaded();
	test_many();
	test_unmapped();
	return tap_done();
}
