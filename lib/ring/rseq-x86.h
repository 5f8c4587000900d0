/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The restartable sequences for x86-64; rseq-pseudocode.h explains them.
 *
 * Constraints: gcc 12 miscompiles asm goto with outputs, so a sequence has either outputs or a
 * label to jump to; the abort handler is in a separate section after the signature that the kernel
 * checks; the checks come before the clock, so that a drop does not pay for rdtsc.
 *
 * Ordering: x86 keeps stores in order and loads in order (TSO), so the commit, a plain mov, is a
 * release store and needs no fence; the "memory" clobber restrains the compiler.
 */
#ifndef XSP_RSEQ_X86_H
#define XSP_RSEQ_X86_H

#include <xsprof/inline.h>

#define XSP_RSEQ_SIG	0x53053053

/* struct rseq_cs: version and flags 0, start, length, abort handler; and the arming store. */
#ifdef XSP_TEST_NO_ARM		/* negative control: an unarmed sequence must fail the tests */
#define XSP_ARM_STORE
#else
#define XSP_ARM_STORE	"movq %%rax, %%fs:8(%[rs])\n\t"
#endif
#define XSP_ARM \
	".pushsection __rseq_cs, \"aw\"\n\t" \
	".balign 32\n" \
	".Lxsp_cs%=:\n\t" \
	".long 0, 0\n\t" \
	".quad .Lxsp_start%=, (.Lxsp_commit%= - .Lxsp_start%=), .Lxsp_abort%=\n\t" \
	".popsection\n\t" \
	"leaq .Lxsp_cs%=(%%rip), %%rax\n\t" \
	XSP_ARM_STORE \
	".Lxsp_start%=:\n\t"

#define XSP_ABORT(what) \
	".pushsection .text.xsp_abort, \"ax\"\n\t" \
	".byte 0x0f, 0xb9, 0x3d\n\t" \
	".long %c[sig]\n" \
	".Lxsp_abort%=:\n\t" \
	what \
	"jmp .Lxsp_out%=\n\t" \
	".popsection\n\t"

#ifdef XSP_TEST_NO_CLOCK	/* for measuring what the clock hides */
#define XSP_CLOCK	"xorl %%eax, %%eax\n\txorl %%edx, %%edx\n\t"
#else
#define XSP_CLOCK	XSPROF_SEQ_CLOCK_
#endif

#ifdef XSP_TEST_EARLY_COMMIT	/* negative control: publish before the last payload store */
#define XSP_SEQ1_STORES \
	"movl %%eax, 8192+8(%%rcx, %%rdi)\n\t" \
	"movl %%edx, 8192+12(%%rcx, %%rdi)\n\t" \
	"movq %[a], 8192+16(%%rcx, %%rdi)\n\t" \
	"movq %%rsi, 0(%%rcx)\n" \
	".Lxsp_commit%=:\n\t" \
	"movq %[b], 8192+24(%%rcx, %%rdi)\n\t"
#else
#define XSP_SEQ1_STORES	XSPROF_SEQ_STORES_
#endif

#ifdef XSP_TEST_EARLY_GENERAL	/* negative control: the same in the general sequence */
#define XSP_EARLY_HEAD	"movq %%rcx, 0(%[r])\n\t"
#else
#define XSP_EARLY_HEAD
#endif

#ifdef XSP_TEST_NO_BOUND	/* negative control: a drop leaves the short way open */
#define XSP_LOWER_BOUND
#else
#define XSP_LOWER_BOUND	"movq %[h], 24(%[r])\n\t"	/* bound */
#endif

/* A marker's sequence: that of <xsprof/inline.h> with the library's own variables. */
#define XSP_SEQ1(stores) \
	XSPROF_SEQ_1_(XSP_ARM_STORE, "%[key]", "%[ring]", XSP_CLOCK, stores, "")

#define XSP_SEQ1_IN(id, what, first) \
	[rs] "r" (xsp_kept.rs), [key] "m" (xsp_thread.key), [ring] "m" (xsp_thread.ring), \
	[set] "m" (xsp_set.key), [mask] "m" (xsp_set.mask), [tid] "r" (id), \
	[type] "ri" ((what) | 1u << 8), [a] "re" (first)

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
	__asm__ __volatile__ goto(XSP_SEQ1(XSP_SEQ1_STORES)
		: : XSP_SEQ1_IN(tid, type, a), [b] "re" (b)
		: XSPROF_SEQ_CLOBBERS_ : slow);
	return true;
