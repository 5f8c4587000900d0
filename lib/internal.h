/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the files of libxsprof-user share: the process' one producer, the thread's state, and
 * the calls between them.  Nothing here is visible outside the library.
 */
#ifndef XSP_INTERNAL_H
#define XSP_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/xsprof.h>

#define XSP_HIDDEN	__attribute__((visibility("hidden")))
#define XSP_COLD	__attribute__((cold, noinline))
/* Out of the way, but not slow: a dropped marker comes through here. */
#define XSP_ASIDE	__attribute__((noinline))
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

/*
 * Hooks for tests: a build with XSP_INJECT defines this macro to a call that delays, yields or
 * raises a signal at a numbered point.  In the product it is nothing.
 */
#ifndef XSP_INJECT
#define XSP_INJECT(point)	do { } while (0)
#endif

/**
 * struct xsp_set - where markers go; what the sequences read
 * @nr: rings by CPU; 0 sends every marker to the slow path: not attached, or no rseq
 * @ring: a pointer a CPU; a ring with no memory yet is xsp_closed_ring
 * @mask: slots of a ring less one
 * @size: slots of a ring
 * @rs: offset of the thread's struct rseq from the thread pointer
 * @overwrite: 1 in OVERWRITE mode
 * @nl: lock rings
 * @data_off: from a ring to its data
 * @tail_off: from a ring to its reader page
 * @base: the producer's memory
 * @ctl: its control page, writable (the one markers test is a read-only view)
 * @arena: its arena
 * @len: bytes mapped
 * @rings_off: where ring 0 starts
 * @stride: bytes from one ring to the next
 * @arena_room: bytes of the arena's entries
 * @fd: its file; also holds the lock that says it is alive
 *
 * The geometry is here and not read from the control page: that page is the reader's to map, and
 * whoever may write to it must not be able to lead a store astray.
 *
 * Written while no marker can use it (nr = 0, state not ATTACHED), constant afterwards but for
 * entries of @ring, which change once, from the closed ring to the open one.
 */
struct xsp_set {
	uint64_t			nr;
	struct xsprof_ring_writer	**ring;
	uint64_t			mask;
	uint64_t			size;
	int64_t				rs;
	uint32_t			overwrite;
	uint32_t			nl;
	uint64_t			data_off;
	uint64_t			tail_off;
	/* not in the first line: the slow path's */
	char				*base;
	struct xsprof_ctl		*ctl;
	struct xsprof_arena		*arena;
	uint64_t			len;
	uint64_t			rings_off;
	uint64_t			stride;
	uint64_t			arena_room;
	uint32_t			clock;
	uint32_t			nr_rings;
	int				fd;
};

extern struct xsp_set xsp_set XSP_HIDDEN;
extern struct xsprof_ring_writer xsp_closed_ring XSP_HIDDEN;

/**
 * struct xsp_thread - a thread's own state
 * @hdr: its thread id when markers may take the short way, else 0
 * @skips: begins left out because their category was off: a stack of bits under a 1, innermost
 *	lowest, 1 for left out; 0 when none is
 * @tid: its thread id, 0 before its first marker
 * @lock_ring: the lock ring it used last
 * @named: its name is in the arena
 * @deep: begins left out beyond what @skips can hold
 * @resumed: xsp_resumed as it was when @skips was last looked at
 */
struct xsp_thread {
	uint64_t	hdr;
	uint64_t	skips;
	uint32_t	tid;
	uint32_t	lock_ring;
	uint32_t	named;
	uint32_t	deep;
	uint32_t	resumed;
};

/*
 * initial-exec: one load from the thread pointer, no call, no allocation in a signal handler.
 * The few bytes fit what glibc keeps for libraries that are loaded late.
 */
extern __thread struct xsp_thread xsp_thread
	__attribute__((tls_model("initial-exec"))) XSP_HIDDEN;

static inline uint64_t xsp_hdr(uint64_t tid, unsigned int type, unsigned int slots)
{
	return tid | (uint64_t)type << 32 | (uint64_t)slots << 40;
}

/* ---- slow.c ---- */
void xsp_put_slow(uint64_t hdr, const uint64_t *payload, unsigned int slots, uint64_t add_ticks)
	XSP_HIDDEN;

/* ---- lock-ring.c ---- */
void xsp_lock_put(uint64_t hdr, const uint64_t *payload, unsigned int slots, uint64_t add_ticks)
	XSP_HIDDEN;

