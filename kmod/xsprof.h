/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the module share.
 *
 *	main.c		the device and its parameters
 *	call.c		the calling convention of its ioctls
 *	producer.c	one producer, from attach to its process' end
 *	registry.c	all producers: who may see which, how long ended ones are kept
 *	layout.c	the layout of a producer's memory
 *	memory.c	a producer's pages: allocation, mmap, faults, copies
 *	charge.c	who pays for them
 *	reader.c	descriptors that read one producer
 *	clock.c		the counter and its sync points
 *	kernel-ring.c	a ring that the kernel writes
 *	sched.c		what is written there: the scheduler's events
 *	sysfs.c		counters for people
 *	emit.c		markers as events of the kernel's: trace.h has them
 *	exec.c		processes that execute another program: their producers end
 *
 * Locks, outermost first: mmap_lock, the kernel's on tracepoints, that of emit.c,
 * xsp_producer.lock, xsp_registry_lock.  Nothing is copied to or from a process with one of the
 * last two held: that could fault, which takes the first.
 * The lock of clock.c is never held with another.  Those of sched.c, exec.c and
 * kernel-ring.c are innermost; the last are taken under the scheduler's own.
 */
#ifndef XSP_XSPROF_H
#define XSP_XSPROF_H

#include <linux/cred.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <xsprof/ioctl.h>

#include "compat.h"

#ifndef CONFIG_64BIT
#error "xsprof wants a 64-bit kernel: rings are counted in 64-bit words that are stored at once"
#endif
#ifndef CONFIG_MMU
#error "xsprof wants an MMU: its memory is mapped"
#endif

/**
 * struct xsp_uid - what one user's producers take
 * @node: of the list of all
 * @uid: whose
 * @refs: producers of it; under xsp_registry_lock
 * @pages: memory, of live and of ended ones
 * @kept: bytes of ended ones that are kept; under xsp_registry_lock
 */
struct xsp_uid {
	struct list_head	node;
	kuid_t			uid;
	unsigned int		refs;
	atomic_long_t		pages;
	u64			kept;
};

/**
 * struct xsp_geometry - where a producer's areas are; the kernel's own copy, constant
 * @nr_rings: rings by CPU
 * @rings: these and the lock rings: all that the process writes
 * @kernel_rings: rings that the kernel writes, one a CPU, numbered from @rings; 0 where there
 *	are too many CPUs
 * @ring_pages: pages of a ring's data
 * @stride: pages from one ring to the next
 * @arena: first page of the arena
 * @arena_pages: its pages
 * @first_ring: first page of ring 0
 * @first_kernel: first page of the first of the kernel's rings
 * @kernel_pages: pages of the data of one of them
 * @kernel_stride: pages from one of them to the next
 * @pages: of the whole
 */
struct xsp_geometry {
	u32		nr_rings;
	u32		rings;
	u32		kernel_rings;
	unsigned long	ring_pages;
	unsigned long	stride;
	unsigned long	arena;
	unsigned long	arena_pages;
	unsigned long	first_ring;
	unsigned long	first_kernel;
	unsigned long	kernel_pages;
	unsigned long	kernel_stride;
	unsigned long	pages;
};

/**
 * struct xsp_producer - one producer
 * @ref: references: its file, the registry, each reader, a queued end
 * @files: open files that are this producer
 * @lock: what follows, up to @wait
 * @state: enum xsprof_state
 * @status: wait status of its process, -1 while there is none
 * @ended: CLOCK_MONOTONIC, ns, 0 while it lives
 * @consumer: the reader that moves the tails, NULL for none
 * @watch_ns: a head that has moved for so long wakes the consumer; 0 for never
 * @sched: its rings that the kernel writes, NULL before they were asked for; set once
 * @wait: readers that sleep
 * @kicks: reasons to wake them so far
 * @heads: sum of the heads when it was looked at last
 * @watch_at: CLOCK_MONOTONIC of the next look, ns
 * @id: its number
 * @session: as its process said
 * @geo: where its areas are
 * @ctl: its control page, as the kernel sees it
 * @pages: its memory by page of its layout
 * @nr_pages: of @pages
 * @locked: of these, charged to RLIMIT_MEMLOCK
 * @uid: who pays, by the module's count
 * @cred: of the process at attach; its user pays, by the system's count
 * @dumpable: those who have its ids and rights could look into the process at attach
 * @over: whose rights are wanted where they could not: a user namespace
 * @pid: its process
 * @exec_id: how many programs it had executed at attach, task_struct.self_exec_id
 * @parent: that one's parent at attach
 * @start_time: of the process, in USER_HZ
 * @attached: CLOCK_MONOTONIC at attach, ns
 * @mode: enum xsprof_mode
 * @clock: enum xsprof_clock_kind
 * @idle: under @lock: paused only because nobody reads; what is traced is not
 * @unwanted: not to be kept: whoever read it has done with it
 * @exec_node: of the table of exec.c, while it lives
 * @exit_wait: on @pid: calls when the process ends
 * @ending: somebody has found that it is to end: the first one does it
 * @exit_code: of the process, -1 where that goes on; stored before @end_work is queued
 * @end_work: the end, where one may sleep
 * @rcu: frees it when no look under RCU can hold it
 * @node: of the list of ended producers, oldest first; under xsp_registry_lock
 * @kept: bytes counted for it there, 0 when it is not in it
 * @listed: the registry knows it; under xsp_registry_lock
 * @comm: name of the process at attach
 * @exe: path of its program
 */
