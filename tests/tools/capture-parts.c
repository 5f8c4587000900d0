// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranges that do not nest, as a collector writes them: a range that continues when the one around
 * it ends becomes several, which the report joins again.
 */
#include <stdbool.h>

#include "tools/capture.h"

enum { OUTER = 1, REQUEST, LONE };

static void begin(struct cap_ring *r, uint32_t tid, uint64_t us, uint32_t name)
{
	cap_event(r, T(us), XSPROF_REC_BEGIN, tid, name, 0, 0);
}

static void end(struct cap_ring *r, uint32_t tid, uint64_t us, bool continued)
{
	cap_event(r, T(us), XSPROF_REC_END, tid, 0, continued ? XSPROF_END_CONTINUED : 0, 0);
}

/*
 * Thread 100 has two requests, from 20 to 70 and from 30 to 90, in "outer", which ends at 50. In
 * thread 101 "lone" continues, but a pause begins before its next part. In thread 102 "lone"
 * continues twice, and is open at the end.
 */
void cap_make_parts(void)
{
	struct cap_ring r[2];

	cap_clock(T(0), T(1000));
	for (uint32_t i = 0; i < 2; i++) {
		cap_producer(i, 100 + i, T(0));
		cap_name(i, OUTER, "outer");
		cap_name(i, REQUEST, "request");
		cap_name(i, LONE, "lone");
		cap_arena(i);
		cap_ring_open(&r[i], i, 0, 64);
	}
	begin(&r[0], 100, 10, OUTER);
	begin(&r[0], 100, 20, REQUEST);
	begin(&r[0], 100, 30, REQUEST);
	end(&r[0], 100, 48, true);
	end(&r[0], 100, 49, true);
	end(&r[0], 100, 50, false);
	begin(&r[0], 100, 51, REQUEST);
	begin(&r[0], 100, 52, REQUEST);
	end(&r[0], 100, 68, true);
	end(&r[0], 100, 70, false);
	begin(&r[0], 100, 71, REQUEST);
	end(&r[0], 100, 90, false);
	begin(&r[1], 101, 10, OUTER);
	begin(&r[1], 101, 12, LONE);
	end(&r[1], 101, 20, true);
	end(&r[1], 101, 21, false);
	cap_event(&r[1], T(22), XSPROF_REC_CONTROL, 101, 0, XSPROF_CONTROL_PAUSE, 0);
	cap_event(&r[1], T(30), XSPROF_REC_CONTROL, 101, 0, XSPROF_CONTROL_RESUME, UINT64_MAX);
	begin(&r[1], 102, 40, OUTER);
	begin(&r[1], 102, 41, OUTER);
	begin(&r[1], 102, 42, LONE);
	end(&r[1], 102, 50, true);
	end(&r[1], 102, 51, false);
	begin(&r[1], 102, 52, LONE);
	end(&r[1], 102, 53, true);
	end(&r[1], 102, 54, false);
	begin(&r[1], 102, 55, LONE);
	for (uint32_t i = 0; i < 2; i++) {
		cap_ring_close(&r[i], 0);
		cap_exit(i, XSPROF_HOW_EXITED, 0, T(100));
	}
	cap_end(T(110));
}