/* ---- thread.c ---- */
uint64_t xsp_thread_enter(void) XSP_HIDDEN;
void xsp_thread_forget(void) XSP_HIDDEN;
bool xsp_rseq_usable(int64_t *offset) XSP_HIDDEN;
int xsp_current_cpu(void) XSP_HIDDEN;


/* ---- name.c ---- */
int xsp_names_lock(bool wait) XSP_HIDDEN;
void xsp_names_unlock(void) XSP_HIDDEN;
void xsp_names_reset_lock(void) XSP_HIDDEN;
void xsp_names_publish(void) XSP_HIDDEN;
int xsp_arena_add(uint16_t type, uint32_t id, uint32_t aux, const char *text, size_t len)
	XSP_HIDDEN;
uint64_t xsp_categories_wanted(void) XSP_HIDDEN;

/* ---- env.c ---- */

/* What sizes may be asked for, whoever asks. */
#define XSP_RING_MAX	(1ull << 40)
#define XSP_ARENA_MIN	4096
#define XSP_ARENA_MAX	(256ull << 20)

/**
 * struct xsp_config - what the environment and xsprof_init() ask for
 * @session: directory of the recorder's session, NULL for none
 * @record: file that the process records itself into, NULL for none
 * @clock: "auto" or "mono"
 * @categories: list of categories, NULL for all
 * @ring_size: bytes
 * @arena_size: bytes
 * @mode: enum xsprof_mode
 * @lock_rings: how many, 0 for the default
 * @prefault: touch all ring memory at attach
 */
struct xsp_config {
	const char	*session;
	const char	*record;
	const char	*clock;
	const char	*categories;
	uint64_t	ring_size;
	uint64_t	arena_size;
	uint32_t	mode;
	uint32_t	lock_rings;
	bool		prefault;
};

extern struct xsp_config xsp_config XSP_HIDDEN;
void xsp_config_read(void) XSP_HIDDEN;
int xsp_parse_size(const char *text, uint64_t *bytes) XSP_HIDDEN;
bool xsp_category_wanted(const char *name, size_t len) XSP_HIDDEN;

/* ---- backend-shm.c ---- */
int xsp_shm_attach(const struct xsp_config *cfg, uint32_t clock, bool rseq) XSP_HIDDEN;
int xsp_shm_grow(uint64_t offset, uint64_t bytes) XSP_HIDDEN;
void xsp_shm_detach(void) XSP_HIDDEN;
void xsp_shm_note(const char *session, const char *text) XSP_HIDDEN;

/* ---- producer.c ---- */
enum xsp_state {
	XSP_DETACHED = 0,
	XSP_ATTACHED,
	XSP_FAILED,	/* tried, could not: nothing more is tried in this process */
};

extern uint32_t xsp_state XSP_HIDDEN;
extern uint32_t xsp_resumed XSP_HIDDEN;	/* times the process has gone on after a pause */

static inline bool xsp_attached(void)
{
	/* Acquire: pairs with the release in xsp_attach(); whoever sees it sees xsp_set. */
	return __atomic_load_n(&xsp_state, __ATOMIC_ACQUIRE) == XSP_ATTACHED;
}

int xsp_attach(void) XSP_HIDDEN;
void xsp_count_late(void) XSP_HIDDEN;
void xsp_category_known(uint32_t category, bool on) XSP_HIDDEN;

/* ---- ring-grow.c ---- */
int xsp_ring_make_room(uint32_t ring, uint64_t slots) XSP_HIDDEN;

/* ---- facts.c ---- */
void xsp_facts_add(void) XSP_HIDDEN;
uint64_t xsp_start_time(void) XSP_HIDDEN;
uint32_t xsp_pid_ns(void) XSP_HIDDEN;
void xsp_boot_id(uint8_t id[16]) XSP_HIDDEN;
long xsp_read_file(const char *path, char *buf, size_t size) XSP_HIDDEN;

/* ---- self-record.c ---- */
int xsp_self_record_start(const char *file) XSP_HIDDEN;
void xsp_self_record_stop(void) XSP_HIDDEN;

static inline struct xsprof_ring_writer *xsp_ring(uint32_t k)
{
	return (struct xsprof_ring_writer *)(xsp_set.base + xsp_set.rings_off +
					     (uint64_t)k * xsp_set.stride);
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

#endif /* XSP_INTERNAL_H */
