// SPDX-License-Identifier: GPL-2.0-only
/*
 * A C++ inline function with markers, in two files: the linker keeps one of the two, and must drop
 * the other's sequences with it.
 *
 *	session XSPROF_BUFFER_SIZE=256k inline-twice
 */
#include <cstdio>

#include "inline-twice.h"

int main()
{
	struct xsprof_stats before = {}, after = {};
	int bad;

	before.size = after.size = sizeof(before);
	twice<int>(1);
	xsprof_get_stats(&before);
	for (int i = 0; i < 1000; i++) {
		twice<int>(i);
		twice_elsewhere(i);
	}
	xsprof_get_stats(&after);
	bad = !before.attached || after.slots - before.slots < 4 * 1000 || after.lost;
	std::printf("1..1\n%sok 1 the same function of two files\n", bad ? "not " : "");
	return bad;
}