struct xsp_producer {
	struct kref		ref;
	atomic_t		files;
	struct mutex		lock;		/* as the comment above says */
	u32			state;
	s32			status;
	u64			ended;
	struct xsp_reader	*consumer;
	u64			watch_ns;
	struct xsp_sched	*sched;

	wait_queue_head_t	wait;
	atomic64_t		kicks;
	u64			heads;
	u64			watch_at;

	u64			id;
	u64			session;
	struct xsp_geometry	geo;
	struct xsprof_ctl	*ctl;
	struct xarray		pages;
	atomic_long_t		nr_pages;
	atomic_long_t		locked;
	struct xsp_uid		*uid;
	const struct cred	*cred;
	bool			dumpable;
	struct user_namespace	*over;
	struct pid		*pid;
	u64			exec_id;
	struct pid		*parent;
	u64			start_time;
	u64			attached;
	u32			mode;
	u32			clock;
	bool			idle;
	bool			unwanted;

	struct hlist_node	exec_node;
	wait_queue_entry_t	exit_wait;
	atomic_t		ending;
	int			exit_code;
	struct work_struct	end_work;
	struct rcu_head		rcu;

	struct list_head	node;
	u64			kept;
	bool			listed;

	char			comm[XSPROF_COMM_SIZE];
	char			exe[XSPROF_EXE_SIZE];
};

/*
 * What a process asks for is its memory cgroup's.  No OOM killer, and no warning, for want of
 * something to trace with: the caller counts a loss.
 */
#define XSP_GFP	(GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN)

extern struct workqueue_struct *xsp_wq;

/* ---- main.c: parameters ---- */
extern bool xsp_always_on;
extern unsigned int xsp_retain_seconds;
extern unsigned long xsp_retain_bytes;
extern unsigned long xsp_retain_uid_bytes;
extern unsigned long xsp_max_bytes;
extern unsigned long xsp_uid_free_bytes;
extern unsigned int xsp_uid_max_producers;
extern bool xsp_sched_comm;

/* ---- producer.c ---- */
int xsp_producer_attach(struct xsprof_attach *arg, struct xsp_producer **out);
int xsp_producer_rejoin(struct xsprof_attach *arg, struct xsp_producer **out);
void xsp_producer_let_go(struct xsp_producer *p);
void xsp_producer_end(struct xsp_producer *p, u32 state, int status);
void xsp_producer_forget_process(struct xsp_producer *p);
void xsp_producer_put(struct xsp_producer *p);
bool xsp_producer_is_mine(const struct xsp_producer *p);
int xsp_producer_control(struct xsp_producer *p, struct xsprof_control *arg, u32 may_pause);
bool xsp_producer_kick(struct xsp_producer *p, bool flush);
void xsp_producer_emit(struct xsp_producer *p);
void xsp_producer_info(struct xsp_producer *p, struct xsprof_info *info);

static inline struct xsp_producer *xsp_producer_get(struct xsp_producer *p)
{
	kref_get(&p->ref);
	return p;
}

/*
 * The end is due of a producer that may be about to be freed: one that was found under RCU.
 * Return: it is the caller's to do, who has a reference; others need not.  Context: any.
 */
static inline bool xsp_producer_claim_end(struct xsp_producer *p)
{
	return !atomic_xchg(&p->ending, 1) && kref_get_unless_zero(&p->ref);
}

