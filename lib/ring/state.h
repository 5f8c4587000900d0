/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The state of the rings: the process' one producer, the thread's own words, and the calls between
 * the files of ring/.  Attaching and children of forks are a floor above: struct xsp_hooks is how
 * the slow path of a marker gets there.  Nothing here is visible outside the library.
 */
#ifndef XSP_RING_STATE_H
#define XSP_RING_STATE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <xsprof/xsprof.h>

#include "base/own.h"

/*
 * Hooks for tests: a build with XSP_INJECT defines this macro to a call that delays, yields or
 * raises a signal at a numbered point.  In the product it is nothing.
 */
#ifndef XSP_INJECT
#define XSP_INJECT(point)	do { } while (0)
#endif

/**
 * struct xsp_set - where markers go; what the sequences read
 * @skip: nothing.  The heads of all rings start their pages, and a processor takes a load for
 *	one of the store before it whose address has the same low 12 bits, and waits: what
 *	markers read must not start a page
 * @nr: rings by CPU; 0: not attached, or no rseq
 * @ring: a pointer a ring, those by CPU first; one with no memory yet is xsp_closed_ring
 * @mask: slots of a ring less one
 * @size: slots of a ring
 * @key: high half: the producer's number, so that no key which a thread keeps from the time
 *	before a fork is this one's; 0, as is @nr, sends every marker to the slow path
 * @overwrite: 1 in OVERWRITE mode
 * @nl: lock rings
 * @data_off: from a ring to its data
 * @tail_off: from a ring to its reader page
 * @base: the producer's memory
 * @ctl: its control page; its backend alone may write to it, if anybody here may
 * @arena: its arena
 * @rings_off: where ring 0 starts
 * @stride: bytes from one ring to the next
 * @arena_room: bytes of the arena's entries
 * @nr_rings: what @nr is, or was before it was made 0
 * @state: enum xsp_state
 * @settled: XSP_SETTLED once this process knows that the producer is its own; 0 in a child that
 *	has not looked; a thread id while one sees to it
 *
 * The geometry is here and not read from the control page: that of a tmpfs file is the reader's
 * to map, and whoever may write to it must not be able to lead a store astray.
 *
 * Written while no marker can use it (nr = 0, state not ATTACHED), constant afterwards but for
 * entries of @ring, which change once, from the closed ring to the open one.
 *
 * It has pages of its own, which the kernel wipes in the child of any fork (fork.c): nr is 0
 * there, and the state DETACHED.
 */
struct xsp_set {
	uint64_t			skip[16];
	uint64_t			nr;
	struct xsprof_ring_writer	**ring;
	uint64_t			mask;
	uint64_t			size;
	uint64_t			key;
	uint32_t			overwrite;
	uint32_t			nl;
	uint64_t			data_off;
	uint64_t			tail_off;
	/* not in the first line: the slow path's */
	char				*base;
	const struct xsprof_ctl		*ctl;
	struct xsprof_arena		*arena;
	uint64_t			rings_off;
	uint64_t			stride;
	uint64_t			arena_room;
	uint32_t			nr_rings;
	uint32_t			state;
	uint32_t			settled;
} __attribute__((aligned(XSPROF_CTL_SPAN)));

extern struct xsp_set xsp_set XSP_HIDDEN;
/**
 * struct xsp_kept - what must survive the wiping of xsp_set
 * @rs: offset of the thread's struct rseq from the thread pointer.  A sequence stores there
 *	before it looks at anything, so it is never to be 0
 * @clock: enum xsprof_clock_kind: a child that takes the time before its first marker means the
 *	clock that this one will have
 * @backend: whose memory the producer's is, NULL when there is none
 * @base: that memory, in the process that attached
 * @len: bytes mapped there
 * @ring: xsp_set.ring
 * @rings: pointers in it
 * @fd: the descriptor of that memory
 * @pid: the process that all this is of, 0 before it first tried to attach
 * @wiped: the kernel does wipe xsp_set
 */
struct xsp_kept {
	int64_t				rs;
	uint32_t			clock;
	const struct xsp_backend	*backend;
	char				*base;
	uint64_t			len;
	struct xsprof_ring_writer	**ring;
	uint32_t			rings;
	int				fd;
	int				pid;
	bool				wiped;
};

extern struct xsp_kept xsp_kept XSP_HIDDEN;
extern struct xsprof_ring_writer xsp_closed_ring XSP_HIDDEN;
/* Producers that this process and its parents have been: whose arena something is in. */
extern uint32_t xsp_producers XSP_HIDDEN;
/* Ops of this producer that are there without their stack, as there was no room for it. */
extern uint64_t xsp_stacks_missed XSP_HIDDEN;

