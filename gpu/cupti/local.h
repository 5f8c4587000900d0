/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the files of the CUPTI collector share.  From bottom to top:
 *	library.c	finds CUPTI
 *	texts.c		texts that records point to
 *	pool.c		the buffers that CUPTI fills
 *	names.c		names of kernels and of functions
 *	miss.c		the collector, and the account of what is not recorded
 *	device.c	what is known of devices and contexts
 *	activity.c	what is common to all activities
 *	load.c		what CUPTI had to do
 *	detail.c	what the user wants beside what is always recorded
 *	wait.c		waits, and which recording of an event they are for
 *	memory.c	what is allocated and freed
 *	pools.c		pools of memory
 *	jit.c		what the driver compiles
 *	managed.c	unified memory
 *	links.c		how devices are connected
 *	nodes.c		who made the nodes of graphs
 *	values.c	metrics of kernels that CUPTI has not reported yet
 *	record.c	CUPTI's records into ours
 *	probe.c		how long launches take
 *	pm.c		CUPTI's functions for counters of the hardware
 *	metrics.c	which metrics the user wants
 *	chip.c		which of these a device can measure
 *	ranges.c	metrics of each kernel
 *	sample-clock.c	the clock of their samples
 *	sampling.c	samples of them
 *	share.c		one user of CUPTI among several
 *	attach.c	CUPTI is ours, and is given back
 *	flush.c		what CUPTI has collected, into the rings
 *	kinds.c		which kinds of records CUPTI collects
 *	budget.c	what all this may cost
 *	thread.c	what the thread that does this is called for
 *	init.c		how a program that uses CUDA comes here
 *
 * Nothing here runs in a call of the program but what CUPTI itself does, the timestamp, and at
 * times the hand-over of a buffer: records become ours in a thread of the collector.
 */
#ifndef XSPROF_CUPTI_LOCAL_H
#define XSPROF_CUPTI_LOCAL_H

#include <stdbool.h>
#include <string.h>

#include <xsprof/collector.h>

#include "gpu/common/pool.h"
#include "gpu/cupti/cupti-abi.h"
#include "gpu/cupti/metrics-abi.h"
#include "gpu/cupti/ranges-abi.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* ---- library.c ------------------------------------------------------------------------------- */

extern struct cupti cupti;
extern uint32_t cupti_version;

/* Return: 0; -ENOENT, -ENOSYS: it is told. */
int cupti_open(void);
/* Another function of the library.  Return: NULL: it has none of that name. */
void *cupti_symbol(const char *name);
/* In CUPTI's words. */
const char *cupti_text(int result);

/* ---- texts.c --------------------------------------------------------------------------------- */

/**
 * struct cupti_text - a copy of a text that records point to
 * @next: of texts.c
 * @name: of the kernel, once cupti_kernel_name() was asked; written by the collector's thread
 * @text: what records point to, from cupti_texts_keep() on
 */
struct cupti_text {
	struct cupti_text	*next;
	xsprof_name_t		name;
	char			text[];
};

/* Of a buffer that CUPTI completes: its records point to copies afterwards. */
void cupti_texts_keep(uint8_t *buffer, size_t valid);
/* In the child of a fork. */
void cupti_texts_forget(void);

/* ---- pool.c ---------------------------------------------------------------------------------- */

void cupti_pool_request(uint8_t **buffer, size_t *size, size_t *max_records);
void cupti_pool_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			 size_t valid);
/* Return: there is one. */
bool cupti_pool_take(struct gpu_buffer *buffer);
void cupti_pool_give(const struct gpu_buffer *buffer);
/* How many CUPTI has, are full, or are being read. */
uint32_t cupti_pool_used(void);
/* In the child of a fork. */
void cupti_pool_forget(void);

/* ---- names.c --------------------------------------------------------------------------------- */

int cupti_category(void);
/* @text: as a record has it after cupti_texts_keep(). */
xsprof_name_t cupti_kernel_name(const char *text);
/* 0: it is not recorded, as it asks for something and gives a device nothing to do. */
xsprof_name_t cupti_call_name(uint32_t domain, uint32_t function);
/* Have CUPTI leave out calls that are not recorded, where it can. */
void cupti_choose_calls(void);

/* ---- miss.c ---------------------------------------------------------------------------------- */

