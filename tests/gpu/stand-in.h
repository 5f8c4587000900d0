/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stand-in for libcupti: it defines CUPTI's functions, and these, by which a test controls the
 * program's work and CUPTI's behaviour.
 */
#ifndef STAND_IN_H
#define STAND_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the program does once, when a buffer is returned; CUPTI's lock is held. */
enum stand_in_does { STAND_IN_EXIT = 1, STAND_IN_FORK };

/* The clock of counter samples: the collector's, one of the system's, none. */
enum stand_in_clock { STAND_IN_CALLBACK, STAND_IN_REALTIME, STAND_IN_UNKNOWN };

/* Its behaviour; all 0 is normal. */
struct stand_in {
	uint32_t	version;	/* CUDA version: 1108; 0: 1300 */
	int		subscribed;	/* result of cuptiSubscribe(): there is another tool */
	bool		shared;		/* there is another tool, which allows others */
	bool		alone;		/* there cannot be several users */
	bool		queries;	/* are reported whatever was asked for */
	bool		silent;		/* no callback at the end of cuInit() */
	bool		never;		/* cuInit() does not end */
	int		privilege;	/* result of cuptiActivityEnable() */
	bool		no_time;	/* every eighth activity has no time */
	bool		strange;	/* every eighth record is of an unknown kind */
	bool		busy;		/* the device always has something to do */
	size_t		dropped;	/* reported by the next query */
	uint32_t	context;	/* of kernels; 0: the usual one, 3 */
	bool		early;		/* kernels begin before their calls ... */
	uint32_t	early_ns;	/* ... by this much */
	bool		free_names;	/* kernel names are freed after their buffer was returned */
	bool		invalid_tail;	/* each buffer ends with a record of the kind 0 */
	bool		per_thread;	/* each thread has its own buffer */
	uint32_t	in_flight;	/* full buffers kept, then returned last first */
	bool		hang;		/* a forced flush does not return */
	uint32_t	in_callback;	/* enum stand_in_does */
	uint32_t	launch_ns;	/* cost of a launch; with records twice that */
	int		counters;	/* result of asking for a device's counters */
	bool		by_clocks;	/* no device samples by time */
	uint32_t	samples;	/* capacity of the device, 0: unlimited */
	uint32_t	sample_clock;	/* enum stand_in_clock */
};

extern struct stand_in stand_in;

/*
 * Sets the behaviour that @what names, if known, the version in STAND_IN_VERSION, and the number of
 * calls made before in STAND_IN_CALLS.
 */
void stand_in_behave(const char *what);

/* What the collector has done. */
extern uint32_t stand_in_enabled[64], stand_in_thread_type;
/* Called after a forced flush, as a thread of the program may launch then. */
extern void (*stand_in_after_flush)(void);
/* Buffers that CUPTI has. */
uint32_t stand_in_kept(void);
/* Requests for buffers: refused, granted. */
extern uint32_t stand_in_refused, stand_in_requested;
/* Callbacks; and calls of single-user functions while there may be several users. */
extern uint32_t stand_in_called, stand_in_mixed;
/* Settings changed without a subscription; and the last of CUPTI_ATTR_ZEROED. */
extern uint32_t stand_in_meddled;
extern uint8_t stand_in_zeroed;
extern size_t stand_in_buffers;	/* at most, on the device */
extern uint8_t stand_in_all_waits;	/* also queries of work that is not over */
/* Is the counter of unified memory collected? */
bool stand_in_counts(uint32_t counter);
/* Is the timestamp callback CLOCK_REALTIME, which is CUPTI's own clock? */
bool stand_in_is_realtime(void);
/* cuInit() has finished: counters of unified memory can be configured from here. */
void stand_in_initialised(void);
/* How often the collector has timed enough launches, and finished with that. */
extern uint32_t stand_in_probed;

/* How often sampling began and ended; and how often records were flushed on request. */
extern uint32_t stand_in_sampled, stand_in_unsampled, stand_in_flushed;

/*
 * Makes a call of the runtime or the driver by its number; the others make device activities for
 * it. Return: the correlation id.
 */
uint32_t stand_in_call(bool driver, uint32_t function);
void stand_in_kernel(uint32_t correlation, uint32_t stream, const char *name, uint32_t graph);
/* A kernel of a graph's node, which is a copy of @source in versions that report it. */
void stand_in_node_kernel(uint32_t correlation, uint32_t stream, const char *name, uint64_t node,
			  uint64_t source);
/* A node of a graph is made; with @source, as a copy of it. */
void stand_in_node(uint64_t node, uint64_t source);
void stand_in_memcpy(uint32_t correlation, uint32_t stream, uint64_t bytes);
void stand_in_peer(uint32_t correlation, uint32_t stream, uint64_t bytes);
void stand_in_memset(uint32_t correlation, uint32_t stream, uint64_t bytes);
void stand_in_sync(uint32_t correlation, uint32_t stream, uint32_t type);
/* A wait in a context that was not reported, and that context: on device 2. */
void stand_in_sync_in(uint32_t correlation, uint32_t context);
void stand_in_context(uint32_t context);
/* An event is recorded in a stream, and waited for; @id: CUPTI's, of that recording. */
void stand_in_event(uint32_t correlation, uint32_t stream, uint32_t event, uint64_t id);
void stand_in_sync_event(uint32_t correlation, uint32_t stream, uint32_t event, uint64_t id);
/* A graph as a whole. */
void stand_in_graph(uint32_t correlation, uint32_t stream, uint32_t graph);
/* Device memory, allocated or freed @ago ns ago, at an address of its size; at that time. */
void stand_in_memory(uint32_t correlation, bool allocated, uint64_t bytes, uint64_t ago);
void stand_in_memory_at(uint32_t correlation, bool allocated, uint64_t address, uint64_t bytes,
			uint64_t when);
/* The time of the clock that the collector gave. */
uint64_t stand_in_now(void);
/* A memory pool, with CUPTI's numbers for the operation and the kind of pool. */
void stand_in_pool(uint32_t correlation, uint32_t operation, uint32_t pool);
/* The driver compiles; the path of its cache does not exist. */
void stand_in_jit(uint32_t correlation, uint32_t entry, uint32_t operation);
/* Links between devices: two GPUs, a GPU and an NPU; a device and a bridge. */
void stand_in_links(void);
/* Unified memory: one of CUPTI's counters, and bytes. */
void stand_in_managed(uint32_t counter, uint64_t bytes);
void stand_in_managed_with(uint32_t counter, uint64_t value, uint32_t from, uint32_t to,
			   uint32_t flags);
/* Thrashing of 8 KiB by devices that are bits of @mask, from device @first on. */
void stand_in_thrashing(uint32_t first, uint32_t mask, uint32_t flags);
void stand_in_overhead(uint32_t type);
/* The same with details that the reader has to free, in versions that have them. */
void stand_in_overhead_with(uint32_t type, uint64_t ns, void *details);
/* A query of an event before its work ends, in versions that report it. */
void stand_in_query(uint32_t correlation, uint32_t stream);
void stand_in_external(uint32_t correlation, uint32_t kind, uint64_t id);
/* With STAND_IN_SLICE=N it is the Nth slice of that device. */
void stand_in_device(uint32_t context);
/* Returns a buffer with a kernel of that name, as CUPTI does when a forked child ends. */
void stand_in_give(const char *name);
/* Replays what raw.c wrote of a GPU, at current times. Return: records, 0: it cannot be read. */
uint64_t stand_in_raw(const char *path);

#endif /* STAND_IN_H */
