/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Shared by the files of the CUPTI collector. From bottom to top:
 *	library.c	finds CUPTI
 *	versions.c	versions, stated as facts
 *	texts.c		texts that records point to
 *	pool.c		the buffers that CUPTI fills
 *	names.c		names of kernels and of functions
 *	miss.c		the collector, and counts of what is not recorded
 *	device.c	devices and contexts
 *	activity.c	common part of all activities
 *	load.c		how much CUPTI had to do
 *	detail.c	what is recorded on request only
 *	wait.c		waits, and which recording of an event they are for
 *	in-use.c	how much of a device's memory is in use
 *	memory.c	allocations and frees
 *	pools.c		pools of memory
 *	jit.c		compilations by the driver
 *	managed.c	unified memory (managed.h)
 *	links.c		how devices are connected
 *	nodes.c		which op created the nodes of graphs
 *	handle.c	names that the program gives by handles (handle.h)
 *	values.c	metrics of kernels that CUPTI has not reported yet
 *	record.c	converts CUPTI's records
 *	probe.c		how long launches take
 *	pm.c		CUPTI's functions for hardware counters
 *	metrics.c	which metrics the user wants
 *	chip.c		which of these a device can measure, and the image of their values
 *	ranges.c	metrics of each kernel
 *	sample-clock.c	the clock of samples
 *	bounds.c	how far devices' times may be from the markers' clock
 *	sampling.c	samples of metrics
 *	share.c		shares CUPTI with other tools
 *	attach.c	subscribes to CUPTI
 *	flush.c		reads what CUPTI has collected
 *	kinds.c		which kinds of records CUPTI collects
 *	budget.c	limits the overhead
 *	thread.c	work of the collector's thread
 *	init.c		entry point
 *
 * Only CUPTI itself, the timestamp and at times the exchange of a buffer run in calls of the
 * program: records are converted in the collector's thread.
 */
#ifndef XSPROF_CUPTI_LOCAL_H
#define XSPROF_CUPTI_LOCAL_H

#include <stdbool.h>
#include <string.h>

#include <xsprof/collector.h>

#include "gpu/common/library.h"
#include "gpu/common/pool.h"
#include "gpu/cupti/cupti-abi.h"
#include "gpu/cupti/metrics-abi.h"
#include "gpu/cupti/ranges-abi.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* ---- library.c ------------------------------------------------------------------------------- */

extern struct cupti cupti;
extern uint32_t cupti_version;

/* Return: 0; -ENOENT or -ENOSYS after a message. */
int cupti_open(void);
/* Names of the CUDA runtime, the newest first; NULL at the end. */
extern const char *const cupti_runtimes[];
/* Looks up functions. Return: false: the library does not have all of them. */
bool cupti_functions_get(const struct gpu_function *functions, size_t nr);
/* CUPTI's text for a result. */
const char *cupti_text(int result);

/* ---- versions.c ------------------------------------------------------------------------------ */

/* States the versions of CUPTI and CUDA as facts of the process. */
void cupti_state_versions(void);

/* ---- texts.c --------------------------------------------------------------------------------- */

/**
 * struct cupti_text - a copy of a text that records point to
 * @next: used by texts.c
 * @name: name of the kernel, set by cupti_kernel_name() in the collector's thread
 * @text: the text; records point to it after cupti_texts_keep()
 */
struct cupti_text {
	struct cupti_text	*next;
	xsprof_name_t		name;
	char			text[];
};

/* Makes the records of a completed buffer point to copies of their texts. Return: their number. */
uint32_t cupti_texts_keep(uint8_t *buffer, size_t valid);
/* Called in a forked child. */
void cupti_texts_forget(void);

/* ---- pool.c ---------------------------------------------------------------------------------- */

void cupti_pool_request(uint8_t **buffer, size_t *size, size_t *max_records);
void cupti_pool_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			 size_t valid);
/* Return: false: there is none. */
bool cupti_pool_take(struct gpu_buffer *buffer);
void cupti_pool_give(const struct gpu_buffer *buffer);
/* Return: records were lost, because there was no buffer, since this was last asked. */
bool cupti_pool_lost(void);
/* Number of buffers that CUPTI has, are full, or are being read. */
uint32_t cupti_pool_used(void);
/* Called in a forked child. */
void cupti_pool_forget(void);

/* ---- names.c --------------------------------------------------------------------------------- */

