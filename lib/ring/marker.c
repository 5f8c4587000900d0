// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Markers of one slot: the out-of-line parts of the inline functions in <xsprof/xsprof.h>. The fast
 * path is a handful of instructions around one restartable sequence; everything rare is in separate
 * functions, called last.
 */
#include <string.h>

#include "base/clock.h"
#include "ring/rseq.h"

/*
 * Aligned to a cache line, in the shared library and in the archive: otherwise the cost of a marker
 * depends on where the linker puts it.
 */
#define XSP_HOT	__attribute__((aligned(64)))

#define HDR(tid, type)	((uint64_t)(tid) | (uint64_t)(type) << 32 | 1ull << 40)
#define WORD(name, aux)	((uint64_t)(name) | (uint64_t)(aux) << 32)

/* The sequence failed: another CPU, ring full, a drop pending, preempted, no rseq, ... */
static XSP_NOINLINE void put_slowly(uint32_t tid, uint32_t type, uint64_t a, uint64_t b)
{
	const uint64_t payload[2] = { a, b };

	if (!xsp_set.overwrite && xsp_seq_drop())
		return;
	xsp_put_slow(HDR(tid, type), payload, 1, 0);
	xsp_seq_remember();
}

/* The thread's first marker, one inside a left-out range, or one that the kernel traces. */
static XSP_COLD void put_entering(uint64_t type, uint64_t a, uint64_t b)
{
	const uint64_t payload[2] = { a, b };

	xsp_put_slow(HDR(xsp_thread_enter(), type), payload, 1, 0);
}

static inline __attribute__((always_inline)) void put(uint32_t type, uint64_t a, uint64_t b)
{
	uint32_t tid = (uint32_t)xsp_thread.hdr;

	if (xsp_not_short(tid)) {
		put_entering(type, a, b);
		return;
	}
	if (unlikely(!xsp_seq1(tid, type, a, b)))
		put_slowly(tid, type, a, b);
}

/*
 * Ranges whose category is off while others are on: the thread remembers, as a stack of bits, which
 * open ranges were left out, so that their ends are left out too. A thread without any has skips =
 * 0 and pays nothing.
 */
#define SKIPS_FULL	(1ull << 63)

/*
 * A pause ends all open ranges in the trace, and ends during it are not seen; the same holds while
 * another process has disabled all categories. Earlier left-out ranges must then be forgotten, or
 * the thread would never use the fast path again.
 */
static void forget_stale_skips(struct xsp_thread *t)
{
	uint32_t resumed = __atomic_load_n(&xsp_resumed, __ATOMIC_RELAXED);

	/* Relaxed, both: a thread that sees the change late forgets at a later marker. */
	if (xsp_set.ctl)
		resumed += (uint32_t)__atomic_load_n(&xsp_set.ctl->quiets, __ATOMIC_RELAXED);
	if (likely(t->resumed == resumed))
		return;
	t->resumed = resumed;
	t->skips = 0;
	t->deep = 0;
}

/* Return: true if the range is deeper than the bits reach: it and its end are left out. */
static bool skips_push(struct xsp_thread *t, uint64_t bit)
{
	if (t->deep || t->skips & SKIPS_FULL) {
		t->deep++;
		return true;
	}
	t->skips = t->skips << 1 | bit;
	return false;
}

/* Return: true if the innermost range was left out: leave its end out too. */
static bool skips_pop(struct xsp_thread *t)
{
	bool skipped;

	if (t->deep) {
		t->deep--;
		return true;
	}
	skipped = t->skips & 1;
	t->skips >>= 1;
	if (t->skips == 1)
		t->skips = 0;	/* the thread's next marker uses the fast path again */
	return skipped;
}

XSP_COLD bool xsp_range_begins(void)
{
	forget_stale_skips(&xsp_thread);
	if (likely(!xsp_thread.skips) || !skips_push(&xsp_thread, 0))
		return true;
	xsp_count_late();
	return false;
}

static XSP_COLD void begin_entering(uint32_t type, uint64_t a, uint64_t b)
{
	if (xsp_range_begins())
		put_entering(type, a, b);
}

static XSP_COLD void end_entering(void)
{
	forget_stale_skips(&xsp_thread);
	if (unlikely(xsp_thread.skips) && skips_pop(&xsp_thread))
		return;
	put_entering(XSPROF_REC_END, 0, 0);
}