/* What is not recorded: each a counter of its name in the trace, once there is any. */
enum cupti_miss {
	CUPTI_MISS_DROPPED,	/* CUPTI had no room */
	CUPTI_MISS_BUFFERS,	/* of a version that must get a buffer, when all were in use */
	CUPTI_MISS_NO_TIME,	/* activities without times */
	CUPTI_MISS_UNKNOWN,	/* records of other kinds */
	CUPTI_MISS_EXIT,	/* buffers that were left when the program had to end */
	CUPTI_MISS_CONTEXT,	/* waits in contexts of which CUPTI told nothing */
	CUPTI_MISS_SAMPLES,	/* samples of metrics */
	CUPTI_MISS_SAMPLE_TIME,	/* samples whose time is on no clock that is known */
	CUPTI_MISS_OF_GRAPHS,	/* metrics of kernels of graphs */
	CUPTI_MISS_OF_OTHERS,	/* metrics of kernels that wait for others */
	CUPTI_MISS_OF_KERNELS,	/* metrics of other kernels */
	CUPTI_NR_MISSES,
};

void cupti_miss(enum cupti_miss what, uint64_t n);

extern struct xsprof_collector cupti_collector;

/* ---- device.c -------------------------------------------------------------------------------- */

void cupti_device(const struct cupti_device *device);
/* "GPU-...": 41 bytes. */
void cupti_uuid(char *text, const uint8_t uuid[16]);
void cupti_context_is(uint32_t context, uint32_t device);
/* Return: it is known. */
bool cupti_device_of(uint32_t context, uint32_t *device);
/* Those on which there was a context: a bit for each of the first 32. */
uint32_t cupti_devices_used(void);

/* ---- activity.c ------------------------------------------------------------------------------ */

/* What is common to all activities, with times of CUPTI.  Return: false: it has none: counted. */
bool cupti_work(struct xsprof_device_activity *a, uint32_t kind, xsprof_name_t name, uint64_t start,
		uint64_t end, uint32_t correlation);
void cupti_put(const struct xsprof_device_activity *a, const struct xsprof_kv *kv, size_t n);

/* ---- detail.c -------------------------------------------------------------------------------- */

enum cupti_detail {
	CUPTI_DETAIL_GRAPHS,	/* launches of graphs as a whole, and not their nodes */
	CUPTI_DETAIL_MEMORY,	/* what is allocated and freed */
	CUPTI_DETAIL_MANAGED,	/* what unified memory moves */
	CUPTI_DETAIL_POOLS,	/* pools of memory */
	CUPTI_DETAIL_JIT,	/* what the driver compiles */
	CUPTI_DETAIL_LINKS,	/* how devices are connected */
	CUPTI_DETAIL_SHARE,	/* CUPTI may have other users */
	CUPTI_DETAIL_QUEUED,	/* when kernels were queued and submitted */
	CUPTI_NR_DETAILS,
};

void cupti_detail_init(void);
bool cupti_detail(enum cupti_detail what);

/* ---- load.c ---------------------------------------------------------------------------------- */

enum cupti_launch { CUPTI_LAUNCH_KERNEL, CUPTI_LAUNCH_GRAPH, CUPTI_NR_LAUNCHES };

/**
 * struct cupti_load - what CUPTI had to do
 * @launches: calls that started something, by enum cupti_launch
 * @in_graphs: kernels, copies and sets of graphs
 * @overhead: ns that CUPTI took for itself in the program's threads
 */
struct cupti_load {
	uint64_t	launches[CUPTI_NR_LAUNCHES];
	uint64_t	in_graphs;
	uint64_t	overhead;
};

/* Something that a call started, of a graph or of none (0). */
void cupti_load_launch(uint32_t graph, uint32_t correlation);
void cupti_load_overhead(uint64_t ns);
const struct cupti_load *cupti_load(void);
void cupti_load_anew(void);

/* ---- wait.c ---------------------------------------------------------------------------------- */

void cupti_wait_init(void);
void cupti_event(const struct cupti_event *event);
/* It may be kept until cupti_wait_settle(), to which all buffers of a flush have been read. */
void cupti_wait(const struct cupti_sync *sync);
void cupti_wait_settle(void);
/* There will be no more. */
void cupti_wait_end(void);

/* ---- memory.c -------------------------------------------------------------------------------- */

void cupti_memory_init(void);
/* It is kept until cupti_memory_settle(), to which all buffers of a flush have been read. */
void cupti_memory(const struct cupti_memory *memory);
void cupti_memory_settle(void);

/* ---- pools.c --------------------------------------------------------------------------------- */

void cupti_pools_init(void);
void cupti_pools(const struct cupti_pool_change *change);

