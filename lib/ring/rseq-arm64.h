/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The restartable sequences for arm64; rseq-pseudocode.h explains them.
 *
 * Ordering. The commit is a store-release (stlr): a reader that acquires head sees every slot store
 * before it. It does not order later stores: in OVERWRITE mode the next record's first store may
 * become visible before this head, and a reader that re-reads head would then trust a slot that is
 * already being overwritten. dmb ishst before the stores keeps the previous head store before them;
 * it pairs with the reader's load barrier between its copy and its second read of head. DISCARD
 * needs none: there the slots were free according to tail, which was read with acquire when the
 * bound was raised, or in this sequence. If another thread raised the bound on this CPU, the
 * context switch between it and us is a full barrier.
 *
 * The counter is read without isb: it may be read a little early, but never before the sequence's
 * first load was issued; the decoder tolerates and counts a step back. Lock rings use isb.
 */
#ifndef XSP_RSEQ_ARM64_H
#define XSP_RSEQ_ARM64_H

#define XSP_RSEQ_SIG	0xd428bc00

#ifdef XSP_TEST_NO_ARM		/* negative control: an unarmed sequence must fail the tests */
#define XSP_ARM_STORE
#else
#define XSP_ARM_STORE	"str x9, [%[rs], #8]\n"
#endif
#define XSP_ARM \
	".pushsection __rseq_cs, \"aw\"\n\t" \
	".balign 32\n" \
	".Lxsp_cs%=:\n\t" \
	".long 0, 0\n\t" \
	".quad .Lxsp_start%=, (.Lxsp_commit%= - .Lxsp_start%=), .Lxsp_abort%=\n\t" \
	".popsection\n\t" \
	"adrp x9, .Lxsp_cs%=\n\t" \
	"add x9, x9, :lo12:.Lxsp_cs%=\n\t" \
	XSP_ARM_STORE \
	".Lxsp_start%=:\n\t"

/*
 * Inline, not in a separate section: a conditional branch reaches 1 MiB. The word before the
 * handler is the signature that the kernel checks.
 */
#define XSP_ABORT(what) \
	"b .Lxsp_out%=\n\t" \
	".inst 0xd428bc00\n" \
	".Lxsp_abort%=:\n\t" \
	what \
	".Lxsp_out%=:\n\t"

#ifdef XSP_TEST_NO_CLOCK	/* for measuring what the clock hides */
#define XSP_CLOCK	"mov x10, #0\n\t"
#else
#define XSP_CLOCK	"mrs x10, cntvct_el0\n\t"
#endif

#ifdef XSP_TEST_EARLY_COMMIT	/* negative control: publish before the last payload store */
#define XSP_SEQ1_STORES(last) \
	"str %[a], [x11, #16]\n\t" \
	"stlr %[d], [%[r]]\n" \
	".Lxsp_commit%=:\n\t" \
	last
#else
#define XSP_SEQ1_STORES(last) \
	"str %[a], [x11, #16]\n\t" \
	last \
	"stlr %[d], [%[r]]\n"			/* commit: head */ \
	".Lxsp_commit%=:\n\t"
#endif

#ifdef XSP_TEST_EARLY_GENERAL	/* negative control: the same in the general sequence */
#define XSP_EARLY_HEAD	"stlr %[n], [%[r]]\n\t"
#else
#define XSP_EARLY_HEAD
#endif

#ifdef XSP_TEST_NO_BOUND	/* negative control: a drop leaves the short way open */
#define XSP_LOWER_BOUND(head)
#else
#define XSP_LOWER_BOUND(head)	"str " head ", [%[r], #24]\n\t"	/* bound */
#endif

#define XSP_SEQ1(last) \
	XSP_ARM \
	"ldr w9, [%[rs], #4]\n\t"		/* cpu_id; huge where rseq is not registered */ \
	"ldp x11, x10, [%[set]]\n\t"		/* nr, ring */ \
	"cmp x9, x11\n\t" \
	"b.hs .Lxsp_abort%=\n\t" \
	"ldr %[r], [x10, x9, lsl #3]\n\t" \
	"ldr %[d], [%[r]]\n\t" \
	"ldr x11, [%[r], #24]\n\t"		/* bound */ \
	"add %[d], %[d], #1\n\t" \
	"cmp %[d], x11\n\t" \
	"b.hi .Lxsp_abort%=\n\t" \
	XSP_CLOCK \
	"ldr x9, [%[set], #16]\n\t"		/* mask */ \
	"sub x11, %[d], #1\n\t" \
	"and x11, x11, x9\n\t" \
	"ldr x9, [%[set], #48]\n\t"		/* data_off */ \
	"add x9, x9, %[r]\n\t" \
	"add x11, x9, x11, lsl #5\n\t" \
	"ldr w9, [%[set], #40]\n\t"		/* overwrite */ \
	"cbz w9, 1f\n\t" \
	"dmb ishst\n" \
	"1:\n\t" \
	"stp %[hdr], x10, [x11]\n\t" \
	XSP_SEQ1_STORES(last) \
	XSP_ABORT("mov %[d], #0\n")