XSP_HOT void xsprof_emit_begin(xsprof_name_t name)
{
	uint32_t tid = (uint32_t)xsp_thread.hdr;

	if (xsp_not_short(tid)) {
		begin_entering(XSPROF_REC_BEGIN, name, 0);
		return;
	}
	if (unlikely(!xsp_seq1(tid, XSPROF_REC_BEGIN, name, 0)))
		put_slowly(tid, XSPROF_REC_BEGIN, name, 0);
}

void xsp_emit_op(xsprof_name_t name, uint32_t scope, uint64_t id)
{
	uint32_t tid = (uint32_t)xsp_thread.hdr;

	if (xsp_not_short(tid)) {
		begin_entering(XSPROF_REC_OP, WORD(name, scope), id);
		return;
	}
	if (unlikely(!xsp_seq1(tid, XSPROF_REC_OP, WORD(name, scope), id)))
		put_slowly(tid, XSPROF_REC_OP, WORD(name, scope), id);
}

XSP_HOT void xsprof_emit_end(void)
{
	uint32_t tid = (uint32_t)xsp_thread.hdr;

	if (xsp_not_short(tid)) {
		end_entering();
		return;
	}
	if (unlikely(!xsp_seq1(tid, XSPROF_REC_END, 0, 0)))
		put_slowly(tid, XSPROF_REC_END, 0, 0);
}

/*
 * The end of a named range whose begin was recorded: it has no bit of its own, but a range inside a
 * left-out one has pushed a bit, which is removed.
 */
XSP_HOT void xsprof_emit_end_of(xsprof_name_t name)
{
	if (!xsprof_enabled())
		return;
	if (unlikely(xsp_thread.skips) && skips_pop(&xsp_thread))
		return;
	put(XSPROF_REC_END, name, 0);
}

/* Takes the innermost bit for the range's own: the stack does not tell which range pushed it. */
XSP_COLD void xsp_emit_end_aux(xsprof_name_t name, uint32_t aux)
{
	forget_stale_skips(&xsp_thread);
	if (unlikely(xsp_thread.skips) && skips_pop(&xsp_thread))
		return;
	put(XSPROF_REC_END, WORD(name, aux), 0);
}

XSP_COLD void xsprof_emit_skip(void)
{
	struct xsp_thread *t = &xsp_thread;

	forget_stale_skips(t);
	t->hdr = 0;
	if (!t->skips)
		t->skips = 1;
	skips_push(t, 1);
}

XSP_HOT void xsprof_emit_instant(xsprof_name_t name, uint32_t scope)
{
	put(XSPROF_REC_INSTANT, WORD(name, scope), 0);
}

XSP_HOT void xsprof_emit_counter(xsprof_name_t name, int64_t value)
{
	put(XSPROF_REC_COUNTER_I64, name, (uint64_t)value);
}

XSP_HOT void xsprof_emit_counter_f64(xsprof_name_t name, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put(XSPROF_REC_COUNTER_F64, name, bits);
}

static XSP_COLD void complete_slowly(uint64_t tid, xsprof_name_t name, uint64_t begin)
{
	const uint64_t payload[2] = { name, -begin };

	xsp_put_slow(HDR(tid ? tid : xsp_thread_enter(), XSPROF_REC_COMPLETE), payload, 1, -1ull);
	xsp_seq_remember();
}

XSP_HOT void xsprof_emit_complete(xsprof_name_t name, uint64_t begin)
{
	uint32_t tid = (uint32_t)xsp_thread.hdr;

	if (unlikely(xsp_not_short(tid) ||
		     !xsp_seq1_since(tid, XSPROF_REC_COMPLETE, name, begin)))
		complete_slowly(tid, name, begin);
}

XSP_HOT void xsprof_emit(uint32_t type, xsprof_name_t name, uint32_t aux, uint64_t value)
{
	put(type & 0xff, WORD(name, aux), value);
}

uint64_t xsprof_now(void)
{
#if defined(__x86_64__)
	if (likely(xsp_kept.clock == XSPROF_CLOCK_TSC))
		return __builtin_ia32_rdtsc();
#endif
	return xsp_ticks(xsp_kept.clock ? xsp_kept.clock : xsp_clock_kind());
}
