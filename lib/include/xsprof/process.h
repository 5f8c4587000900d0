/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The thread and the process as a producer: names of threads, attach, pause, flush, counts.  Part
 * of <xsprof/xsprof.h>, which includes it; the rules for threads, signals and errno are there.
 */
#ifndef XSPROF_PROCESS_H
#define XSPROF_PROCESS_H

#include <xsprof/xsprof.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- threads -------------------------------------------------------------------------------- */

/**
 * xsprof_thread_name() - name this thread in traces
 * @name: the name; NULL or "" for the one that it had without this call
 *
 * Threads that never call it have the name that the kernel knows (pthread_setname_np(), prctl()).
 * Not signal-safe.
 *
 * Return: 0; -ENOTCONN if the process is not recorded; -ENOSPC if the arena is full; -EBUSY in a
 * signal handler that interrupts another such call.
 */
XSPROF_API int xsprof_thread_name(const char *name);

/**
 * xsprof_thread_name_of() - name another thread of this process in traces
 * @tid: its id, as gettid() returns there
 * @name: the name
 *
 * For libraries that know the names of a program's threads. A name that the thread gives itself, by
 * xsprof_thread_name(), comes first. These names have a quarter of the arena at most. Not
 * signal-safe.
 *
 * Return: 0; -EINVAL: no id or no name; -ENOSPC if the arena, or that quarter, is full; else as
 * xsprof_thread_name().
 */
XSPROF_API int xsprof_thread_name_of(uint32_t tid, const char *name);

/* ---- facts ---------------------------------------------------------------------------------- */

/**
 * xsprof_fact() - state something about this process
 * @key: what: not empty, and without '='
 * @value: its value; the last one counts
 *
 * The library states some facts itself at the attach, such as the command line;
 * xsprof_trace_fact() reads all. "distributed.rank", "distributed.world_size" and
 * "distributed.backend" identify the ranks of a job, and override the environment.
 * Not signal-safe.
 *
 * Return: 0; -EINVAL; -ENOTCONN if the process is not recorded; -ENOSPC if the arena is full;
 * -EBUSY in a signal handler that interrupts another such call.
 */
XSPROF_API int xsprof_fact(const char *key, const char *value);

/* ---- the producer as a whole ---------------------------------------------------------------- */

#define XSPROF_INIT_PREFAULT	0x1u	/* touch all ring memory now, not at its first use */

/**
 * struct xsprof_options - for xsprof_init(); a field of 0 means the environment's value or the
 * default
 * @size: sizeof(struct xsprof_options)
 * @flags: XSPROF_INIT_*
 * @mode: 0 the environment's; else enum xsprof_mode + 1
 * @ring_size: bytes of one CPU's ring; rounded up to a power of two
 * @arena_size: bytes for names, threads and facts
 * @categories: "a,b,-c": only a and b; all but c
 */
struct xsprof_options {
	size_t		size;
	uint32_t	flags;
	uint32_t	mode;
	uint64_t	ring_size;
	uint64_t	arena_size;
	const char	*categories;
};

/**
 * xsprof_init() - attach now, with these options
 * @opts: options, or NULL
 *
 * Optional: a process attaches when it starts, if it has a recorder or the module is loaded. A
 * program that wants sizes other than the environment's calls this before its first marker. Not
 * signal-safe.
 *
 * Return: 0; -ENOTCONN: no recorder and no module; -EALREADY: already attached, with fixed memory
 * layout; -EINVAL, -E2BIG (unknown options not 0), -ENOMEM, -ENOSPC (tmpfs is full), -EACCES.
 */
XSPROF_API int xsprof_init(const struct xsprof_options *opts);

/**
 * xsprof_pause() - stop recording in this process until xsprof_resume()
 *
 * Open ranges end here in the trace. Calls do not nest. Both are signal-safe.
 *
 * Return: 0, or a negative errno as xsprof_category_enable().
 */
XSPROF_API int xsprof_pause(void);
XSPROF_API int xsprof_resume(void);

/**
 * xsprof_flush() - wait until the recorder has read all records written before the call
 * @timeout_ms: timeout in milliseconds, -1 for none
 *
 * Not signal-safe.
 *
 * Return: 0; -ETIMEDOUT; -ENOTCONN: not recorded, or no reader; another negative errno as
 * xsprof_category_enable().
 */
XSPROF_API int xsprof_flush(int timeout_ms);

/**
 * enum xsprof_backend - where a producer's memory is
 * @XSPROF_BACKEND_NONE: no memory: the process is not recorded
 * @XSPROF_BACKEND_TMPFS: a file in the recorder's session directory
 * @XSPROF_BACKEND_DEVICE: the kernel module, through /dev/xsprof
 */
enum xsprof_backend {
	XSPROF_BACKEND_NONE	= 0,
	XSPROF_BACKEND_TMPFS	= 1,
	XSPROF_BACKEND_DEVICE	= 2,
};

/**
 * struct xsprof_stats - counts of this producer
 * @size: sizeof(struct xsprof_stats) of the caller
 * @attached: 1 while attached
 * @clock: enum xsprof_clock_kind
 * @slots: slots of 32 bytes published, including padding and LOST records
 * @lost: records lost for any reason
 * @memory: bytes of memory in use by rings and arena
 * @names_missed: names, threads and facts that did not fit the arena
 * @lock_slots: those of @slots that were written to lock rings
 * @backend: enum xsprof_backend
 * @reserved: 0
 * @stacks_missed: ops recorded without their stack, because there was no room for it
 */
struct xsprof_stats {
	size_t		size;
	uint32_t	attached;
	uint32_t	clock;
	uint64_t	slots;
	uint64_t	lost;
	uint64_t	memory;
	uint64_t	names_missed;
	uint64_t	lock_slots;
	uint32_t	backend;
	uint32_t	reserved;
	uint64_t	stacks_missed;
};

/**
 * xsprof_get_stats() - read the counts of this producer
 * @stats: filled; set @stats->size before the call
 *
 * Return: 0; -EINVAL. All numbers are 0 if the process is not recorded.
 */
XSPROF_API int xsprof_get_stats(struct xsprof_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_PROCESS_H */
