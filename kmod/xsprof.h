/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of the module.
 *
 * Each calls only those above it in this list; tests/kmod/layers.sh checks that.
 *
 *	call.c		the calling convention of the ioctls
 *	layout.c	the layout of a producer's memory
 *	counter.c	the counter: its kind, its ticks
 *	account.c	who pays for memory, and how much there may be
 *	memory.c	a producer's pages: allocation, mmap, faults, copies
 *	kernel-ring.c	a ring that the kernel writes
 *	sched-who.c	what the scheduler's events may tell of a task
 *	sched-hooks.c	the hooks in the scheduler, and the records that they write
 *	sched.c		a producer's scheduling records, on and off
 *	ctl.c		what a producer's control page says
 *	registry.c	all producers: numbers, and who may see which
 *	process.c	processes that end or execute another program: their producers end
 *	producer.c	one producer, from attach to its process' end
 *	retain.c	producers that have ended: how long they are kept
 *	emit.c		markers as events of the kernel's: trace.h has them
 *	sync.c		sync points of the counter
 *	sysfs.c		counters for people
 *	reader.c	descriptors that read one producer
 *	main.c		the device and its parameters
 *
 * Two pointers call upwards, both set by retain.c: xsp_account_reclaim, to free memory, and
 * xsp_producer_on_end.
 *
 * Locks, outermost first: mmap_lock, that of sched-hooks.c, the kernel's on tracepoints, that of
 * producer.c, those of readers, xsp_producer.lock, xsp_registry_lock, that of account.c.  Nothing
 * is copied to or from a process with one of the last three held: that could fault, which takes the
 * first.  No page is allocated with xsp_producer.lock held.
 * The lock of sync.c is never held with another.  Inside that of process.c is the kernel's on the
 * waiters of a pid, under which on_exit() takes none.  Those of kernel-ring.c are innermost, and
 * taken under the scheduler's own.
 */
#ifndef XSP_XSPROF_H
#define XSP_XSPROF_H

#include <linux/cred.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/time_namespace.h>
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
 * struct xsp_account - an account: a user, or all users of a user namespace
 * @node: of the list of all
 * @ns: the namespace, NULL for a user of the machine
 * @uid: the user, or the creator of the namespace
 * @refs: producers and readers of it; under the lock of account.c
 * @pages: memory, of live producers and of ended ones
 * @turns: CLOCK_MONOTONIC up to which its readers have taken turns to look at rings, ns
 * @producers: how many; under xsp_registry_lock
 * @ended: its ended ones that are kept, oldest first, by account_node; under xsp_registry_lock
 * @kept: bytes of these; under xsp_registry_lock
 */
struct xsp_account {
	struct list_head	node;
	struct user_namespace	*ns;
	kuid_t			uid;
	unsigned int		refs;
	atomic_long_t		pages;
	atomic64_t		turns;
	unsigned int		producers;
	struct list_head	ended;
	u64			kept;
};

/**
 * struct xsp_payer - the account charged for one producer, with the limits of its process at attach
 * @account: the module's count
 * @user: the system's count of locked memory; held by the producer's credentials
 * @memcg: memory cgroup, with a reference
 * @limit: RLIMIT_MEMLOCK in pages; LONG_MAX with CAP_IPC_LOCK
 * @pages: charged
 * @locked: of these, charged to @user
 */
struct xsp_payer {
	struct xsp_account	*account;
	struct user_struct	*user;
	struct mem_cgroup	*memcg;
	unsigned long		limit;
	atomic_long_t		pages;
	atomic_long_t		locked;
};

/**
 * struct xsp_geometry - where a producer's areas are; the kernel's own copy, constant
 * @nr_rings: rings by CPU
 * @rings: these and the lock rings: all rings that the process writes
 * @kernel_rings: rings that the kernel writes, one per CPU, numbered from @rings; 0 if there are
 *	too many CPUs
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
 * struct xsp_offset - offsets of a time namespace to the machine's clocks
 * @mono: to CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW, ns
 * @boot: to CLOCK_BOOTTIME, ns
 */
struct xsp_offset {
	s64	mono;
	s64	boot;
};

/* Offsets of the caller's time namespace. */
static inline struct xsp_offset xsp_offset_here(void)
{
	struct timespec64 mono = {}, boot = {};

	timens_add_monotonic(&mono);
	timens_add_boottime(&boot);
	return (struct xsp_offset){ timespec64_to_ns(&mono), timespec64_to_ns(&boot) };
}