/* That is done where one may sleep; the work puts the reference. */
static inline void xsp_producer_queue_end(struct xsp_producer *p, int exit_code)
{
	p->exit_code = exit_code;
	queue_work(xsp_wq, &p->end_work);
}

/* ---- registry.c ---- */
extern struct mutex xsp_registry_lock;
extern struct wait_queue_head xsp_registry_wait;

void xsp_registry_exit(void);
int xsp_registry_add(struct xsp_producer *p);
void xsp_registry_publish(struct xsp_producer *p);
int xsp_registry_drop(struct xsp_producer *p);
u64 xsp_registry_live(void);
void xsp_registry_ended(struct xsp_producer *p);
void xsp_registry_remove(struct xsp_producer *p);
void xsp_registry_trim(void);
bool xsp_registry_make_room(const struct xsp_uid *uid);
u64 xsp_registry_events(void);
struct xsp_producer *xsp_registry_next(u64 after);
struct xsp_producer *xsp_registry_find(u64 id);
struct xsp_producer *xsp_registry_next_live(u64 after);
struct xsp_producer *xsp_registry_mine(u64 id);
bool xsp_registry_may_read(const struct xsp_producer *p);
bool xsp_registry_may_write(const struct xsp_producer *p);
void xsp_registry_for_live(void (*fn)(struct xsp_producer *p, const void *data),
			   const void *data);

/**
 * struct xsp_counters - what is shown in sysfs
 * @live: producers whose process lives
 * @kept: ended producers that are kept
 * @kept_bytes: their memory
 * @dropped: ended producers that a limit dropped before they were read and given back
 * @dropped_bytes: their memory
 */
struct xsp_counters {
	u64	live;
	u64	kept;
	u64	kept_bytes;
	u64	dropped;
	u64	dropped_bytes;
};

void xsp_registry_counters(struct xsp_counters *c);

/* ---- memory.c ---- */
struct page *xsp_memory_page(struct xsp_producer *p, unsigned long index);
struct page *xsp_memory_kernel_page(struct xsp_producer *p, u32 cpu, unsigned long n);
void xsp_memory_ready(struct xsp_producer *p, u32 k);
int xsp_memory_populate(struct xsp_producer *p, u64 offset, u64 bytes);
int xsp_memory_mmap(struct xsp_producer *p, struct vm_area_struct *vma, bool producer,
		    bool consumer);
ssize_t xsp_memory_read(struct xsp_producer *p, struct kiocb *iocb, struct iov_iter *to);
u64 xsp_memory_heads(struct xsp_producer *p);
void xsp_memory_free(struct xsp_producer *p);

/* ---- charge.c ---- */
int xsp_charge_page(struct xsp_producer *p);
void xsp_charge_undo(struct xsp_producer *p);
void xsp_charge_free(struct xsp_producer *p);
u64 xsp_charge_total(void);

/* ---- reader.c ---- */
int xsp_reader_open(const struct xsprof_open *arg);
void xsp_reader_exit(void);

/* ---- clock.c ---- */
int xsp_clock_init(void);
void xsp_clock_exit(void);
u32 xsp_clock_kind(void);
u64 xsp_clock_ticks(u32 kind);
u64 xsp_clock_ticks_fast(u32 kind);
u64 xsp_clock_ns(const struct xsp_producer *p, u64 ticks);
void xsp_clock_start(struct xsp_producer *p);
int xsp_clock_copy(struct xsprof_syncs *arg);

/* ---- emit.c ---- */
u32 xsp_emit_types(void);
long xsp_emit(struct xsp_producer *p, const struct xsprof_emit *arg);

/* ---- exec.c ---- */
int xsp_exec_init(void);
void xsp_exec_exit(void);
void xsp_exec_add(struct xsp_producer *p);
void xsp_exec_remove(struct xsp_producer *p);
struct xsp_producer *xsp_exec_next(const struct pid *pid, u64 exec_id);

/* ---- sched.c ---- */
int xsp_sched_control(struct xsp_producer *p, struct xsprof_sched *arg);
void xsp_sched_settle(struct xsp_producer *p);
void xsp_sched_end(struct xsp_producer *p);
void xsp_sched_free(struct xsp_producer *p);
void xsp_sched_exit(void);

/* ---- sysfs.c ---- */
extern const struct attribute_group *xsp_sysfs_groups[];

#endif /* XSP_XSPROF_H */
