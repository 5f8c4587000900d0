/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) */
/*
 * The device, /dev/xsprof: what its ioctls take and give.  It owns the argument structures and
 * their numbers, and nothing of the memory that they lead to (abi.h).
 *
 * An open of the device is nothing yet.  ATTACH makes it a producer, which maps the layout of
 * abi.h from offset 0; LIST and OPEN make readers, OPEN with a new descriptor for one producer.
 *
 * Every argument structure starts with its size, as its caller knows it.  A longer one than the
 * kernel's is accepted when the bytes beyond are 0 (else -E2BIG), a shorter one reads as if
 * filled up with 0.  Reserved fields and unknown flags must be 0 (else -EINVAL).  The number of
 * a command is the low byte alone: the size encoded in it is not looked at.
 */
#ifndef _UAPI_XSPROF_IOCTL_H
#define _UAPI_XSPROF_IOCTL_H

#include <linux/types.h>
#include <linux/ioctl.h>

#include <xsprof/abi.h>

#define XSPROF_DEVICE_PATH	"/dev/xsprof"

#define XSPROF_ATTACH_MONO	0x1u	/* timestamps are CLOCK_MONOTONIC_RAW */
#define XSPROF_ATTACH_NO_RSEQ	0x2u	/* lock rings only */
#define XSPROF_ATTACH_REJOIN	0x4u	/* this open too is producer @id of the process */

/**
 * struct xsprof_attach - XSPROF_IOC_ATTACH: make this open a producer
 * @size: sizeof(struct xsprof_attach) of the caller
 * @flags: XSPROF_ATTACH_*
 * @abi_major: XSPROF_ABI_MAJOR of the caller
 * @abi_minor: XSPROF_ABI_MINOR of the caller
 * @mode: enum xsprof_mode
 * @nr_lock_rings: wanted number of lock rings, 1 to XSPROF_MAX_LOCK_RINGS
 * @nr_rings: out: rings by CPU
 * @ring_size: bytes of data in one ring; out: what they are, a power of two
 * @arena_size: bytes of the arena's entries; out: bytes of the arena, its header among them
 * @total_size: out: bytes to map
 * @session: which recording this process belongs to, 0 for none
 * @wanted: categories enabled from the start
 * @id: out: the producer's number, never used again before the module is unloaded; in: with
 *	XSPROF_ATTACH_REJOIN, of a producer whose descriptor was lost (-ESRCH: not the caller's,
 *	or ended); all but @size and the ABI is then output
 * @kernel_size: bytes of data in one of the kernel's rings (XSPROF_IOC_SCHED), 0 for the
 *	kernel's own choice; out: what they are, a power of two
 * @reserved: must be 0
 *
 * The geometry is fixed here, for ever.  No ring memory is taken yet.
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
 * struct xsprof_populate - XSPROF_IOC_POPULATE: put memory behind a part of the producer
 * @size: sizeof(struct xsprof_populate) of the caller
 * @flags: must be 0
 * @offset: first byte, in the arena or in one ring
 * @bytes: how many
 *
 * The arena, or the pages of one ring, never beyond either.  The first page of a ring comes
 * with its header filled in (kind, cpu) and sets the ring's bit in xsprof_ctl.ready.  A store to
 * memory that was not populated does the same, page by page, but a lack of memory is SIGBUS
 * there and an error here.
 *
 * Only the process that attached may call it, and it pays: memcg and RLIMIT_MEMLOCK.
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
 * @clear: categories to take from it; applied first
 * @pause: bits to add to xsprof_ctl.paused: XSPROF_PAUSED_PROGRAM by the producer,
 *	XSPROF_PAUSED_RECORDER by a reader that consumes; others are refused with -EPERM
 * @resume: bits to take from it; applied first
 * @enabled: out: the enabled categories after it
 *
 * By the producer, or by a reader of it.  xsprof_ctl.enabled and .generation follow at once.
 * -ESHUTDOWN for a producer that has ended.
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

/* Argument of XSPROF_IOC_KICK: raise xsprof_ctl.flush too.  It returns 1 when somebody reads. */
#define XSPROF_KICK_FLUSH	0x1u

#define XSPROF_COMM_SIZE	16
#define XSPROF_EXE_SIZE		256

#define XSPROF_INFO_CONSUMED	0x1u	/* a reader consumes it right now */

/**
 * struct xsprof_info - one producer, as the kernel knows it; nothing here is the program's word
 * @id: its number
 * @session: as at attach
 * @state: enum xsprof_state
 * @status: once it ended: wait status of the process, as waitpid() gives it; -1 when the process
 *	goes on (it executed another program, or let go of the producer)
 * @pid: process id in the reader's namespace, 0 when it has none there
 * @own_pid: process id in its own namespace: what its records' thread ids are counted in
 * @pid_ns: inode number of that namespace
 * @uid: real user id in the reader's user namespace
 * @ppid: parent process at attach, in the reader's namespace
 * @mode: enum xsprof_mode
 * @clock: enum xsprof_clock_kind
 * @flags: XSPROF_INFO_*
 * @start_time: of the process, as field 22 of /proc/PID/stat has it
 * @attached: CLOCK_MONOTONIC at attach, ns
 * @ended: CLOCK_MONOTONIC at its end, ns, 0 before
 * @bytes: memory it holds
 * @total_size: bytes to map
 * @comm: name of the process at attach
 * @exe: path of its program as seen from the root of its mount namespace, cut if longer; empty
 *	when it has none
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
 * @after: producers with numbers above it, in rising order; out: the last one given
 * @infos: address of an array of struct xsprof_info
 * @info_size: bytes of one of its elements; what the kernel knows beyond is left out, what it
 *	does not know is filled with 0
 * @count: elements of the array; out: how many were filled in.  Fewer than there was room for:
 *	that was all.
 * @events: out: arrivals and ends so far, of all producers; poll() on this descriptor wakes
 *	when it has become another
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

#define XSPROF_OPEN_CONSUME	0x1u	/* this reader moves the tails: one at a time */