/**
 * struct xsp_producer - one producer
 * @ref: references: its file, the registry, each reader, a queued end
 * @files: open files that are this producer
 * @lock: protects the fields up to @wait
 * @state: enum xsprof_state
 * @status: wait status of its process, -1 while there is none
 * @ended: CLOCK_MONOTONIC, ns, 0 while it lives
 * @consumer: the reader that moves the tails, NULL: none
 * @sched: its rings that the kernel writes, NULL before they are requested; set once
 * @wait: readers that sleep
 * @kicks: reasons to wake them so far
 * @id: its number
 * @session: as set by its process
 * @geo: where its areas are
 * @ctl: its control page, as the kernel sees it
 * @pages: its memory by page of its layout
 * @payer: charged for that memory
 * @cred: of the process at attach
 * @dumpable: processes with its ids and capabilities could ptrace the process at attach
 * @over: if not: the user namespace over which capabilities are needed
 * @pid: its process
 * @exec_id: number of programs executed at attach, task_struct.self_exec_id
 * @parent: the process' parent at attach
 * @offset: of its time namespace at attach; all times here are the machine's
 * @started: CLOCK_BOOTTIME at the start of the process, ns
 * @attached: CLOCK_MONOTONIC at attach, ns
 * @mode: enum xsprof_mode
 * @clock: enum xsprof_clock_kind
 * @idle: under @lock: paused only because there is no reader; traced kinds are not
 * @unwanted: not to be kept: its reader has finished with it
 * @process_node: of its process' entry in process.c, while it lives
 * @ending: its end has been claimed; the first to do so executes it
 * @end_exec_id: producers attached before this program of the process end; with @exit_code
 * @exit_code: of the process, -1: it continues; stored before @end_work is queued
 * @end_work: ends all those, in process context
 * @rcu: frees it after an RCU grace period
 * @node: of the list of ended producers, oldest first; under xsp_registry_lock
 * @account_node: of its account's list of these; under xsp_registry_lock
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
	struct xsp_sched	*sched;

	wait_queue_head_t	wait;
	atomic64_t		kicks;

	u64			id;
	u64			session;
	struct xsp_geometry	geo;
	struct xsprof_ctl	*ctl;
	struct xarray		pages;
	struct xsp_payer	payer;
	const struct cred	*cred;
	bool			dumpable;
	struct user_namespace	*over;
	struct pid		*pid;
	u64			exec_id;
	struct pid		*parent;
	struct xsp_offset	offset;
	u64			started;
	u64			attached;
	u32			mode;
	u32			clock;
	bool			idle;
	bool			unwanted;

	struct hlist_node	process_node;
	atomic_t		ending;
	u64			end_exec_id;
	int			exit_code;
	struct work_struct	end_work;
	struct rcu_head		rcu;

	struct list_head	node;
	struct list_head	account_node;
	u64			kept;
	bool			listed;

	char			comm[XSPROF_COMM_SIZE];
	char			exe[XSPROF_EXE_SIZE];
};

/*
 * Memory requested by a process is charged to its memory cgroup. Without OOM killer and warning:
 * the caller counts a loss instead.
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

/* ---- counter.c ---- */
void xsp_counter_init(void);
u32 xsp_counter_kind(void);
u32 xsp_counter_machine_kind(void);
u64 xsp_counter_freq(void);
u64 xsp_counter_ticks(u32 kind);
u64 xsp_counter_ticks_fast(u32 kind);
bool xsp_counter_lost_trust(void);

/* ---- account.c ---- */
/*
 * Frees kept memory of the account, in a memory cgroup, or NULL: in any.
 * Return: some was freed.
 */
extern bool (*xsp_account_reclaim)(struct xsp_account *account, const struct mem_cgroup *memcg);

struct xsp_account *xsp_account_get(const struct cred *cred);
void xsp_account_put(struct xsp_account *a);
u64 xsp_account_total(void);
void xsp_payer_init(struct xsp_payer *who, struct xsp_account *account);
void xsp_payer_free(struct xsp_payer *who);
struct mem_cgroup *xsp_payer_begin(const struct xsp_payer *who);
void xsp_payer_end(struct mem_cgroup *before);
int xsp_payer_charge(struct xsp_payer *who, long pages);
bool xsp_payer_make_room(struct xsp_payer *who);
void xsp_payer_undo(struct xsp_payer *who, long pages);

/* ---- memory.c ---- */
struct page *xsp_memory_page(struct xsp_producer *p, unsigned long index);
struct page *xsp_memory_kernel_page(struct xsp_producer *p, u32 cpu, unsigned long n);
void xsp_memory_ready(struct xsp_producer *p, u32 k);
int xsp_memory_populate(struct xsp_producer *p, u64 offset, u64 bytes);
int xsp_memory_mmap(struct xsp_producer *p, struct vm_area_struct *vma, bool producer, bool mine,
		    bool consumer);
ssize_t xsp_memory_read(struct xsp_producer *p, struct kiocb *iocb, struct iov_iter *to);
u64 xsp_memory_heads(struct xsp_producer *p);
void xsp_memory_free(struct xsp_producer *p);

/* ---- sched.c ---- */
int xsp_sched_init(void);
void xsp_sched_exit(void);
int xsp_sched_control(struct xsp_producer *p, struct xsprof_sched *arg);
void xsp_sched_settle(struct xsp_producer *p);
void xsp_sched_end(struct xsp_producer *p);
void xsp_sched_free(struct xsp_producer *p);