int cupti_category(void);
/* @text: of a record after cupti_texts_keep(). */
xsprof_name_t cupti_kernel_name(const char *text);
/* Return: 0: the function is not recorded, as it is a query. */
xsprof_name_t cupti_call_name(uint32_t domain, uint32_t function);
/* Makes CUPTI leave out calls that are not recorded, if it can. */
void cupti_choose_calls(void);

/* ---- miss.c ---------------------------------------------------------------------------------- */

/* What is not recorded, by cause: each is a counter in the trace, once it is not 0. */
enum cupti_miss {
	CUPTI_MISS_DROPPED,	/* CUPTI had no room */
	CUPTI_MISS_BUFFERS,	/* all were in use, with a version that needs one */
	CUPTI_MISS_NO_TIME,	/* activities without times */
	CUPTI_MISS_UNKNOWN,	/* records of unknown kinds */
	CUPTI_MISS_EXIT,	/* buffers left at the program's end */
	CUPTI_MISS_CONTEXT,	/* waits in contexts that CUPTI did not report */
	CUPTI_MISS_SAMPLES,	/* samples of metrics */
	CUPTI_MISS_SAMPLE_TIME,	/* samples with times of an unknown clock */
	CUPTI_MISS_OF_GRAPHS,	/* metrics of kernels of graphs */
	CUPTI_MISS_OF_OTHERS,	/* metrics of kernels that wait for others */
	CUPTI_MISS_OF_KERNELS,	/* metrics of other kernels */
	CUPTI_MISS_IN_USE,	/* how much memory is in use */
	CUPTI_NR_MISSES,
};

void cupti_miss(enum cupti_miss what, uint64_t n);

extern struct xsprof_collector cupti_collector;

/* ---- device.c -------------------------------------------------------------------------------- */

void cupti_device(const struct cupti_device *device);
/* "GPU-...": 41 bytes. */
void cupti_uuid(char *text, const uint8_t uuid[16]);
void cupti_context_is(uint32_t context, uint32_t device);
/* Return: false: not known. */
bool cupti_device_of(uint32_t context, uint32_t *device);
/* Bits of the devices that had a context, of the first 32. */
uint32_t cupti_devices_used(void);

/* ---- bounds.c -------------------------------------------------------------------------------- */

void cupti_bounds_init(void);
void cupti_bounds_call(const struct cupti_call *call);
/* @start, @end: CUPTI's, ns of the timestamp callback. */
void cupti_bounds_work(const struct xsprof_device_activity *a, uint64_t start, uint64_t end);
void cupti_bounds_wait(const struct cupti_sync *sync);
/* To be called when all buffers of a flush are read. */
void cupti_bounds_settle(void);
/* To be called when CUPTI is turned off, and at the end. */
void cupti_bounds_end(void);

/* ---- activity.c ------------------------------------------------------------------------------ */

/* Sets the common part of all activities. Return: false: there are no times; counted. */
bool cupti_work(struct xsprof_device_activity *a, uint32_t kind, xsprof_name_t name, uint64_t start,
		uint64_t end, uint32_t correlation);
void cupti_put(const struct xsprof_device_activity *a, const struct xsprof_kv *kv, size_t n);

/* ---- detail.c -------------------------------------------------------------------------------- */