static inline __attribute__((always_inline)) char *xsp_rseq_area(void)
{
	return (char *)__builtin_thread_pointer() + xsp_kept.rs;
}

/**
 * xsp_seq1() - publish a record of one slot, or do nothing
 * @tid: the thread's id
 * @type: of the record
 * @a: third word
 * @b: fourth word
 *
 * Return: false when it did nothing: the caller takes the slow path.
 */
static inline __attribute__((always_inline)) bool xsp_seq1(uint32_t tid, uint32_t type,
							   uint64_t a, uint64_t b)
{
	uint64_t r, d;

	__asm__ __volatile__(XSP_SEQ1("str %[b], [x11, #24]\n\t")
		: [r] "=&r" (r), [d] "=&r" (d)
		: [rs] "r" (xsp_rseq_area()), [set] "r" (&xsp_set.nr),
		  [hdr] "r" (xsp_hdr(tid, type, 1)), [a] "r" (a), [b] "r" (b)
		: "x9", "x10", "x11", "cc", "memory");
	return likely(d != 0);
}

/* The same for a COMPLETE record: the fourth word is the record's time minus @begin. */
static inline __attribute__((always_inline)) bool xsp_seq1_since(uint32_t tid, uint32_t type,
								 uint64_t a, uint64_t begin)
{
	uint64_t r, d;

	__asm__ __volatile__(XSP_SEQ1("sub x10, x10, %[b]\n\tstr x10, [x11, #24]\n\t")
		: [r] "=&r" (r), [d] "=&r" (d)
		: [rs] "r" (xsp_rseq_area()), [set] "r" (&xsp_set.nr),
		  [hdr] "r" (xsp_hdr(tid, type, 1)), [a] "r" (a), [b] "r" (begin)
		: "x9", "x10", "x11", "cc", "memory");
	return likely(d != 0);
}

/* On this architecture the sequence looks the ring up in the table. */
static inline void xsp_seq_remember(void)
{
}

/* @out = slot at position @pos; clobbers x9 */
#define XSP_SLOT_OF(out, pos) \
	"ldr x9, [%[set], #16]\n\t" \
	"and " out ", " pos ", x9\n\t" \
	"ldr x9, [%[set], #48]\n\t" \
	"add x9, x9, %[r]\n\t" \
	"add " out ", x9, " out ", lsl #5\n\t"

