// SPDX-License-Identifier: GPL-2.0-only
/*
 * More names than ids: names without an id of their own share one, and are counted.
 *
 *	session XSPROF_BUFFER_SIZE=256k XSPROF_ARENA_SIZE=64M million
 */
#include <xsprof/xsprof.h>

#include "common/tap.h"

#define MORE	100u

int main(void)
{
	struct xsprof_stats stats = { .size = sizeof(stats) };
	unsigned int full = 0;
	char name[32];

	for (unsigned int i = 0; i < XSPROF_NAME_MAX_INDEX + MORE; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		full += xsprof_name(name) == XSPROF_NAME_FULL;
	}
	CHECK_EQ(full, MORE);
	CHECK_EQ(xsprof_get_stats(&stats), 0);
	CHECK_EQ(stats.names_missed, MORE);
	tap_result("a million names, and those beyond are counted as missed");
	return tap_done();
}