#define XSP_NO_KEY	UINT64_MAX

/**
 * struct xsp_thread - a thread's own state
 * @hdr: its thread id when markers may take the short way, else 0
 * @skips: begins left out because their category was off: a stack of bits under a 1, innermost
 *	lowest, 1 for left out; 0 when none is
 * @key: xsp_set.key plus the number of the CPU that @ring belongs to: xsp_seq_remember();
 *	XSP_NO_KEY: none.  0 would match CPU 0 while there are no rings
 * @ring: an open ring
 * @tid: its thread id, 0 before its first marker
 * @lock_ring: the lock ring it used last
 * @named: its name is in the arena
 * @begun: that it has begun is there, too, which is once, whatever it is called later
 * @deep: begins left out beyond what @skips can hold
 * @resumed: xsp_resumed as it was when @skips was last looked at
 * @session: the profiler's session that it has joined, 0 for none
 */
struct xsp_thread {
	uint64_t			hdr;
	uint64_t			skips;
	uint64_t			key __attribute__((aligned(16)));
	struct xsprof_ring_writer	*ring;
	uint32_t			tid;
	uint32_t			lock_ring;
	uint32_t			named;
	uint32_t			begun;
	uint32_t			deep;
	uint32_t			resumed;
	uint32_t			session;
};

/*
 * initial-exec: one load from the thread pointer, no call, no allocation in a signal handler.
 * The few bytes fit what glibc keeps for libraries that are loaded late.
 */
extern __thread struct xsp_thread xsp_thread
	__attribute__((tls_model("initial-exec"))) XSP_HIDDEN;

/* Markers write by themselves into no ring of this process. */
static inline void xsp_rings_close(void)
{
	xsp_set.nr = 0;
	xsp_set.key = 0;
}

static inline uint64_t xsp_hdr(uint64_t tid, unsigned int type, unsigned int slots)
{
	return tid | (uint64_t)type << 32 | (uint64_t)slots << 40;
}

/* ---- put.c ---- */
void xsp_put_slow(uint64_t hdr, const uint64_t *payload, unsigned int slots, uint64_t add_ticks)
	XSP_HIDDEN;

/* ---- marker.c ---- */
/* A range begins.  false: it is deeper than is remembered of ranges left out, and is one. */
bool xsp_range_begins(void) XSP_HIDDEN;
/* An op of which there is no more to say. */
void xsp_emit_op(xsprof_name_t name, uint32_t scope, uint64_t id) XSP_HIDDEN;
/* An end with XSPROF_END_* in @aux; @name 0: of the thread's innermost range. */
void xsp_emit_end_aux(xsprof_name_t name, uint32_t aux) XSP_HIDDEN;

/* ---- trace.c ---- */
void xsp_trace_send(uint64_t hdr, const uint64_t *payload, uint64_t add_ticks, uint64_t ticks)
	XSP_HIDDEN;

/* All ones while somebody traces markers in the kernel, else 0; on the line that markers test. */
static inline uint32_t xsp_emit_wanted(void)
{
	return __atomic_load_n(&xsprof_ctl_page.ctl.emit, __ATOMIC_RELAXED);
}

/*
 * Is it the thread's first marker (or one inside a range that was left out), or is it traced in
 * the kernel?  @tid: xsp_thread.hdr.  One compare for both: an id is 0 or has some of the 32
 * bits, and the word has all of them or none.
 */
static inline __attribute__((always_inline)) bool xsp_not_short(uint32_t tid)
{
	return unlikely(tid <= xsp_emit_wanted());
}

/* ---- lock-ring.c ---- */
uint64_t xsp_lock_put(uint64_t hdr, const uint64_t *payload, unsigned int slots,
		      uint64_t add_ticks) XSP_HIDDEN;

/* ---- thread.c ---- */
uint64_t xsp_thread_enter(void) XSP_HIDDEN;
void xsp_thread_forget(void) XSP_HIDDEN;

/* ---- rseq.c ---- */
bool xsp_rseq_usable(int64_t *offset) XSP_HIDDEN;
void xsp_rseq_enter(void) XSP_HIDDEN;
int xsp_current_cpu(void) XSP_HIDDEN;

/* ---- names.c ---- */
int xsp_names_lock(bool wait) XSP_HIDDEN;
void xsp_names_unlock(void) XSP_HIDDEN;
void xsp_names_inherit(bool locked) XSP_HIDDEN;
void xsp_names_publish(void) XSP_HIDDEN;
const char *xsp_name_text(uint32_t name, uint32_t *len) XSP_HIDDEN;
const char *xsp_category_text(uint32_t category, uint32_t *len) XSP_HIDDEN;
uint64_t xsp_categories_wanted(void) XSP_HIDDEN;
size_t xsp_text_len(const char *text) XSP_HIDDEN;