static inline unsigned int xsp_seq_general(struct xsp_seq_in *in)
{
	uint64_t r, d, h, e, n;
	unsigned int st;

	/* x9, x11: scratch; x10: the time; n: new head, then what the commit stores; d: to where */
	__asm__ __volatile__(
		XSP_ARM
		"ldr w9, [%[rs], #4]\n\t"
		"mov %w[st], #3\n\t"
		"ldp x11, x10, [%[set]]\n\t"
		"cmp x9, x11\n\t"
		"b.hs .Lxsp_out%=\n\t"
		"ldr %[r], [x10, x9, lsl #3]\n\t"
		"mov %w[st], #4\n\t"
		"ldr w9, [%[r], #40]\n\t"		/* kind: the closed ring has none */
		"cmp w9, #1\n\t"
		"b.ne .Lxsp_out%=\n\t"
		"mov %w[st], #1\n\t"
		"ldp %[h], x11, [%[r]]\n\t"		/* head, mark */
		"add x9, %[h], #1\n\t"
		"cmp x11, x9\n\t"
		"cinc %[e], %[h], eq\n\t"		/* mark == head + 1: room for LOST */
		"and x9, %[e], #127\n\t"
		"ldr x11, [%[in], #16]\n\t"
		"add x9, x9, x11\n\t"
		"cmp x9, #128\n\t"
		"b.ls 2f\n\t"
		"orr %[e], %[e], #127\n\t"		/* room for PAD: to the next block */
		"add %[e], %[e], #1\n"
		"2:\n\t"
		"add %[n], %[e], x11\n\t"
		"ldr x9, [%[in], #48]\n\t"
		"cbnz x9, 3f\n\t"
		"ldr w9, [%[set], #40]\n\t"		/* OVERWRITE is never full */
		"cbnz w9, 4f\n\t"
		"ldr x9, [%[set], #56]\n\t"
		"add x9, x9, %[r]\n\t"
		"ldar x9, [x9]\n\t"			/* tail, before the slots it freed */
		"sub x9, %[n], x9\n\t"
		"ldr x11, [%[set], #24]\n\t"
		"cmp x9, x11\n\t"
		"b.ls 4f\n"
		"3:\n\t"				/* drop */
		"add x9, %[h], #1\n\t"
		"str x9, [%[r], #8]\n\t"		/* mark */
		XSP_LOWER_BOUND("%[h]")
		"ldr %[n], [%[r], #16]\n\t"
		"add %[n], %[n], #1\n\t"
		"add %[d], %[r], #16\n\t"		/* commit to drops */
		"mov %w[st], #0\n\t"
		"b .Lxsp_store%=\n"
		"4:\n\t"
		"ldr x9, [%[r], #32]\n\t"		/* grown */
		"cmp %[n], x9\n\t"
		"b.ls 5f\n\t"
		"mov %w[st], #4\n\t"
		"b .Lxsp_out%=\n"
		"5:\n\t"
		XSP_CLOCK
		"str x10, [%[in], #56]\n\t"
		"ldr w9, [%[set], #40]\n\t"
		"cbz w9, 1f\n\t"
		"dmb ishst\n"
		"1:\n\t"
		"ldp x9, x11, [%[r], #8]\n\t"		/* mark, drops */
		"sub x9, x9, #1\n\t"
		"cmp x9, %[h]\n\t"
		"b.ne 6f\n\t"
		XSP_SLOT_OF("%[d]", "%[h]")		/* LOST */
		"ldr x9, [%[in], #32]\n\t"
		"stp x9, x10, [%[d]]\n\t"
		"stp xzr, x11, [%[d], #16]\n\t"
		"add %[h], %[h], #1\n"
		"6:\n\t"
		"subs x11, %[e], %[h]\n\t"
		"b.eq 7f\n\t"
		XSP_SLOT_OF("%[d]", "%[h]")		/* PAD fills [h, e) */
		"ldr x9, [%[in], #40]\n\t"
		"orr x9, x9, x11, lsl #40\n\t"
		"stp x9, x10, [%[d]]\n\t"
		"stp xzr, xzr, [%[d], #16]\n"
		"7:\n\t"
		XSP_SLOT_OF("%[d]", "%[e]")		/* the record */
		"ldp x9, %[h], [%[in]]\n\t"		/* header; payload, h is done with */
		"stp x9, x10, [%[d]]\n\t"
		"ldr x11, [%[in], #24]\n\t"
		"and x11, x11, x10\n\t"
		"ldp x9, x10, [%[h]]\n\t"
		"add x10, x10, x11\n\t"
		"stp x9, x10, [%[d], #16]\n\t"
		"ldr x11, [%[in], #16]\n\t"
		"subs x11, x11, #1\n\t"
		XSP_EARLY_HEAD
		"b.eq 9f\n"
		"8:\n\t"
		"ldp x9, x10, [%[h], #16]\n\t"
		"stp x9, x10, [%[d], #32]\n\t"
		"ldp x9, x10, [%[h], #32]\n\t"
		"stp x9, x10, [%[d], #48]\n\t"
		"add %[h], %[h], #32\n\t"
		"add %[d], %[d], #32\n\t"
		"subs x11, x11, #1\n\t"
		"b.ne 8b\n"
		"9:\n\t"
		"mov %[d], %[r]\n"			/* commit to head, at +0 */
		".Lxsp_store%=:\n\t"
		"stlr %[n], [%[d]]\n"			/* the one commit */
		".Lxsp_commit%=:\n\t"
		XSP_ABORT("mov %w[st], #2\n")
		: [r] "=&r" (r), [d] "=&r" (d), [h] "=&r" (h), [e] "=&r" (e), [n] "=&r" (n),
		  [st] "=&r" (st)
		: [rs] "r" (xsp_rseq_area()), [set] "r" (&xsp_set.nr), [in] "r" (in)
		: "x9", "x10", "x11", "cc", "memory");
	return st;
}

