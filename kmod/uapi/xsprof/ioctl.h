/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) */
/*
 * Calls of the device /dev/xsprof: ioctl numbers and their argument structures. abi.h has the
 * layout of the memory.
 *
 * ATTACH makes an open file a producer, which maps the layout of abi.h from offset 0. LIST returns
 * the producers, and OPEN returns a new descriptor that reads one of them.
 *
 * Every argument structure starts with its size in the caller's version. A structure longer than
 * the kernel's is accepted if the bytes beyond are 0 (else -E2BIG); a shorter one is extended with
 * 0. Reserved fields and unknown flags must be 0 (else -EINVAL).
 *
 * A command is known by all of its bits, direction and size included (else -ENOTTY). The size in it
 * is that of the structure as it was first defined: a structure that grows keeps its command.
 */
#ifndef _UAPI_XSPROF_IOCTL_H
#define _UAPI_XSPROF_IOCTL_H

#include <linux/types.h>
#include <linux/ioctl.h>

#include <xsprof/abi.h>

#define XSPROF_DEVICE_PATH	"/dev/xsprof"

#define XSPROF_ATTACH_MONO	0x1u	/* timestamps are CLOCK_MONOTONIC_RAW */
#define XSPROF_ATTACH_NO_RSEQ	0x2u	/* lock rings only */
#define XSPROF_ATTACH_REJOIN	0x4u	/* a further descriptor of producer @id of the process */

/**
 * struct xsprof_attach - XSPROF_IOC_ATTACH: make this open a producer
 * @size: sizeof(struct xsprof_attach) of the caller
 * @flags: XSPROF_ATTACH_*
 * @abi_major: XSPROF_ABI_MAJOR of the caller
 * @abi_minor: XSPROF_ABI_MINOR of the caller
 * @mode: enum xsprof_mode
 * @nr_lock_rings: number of lock rings, 1 to XSPROF_MAX_LOCK_RINGS
 * @nr_rings: out: rings by CPU
 * @ring_size: bytes of data in one ring; out: actual size, a power of two
 * @arena_size: bytes of the arena's entries; out: bytes of the arena, including its header
 * @total_size: out: bytes to map
 * @session: which recording this process belongs to, 0 for none
 * @wanted: categories enabled from the start
 * @id: out: the producer's id, unique until the module is unloaded; in: with XSPROF_ATTACH_REJOIN,
 *	the producer whose descriptor was lost (-ESRCH: not the caller's, or ended); all other
 *	fields except @size, the ABI version and @reserved are then output
 * @kernel_size: bytes of data in one of the kernel's rings (XSPROF_IOC_SCHED), at most 64 MiB, 0
 *	for the default; out: actual size, a power of two
 * @reserved: must be 0
 *
 * The geometry cannot change afterwards. No ring memory is allocated yet.
 */
struct xsprof_attach {
	__u32	size;
	__u32	flags;
	__u16	abi_major;
	__u16	abi_minor;
	__u32	mode;
	__u32	nr_lock_rings;
	__u32	nr_rings;
	__u64	ring_size;
	__u64	arena_size;
	__u64	total_size;
	__u64	session;
	__u64	wanted;
	__u64	id;
	__u64	kernel_size;
	__u64	reserved;
};

/**
 * struct xsprof_populate - XSPROF_IOC_POPULATE: allocate memory for a part of the producer
 * @size: sizeof(struct xsprof_populate) of the caller
 * @flags: must be 0
 * @offset: first byte, in the arena or in one ring
 * @bytes: how many
 *
 * The range must be inside the arena or one ring. The first page of a ring gets its header (kind,
 * cpu) and sets the ring's bit in xsprof_ctl.ready. A store to memory that was not populated does
 * the same page by page, but a shortage of memory raises SIGBUS there and is an error here.
 *
 * Only the process that attached may call it; it is charged (memcg and RLIMIT_MEMLOCK), with the
 * limits and rights that it had at attach.
 */
struct xsprof_populate {
	__u32	size;
	__u32	flags;
	__u64	offset;
	__u64	bytes;
};

