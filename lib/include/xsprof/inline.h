/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The marker's sequence in the caller's own code, for C and C++ programs that ask for it:
 *
 *	#define XSPROF_INLINE
 *	#include <xsprof/xsprof.h>
 *
 * A recorded marker of one slot then makes no call; it takes some 150 bytes of code.  The slow path
 * (the thread's first marker, a full ring, no rseq) calls the library as before, and so does every
 * marker if the library does not offer this version of the interface.  On machines other than
 * x86-64 every marker is a call.
 *
 * Included by xsprof.h; nothing here is to be used directly.
 */
#ifndef XSPROF_INLINE_H
#define XSPROF_INLINE_H

#include <stddef.h>
#include <stdint.h>

#include <xsprof/abi.h>

/* Changes whenever code that was compiled with the header before could not run any more. */
#define XSPROF_INLINE_VERSION	2

/**
 * struct xsprof_inline_rings - the rings of the process; the library's, read only
 * @mask: slots of a ring less one
 * @slots: slots of a ring
 * @key: what a thread's key has beside the CPU; 0 while there are no rings: not attached, the
 *	child of a fork
 */
struct xsprof_inline_rings {
	uint64_t	mask;
	uint64_t	slots;
	uint64_t	key;
};

/**
 * struct xsprof_inline_thread - what the library keeps for each thread; read only
 * @tid: the thread's id while its markers may write by themselves, else 0
 * @zero: 0
 * @skips: the library's own
 * @key: xsprof_inline_rings.key plus the number of the CPU that @ring belongs to
 * @ring: a ring that has memory; the one that the thread wrote last
 *
 * Why no table of rings by CPU: each load of such a chain waits for the one before it, and the
 * clock is read only when the chain has ended.
 */
struct xsprof_inline_thread {
	uint32_t			tid;
	uint32_t			zero;
	uint64_t			skips;
	uint64_t			key;
	struct xsprof_ring_writer	*ring;
};

/**
 * struct xsprof_inline - what the library tells code that was compiled with this header
 * @version: XSPROF_INLINE_VERSION that the rest is of
 * @size: bytes of this structure
 * @rings: the rings; never moves
 * @rseq: the thread's struct rseq, as an offset from the thread pointer.  Every thread has memory
 *	there, registered with the kernel or not
 * @thread: offset from the thread pointer of the thread's struct xsprof_inline_thread
 *
 * None of it changes while the process lives.
 */
struct xsprof_inline {
	uint32_t				version;
	uint32_t				size;
	const struct xsprof_inline_rings	*rings;
	int64_t					rseq;
	int64_t					thread;
};

#ifdef __cplusplus
extern "C" {
#endif

/**
 * xsprof_inline_get() - what inline markers need to know
 * @version: XSPROF_INLINE_VERSION of the caller
 * @size: sizeof(struct xsprof_inline) of the caller
 *
 * Called by a constructor in this header, not by programs.
 *
 * Return: the library's description; NULL where it cannot serve that version, or the machine has
 * no sequences: the caller then uses calls.
 */
const struct xsprof_inline *xsprof_inline_get(uint32_t version, size_t size)
	__attribute__((visibility("default"), weak));

#ifdef __cplusplus
}
#endif

#if defined(__x86_64__) && defined(__LP64__)

/*
 * The restartable sequence that publishes one slot, as inline assembly.  @arm: the store that
 * arms it; @key, @ring: those words of the thread's struct xsprof_inline_thread; @clock: leaves
 * the time in edx:eax; @stores: the slot's time and its last two words, from
 * 8192(%rcx, %rdi) + 8 on, the store of the new head (rsi) to 0(%rcx), and then the label that
 * ends the sequence; @leave: what else is to be done before the slow way is taken.
 *
 * Operands: [rs] offset of struct rseq, [set] [mask] key and mask as in struct
 * xsprof_inline_rings, [tid] [type] the halves of the record's first word, [slow] the label of the
 * slow way; the stores' own.  Clobbers rax, rcx, rdx, rsi, rdi.
 *
 * The kernel restarts it at its abort handler when the thread is preempted, migrated, or runs a
 * signal handler, so no other sequence runs on this CPU in between, and the thread stays on the
 * CPU whose ring it writes.  Nothing is published before the last store, which is its end.
 *
 * cpu_id is huge where rseq is not registered, and no thread's key has that CPU.
 *
 * Ordering: x86 keeps stores in order, and loads in order: the last store is a release store for
 * the reader's acquire load of head; the thread's key and ring are its own, stored by one
 * instruction; and head is compared with bound, which the library raised after the reader gave
 * the slots back.  The compiler is held by the "memory" clobber.
 *
 * "?": in the section group of the code around, so that a function which the linker drops because
 * another file has it too takes its descriptor along.
 */
#define XSPROF_SEQ_1_(arm, key, ring, clock, stores, leave) \
	".pushsection __rseq_cs, \"aw?\"\n\t" \
	".balign 32\n" \
	".Lxsp_cs%=:\n\t" \
	".long 0, 0\n\t" \
	".quad .Lxsp_start%=, (.Lxsp_commit%= - .Lxsp_start%=), .Lxsp_abort%=\n\t" \
	".popsection\n\t" \
	"leaq .Lxsp_cs%=(%%rip), %%rax\n\t" \
	arm \
	".Lxsp_start%=:\n\t" \
	"movl %%fs:4(%[rs]), %%ecx\n\t"	/* cpu_id */ \
	"addq %[set], %%rcx\n\t" \
	"cmpq " key ", %%rcx\n\t" \
	"jne .Lxsp_abort%=\n\t" \
	"movq " ring ", %%rcx\n\t" \
	"movq 0(%%rcx), %%rsi\n\t"		/* head */ \
	"cmpq 24(%%rcx), %%rsi\n\t"		/* bound: head + 1 may not be beyond it */ \
	"jae .Lxsp_abort%=\n\t" \
	"movq %%rsi, %%rdi\n\t" \
	"andq %[mask], %%rdi\n\t" \
	"shlq $5, %%rdi\n\t" \
	"incq %%rsi\n\t" \
	clock \
	"movl %[tid], 8192+0(%%rcx, %%rdi)\n\t" \
	"movl %[type], 8192+4(%%rcx, %%rdi)\n\t" \
	stores \
	".pushsection .text.xsp_abort, \"ax?\"\n\t" \
	".byte 0x0f, 0xb9, 0x3d\n\t" \
	".long 0x53053053\n"			/* the signature that the kernel looks for */ \
	".Lxsp_abort%=:\n\t" \
	leave \
	"jmp %l[slow]\n\t" \
	".popsection\n\t"

#define XSPROF_SEQ_ARM_		"movq %%rax, %%fs:8(%[rs])\n\t"
#define XSPROF_SEQ_CLOCK_	"rdtsc\n\t"
#define XSPROF_SEQ_WHOLE_	"shlq $32, %%rdx\n\torq %%rdx, %%rax\n\t"
#define XSPROF_SEQ_CLOBBERS_	"rax", "rcx", "rdx", "rsi", "rdi", "cc", "memory"
#define XSPROF_SEQ_COMMIT_	"movq %%rsi, 0(%%rcx)\n.Lxsp_commit%=:\n\t"
/* The last two words as they are; and with the last one the time less [b]. */
#define XSPROF_SEQ_STORES_ \
	"movl %%eax, 8192+8(%%rcx, %%rdi)\n\t" \
	"movl %%edx, 8192+12(%%rcx, %%rdi)\n\t" \
	"movq %[a], 8192+16(%%rcx, %%rdi)\n\t" \
	"movq %[b], 8192+24(%%rcx, %%rdi)\n\t" \
	XSPROF_SEQ_COMMIT_
#define XSPROF_SEQ_SINCE_ \
	XSPROF_SEQ_WHOLE_ \
	"movq %%rax, 8192+8(%%rcx, %%rdi)\n\t" \
	"movq %[a], 8192+16(%%rcx, %%rdi)\n\t" \
	"subq %[b], %%rax\n\t" \
	"movq %%rax, 8192+24(%%rcx, %%rdi)\n\t" \
	XSPROF_SEQ_COMMIT_

#ifdef XSPROF_INLINE
#define XSPROF_INLINE_HERE	1

/* Tests have broken ones of this and the next. */
#ifndef XSPROF_INLINE_ARM_
#define XSPROF_INLINE_ARM_	XSPROF_SEQ_ARM_
#endif

/*
 * The descriptor lies in this program or plugin, which may be unloaded; the kernel follows the
 * thread's pointer to it at the next preemption, and would kill the process if it was gone.  So the
 * pointer is cleared on each way out.  The library's own code is never unloaded and need not.
 */
#ifndef XSPROF_INLINE_CLEAR_
#define XSPROF_INLINE_CLEAR_	"movq $0, %%fs:8(%[rs])\n\t"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What xsprof_inline_get() said, one for each program or library; @rings NULL: use calls. */
struct xsprof_inline_own_ {
	const struct xsprof_inline_rings	*rings;
	int64_t					rseq;
	int64_t					thread;
};

extern struct xsprof_inline_own_ xsprof_inline_own_;
struct xsprof_inline_own_ xsprof_inline_own_ __attribute__((weak, visibility("hidden")));

void xsprof_inline_init_(void)
	__attribute__((weak, visibility("hidden"), constructor(101)));

void xsprof_inline_init_(void)
{
	const struct xsprof_inline *(*get)(uint32_t version, size_t size);
	const struct xsprof_inline *in;

	/* By the table of addresses whatever the code model is: it is 0 in an older library. */
	__asm__(".weak xsprof_inline_get\n\tmovq xsprof_inline_get@GOTPCREL(%%rip), %0"
		: "=r" (get));
	in = get ? get(XSPROF_INLINE_VERSION, sizeof(*in)) : NULL;
	if (!in || in->version != XSPROF_INLINE_VERSION || in->size < sizeof(*in))
		return;
	xsprof_inline_own_.rseq = in->rseq;
	xsprof_inline_own_.thread = in->thread;
	/* Release: a thread of an earlier constructor that sees @rings sees the rest. */
	__atomic_store_n(&xsprof_inline_own_.rings, in->rings, __ATOMIC_RELEASE);
}

#ifdef __cplusplus
}
#endif