/* ---- jit.c ----------------------------------------------------------------------------------- */

void cupti_jit_init(void);
void cupti_jit(const struct cupti_jit *jit);

/* ---- managed.c ------------------------------------------------------------------------------- */

void cupti_managed_init(void);
/* Return: false: CUDA is not ready, to be tried again. */
bool cupti_managed_on(void);
void cupti_managed(const struct cupti_managed *managed);

/* ---- links.c --------------------------------------------------------------------------------- */

void cupti_links_init(void);
void cupti_nvlink(const struct cupti_nvlink *link);
void cupti_pcie(const struct cupti_pcie *pcie);

/* ---- nodes.c --------------------------------------------------------------------------------- */

void cupti_nodes_init(void);
/* What CUPTI calls, of resources. */
void cupti_nodes_call(uint32_t id, const void *info);
void cupti_nodes_on(void *subscriber);
/* What a record says of its node. */
void cupti_nodes_source(uint64_t node, uint64_t source);

/* ---- record.c -------------------------------------------------------------------------------- */

void cupti_record_init(void);
/* What it took to start, since @begin: readers know from it that activities will come. */
void cupti_record_start(uint64_t begin);
/* All records of a buffer. */
void cupti_record_buffer(const struct gpu_buffer *buffer);

/* ---- flush.c --------------------------------------------------------------------------------- */

/* The buffers that it has given. */
void cupti_drain(void);
/* And what it has not given yet. */
void cupti_flush(uint32_t how);

/* ---- probe.c --------------------------------------------------------------------------------- */

/* What CUPTI calls. */
void cupti_probe_call(void *unused, uint32_t domain, uint32_t id, const void *info);
void cupti_probe_on(void *subscriber);
void cupti_probe_off(void *subscriber);
/* What one took since this was last asked, ns; 0: too few to say. */
uint64_t cupti_probe_take(enum cupti_launch what);

/* ---- pm.c ------------------------------------------------------------------------------------ */

extern struct cupti_pm cupti_pm;
extern struct cupti_ranges cupti_ranges;

/* To sample, and to measure kernels.  Return: false: CUPTI cannot do that: it is told. */
bool cupti_pm_open(void);
bool cupti_ranges_open(void);
/* Why the metrics of a device are not recorded, to the user: what CUPTI said. */
void cupti_pm_tell(uint32_t device, int err);

/* ---- metrics.c ------------------------------------------------------------------------------- */

#define CUPTI_METRICS	32u

/**
 * struct cupti_metric - a metric of devices
 * @title: what readers show
 * @names: CUPTI's; of those that a chip has, the first
 * @unit: what CUPTI's values are divided by
 * @asked: the user named it, and is told where it cannot be measured
 * @key: @title
 */
struct cupti_metric {
	const char	*title;
	const char	*names[2];
	double		unit;
	bool		asked;
	xsprof_name_t	key;
};

void cupti_metrics_init(void);
/* Return: how many are wanted. */
uint32_t cupti_metrics(const struct cupti_metric **metrics);
/* Those are of each kernel, not of devices. */
bool cupti_metrics_by_kernel(void);
/* Between two samples, ns. */
uint64_t cupti_metrics_interval(void);

/* ---- chip.c ---------------------------------------------------------------------------------- */

/**
 * struct cupti_chip - what a device can measure at one time
 * @type: CUPTI_PM_SAMPLING, or CUPTI_RANGES: of single kernels
 * @name: of the chip
 * @available: CUPTI's image of the counters that the device lets us have
 * @host: CUPTI's object that knows their metrics
 * @config: CUPTI's image of the counters that are needed
 * @bytes: of @config
 * @passes: in which all are measured
 * @nr: metrics that are chosen
 * @metrics: these
 * @names: their names, of CUPTI
 */
struct cupti_chip {
	uint32_t			type;
	const char			*name;
	uint8_t				*available;
	void				*host;
	uint8_t				*config;
	size_t				bytes;
	uint32_t			passes;
	uint32_t			nr;
	const struct cupti_metric	*metrics[CUPTI_METRICS];
	const char			*names[CUPTI_METRICS];
};

/*
 * @context: CUDA's, in which kernels are measured; NULL: the device is sampled.  Return: 0, or what
 * CUPTI says.  Either way cupti_chip_close() is to be called.
 */
int cupti_chip_open(struct cupti_chip *chip, uint32_t device, void *context);
/* What of it needs no device: @type and @name are known. */
int cupti_chip_choose(struct cupti_chip *chip, uint32_t device);
void cupti_chip_close(struct cupti_chip *chip);