/**
 * struct xsprof_control - XSPROF_IOC_CONTROL: enable, disable, pause, resume
 * @size: sizeof(struct xsprof_control) of the caller
 * @flags: must be 0
 * @set: categories to add to xsprof_ctl.wanted
 * @clear: categories to remove from it; applied first
 * @pause: bits to add to xsprof_ctl.paused: XSPROF_PAUSED_PROGRAM by the producer,
 *	XSPROF_PAUSED_RECORDER by a reader that consumes; others are refused with -EPERM
 * @resume: bits to remove from it; applied first
 * @enabled: out: the enabled categories after it
 *
 * By the producer, or by a reader of it that may write (xsprof_open).  xsprof_ctl.enabled and
 * .generation follow at once. -ESHUTDOWN for a producer that has ended.
 */
struct xsprof_control {
	__u32	size;
	__u32	flags;
	__u64	set;
	__u64	clear;
	__u32	pause;
	__u32	resume;
	__u64	enabled;
};

/* Argument of XSPROF_IOC_KICK: also increment xsprof_ctl.flush. Returns 1 if there is a reader. */
#define XSPROF_KICK_FLUSH	0x1u

#define XSPROF_COMM_SIZE	16
#define XSPROF_EXE_SIZE		256

#define XSPROF_INFO_CONSUMED	0x1u	/* a reader consumes it right now */

/**
 * struct xsprof_info - one producer; all fields are the kernel's own data, not the program's
 * @id: its number
 * @session: as at attach
 * @state: enum xsprof_state
 * @status: after the end: wait status of the process, as of waitpid(); -1 if the process continues
 *	(it executed another program, or closed the producer)
 * @pid: process id in the reader's namespace, 0 when it has none there
 * @own_pid: process id in its own namespace, which is also that of the thread ids in its records
 * @pid_ns: inode number of that namespace
 * @uid: real user id in the reader's user namespace
 * @ppid: parent process at attach, in the reader's namespace
 * @mode: enum xsprof_mode
 * @clock: enum xsprof_clock_kind
 * @flags: XSPROF_INFO_*
 * @start_time: start of the process, as the reader finds it in field 22 of /proc/PID/stat
 * @attached: CLOCK_MONOTONIC at attach, ns, in the reader's time namespace: xsprof_ctl.attach.mono,
 *	which is in the producer's
 * @ended: CLOCK_MONOTONIC at its end, ns, in the reader's time namespace, 0 before
 * @bytes: bytes of allocated memory
 * @total_size: bytes to map
 * @comm: name of the process at attach
 * @exe: path of its program as seen from its root directory at attach, cut if longer; empty when it
 *	has none
 */
struct xsprof_info {
	__u64	id;
	__u64	session;
	__u32	state;
	__s32	status;
	__u32	pid;
	__u32	own_pid;
	__u32	pid_ns;
	__u32	uid;
	__u32	ppid;
	__u32	mode;
	__u32	clock;
	__u32	flags;
	__u64	start_time;
	__u64	attached;
	__u64	ended;
	__u64	bytes;
	__u64	total_size;
	char	comm[XSPROF_COMM_SIZE];
	char	exe[XSPROF_EXE_SIZE];
};

/**
 * struct xsprof_list - XSPROF_IOC_LIST: the producers that the caller may read
 * @size: sizeof(struct xsprof_list) of the caller
 * @flags: must be 0
 * @after: return producers with larger ids, in ascending order; out: the last id returned
 * @infos: address of an array of struct xsprof_info
 * @info_size: bytes of one element; longer structures of the kernel are cut, shorter ones are
 *	extended with 0
 * @count: elements of the array; out: elements filled in. If fewer than requested, the list is
 *	complete.
 * @events: out: number of attaches and ends of all producers so far; poll() on this descriptor
 *	wakes when it changes
 */
struct xsprof_list {
	__u32	size;
	__u32	flags;
	__u64	after;
	__u64	infos;
	__u32	info_size;
	__u32	count;
	__u64	events;
};

#define XSPROF_OPEN_CONSUME	0x1u	/* consume: this reader moves the tails; one at a time */

