// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Switches made by the program itself: categories, pause and resume. The backend stores the words;
 * the reader may change its own part at any time.
 */
#include <errno.h>

#include "ring/backend.h"

/* Records when the set of categories changed, for the decoder. */
static void control_record(uint32_t op, uint64_t enabled)
{
	uint64_t payload[2] = { (uint64_t)op << 32, enabled };

	xsp_put_slow(xsp_hdr(xsp_thread_enter(), XSPROF_REC_CONTROL, 1), payload, 1, 0);
}

/* When the program paused last, in ticks, and the categories that were enabled until then. */
static uint64_t paused_at, enabled_before;

static void note_pause(uint64_t enabled)
{
	__atomic_store_n(&enabled_before, enabled, __ATOMIC_RELAXED);
	/* Release: pairs with the acquire in xsp_was_wanted(), which then sees the categories. */
	__atomic_store_n(&paused_at, xsprof_now(), __ATOMIC_RELEASE);
}

int xsprof_category_enable(int category, int on)
{
	uint64_t bit = 1ull << (category & 63);
	int err, saved = errno;

	if (category < 0 || category >= (int)XSPROF_MAX_CATEGORIES)
		return -EINVAL;
	if (!xsp_attached())
		return -ENOTCONN;
	err = xsp_kept.backend->control(on ? bit : 0, on ? 0 : bit, 0, 0);
	errno = saved;
	if (err)
		return err;
	/* With no category enabled, ends are not seen, as during a pause. */
	if (!xsprof_enabled())
		__atomic_add_fetch(&xsp_resumed, 1, __ATOMIC_RELAXED);
	control_record(XSPROF_CONTROL_ENABLE, xsprof_enabled());
	return 0;
}

static uint32_t paused(void)
{
	return __atomic_load_n(&xsp_set.ctl->paused, __ATOMIC_SEQ_CST);
}

/*
 * The reader (the library itself, between sessions) pauses or resumes the process. Closes open
 * ranges and drops the stack of suppressed ranges, as when the program pauses.
 */
void xsp_control_paused(bool on)
{
	if (on) {
		control_record(XSPROF_CONTROL_PAUSE, 0);
		return;
	}
	control_record(XSPROF_CONTROL_RESUME,
		       __atomic_load_n(&xsp_set.ctl->wanted, __ATOMIC_SEQ_CST));
	__atomic_add_fetch(&xsp_resumed, 1, __ATOMIC_RELAXED);
}

bool xsp_was_wanted(int category, uint64_t wanted_at, uint64_t ticks)
{
	uint64_t at = __atomic_load_n(&paused_at, __ATOMIC_ACQUIRE);

	if (!xsp_attached() || paused() & XSPROF_PAUSED_RECORDER ||
	    xsprof_enabled() >> category & 1)
		return false;
	return ticks < wanted_at ||
	       (ticks < at &&
		__atomic_load_n(&enabled_before, __ATOMIC_RELAXED) >> category & 1);
}

/* Acquire: pairs with the release in note_pause(), which comes before the bit that is tested. */
uint64_t xsp_paused_since(void)
{
	return xsp_attached() && paused() & XSPROF_PAUSED_PROGRAM ?
	       __atomic_load_n(&paused_at, __ATOMIC_ACQUIRE) : 0;
}

int xsprof_pause(void)
{
	int err, saved = errno;

	if (!xsp_attached())
		return -ENOTCONN;
	if (paused() & XSPROF_PAUSED_PROGRAM)
		return 0;
	note_pause(xsprof_enabled());
	err = xsp_kept.backend->control(0, 0, XSPROF_PAUSED_PROGRAM, 0);
	errno = saved;
	if (!err)
		control_record(XSPROF_CONTROL_PAUSE, 0);
	return err;
}

int xsprof_resume(void)
{
	int err, saved = errno;

	if (!xsp_attached())
		return -ENOTCONN;
	if (!(paused() & XSPROF_PAUSED_PROGRAM))
		return 0;
	/* Before markers resume: the pause closes open ranges, not this. */
	if (!(paused() & XSPROF_PAUSED_RECORDER))
		control_record(XSPROF_CONTROL_RESUME,
			       __atomic_load_n(&xsp_set.ctl->wanted, __ATOMIC_SEQ_CST));
	__atomic_add_fetch(&xsp_resumed, 1, __ATOMIC_RELAXED);
	err = xsp_kept.backend->control(0, 0, 0, XSPROF_PAUSED_PROGRAM);
	errno = saved;
	return err;
}