/**
 * xsp_seq_drop() - drop a record of one slot, if this CPU's ring is full
 * Equivalent to the general sequence in fewer steps: in an overloaded ring every marker comes here.
 * marker.
 *
 * Return: false if it did nothing: not full, OVERWRITE, aborted, no ring.
 */
static inline __attribute__((always_inline)) bool xsp_seq_drop(void)
{
	uint64_t r, d;

	__asm__ __volatile__(
		XSP_ARM
		"ldr w9, [%[rs], #4]\n\t"
		"ldp x11, x10, [%[set]]\n\t"
		"cmp x9, x11\n\t"
		"b.hs .Lxsp_abort%=\n\t"
		"ldr %[r], [x10, x9, lsl #3]\n\t"
		"ldr w9, [%[r], #40]\n\t"
		"cmp w9, #1\n\t"
		"b.ne .Lxsp_abort%=\n\t"
		"ldp x9, x10, [%[r]]\n\t"		/* head, mark */
		"add %[d], x9, #1\n\t"
		"cmp x10, %[d]\n\t"
		"cinc x10, %[d], eq\n\t"		/* LOST needs a slot too */
		"ldr x11, [%[set], #56]\n\t"
		/* tail; no acquire: no slot is stored to here, and an old one only drops more */
		"ldr x11, [x11, %[r]]\n\t"
		"sub x10, x10, x11\n\t"
		"ldr x11, [%[set], #24]\n\t"
		"cmp x10, x11\n\t"
		"b.ls .Lxsp_abort%=\n\t"
		"str %[d], [%[r], #8]\n\t"		/* mark */
		XSP_LOWER_BOUND("x9")
		"ldr x9, [%[r], #16]\n\t"
		"add x9, x9, #1\n\t"
		"add x10, %[r], #16\n\t"
		"stlr x9, [x10]\n"			/* commit: drops */
		".Lxsp_commit%=:\n\t"
		XSP_ABORT("mov %[d], #0\n")
		: [r] "=&r" (r), [d] "=&r" (d)
		: [rs] "r" (xsp_rseq_area()), [set] "r" (&xsp_set.nr)
		: "x9", "x10", "x11", "cc", "memory");
	return d != 0;
}

/**
 * xsp_seq_raise() - raise the bound of this CPU's ring
 * @limit: upper limit
 *
 * Doing nothing is always correct.
 */
static inline void xsp_seq_raise(uint64_t limit)
{
	uint64_t r, d;

	__asm__ __volatile__(
		XSP_ARM
		"ldr w9, [%[rs], #4]\n\t"
		"ldp x11, x10, [%[set]]\n\t"
		"cmp x9, x11\n\t"
		"b.hs .Lxsp_out%=\n\t"
		"ldr %[r], [x10, x9, lsl #3]\n\t"
		"ldr w9, [%[r], #40]\n\t"
		"cmp w9, #1\n\t"
		"b.ne .Lxsp_out%=\n\t"
		"ldp x9, x10, [%[r]]\n\t"		/* head, mark */
		"add x9, x9, #1\n\t"
		"cmp x9, x10\n\t"
		"b.eq .Lxsp_out%=\n\t"			/* a drop is pending */
		"mov %[d], #-1\n\t"
		"ldr w9, [%[set], #40]\n\t"
		"cbnz w9, 1f\n\t"
		"ldr x9, [%[set], #56]\n\t"
		"add x9, x9, %[r]\n\t"
		"ldar %[d], [x9]\n\t"			/* tail, before the slots it freed */
		"ldr x9, [%[set], #24]\n\t"
		"add %[d], %[d], x9\n"
		"1:\n\t"
		"ldr x9, [%[r], #32]\n\t"		/* grown */
		"cmp %[d], x9\n\t"
		"csel %[d], x9, %[d], hi\n\t"
		"cmp %[d], %[limit]\n\t"
		"csel %[d], %[limit], %[d], hi\n\t"
		"str %[d], [%[r], #24]\n"		/* commit: bound */
		".Lxsp_commit%=:\n\t"
		XSP_ABORT("")
		: [r] "=&r" (r), [d] "=&r" (d)
		: [rs] "r" (xsp_rseq_area()), [set] "r" (&xsp_set.nr),
		  [limit] "r" (limit)
		: "x9", "x10", "x11", "cc", "memory");
}

#endif /* XSP_RSEQ_ARM64_H */