/* ---- ctl.c ---- */
u64 xsp_ctl_start_time(const struct xsp_producer *p, struct xsp_offset offset);
void xsp_ctl_fill(struct xsp_producer *p, const struct xsprof_attach *arg);
void xsp_ctl_enable(struct xsp_producer *p, u64 wanted, u32 paused);
void xsp_ctl_trace(u32 set, u32 clear);
void xsp_ctl_tell_traced(struct xsp_producer *p);
int xsp_ctl_control(struct xsp_producer *p, struct xsprof_control *arg, u32 may_pause);
u64 xsp_ctl_ns(const struct xsp_producer *p, u64 ticks);

/* ---- registry.c ---- */
extern struct mutex xsp_registry_lock;
extern struct wait_queue_head xsp_registry_wait;

void xsp_registry_exit(void);
int xsp_registry_add(struct xsp_producer *p);
void xsp_registry_publish(struct xsp_producer *p);
void xsp_registry_ended(void);
bool xsp_registry_has(const struct xsp_producer *p);
bool xsp_registry_erase(struct xsp_producer *p);
void xsp_registry_remove(struct xsp_producer *p);
u64 xsp_registry_live(void);
u64 xsp_registry_events(void);
struct xsp_producer *xsp_registry_next(u64 after);
struct xsp_producer *xsp_registry_next_live(u64 after);
struct xsp_producer *xsp_registry_next_any(u64 after);
struct xsp_producer *xsp_registry_find(u64 id);
struct xsp_producer *xsp_registry_mine(u64 id);
bool xsp_registry_may_write(const struct xsp_producer *p);

/* ---- process.c ---- */
int xsp_process_init(void);
void xsp_process_unhook(void);
void xsp_process_exit(void);
int xsp_process_add(struct xsp_producer *p);
void xsp_process_remove(struct xsp_producer *p);
struct xsp_producer *xsp_process_next(struct pid *pid, u64 exec_id);

/* ---- producer.c ---- */
/* Called when the producer has ended; it can still be found. */
extern void (*xsp_producer_on_end)(struct xsp_producer *p);

int xsp_producer_attach(struct xsprof_attach *arg, struct xsp_producer **out);
int xsp_producer_rejoin(struct xsprof_attach *arg, struct xsp_producer **out);
void xsp_producer_publish(struct xsp_producer *p);
void xsp_producer_let_go(struct xsp_producer *p);
void xsp_producer_end(struct xsp_producer *p, u32 state, int status);
void xsp_producer_put(struct xsp_producer *p);
void xsp_producer_trace(u32 set, u32 clear);
bool xsp_producer_kick(struct xsp_producer *p, bool flush);
void xsp_producer_info(struct xsp_producer *p, struct xsprof_info *info);

static inline struct xsp_producer *xsp_producer_get(struct xsp_producer *p)
{
	kref_get(&p->ref);
	return p;
}

/* Is the caller a thread of the process that attached, in the program that attached? */
static inline bool xsp_producer_is_mine(const struct xsp_producer *p)
{
	return task_tgid(current) == p->pid && current->self_exec_id == p->exec_id;
}

/* The counter as the producer reads it: if that is a clock, with the offset of its namespace. */
static inline s64 xsp_producer_ticks_offset(const struct xsp_producer *p)
{
	return p->clock == XSPROF_CLOCK_MONO_RAW ? p->offset.mono : 0;
}

static inline u64 xsp_producer_ticks(const struct xsp_producer *p)
{
	return xsp_counter_ticks(p->clock) + xsp_producer_ticks_offset(p);
}

/*
 * Claims the end of a producer found under RCU, which may be about to be freed.
 * Return: true: the caller must end it, and has a reference; false: claimed before.
 * Context: any.
 */
static inline bool xsp_producer_claim_end(struct xsp_producer *p)
{
	return !atomic_xchg(&p->ending, 1) && kref_get_unless_zero(&p->ref);
}

/*
 * Queues its end, and that of all others of the process that attached before program @exec_id, in
 * process context; the work puts the reference.
 */
static inline void xsp_producer_queue_end(struct xsp_producer *p, u64 exec_id, int exit_code)
{
	p->end_exec_id = exec_id;
	p->exit_code = exit_code;
	queue_work(xsp_wq, &p->end_work);
}

/* ---- retain.c ---- */

/**
 * struct xsp_counters - counters shown in sysfs
 * @live: producers whose process lives
 * @kept: kept ended producers
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

void xsp_retain_init(void);
void xsp_retain_exit(void);
int xsp_retain_drop(struct xsp_producer *p);
int xsp_retain_counted(struct xsp_producer *p, int err);
void xsp_retain_trim(void);
void xsp_retain_counters(struct xsp_counters *c);

/* ---- emit.c ---- */
void xsp_emit_init(void);
long xsp_emit(struct xsp_producer *p, const struct xsprof_emit *arg);

/* ---- sync.c ---- */
int xsp_sync_init(void);
void xsp_sync_exit(void);
void xsp_sync_start(struct xsp_producer *p);
int xsp_sync_copy(struct xsprof_syncs *arg);

/* ---- sysfs.c ---- */
extern const struct attribute_group *xsp_sysfs_groups[];

/* ---- reader.c ---- */
int xsp_reader_open(const struct xsprof_open *arg);

#endif /* XSP_XSPROF_H */