/* ---- arena.c ---- */
uint32_t xsp_entry_size(size_t len) XSP_HIDDEN;
void xsp_entry_write(char *to, uint16_t type, uint32_t id, uint32_t aux, const char *text,
		     size_t len, uint32_t size) XSP_HIDDEN;
int xsp_arena_add(uint16_t type, uint32_t id, uint32_t aux, const char *text, size_t len)
	XSP_HIDDEN;
int xsp_arena_add_thread(uint32_t tid, const char *comm, size_t len, uint64_t since) XSP_HIDDEN;
void xsp_arena_begin(uint64_t missed) XSP_HIDDEN;

/* ---- state.c ---- */
enum xsp_state {
	XSP_DETACHED = 0,	/* also what a wiped xsp_set says */
	XSP_ATTACHED,
	XSP_FAILED,	/* tried, could not: nothing more is tried in this process */
};

static inline bool xsp_attached(void)
{
	/* Acquire: pairs with the release in xsp_attach(); whoever sees it sees xsp_set. */
	return __atomic_load_n(&xsp_set.state, __ATOMIC_ACQUIRE) == XSP_ATTACHED;
}

extern uint32_t xsp_resumed XSP_HIDDEN;	/* times the process has gone on after a pause */
void xsp_kick(void) XSP_HIDDEN;
void xsp_count_late(void) XSP_HIDDEN;
uint64_t xsp_late(void) XSP_HIDDEN;
uint64_t xsp_take_late(void) XSP_HIDDEN;

/**
 * struct xsp_hooks - what the slow path of a marker needs of whoever makes the producer
 * @attach: make the process a producer, if somebody records.  Signal-safe.  Return: 0 attached;
 *	-ENOTCONN nobody records; -EAGAIN not now; else why it failed for good
 * @settle: a child of a fork of which nobody knew sees to it that it is one.  Signal-safe.
 *	Return: 0; -EAGAIN in a handler over the one that does it
 *
 * Filled by the library's constructor, before markers are enabled, and constant afterwards.
 */
struct xsp_hooks {
	int	(*attach)(void);
	int	(*settle)(void);
};

extern struct xsp_hooks xsp_hooks XSP_HIDDEN;

/* No recording before the constructor has run. */
static inline int xsp_attach_now(void)
{
	return xsp_hooks.attach ? xsp_hooks.attach() : -ENOTCONN;
}

#define XSP_SETTLED	UINT32_MAX

/**
 * xsp_fork_check() - whatever is about to use this process' state comes by here first
 *
 * Return: 0; -EAGAIN in a handler over the one that sees to it.
 */
static inline int xsp_fork_check(void)
{
	if (likely(!xsp_kept.wiped ||
		   __atomic_load_n(&xsp_set.settled, __ATOMIC_ACQUIRE) == XSP_SETTLED))
		return 0;
	return xsp_hooks.settle();
}

/*
 * Is this the child of vfork(), or of another clone() with CLONE_VM?  What it changes here is its
 * parent's.  Not known of a parent that was itself cloned without a handler, before it has settled.
 */
static inline bool xsp_shares_memory(void)
{
	return xsp_kept.pid && xsp_kept.pid != (int)syscall(SYS_getpid);
}

/* ---- control.c ---- */
void xsp_control_paused(bool on) XSP_HIDDEN;

/* ---- grow.c ---- */
int xsp_ring_make_room(uint32_t ring, uint64_t slots) XSP_HIDDEN;

static inline struct xsprof_ring_writer *xsp_ring(uint32_t k)
{
	return (struct xsprof_ring_writer *)(xsp_set.base + xsp_set.rings_off +
					     (uint64_t)k * xsp_set.stride);
}

/*
 * Known by the library's own table and by nothing in the ring: where a ring has no memory even a
 * read of it is SIGBUS, and before this thread has mapped it a store is SIGSEGV.
 */
static inline bool xsp_ring_is_open(uint32_t k)
{
	return __atomic_load_n(&xsp_set.ring[k], __ATOMIC_ACQUIRE) != &xsp_closed_ring;
}

static inline uint64_t *xsp_ring_tail(struct xsprof_ring_writer *w)
{
	return (uint64_t *)((char *)w + xsp_set.tail_off);
}

static inline struct xsprof_rec *xsp_ring_slot(struct xsprof_ring_writer *w, uint64_t pos)
{
	return (struct xsprof_rec *)((char *)w + xsp_set.data_off +
				     ((pos & xsp_set.mask) << XSPROF_SLOT_SHIFT));
}

#endif /* XSP_RING_STATE_H */