/**
 * struct xsprof_open - XSPROF_IOC_OPEN: read one producer
 * @size: sizeof(struct xsprof_open) of the caller
 * @flags: XSPROF_OPEN_*
 * @id: its number
 *
 * Return: a descriptor (close-on-exec). It maps the producer's layout read-only; with
 * XSPROF_OPEN_CONSUME each reader page can be mapped separately, read-write. pread() copies from
 * the same offsets, returns zeros for memory that is not allocated, and never waits. poll() returns
 * POLLIN after a kick, after the watermark timer saw a head move, and at the end; POLLHUP from
 * the end on. XSPROF_IOC_EVENTS acknowledges. The producer's memory stays until the last such
 * descriptor and mapping are gone.
 *
 * The owner of the process may write, and CAP_SYS_ADMIN: consume, XSPROF_IOC_CONTROL, _SCHED and
 * _DROP, which are -EPERM for callers that may only read (CAP_PERFMON). What counts is the opener.
 */
struct xsprof_open {
	__u32	size;
	__u32	flags;
	__u64	id;
};

/**
 * struct xsprof_watch - XSPROF_IOC_WATCH: when to wake a consuming reader
 * @size: sizeof(struct xsprof_watch) of the caller
 * @flags: must be 0
 * @slots: a ring's slots between two kicks of the producer, 0 for none: xsprof_ctl.watermark
 * @period: ns after which a head that has moved wakes the reader even without a kick; 0 for never,
 *	else at least a millisecond. A reader without CAP_SYS_ADMIN is woken later where its user
 *	has many rings watched: 100,000 of them are looked at in a second
 */
struct xsprof_watch {
	__u32	size;
	__u32	flags;
	__u64	slots;
	__u64	period;
};

/**
 * struct xsprof_events - XSPROF_IOC_EVENTS: acknowledge and get events of a reader's descriptor
 * @size: sizeof(struct xsprof_events) of the caller
 * @flags: must be 0
 * @kicks: out: kicks so far; poll() does not return POLLIN again before the next one
 * @info: out: the producer
 */
struct xsprof_events {
	__u32			size;
	__u32			flags;
	__u64			kicks;
	struct xsprof_info	info;
};

/*
 * Argument of XSPROF_IOC_DROP, for a consuming reader: drop the producer when it ends. With 0 the
 * producer must have ended.
 */
#define XSPROF_DROP_AT_END	0x1u

/**
 * struct xsprof_syncs - XSPROF_IOC_SYNCS: the clocks, since the first producer attached
 * @size: sizeof(struct xsprof_syncs) of the caller
 * @flags: must be 0
 * @syncs: address of an array of struct xsprof_sync
 * @count: elements of it; out: how many were filled in, oldest first
 * @generation: out: raised when clocks jumped (suspend, a counter found unstable)
 *
 * One is taken every second while a producer is alive, and before and after a suspend; older ones
 * are thinned out evenly, so that they reach back to the first. CLOCK_MONOTONIC, the same raw and
 * CLOCK_BOOTTIME are those of the caller's time namespace; a point from before they were 0 is left
 * out. Works on any descriptor of the device.
 */
struct xsprof_syncs {
	__u32	size;
	__u32	flags;
	__u64	syncs;
	__u32	count;
	__u32	generation;
};

#define XSPROF_EMIT_TEXT_MAX	128	/* bytes of a text; longer ones are cut and end in "..." */
#define XSPROF_EMIT_DOUBLE	0x1u	/* @value of a counter is the bits of a double */

/**
 * struct xsprof_emit - XSPROF_IOC_EMIT: send a marker to a tracepoint
 * @size: sizeof(struct xsprof_emit) of the caller; up to @begin if the rest is not used
 * @kind: enum xsprof_emit_kind
 * @flags: XSPROF_EMIT_DOUBLE for a counter, else 0
 * @aux: instant: enum xsprof_scope; GPU activity: enum xsprof_gpu_kind; else 0
 * @ticks: time of the marker's record in its ring, 0 if it was lost there
 * @value: counter: its value; complete range: duration in ticks; instant: its number, 0 for none;
 *	GPU activity: correlation id; else 0
 * @name: address of the name's text
 * @category: address of its category's text
 * @name_len: bytes of it, 0 for none
 * @category_len: bytes of it, 0 for none
 * @begin: begin of a GPU activity, on @clock
 * @end: end of a GPU activity, on @clock
 * @device: device index
 * @stream: stream or queue
 * @clock: 0 for the producers' ticks, else as in struct xsprof_rec_clock
 * @reserved: must be 0
 *
 * Only the process that attached may call it, if xsprof_ctl.emit_types has the bit of @kind. Texts
 * end at their first 0.
 *
 * Return: 1; 0 if the tracepoint of this kind is off: then nothing was done.
 */
