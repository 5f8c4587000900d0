/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * State of the rings: the process' producer, each thread's own state, and calls between the files
 * of ring/. Attaching and forked children belong to the layer above, which the slow path of a
 * marker reaches through struct xsp_hooks. Nothing here is visible outside the library.
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
 * Test hooks: a build with XSP_INJECT defines this macro to a call that delays, yields or raises a
 * signal at a numbered point. Empty in the product.
 */
#ifndef XSP_INJECT
#define XSP_INJECT(point)	do { } while (0)
#endif

/**
 * struct xsp_set - the producer's rings; read by the sequences
 * @skip: unused. All ring heads are at the start of a page, and a processor mistakes a load for one
 *	of a preceding store whose address has the same low 12 bits (4 KiB aliasing), and stalls:
 *	words that markers read must not start a page
 * @nr: number of per-CPU rings; 0: not attached, or no rseq
 * @ring: pointers to the rings, per-CPU rings first; a ring without memory is xsp_closed_ring
 * @mask: slots of a ring minus one
 * @size: slots of a ring
 * @key: high half: number of the producer, so that a key that a thread kept from before a fork
 *	never matches; 0, like @nr, sends every marker to the slow path
 * @overwrite: 1 in OVERWRITE mode
 * @nl: number of lock rings
 * @data_off: offset of a ring's data
 * @tail_off: offset of a ring's reader page
 * @base: the producer's memory
 * @ctl: its control page; only the backend may write to it, if it is writable at all
 * @arena: its arena
 * @rings_off: offset of ring 0
 * @stride: bytes from one ring to the next
 * @arena_room: bytes for the arena's entries
 * @nr_rings: value of @nr while attached
 * @state: enum xsp_state
 * @settled: XSP_SETTLED once this process knows that the producer is its own; 0 in a child that has
 *	not checked; a thread id while that thread checks
 *
 * The geometry is kept here and not read from the control page: that of a tmpfs file is mapped by
 * the reader, and a process that may write to it must not be able to misdirect a store.
 *
 * Written while no marker can use it (nr = 0, state not ATTACHED), constant afterwards, except
 * entries of @ring, which change once, from the closed ring to the open one.
 *
 * In pages of its own, which the kernel wipes in forked children (fork.c): there nr is 0 and the
 * state DETACHED.
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
 * struct xsp_kept - state that must survive the wiping of xsp_set
 * @rs: offset of the thread's struct rseq from the thread pointer; never 0, as a sequence stores
 *	there before any check
 * @clock: enum xsprof_clock_kind: a child that reads the time before its first marker uses the
 *	clock that its producer will have
 * @backend: backend of the producer, NULL: none
 * @base: that memory, in the process that attached
 * @len: bytes mapped there
 * @ring: xsp_set.ring
 * @rings: number of pointers in @ring
 * @fd: descriptor of the memory
 * @pid: process that this state belongs to, 0 before its first attempt to attach
 * @wiped: the kernel wipes xsp_set in children
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
/*
 * Number of producers that this process and its parents have been: identifies the arena of an
 * entry.
 */
extern uint32_t xsp_producers XSP_HIDDEN;
/* Ops of this producer recorded without their stack, for lack of room. */
extern uint64_t xsp_stacks_missed XSP_HIDDEN;

#define XSP_NO_KEY	UINT64_MAX

/**
 * struct xsp_thread - state of a thread
 * @hdr: its thread id if markers may use the fast path, else 0
 * @skips: begins left out because their category was off: a stack of bits below a leading 1,
 *	innermost lowest, 1 for left out; 0 if there are none
 * @key: xsp_set.key plus the CPU that @ring belongs to: see xsp_seq_remember(); XSP_NO_KEY: none. 0
 *	would match CPU 0 while there are no rings
 * @ring: an open ring
 * @tid: its thread id, 0 before its first marker
 * @lock_ring: lock ring it used last
 * @named: its name is in the arena
 * @begun: its start is in the arena too, recorded once, whatever it is called later
 * @deep: number of left-out begins beyond what @skips can hold
 * @resumed: value of xsp_resumed when @skips was last checked
 * @session: profiler session that it has joined, 0 for none
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
 * initial-exec: one load from the thread pointer, no call, no allocation in a signal handler. The
 * few bytes fit into what glibc reserves for libraries that are loaded late.
 */
extern __thread struct xsp_thread xsp_thread
	__attribute__((tls_model("initial-exec"))) XSP_HIDDEN;

/* Stops inline markers from writing into rings of this process. */
static inline void xsp_rings_close(void)
{
	/* Other threads may be in markers. */
	__atomic_store_n(&xsp_set.nr, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&xsp_set.key, 0, __ATOMIC_RELAXED);
}

static inline uint64_t xsp_hdr(uint64_t tid, unsigned int type, unsigned int slots)
{
	return tid | (uint64_t)type << 32 | (uint64_t)slots << 40;
}

/* ---- put.c ---- */
void xsp_put_slow(uint64_t hdr, const uint64_t *payload, unsigned int slots, uint64_t add_ticks)
	XSP_HIDDEN;

