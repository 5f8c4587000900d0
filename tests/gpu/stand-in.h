/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stand-in for libcupti: it defines CUPTI's functions, and these, by which a test controls the
 * program's work and the behaviour of CUPTI.
 */
#ifndef STAND_IN_H
#define STAND_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the program does once, when a buffer is given back; CUPTI's lock is held. */
enum stand_in_does { STAND_IN_EXIT = 1, STAND_IN_FORK };

/* By which clock samples of counters are: the collector's, one of the system's, none. */
enum stand_in_clock { STAND_IN_CALLBACK, STAND_IN_REALTIME, STAND_IN_UNKNOWN };

/* How it behaves; all 0 is as usual. */
struct stand_in {
	uint32_t	version;	/* of CUDA: 1108; 0: 1300 */
	int		subscribed;	/* a result for cuptiSubscribe(): another tool is */
	bool		shared;		/* another tool is, and allows others */
	int		privilege;	/* a result for cuptiActivityEnable() */
	bool		no_time;	/* every eighth activity has no time */
	bool		strange;	/* every eighth record is of an unknown kind */
	bool		busy;		/* the device always has something to do */
	size_t		dropped;	/* to be told at the next question */
	bool		early;		/* kernels begin before their calls ... */
	uint32_t	early_ns;	/* ... by so much */
	bool		free_names;	/* names of kernels are gone when a buffer was given back */
	bool		invalid_tail;	/* each buffer ends with a record of the kind 0 */
	bool		per_thread;	/* each thread has its own buffer */
	uint32_t	in_flight;	/* so many full buffers are kept, and given last first */
	bool		hang;		/* a forced flush does not return */
	uint32_t	in_callback;	/* enum stand_in_does */
	uint32_t	launch_ns;	/* what a launch takes, and with records twice that */
	int		counters;	/* a result where the counters of a device are asked for */
	bool		by_clocks;	/* no device samples by time */
	uint32_t	samples;	/* so many have room on the device, 0: any number */
	uint32_t	sample_clock;	/* enum stand_in_clock */
};

extern struct stand_in stand_in;

/* As @what says, where that is known, and of the version that STAND_IN_VERSION names. */
void stand_in_behave(const char *what);

/* What the collector has done. */
extern uint32_t stand_in_enabled[64], stand_in_thread_type;
/* Requests for buffers: that were refused, that were not. */
extern uint32_t stand_in_refused, stand_in_requested;
/* Callbacks; and calls of functions for a single user when there may be several. */
extern uint32_t stand_in_called, stand_in_mixed;
/* How often the collector has timed launches, of which there were enough, and is done with it. */
extern uint32_t stand_in_probed;

/* How often sampling was begun, and ended; and what was collected, asked for. */
extern uint32_t stand_in_sampled, stand_in_unsampled, stand_in_flushed;

/*
 * A call of the runtime or of the driver by its number, and what a device does for it.  Return: the
 * correlation id.
 */
uint32_t stand_in_call(bool driver, uint32_t function);
void stand_in_kernel(uint32_t correlation, uint32_t stream, const char *name, uint32_t graph);
/* Of a graph: that node, which is a copy of @source in versions that tell. */
void stand_in_node_kernel(uint32_t correlation, uint32_t stream, const char *name, uint64_t node,
			  uint64_t source);
/* A node of a graph is made; of @source, a copy of it. */
void stand_in_node(uint64_t node, uint64_t source);
void stand_in_memcpy(uint32_t correlation, uint32_t stream, uint64_t bytes);
void stand_in_peer(uint32_t correlation, uint32_t stream, uint64_t bytes);
void stand_in_memset(uint32_t correlation, uint32_t stream, uint64_t bytes);
void stand_in_sync(uint32_t correlation, uint32_t stream, uint32_t type);
/* A wait in a context that nothing was told of, and that context: on device 2. */
void stand_in_sync_in(uint32_t correlation, uint32_t context);
void stand_in_context(uint32_t context);
/* An event is recorded in a stream, and waited for; @id: of CUPTI, for that recording. */
void stand_in_event(uint32_t correlation, uint32_t stream, uint32_t event, uint64_t id);
void stand_in_sync_event(uint32_t correlation, uint32_t stream, uint32_t event, uint64_t id);
/* A graph as a whole. */
void stand_in_graph(uint32_t correlation, uint32_t stream, uint32_t graph);
/* Memory of a device, so many ns ago. */
void stand_in_memory(uint32_t correlation, bool allocated, uint64_t bytes, uint64_t ago);
/* A pool of memory, by CUPTI's numbers of what happened and of what it is. */
void stand_in_pool(uint32_t correlation, uint32_t operation, uint32_t pool);
/* The driver compiles; the path of its cache is nowhere. */
void stand_in_jit(uint32_t correlation, uint32_t entry, uint32_t operation);
/* How devices are connected: two GPUs, a GPU and an NPU; a device and a bridge. */
void stand_in_links(void);
/* Unified memory: a counter of CUPTI's, and bytes. */
void stand_in_managed(uint32_t counter, uint64_t bytes);
void stand_in_overhead(uint32_t type);
void stand_in_external(uint32_t correlation, uint32_t kind, uint64_t id);
void stand_in_device(uint32_t context);
/* A buffer is given back with a kernel of that name, as CUPTI does when a child of a fork ends. */
void stand_in_give(const char *name);
/* What raw.c wrote of a GPU, at the times of now.  Return: records, 0: it cannot be read. */
uint64_t stand_in_raw(const char *path);

#endif /* STAND_IN_H */