/**
 * struct xsprof_open - XSPROF_IOC_OPEN: read one producer
 * @size: sizeof(struct xsprof_open) of the caller
 * @flags: XSPROF_OPEN_*
 * @id: its number
 *
 * Return: a descriptor (close-on-exec).  It maps what the producer maps, all read-only, but with
 * XSPROF_OPEN_CONSUME each reader page may be mapped alone, read-write; pread() copies from the
 * same offsets, and reads memory that nobody has touched as zeros.  poll() says POLLIN after a
 * kick, after the watermark timer saw a head move, and at the end; POLLHUP from the end on.
 * XSPROF_IOC_EVENTS acknowledges.  The producer's memory stays until the last such descriptor
 * and mapping are gone.
 */
struct xsprof_open {
	__u32	size;
	__u32	flags;
	__u64	id;
};

/**
 * struct xsprof_watch - XSPROF_IOC_WATCH: when a consuming reader wants to be woken
 * @size: sizeof(struct xsprof_watch) of the caller
 * @flags: must be 0
 * @slots: a ring's slots between two kicks of the producer, 0 for none: xsprof_ctl.watermark
 * @period: ns after which a head that has moved wakes the reader, kick or none; 0 for never,
 *	at least a millisecond
 */
struct xsprof_watch {
	__u32	size;
	__u32	flags;
	__u64	slots;
	__u64	period;
};

/**
 * struct xsprof_events - XSPROF_IOC_EVENTS: what has happened, on a reader's descriptor
 * @size: sizeof(struct xsprof_events) of the caller
 * @flags: must be 0
 * @kicks: out: kicks so far; poll() does not say POLLIN again before the next
 * @info: out: the producer
 */
struct xsprof_events {
	__u32			size;
	__u32			flags;
	__u64			kicks;
	struct xsprof_info	info;
};

/*
 * Argument of XSPROF_IOC_DROP: drop it when it ends, by the reader that consumes.  With 0 the
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
 * One is taken a second while a producer lives, and before and after a suspend; older ones are
 * thinned out evenly, so that they reach back to the beginning.  Any descriptor of the device.
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
 * struct xsprof_emit - XSPROF_IOC_EMIT: a marker, as an event of the kernel's
 * @size: sizeof(struct xsprof_emit) of the caller; up to @begin where the rest is not used
 * @kind: enum xsprof_emit_kind
 * @flags: XSPROF_EMIT_DOUBLE, of a counter
 * @aux: of an instant: enum xsprof_scope; of a GPU's activity: enum xsprof_gpu_kind; else 0
 * @ticks: time of the marker's record in its ring, 0 where it was lost there
 * @value: of a counter: its value; of a complete range: how long it took, in ticks; of an
 *	instant: its number, 0 for none; of a GPU's activity: correlation id; else 0
 * @name: address of the name's text
 * @category: address of its category's
 * @name_len: bytes of it, 0 for none
 * @category_len: bytes of it, 0 for none
 * @begin: of a GPU's activity: when it began, on @clock
 * @end: and when it ended
 * @device: device index
 * @stream: stream or queue
 * @clock: 0 for the producers' ticks, else as in struct xsprof_rec_clock
 * @reserved: must be 0
 *
 * Only the process that attached may call it, and it does where xsprof_ctl.emit_types has the
 * kind's bit.  Texts end at their first 0.
 *
 * Return: 1, or 0 when nobody traces this kind any more: then nothing was done.
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
 * struct xsprof_sched - XSPROF_IOC_SCHED: what the scheduler does with the process' threads
 * @size: sizeof(struct xsprof_sched) of the caller
 * @flags: XSPROF_SCHED_ON: record it from now on; else no more
 * @before: out: the flags as they were
 * @reserved: must be 0
 *
 * The kernel writes SCHED_* records to rings of its own, one a CPU, which nobody else can write
 * to.  Their memory is made here, all of it, and stays.  The producer pays, as for every page;
 * the memory cgroup is the caller's.
 *
 * By the producer, or by a reader of it.  -ESHUTDOWN for a producer that has ended, -EOPNOTSUPP
 * where the kernel has no such events or more CPUs than there can be rings; -ENOMEM, -EPERM as
 * XSPROF_IOC_POPULATE.
 */
struct xsprof_sched {
	__u32	size;
	__u32	flags;
	__u32	before;
	__u32	reserved;
};

#define XSPROF_IOC_MAGIC	0xb7
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