slow:
	return false;
}

/* The same for a COMPLETE record: the fourth word is the record's time minus @begin. */
static inline __attribute__((always_inline)) bool xsp_seq1_since(uint32_t tid, uint32_t type,
								 uint64_t a, uint64_t begin)
{
	__asm__ __volatile__ goto(XSP_SEQ1(XSPROF_SEQ_SINCE_)
		: : XSP_SEQ1_IN(tid, type, a), [b] "r" (begin)
		: XSPROF_SEQ_CLOBBERS_ : slow);
	return true;
slow:
	return false;
}

/**
 * xsp_seq_remember() - let the thread's next markers use the ring of its current CPU
 *
 * Doing nothing is always correct, and so is the ring of a CPU that the thread has left: the
 * sequence compares. One CPU with the ring of another must never be stored, as a handler between
 * two stores could cause: so both words are written by one store, which no signal can split.
 */
static inline void xsp_seq_remember(void)
{
	uint64_t key = xsp_set.key;
	int cpu = xsp_current_cpu();

	if (cpu < 0 || (uint64_t)cpu >= xsp_set.nr || !xsp_ring_is_open(cpu))
		return;
#ifdef XSP_TEST_STALE_RING	/* negative control: the ring of the CPU before */
	if (xsp_thread.ring) {
		xsp_thread.key = key + (uint32_t)cpu;
		return;
	}
#endif
#ifdef XSP_TEST_TWO_STORES	/* negative control: a handler comes in between */
	*(struct xsprof_ring_writer *volatile *)&xsp_thread.ring = xsp_set.ring[cpu];
	*(volatile uint64_t *)&xsp_thread.key = key + (uint32_t)cpu;
	return;
#endif
	__asm__ __volatile__("movq %[key], %%xmm0\n\t"
			     "movq %[ring], %%xmm1\n\t"
			     "punpcklqdq %%xmm1, %%xmm0\n\t"
			     "movaps %%xmm0, %[to]\n\t"
			     : [to] "=m" (*(char (*)[16])&xsp_thread.key)
			     : [key] "r" (key + (uint32_t)cpu), [ring] "r" (xsp_set.ring[cpu])
			     : "xmm0", "xmm1");
}

/* d = slot at position p; clobbers nothing else */
#define XSP_SLOT_OF(p) \
	"movq 16(%[set]), %[d]\n\t" \
	"andq " p ", %[d]\n\t" \
	"shlq $5, %[d]\n\t" \
	"leaq 8192(%[r], %[d]), %[d]\n\t"