enum cupti_detail {
	CUPTI_DETAIL_GRAPHS,	/* launches of graphs as a whole instead of their nodes */
	CUPTI_DETAIL_MEMORY,	/* allocations and frees */
	CUPTI_DETAIL_MANAGED,	/* moves of unified memory */
	CUPTI_DETAIL_FAULTS,	/* its page faults */
	CUPTI_DETAIL_POOLS,	/* pools of memory */
	CUPTI_DETAIL_JIT,	/* compilations by the driver */
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
 * struct cupti_load - how much CUPTI had to do
 * @launches: calls that started work, by enum cupti_launch
 * @in_graphs: kernels, copies and sets in graphs
 * @overhead: CUPTI's overhead in the program's threads, ns
 */
struct cupti_load {
	uint64_t	launches[CUPTI_NR_LAUNCHES];
	uint64_t	in_graphs;
	uint64_t	overhead;
};

/* Counts work that a call started; @graph: 0: none. */
void cupti_load_launch(uint32_t graph, uint32_t correlation);
void cupti_load_overhead(uint64_t ns);
const struct cupti_load *cupti_load(void);
void cupti_load_anew(void);

/* ---- wait.c ---------------------------------------------------------------------------------- */

void cupti_wait_init(void);
void cupti_event(const struct cupti_event *event);
/* May be kept until cupti_wait_settle(), called when all buffers of a flush are read. */
void cupti_wait(const struct cupti_sync *sync);
void cupti_wait_settle(void);
/* To be called when CUPTI is attached: correlation ids may have wrapped since it was detached. */
void cupti_wait_anew(void);
/* No more waits follow. */
void cupti_wait_end(void);

/* ---- memory.c -------------------------------------------------------------------------------- */

void cupti_memory_init(void);
/* Is kept until cupti_memory_settle(), called when all buffers of a flush are read. */
void cupti_memory(const struct cupti_memory *memory);
void cupti_memory_settle(void);
/* What is in use begins anew: allocations and frees before now may be missing. */
void cupti_memory_anew(void);

/* ---- pools.c --------------------------------------------------------------------------------- */

void cupti_pools_init(void);
void cupti_pools(const struct cupti_pool_change *change);

/* ---- jit.c ----------------------------------------------------------------------------------- */

void cupti_jit_init(void);
void cupti_jit(const struct cupti_jit *jit);

/* ---- device-buffers.c ------------------------------------------------------------------------ */

/* In the subscriber's session. */
void cupti_device_buffers_bound(void);
void cupti_device_buffers_restore(void);

/* ---- links.c --------------------------------------------------------------------------------- */

void cupti_links_init(void);
void cupti_nvlink(const struct cupti_nvlink *link);
void cupti_pcie(const struct cupti_pcie *pcie);

/* ---- nodes.c --------------------------------------------------------------------------------- */

void cupti_nodes_init(void);
/* CUPTI's callback for resources. */
void cupti_nodes_call(uint32_t id, const void *info);
void cupti_nodes_on(void *subscriber);
/* A record tells which node @node was copied from. */
void cupti_nodes_source(uint64_t node, uint64_t source);

/* ---- record.c -------------------------------------------------------------------------------- */

void cupti_record_init(void);
/* Converts all records of a buffer. */
void cupti_record_buffer(const struct gpu_buffer *buffer);

/* ---- flush.c --------------------------------------------------------------------------------- */

/* Reads the buffers that CUPTI has completed. */
void cupti_drain(void);
/* Also makes CUPTI complete the others. */
void cupti_flush(uint32_t how);

/* ---- probe.c --------------------------------------------------------------------------------- */

/* CUPTI's callback. */
void cupti_probe_call(void *unused, uint32_t domain, uint32_t id, const void *info);
void cupti_probe_on(void *subscriber);
void cupti_probe_off(void *subscriber);
/* Mean duration since the last call of this function, ns; 0: too few launches. */
uint64_t cupti_probe_take(enum cupti_launch what);

/* ---- pm.c ------------------------------------------------------------------------------------ */

extern struct cupti_pm cupti_pm;
extern struct cupti_ranges cupti_ranges;

/* Finds what sampling needs, and measuring kernels. Return: false: not found; says so. */
bool cupti_pm_open(void);
bool cupti_ranges_open(void);
/* Tells the user why a device's metrics are not recorded. @err: CUPTI's. */
void cupti_pm_tell(uint32_t device, int err);

/* ---- metrics.c ------------------------------------------------------------------------------- */

#define CUPTI_METRICS	32u

/**
 * struct cupti_metric - a metric of devices
 * @title: what readers show
 * @names: CUPTI's names; the first one that the chip has is used
 * @unit: divisor of CUPTI's values
 * @asked: the user named it, and is told if it cannot be measured
 * @key: the name of @title
 */
struct cupti_metric {
	const char	*title;
	const char	*names[2];
	double		unit;
	bool		asked;
	xsprof_name_t	key;
};

void cupti_metrics_init(void);
/* Return: number of wanted metrics. */
uint32_t cupti_metrics(const struct cupti_metric **metrics);
/* Are they metrics of kernels? Else of devices. */
bool cupti_metrics_by_kernel(void);
/* Time between two samples, ns. */
uint64_t cupti_metrics_interval(void);

/* ---- sample-clock.c -------------------------------------------------------------------------- */

enum cupti_clock {
	CUPTI_OURS, CUPTI_REALTIME, CUPTI_MONOTONIC, CUPTI_CLOCKS, CUPTI_NO_CLOCK = CUPTI_CLOCKS,
};

/* The clock of a sample that ended at @end, taken after @since, ns of ours; @before: or none. */
enum cupti_clock cupti_clock_find(uint64_t since, uint64_t end, enum cupti_clock before);
/* How far it is ahead of our clock now; 0: no clock. */
int64_t cupti_clock_ahead(enum cupti_clock clock);

/* ---- sampling.c ------------------------------------------------------------------------------ */

/* From now on the devices that the program uses are sampled. */
void cupti_sampling_on(void);
/* Ends that, and reads the remaining samples. */
void cupti_sampling_off(void);
/* No more follow; says so where there was none. */
void cupti_sampling_end(void);
/*
 * Called by the collector's thread. @all: read all samples now. Return: when to call it again, ns
 * of CLOCK_MONOTONIC.
 */
uint64_t cupti_sampling(uint64_t now, bool all);
/* Called in a forked child. */
void cupti_sampling_forget(void);

/* ---- values.c -------------------------------------------------------------------------------- */

/**
 * struct cupti_values - metrics of a kernel
 * @correlation: of the program's call and of the driver's call, which may be the same
 * @passes: how often the kernel ran
 * @nr: number of values
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

/* Is the kernel, by its name, one that cannot run alone? It is not measured then. */
bool cupti_values_none(const char *kernel);
/* A kernel is about to be measured: from now on cupti_values_take() waits for it. */
void cupti_values_begin(const uint32_t correlation[2]);
/* The values are known; @nr 0: there are none. */
void cupti_values_end(const struct cupti_values *values);
/* To be called once per kernel. Return: there are values. */
bool cupti_values_take(uint32_t correlation, struct cupti_values *values);
/* Those of a kernel that is not recorded. */
void cupti_values_drop(uint32_t correlation);
/* Called in a forked child. */
void cupti_values_forget(void);

/* ---- ranges.c -------------------------------------------------------------------------------- */

void cupti_ranges_init(void);
/* CUPTI's callback for functions and resources. */
void cupti_ranges_call(uint32_t domain, uint32_t id, const void *info);
/* To be called when CUPTI is attached. */
void cupti_ranges_attach(void *subscriber);
/* Begin and stop measuring kernels; launches that have begun are finished. */
void cupti_ranges_on(void);
void cupti_ranges_off(void);
/* Waits for these launches: CUPTI may be detached then. */
void cupti_ranges_settle(void);
/* Called in a forked child. */
void cupti_ranges_forget(void);
/* Gives the GPU's counters back. */
void cupti_ranges_detach(void);

/* ---- share.c --------------------------------------------------------------------------------- */

/* To be called when CUPTI is open. */
void cupti_share_init(void);
bool cupti_sharing(void);
/* Name of the tool that CUPTI could not be shared with; "": not known. */
const char *cupti_other(void);

/* ---- attach.c -------------------------------------------------------------------------------- */

/* Return: 0, or CUPTI's error. */
int cupti_attach(void);
/* Records that CUPTI still holds are lost. */
void cupti_detach(void);
bool cupti_attached(void);
/* Callbacks of launches, see probe.c. */
void cupti_probe(bool on);

/* ---- kinds.c --------------------------------------------------------------------------------- */

/* Return: 0, or CUPTI's error. */
int cupti_kinds_on(void);
void cupti_kinds_off(void);
/* Stop recording of devices for a while. */
void cupti_kinds_pause(void);
/* @calls: as well as what they launch. Return: 0, or why kernels are not recorded. */
int cupti_kinds_resume(bool whole_graphs, bool calls);
/* Tells the user why the GPU is not recorded. @err: of cupti_kinds_on(). */
void cupti_tell(int err);

/* ---- budget.c -------------------------------------------------------------------------------- */

void cupti_budget_init(void);
/*
 * Called by the collector's thread. @asked: what is known so far is to be written. Return: when to
 * call it again, ns of CLOCK_MONOTONIC.
 */
uint64_t cupti_budget(uint64_t now, bool asked);
/* To be called before CUPTI is turned off, and at the end. Return: CUPTI is on. */
bool cupti_budget_end(void);

/* ---- thread.c -------------------------------------------------------------------------------- */

/* Return: 0, or the library's error. */
int cupti_thread_start(void);

#endif /* XSPROF_CUPTI_LOCAL_H */