struct xsprof_emit {
	__u32	size;
	__u32	kind;
	__u32	flags;
	__u32	aux;
	__u64	ticks;
	__u64	value;
	__u64	name;
	__u64	category;
	__u32	name_len;
	__u32	category_len;
	__u64	begin;
	__u64	end;
	__u32	device;
	__u32	stream;
	__u32	clock;
	__u32	reserved;
};

#define XSPROF_SCHED_ON		0x1u

/**
 * struct xsprof_sched - XSPROF_IOC_SCHED: record scheduler events of the process' threads
 * @size: sizeof(struct xsprof_sched) of the caller
 * @flags: XSPROF_SCHED_ON: start recording; 0: stop
 * @before: out: the previous flags
 * @reserved: must be 0
 *
 * The kernel writes SCHED_* records to separate rings, one per CPU, which user space cannot write.
 * The first call allocates all their memory, which stays. It is charged to the producer as every
 * page, also if a reader calls.
 *
 * Called by the producer or a reader of it that may write (xsprof_open). -ESHUTDOWN: the producer
 * has ended; -EBUSY: another producer of the process has such rings; -EOPNOTSUPP: the kernel has no
 * such events, or more CPUs than there can be rings; -ENOMEM, -EPERM as XSPROF_IOC_POPULATE.
 */
struct xsprof_sched {
	__u32	size;
	__u32	flags;
	__u32	before;
	__u32	reserved;
};

/*
 * No driver of the kernel has this code, and ioctl-number.rst, the kernel's table of them, leaves
 * it free with those around it, 0xd0 to 0xda.
 */
#define XSPROF_IOC_MAGIC	0xd7
#define XSPROF_IOC_ATTACH	_IOWR(XSPROF_IOC_MAGIC, 0x01, struct xsprof_attach)
#define XSPROF_IOC_KICK		_IO(XSPROF_IOC_MAGIC, 0x02)
#define XSPROF_IOC_LIST		_IOWR(XSPROF_IOC_MAGIC, 0x03, struct xsprof_list)
#define XSPROF_IOC_OPEN		_IOW(XSPROF_IOC_MAGIC, 0x04, struct xsprof_open)
#define XSPROF_IOC_POPULATE	_IOW(XSPROF_IOC_MAGIC, 0x05, struct xsprof_populate)
#define XSPROF_IOC_CONTROL	_IOWR(XSPROF_IOC_MAGIC, 0x06, struct xsprof_control)
#define XSPROF_IOC_WATCH	_IOW(XSPROF_IOC_MAGIC, 0x07, struct xsprof_watch)
#define XSPROF_IOC_EVENTS	_IOWR(XSPROF_IOC_MAGIC, 0x08, struct xsprof_events)
#define XSPROF_IOC_DROP		_IO(XSPROF_IOC_MAGIC, 0x09)	/* do not keep it */
#define XSPROF_IOC_SYNCS	_IOWR(XSPROF_IOC_MAGIC, 0x0a, struct xsprof_syncs)
#define XSPROF_IOC_SCHED	_IOWR(XSPROF_IOC_MAGIC, 0x0b, struct xsprof_sched)
/* 0x20 to 0x2f: markers sent through the device */
#define XSPROF_IOC_EMIT		_IOW(XSPROF_IOC_MAGIC, 0x20, struct xsprof_emit)

/* The commands above name these sizes: where a structure grows, its command names the old one. */
XSPROF_ABI_ASSERT(sizeof(struct xsprof_attach) == 88);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_populate) == 24);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_control) == 40);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_info) == 368);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_list) == 40);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_open) == 16);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_watch) == 24);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_events) == 384);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_syncs) == 24);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_emit) == 88);
XSPROF_ABI_AT(xsprof_emit, begin, 56);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_sched) == 16);

#endif /* _UAPI_XSPROF_IOCTL_H */