/*
 * Acquire: the rest of xsprof_inline_own_ is there when @rings is.  The thread's id is compared
 * with @emit as xsp_not_short() of the library does: all ones while markers are traced in the
 * kernel, else 0.  Return: from the function around, 1, or 0 when nothing was written and the
 * call has to be made.
 */
#define XSPROF_INLINE_PUT_(emit, type, first, stores, ...) do { \
	const struct xsprof_inline_rings *rings_ = \
		__atomic_load_n(&xsprof_inline_own_.rings, __ATOMIC_ACQUIRE); \
	int64_t thread_ = xsprof_inline_own_.thread; \
	uint32_t tid_; \
\
	if (__builtin_expect(!rings_, 0)) \
		return 0; \
	__asm__ __volatile__("movl %%fs:(%1), %0" : "=r" (tid_) : "r" (thread_)); \
	if (__builtin_expect(tid_ <= (emit), 0)) \
		return 0; \
	__asm__ __volatile__ goto( \
		XSPROF_SEQ_1_(XSPROF_INLINE_ARM_, "%%fs:16(%[thread])", "%%fs:24(%[thread])", \
			      XSPROF_SEQ_CLOCK_, stores XSPROF_INLINE_CLEAR_, \
			      XSPROF_INLINE_CLEAR_) \
		: : [rs] "r" (xsprof_inline_own_.rseq), [thread] "r" (thread_), \
		  [set] "m" (rings_->key), [mask] "m" (rings_->mask), [tid] "r" (tid_), \
		  [type] "ri" ((type) | 1u << 8), [a] "re" (first), __VA_ARGS__ \
		: XSPROF_SEQ_CLOBBERS_ : slow); \
	return 1; \
} while (0)

static inline __attribute__((always_inline)) int xsprof_inline_put_(uint32_t emit, uint32_t type,
								    uint64_t a, uint64_t b)
{
	XSPROF_INLINE_PUT_(emit, type, a, XSPROF_SEQ_STORES_, [b] "re" (b));
slow:
	return 0;
}

/* The same, with the last word = the record's time less @begin. */
static inline __attribute__((always_inline)) int xsprof_inline_put_since_(uint32_t emit,
									  uint32_t type,
									  uint64_t a,
									  uint64_t begin)
{
	XSPROF_INLINE_PUT_(emit, type, a, XSPROF_SEQ_SINCE_, [b] "r" (begin));
slow:
	return 0;
}

#endif /* XSPROF_INLINE */
#endif /* __x86_64__ */

#endif /* XSPROF_INLINE_H */