/* ---- marker.c ---- */
/* A range begins. Return: false if it is too deep to be tracked: it is left out. */
bool xsp_range_begins(void) XSP_HIDDEN;
/* Records an op without any details. */
void xsp_emit_op(xsprof_name_t name, uint32_t scope, uint64_t id) XSP_HIDDEN;
/* An end with XSPROF_END_* in @aux; @name 0: the thread's innermost range. */
void xsp_emit_end_aux(xsprof_name_t name, uint32_t aux) XSP_HIDDEN;

/* ---- trace.c ---- */
void xsp_trace_send(uint64_t hdr, const uint64_t *payload, uint64_t add_ticks, uint64_t ticks)
	XSP_HIDDEN;

/* All ones while the kernel traces markers, else 0; in the cache line that markers test. */
static inline uint32_t xsp_emit_wanted(void)
{
	return __atomic_load_n(&xsprof_ctl_page.ctl.emit, __ATOMIC_RELAXED);
}

/*
 * Is it the thread's first marker (or one inside a left-out range), or does the kernel trace it?
 * @tid: xsp_thread.hdr. One compare for both: an id is 0 or has some of its 32 bits set, and the
 * word has all of them or none.
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
int xsp_arena_name_thread(uint32_t tid, const char *name, size_t len) XSP_HIDDEN;
void xsp_arena_begin(uint64_t missed) XSP_HIDDEN;

/* ---- state.c ---- */
enum xsp_state {
	XSP_DETACHED = 0,	/* also the state in a wiped xsp_set */
	XSP_ATTACHED,
	XSP_FAILED,	/* permanent: nothing more is tried in this process */
	XSP_MOVES,	/* between two producers, for a moment: records are counted */
};

static inline bool xsp_attached(void)
{
	/*
	 * Acquire: pairs with the release in xsp_attach(); a thread that sees it also sees xsp_set.
	 */
	return __atomic_load_n(&xsp_set.state, __ATOMIC_ACQUIRE) == XSP_ATTACHED;
}

extern uint32_t xsp_resumed XSP_HIDDEN;	/* number of resumes after a pause */
void xsp_kick(void) XSP_HIDDEN;
void xsp_count_late(void) XSP_HIDDEN;
uint64_t xsp_late(void) XSP_HIDDEN;
uint64_t xsp_take_late(void) XSP_HIDDEN;

/**
 * struct xsp_hooks - functions of the layer above for the slow path of a marker
 * @attach: make the process a producer, if there is a recorder. Signal-safe. Return: 0 attached;
 *	-ENOTCONN no recorder; -EAGAIN not now; else why it failed permanently
 * @settle: set up a forked child that was not notified. Signal-safe. Return: 0; -EAGAIN in a
 *	handler that interrupted this function
 *
 * Filled by the library's constructor, before markers are enabled, and constant afterwards.
 */
struct xsp_hooks {
	int	(*attach)(void);
	int	(*settle)(void);
};

extern struct xsp_hooks xsp_hooks XSP_HIDDEN;

/* Nothing is recorded before the constructor has run. */
static inline int xsp_attach_now(void)
{
	return xsp_hooks.attach ? xsp_hooks.attach() : -ENOTCONN;
}

/*
 * For functions that are not markers: a forked child uses its parent's page until it attaches, and
 * one of them may be the first that it calls.
 */
static inline bool xsp_attached_now(void)
{
	if (!xsp_attached() && xsprof_enabled())
		xsp_attach_now();
	return xsp_attached();
}

#define XSP_SETTLED	UINT32_MAX

/**
 * xsp_fork_check() - to be called before any use of this process' state
 *
 * Return: 0; -EAGAIN in a handler that interrupted the check.
 */
static inline int xsp_fork_check(void)
{
	if (likely(!xsp_kept.wiped ||
		   __atomic_load_n(&xsp_set.settled, __ATOMIC_ACQUIRE) == XSP_SETTLED))
		return 0;
	return xsp_hooks.settle();
}

/*
 * Is this a child of vfork(), or of another clone() with CLONE_VM? Its changes here affect its
 * parent. Unknown for a parent that was itself cloned without notification, until it has settled.
 */
static inline bool xsp_shares_memory(void)
{
	return xsp_kept.pid && xsp_kept.pid != (int)syscall(SYS_getpid);
}

/* ---- control.c ---- */
void xsp_control_paused(bool on) XSP_HIDDEN;
/*
 * Was the category, which is not enabled now, at @ticks, before the program paused or the category
 * was disabled?  @wanted_at: when it was last known to be.  Between sessions of the recorder: no.
 */
bool xsp_was_wanted(int category, uint64_t wanted_at, uint64_t ticks) XSP_HIDDEN;
/* Since when the program has paused itself, in ticks; 0: it has not. */
uint64_t xsp_paused_since(void) XSP_HIDDEN;

/* ---- grow.c ---- */
int xsp_ring_make_room(uint32_t ring, uint64_t slots) XSP_HIDDEN;

static inline struct xsprof_ring_writer *xsp_ring(uint32_t k)
{
	return (struct xsprof_ring_writer *)(xsp_set.base + xsp_set.rings_off +
					     (uint64_t)k * xsp_set.stride);
}

/*
 * Decided by the library's own table, not by the ring: if a ring has no memory even a read is
 * SIGBUS, and before this thread has mapped it a store is SIGSEGV.
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