static inline unsigned int xsp_seq_general(struct xsp_seq_in *in)
{
	uint64_t r, d, h, e;
	unsigned int st;

	__asm__ __volatile__(
		XSP_ARM
		"movl %%fs:4(%[rs]), %k[r]\n\t"
		"movl $3, %[st]\n\t"
		"cmpq 0(%[set]), %[r]\n\t"
		"jae .Lxsp_out%=\n\t"
		"movq 8(%[set]), %[d]\n\t"
		"movq (%[d], %[r], 8), %[r]\n\t"
		"movl $4, %[st]\n\t"
		"cmpl $1, 40(%[r])\n\t"			/* kind: the closed ring has none */
		"jne .Lxsp_out%=\n\t"
		"movl $1, %[st]\n\t"
		"movq 0(%[r]), %[h]\n\t"
		"movq %[h], %[e]\n\t"
		"leaq 1(%[h]), %%rcx\n\t"
		"cmpq 8(%[r]), %%rcx\n\t"		/* mark == head + 1: room for LOST */
		"jne 1f\n\t"
		"incq %[e]\n"
		"1:\n\t"
		"movl %k[e], %%ecx\n\t"
		"andl $127, %%ecx\n\t"
		"addq 16(%[in]), %%rcx\n\t"
		"cmpq $128, %%rcx\n\t"
		"jbe 2f\n\t"
		"orq $127, %[e]\n\t"			/* room for PAD: to the next block */
		"incq %[e]\n"
		"2:\n\t"
		"movq %[e], %%rcx\n\t"
		"addq 16(%[in]), %%rcx\n\t"		/* rcx: the new head */
		"cmpq $0, 48(%[in])\n\t"
		"jne 3f\n\t"
		"cmpl $0, 40(%[set])\n\t"		/* OVERWRITE is never full */
		"jne 4f\n\t"
		"movq %%rcx, %%rdx\n\t"
		"subq 4096(%[r]), %%rdx\n\t"		/* tail */
		"cmpq 24(%[set]), %%rdx\n\t"
		"jbe 4f\n"
		"3:\n\t"				/* drop */
		"leaq 1(%[h]), %%rcx\n\t"
		"movq %%rcx, 8(%[r])\n\t"		/* mark */
		XSP_LOWER_BOUND
		"movq 16(%[r]), %%rcx\n\t"
		"incq %%rcx\n\t"
		"leaq 16(%[r]), %[d]\n\t"		/* commit to drops */
		"xorl %[st], %[st]\n\t"
		"jmp .Lxsp_store%=\n"
		"4:\n\t"
		"cmpq 32(%[r]), %%rcx\n\t"		/* grown */
		"jbe 5f\n\t"
		"movl $4, %[st]\n\t"
		"jmp .Lxsp_out%=\n"
		"5:\n\t"
		XSP_CLOCK XSPROF_SEQ_WHOLE_		/* rax: the time */
		"movq %%rax, 56(%[in])\n\t"
		"leaq 1(%[h]), %%rdx\n\t"
		"cmpq 8(%[r]), %%rdx\n\t"
		"jne 6f\n\t"
		XSP_SLOT_OF("%[h]")			/* LOST */
		"movq 32(%[in]), %%rdx\n\t"
		"movq %%rdx, 0(%[d])\n\t"
		"movq %%rax, 8(%[d])\n\t"
		"movq $0, 16(%[d])\n\t"
		"movq 16(%[r]), %%rdx\n\t"
		"movq %%rdx, 24(%[d])\n\t"
		"incq %[h]\n"
		"6:\n\t"
		"cmpq %[h], %[e]\n\t"
		"je 7f\n\t"
		XSP_SLOT_OF("%[h]")			/* PAD fills [h, e) */
		"movq %[e], %%rdx\n\t"
		"subq %[h], %%rdx\n\t"
		"shlq $40, %%rdx\n\t"
		"orq 40(%[in]), %%rdx\n\t"
		"movq %%rdx, 0(%[d])\n\t"
		"movq %%rax, 8(%[d])\n\t"
		"movq $0, 16(%[d])\n\t"
		"movq $0, 24(%[d])\n"
		"7:\n\t"
		XSP_SLOT_OF("%[e]")			/* the record */
		"movq 0(%[in]), %%rdx\n\t"
		"movq %%rdx, 0(%[d])\n\t"
		"movq %%rax, 8(%[d])\n\t"
		"movq 8(%[in]), %[h]\n\t"		/* payload; h is done with */
		"movq 24(%[in]), %%rdx\n\t"
		"andq %%rax, %%rdx\n\t"
		"addq 8(%[h]), %%rdx\n\t"
		"movq %%rdx, 24(%[d])\n\t"
		"movq 0(%[h]), %%rdx\n\t"
		"movq %%rdx, 16(%[d])\n\t"
		"movq 16(%[in]), %%rdx\n\t"
		"decq %%rdx\n\t"
		XSP_EARLY_HEAD
		"jz 9f\n"
		"8:\n\t"
		"movups 16(%[h]), %%xmm0\n\t"
		"movups 32(%[h]), %%xmm1\n\t"
		"movaps %%xmm0, 32(%[d])\n\t"
		"movaps %%xmm1, 48(%[d])\n\t"
		"addq $32, %[h]\n\t"
		"addq $32, %[d]\n\t"
		"decq %%rdx\n\t"
		"jnz 8b\n"
		"9:\n\t"
		"movq %[r], %[d]\n"			/* commit to head, at +0 */
		".Lxsp_store%=:\n\t"
		"movq %%rcx, 0(%[d])\n"			/* the one commit */
		".Lxsp_commit%=:\n"
		".Lxsp_out%=:\n\t"
		XSP_ABORT("movl $2, %[st]\n\t")
		: [r] "=&r" (r), [d] "=&r" (d), [h] "=&r" (h), [e] "=&r" (e), [st] "=&r" (st)
		: [rs] "r" (xsp_kept.rs), [set] "r" (&xsp_set.nr), [in] "r" (in),
		  [sig] "i" (XSP_RSEQ_SIG)
		: "rax", "rcx", "rdx", "xmm0", "xmm1", "cc", "memory");
	return st;
}