/* ---- sample-clock.c -------------------------------------------------------------------------- */

enum cupti_clock {
	CUPTI_OURS, CUPTI_REALTIME, CUPTI_MONOTONIC, CUPTI_CLOCKS, CUPTI_NO_CLOCK = CUPTI_CLOCKS,
};

/* That by which a sample that ended at @end has been taken since @since, ns of ours. */
enum cupti_clock cupti_clock_find(uint64_t since, uint64_t end);
/* How far it is ahead of ours, now; 0 where there is none. */
int64_t cupti_clock_ahead(enum cupti_clock clock);

/* ---- sampling.c ------------------------------------------------------------------------------ */

/* Metrics are sampled from here on, of devices that the program uses. */
void cupti_sampling_on(void);
/* Until here: what was sampled is read. */
void cupti_sampling_off(void);
/*
 * Called by the collector's thread.  @all: also what is not due.  Return: when again, ns of
 * CLOCK_MONOTONIC.
 */
uint64_t cupti_sampling(uint64_t now, bool all);
/* In the child of a fork. */
void cupti_sampling_forget(void);

/* ---- values.c -------------------------------------------------------------------------------- */

/**
 * struct cupti_values - metrics of a kernel
 * @correlation: of the program's call and of that of the driver, which may be one
 * @passes: so often it ran
 * @nr: how many there are
 */
struct cupti_values {
	uint32_t			correlation[2];
	uint32_t			passes;
	uint32_t			nr;
	struct {
		const struct cupti_metric	*metric;
		double				value;
	} v[CUPTI_METRICS];
};

/* A kernel that cannot run alone, by its name, is not measured. */
bool cupti_values_none(const char *kernel);
/* A kernel is about to be measured: what asks for its metrics waits from here on. */
void cupti_values_begin(const uint32_t correlation[2]);
/* They are known; @nr 0: there are none. */
void cupti_values_end(const struct cupti_values *values);
/* Once for each kernel.  Return: there are any. */
bool cupti_values_take(uint32_t correlation, struct cupti_values *values);
/* In the child of a fork. */
void cupti_values_forget(void);

/* ---- ranges.c -------------------------------------------------------------------------------- */

void cupti_ranges_init(void);
/* What CUPTI calls, of functions and of resources. */
void cupti_ranges_call(uint32_t domain, uint32_t id, const void *info);
/* Once CUPTI is ours. */
void cupti_ranges_attach(void *subscriber);
/* Kernels are measured from here on, and until here but for those that have begun. */
void cupti_ranges_on(void);
void cupti_ranges_off(void);
/* These are over: CUPTI may be given back. */
void cupti_ranges_settle(void);
/* In the child of a fork. */
void cupti_ranges_forget(void);

/* ---- share.c --------------------------------------------------------------------------------- */

/* Once CUPTI was opened. */
void cupti_share_init(void);
bool cupti_sharing(void);
/* Who had CUPTI already, when it could not be shared; "": that is not known. */
const char *cupti_other(void);

/* ---- attach.c -------------------------------------------------------------------------------- */

/* Return: 0, or what CUPTI says. */
int cupti_attach(void);
/* What CUPTI still holds is lost. */
void cupti_detach(void);
bool cupti_attached(void);
/* Callbacks of launches, see probe.c. */
void cupti_probe(bool on);

/* ---- kinds.c --------------------------------------------------------------------------------- */

/* Return: 0, or what CUPTI says. */
int cupti_kinds_on(void);
void cupti_kinds_off(void);
/* In between: devices are not recorded for a while. */
void cupti_kinds_pause(void);
void cupti_kinds_resume(bool whole_graphs);
/* What could not be enabled while CUDA was being initialised. */
void cupti_kinds_later(void);
/* Why the GPU is not recorded, to the user: what cupti_kinds_on() returned. */
void cupti_tell(int err);

/* ---- budget.c -------------------------------------------------------------------------------- */

void cupti_budget_init(void);
/* Called by the collector's thread when CUPTI is on.  Return: when again, ns of CLOCK_MONOTONIC. */
uint64_t cupti_budget(uint64_t now);
/* Before CUPTI is off, and at the end.  Return: it is on. */
bool cupti_budget_end(void);

/* ---- thread.c -------------------------------------------------------------------------------- */

/* Return: 0, or why the library begins none. */
int cupti_thread_start(void);

#endif /* XSPROF_CUPTI_LOCAL_H */
