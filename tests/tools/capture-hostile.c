// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names that control terminals, of threads that wait for the GIL and hold it.
 */
#include <string.h>

#include "tools/capture.h"

#define BAD	"\033[31m\xc2\x9b" "1m\n\xe2\x80\xae\xff"

static void arena(void)
{
	cap_lock_names();
	cap_entry(XSPROF_ENTRY_FACT, 0, 0, "exe=/tmp/" BAD, 9 + strlen(BAD));
	cap_entry(XSPROF_ENTRY_THREAD, 7, XSPROF_THREAD_GIVEN, "waits" BAD, 5 + strlen(BAD));
	cap_entry(XSPROF_ENTRY_THREAD, 8, XSPROF_THREAD_GIVEN, "holds" BAD, 5 + strlen(BAD));
	cap_arena(0);
}

static void lock(struct cap_ring *r)
{
	const struct xsprof_rec_span span = {
		.rec = cap_head(T(50), XSPROF_REC_SPAN, 8, cap_lock_name(CAP_LOCK_HELD), 0, 0),
		.begin = T(30), .end = T(50),
	};

	cap_lock_wait(r, T(40), 7, 8, 0);
	cap_record(r, &span, 2);
	cap_event(r, T(51), XSPROF_REC_END, 7, cap_lock_name(CAP_LOCK_WAIT), 0, 0);
	cap_event(r, T(52), XSPROF_REC_INSTANT, 8, cap_lock_name(CAP_LOCK_TAKEN), 0, 0);
}

void cap_make_hostile_lock(void)
{
	struct cap_ring r;

	cap_host("hostname=lock" BAD "\n");
	cap_clock(T(0), T(10000000));
	cap_producer(0, 7, T(0));
	arena();
	cap_ring_open(&r, 0, 0, 4096);
	lock(&r);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(100));
	cap_end(T(101));
}