/**
 * xsp_seq_drop() - drop a record of one slot, if this CPU's ring is full
 *
 * Equivalent to the general sequence in fewer steps: in an overloaded ring every marker comes here.
 *
 * Return: false if it did nothing: not full, OVERWRITE, aborted, no ring.
 */
static inline __attribute__((always_inline)) bool xsp_seq_drop(void)
{
	uint64_t r, d, h;

	__asm__ __volatile__(
		XSP_ARM
		"movl %%fs:4(%[rs]), %k[r]\n\t"
		"cmpq 0(%[set]), %[r]\n\t"
		"jae .Lxsp_abort%=\n\t"
		"movq 8(%[set]), %[d]\n\t"
		"movq (%[d], %[r], 8), %[r]\n\t"
		"cmpl $1, 40(%[r])\n\t"
		"jne .Lxsp_abort%=\n\t"
		"movq 0(%[r]), %[h]\n\t"
		"leaq 1(%[h]), %[d]\n\t"
		"xorl %%eax, %%eax\n\t"
		"cmpq 8(%[r]), %[d]\n\t"		/* mark: LOST needs a slot too */
		"sete %%al\n\t"
		"addq %[d], %%rax\n\t"
		"subq 4096(%[r]), %%rax\n\t"		/* tail */
		"cmpq 24(%[set]), %%rax\n\t"
		"jbe .Lxsp_abort%=\n\t"
		"movq %[d], 8(%[r])\n\t"		/* mark */
		XSP_LOWER_BOUND
		"movq 16(%[r]), %%rax\n\t"
		"incq %%rax\n\t"
		"movq %%rax, 16(%[r])\n"		/* commit: drops */
		".Lxsp_commit%=:\n"
		".Lxsp_out%=:\n\t"
		XSP_ABORT("xorl %k[d], %k[d]\n\t")
		: [r] "=&r" (r), [d] "=&r" (d), [h] "=&r" (h)
		: [rs] "r" (xsp_kept.rs), [set] "r" (&xsp_set.nr), [sig] "i" (XSP_RSEQ_SIG)
		: "rax", "cc", "memory");
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
		"movl %%fs:4(%[rs]), %k[r]\n\t"
		"cmpq 0(%[set]), %[r]\n\t"
		"jae .Lxsp_out%=\n\t"
		"movq 8(%[set]), %[d]\n\t"
		"movq (%[d], %[r], 8), %[r]\n\t"
		"cmpl $1, 40(%[r])\n\t"
		"jne .Lxsp_out%=\n\t"
		"movq 0(%[r]), %[d]\n\t"
		"incq %[d]\n\t"
		"cmpq 8(%[r]), %[d]\n\t"		/* a drop is pending */
		"je .Lxsp_out%=\n\t"
		"movq $-1, %%rdx\n\t"
		"cmpl $0, 40(%[set])\n\t"
		"jne 1f\n\t"
		"movq 4096(%[r]), %%rdx\n\t"
		"addq 24(%[set]), %%rdx\n"
		"1:\n\t"
		"cmpq 32(%[r]), %%rdx\n\t"
		"cmovaq 32(%[r]), %%rdx\n\t"
		"cmpq %[limit], %%rdx\n\t"
		"cmovaq %[limit], %%rdx\n\t"
		"movq %%rdx, 24(%[r])\n"		/* commit: bound */
		".Lxsp_commit%=:\n"
		".Lxsp_out%=:\n\t"
		XSP_ABORT("")
		: [r] "=&r" (r), [d] "=&r" (d)
		: [rs] "r" (xsp_kept.rs), [set] "r" (&xsp_set.nr),
		  [limit] "r" (limit), [sig] "i" (XSP_RSEQ_SIG)
		: "rax", "rdx", "cc", "memory");
}

#endif /* XSP_RSEQ_X86_H */
