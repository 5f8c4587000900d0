// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stand-in for libcupti: its functions, and calls of CUDA.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "gpu/cupti/cupti-abi.h"
#include "tests/gpu/replay.h"

#define NO_SIZE		8
#define NOT_COMPATIBLE	14
#define ENOUGH		64u

EXPORT uint32_t stand_in_thread_type, stand_in_called, stand_in_probed, stand_in_meddled;
EXPORT uint8_t stand_in_zeroed;
EXPORT size_t stand_in_buffers = 250;
bool stand_in_latency;
__thread uint64_t stand_in_called_at;

static uint64_t (*timestamp)(void);
static uint32_t correlation;
static cupti_callback_fn callback;
static bool nodes_called[32];	/* callbacks enabled, by resource */
static bool called[2];		/* callbacks for launches: driver, runtime */
static uint32_t timed[2];	/* timed launches: without records, with */
static bool initialised;
static uint32_t counters;	/* of unified memory: those collected */
static bool ours;		/* the collector subscribes */

EXPORT void stand_in_behave(const char *what)
{
	const struct {
		const char	*what;
		struct stand_in	how;
	} known[] = {
		{ "subscribed", { .subscribed = 39 } },
		{ "shared", { .subscribed = 39, .shared = true } },
		{ "alone", { .alone = true } },
		{ "queries", { .queries = true } },
		{ "unified-late", { .silent = true } },
		{ "unified-never", { .never = true } },
		{ "no-device", { .subscribed = 999 } },
		{ "privilege", { .privilege = 35 } },
		{ "no-time", { .no_time = true } },
		{ "strange", { .strange = true } },
		{ "busy", { .busy = true } },
		{ "dropped", { .dropped = 7 } },
		{ "names", { .busy = true, .free_names = true, .in_flight = 1000 } },
		{ "names-again", { .free_names = true } },
		{ "in-flight", { .per_thread = true, .in_flight = 9 } },
		{ "refused", { .per_thread = true, .in_flight = 1000, .busy = true } },
		{ "tail", { .invalid_tail = true } },
		{ "exit-in", { .in_callback = STAND_IN_EXIT } },
		{ "fork-in", { .in_callback = STAND_IN_FORK } },
		{ "metrics-root", { .counters = 35 } },
		{ "metrics-mig", { .counters = 43 } },
		{ "metrics-busy", { .counters = 26 } },
		{ "metrics-clocks", { .by_clocks = true } },
		{ "metrics-full", { .samples = 60 } },
		{ "metrics-realtime", { .sample_clock = STAND_IN_REALTIME } },
		{ "metrics-unknown", { .sample_clock = STAND_IN_UNKNOWN } },
		{ "hang", { .busy = true, .in_flight = 1000, .hang = true } },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(what, known[i].what))
			stand_in = known[i].how;
	if (getenv("STAND_IN_VERSION"))
		stand_in.version = (uint32_t)atol(getenv("STAND_IN_VERSION"));
	if (getenv("STAND_IN_CALLS"))
		correlation = (uint32_t)strtoul(getenv("STAND_IN_CALLS"), NULL, 0);
}

/* 12.0 has the number of 11.8. */
uint32_t stand_in_api(void)
{
	static const struct {
		uint32_t	cuda;
		uint32_t	api;
	} known[] = {
		{ 1107, 17 }, { 1108, 18 }, { 1200, 18 }, { 1202, 20 }, { 1203, 21 }, { 1204, 22 },
		{ 1205, 23 }, { 1206, 24 }, { 1208, 26 }, { 1209, 27 }, { 1300, 130000 },
		{ 1302, 130200 }, { 1305, 130500 },
	};
	uint32_t api = 0, version = stand_in.version ? stand_in.version : 1300;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (version >= known[i].cuda)
			api = known[i].api;
	return api;
}

EXPORT uint64_t stand_in_now(void)
{
	return timestamp ? timestamp() : 1;
}

static uint64_t realtime(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

EXPORT bool stand_in_is_realtime(void)
{
	uint64_t before = realtime(), now = stand_in_now();

	return before <= now && now <= realtime();
}

void stand_in_call_back(uint32_t domain, uint32_t id, const void *info)
{
	if (domain == CUPTI_DOMAIN_RESOURCE ? nodes_called[id & 31] :
	    __atomic_load_n(&called[domain == CUPTI_DOMAIN_RUNTIME], __ATOMIC_RELAXED)) {
		stand_in_called++;
		callback(NULL, domain, id, info);
	}
}

static void call_back(uint32_t domain, uint32_t id, uint32_t site)
{
	const struct cupti_callback info = { .site = site };

	stand_in_call_back(domain, id, &info);
}

EXPORT void stand_in_initialised(void)
{
	const struct cupti_resource resource = { .context = NULL };

	if (stand_in.never)
		return;
	__atomic_store_n(&initialised, true, __ATOMIC_RELAXED);
	if (!stand_in.silent)
		stand_in_call_back(CUPTI_DOMAIN_RESOURCE, CUPTI_INIT_FINISHED, &resource);
}

/* A node's handle is its id as a pointer. */
EXPORT void stand_in_node(uint64_t node, uint64_t source)
{
	struct cupti_graph_data graph = {
		.node = (void *)(uintptr_t)node, .source = (void *)(uintptr_t)source,
	};
	const struct cupti_resource resource = { .descriptor = &graph };
	uint32_t id = source ? CUPTI_NODE_CLONED : CUPTI_NODE_CREATED;

	if (!nodes_called[id])
		return;
	stand_in_called++;
	callback(NULL, CUPTI_DOMAIN_RESOURCE, id, &resource);
}

/* A launch through the runtime, which calls the driver: of a kernel or a graph. */
static void launch(uint32_t function)
{
	uint32_t driver = function == 1 ? 1 : 3;
	uint64_t end = stand_in_now() + stand_in.launch_ns;
	bool records = __atomic_load_n(&stand_in_enabled[CUPTI_KERNEL], __ATOMIC_RELAXED);

	if (records && !(function == 6 && stand_in_enabled[CUPTI_GRAPH]))
		end += stand_in.launch_ns;
	__atomic_fetch_add(&timed[records], __atomic_load_n(&called[1], __ATOMIC_RELAXED),
			   __ATOMIC_RELAXED);
	call_back(CUPTI_DOMAIN_RUNTIME, function, CUPTI_API_ENTER);
	call_back(CUPTI_DOMAIN_DRIVER, driver, CUPTI_API_ENTER);
	while (stand_in_now() < end)
		;
	call_back(CUPTI_DOMAIN_DRIVER, driver, CUPTI_API_EXIT);
	call_back(CUPTI_DOMAIN_RUNTIME, function, CUPTI_API_EXIT);
}

EXPORT uint32_t stand_in_call(bool driver, uint32_t function)
{
	struct cupti_call c = {
		.kind = driver ? CUPTI_DRIVER : CUPTI_RUNTIME, .function = function,
		.start = stand_in_now(), .process = (uint32_t)getpid(),
		.thread = stand_in_thread_type == CUPTI_THREAD_SYSTEM ?
			  (uint32_t)syscall(SYS_gettid) : 1,
		.correlation = __atomic_add_fetch(&correlation, 1, __ATOMIC_RELAXED),
	};

	stand_in_called_at = c.start;
	if (stand_in.launch_ns && !driver && (function == 1 || function == 6))
		launch(function);
	c.end = stand_in_now() + 1;
	(void)stand_in_put(&c, sizeof(c));
	return c.correlation;
}

/* ---- CUPTI's functions ----------------------------------------------------------------------- */

EXPORT int cuptiGetVersion(uint32_t *v);
EXPORT int cuptiGetResultString(int result, const char **text);
EXPORT int cuptiGetCallbackName(uint32_t domain, uint32_t id, const char **name);
EXPORT int cuptiSubscribe(void **subscriber, cupti_callback_fn fn, void *data);
EXPORT int cuptiUnsubscribe(void *subscriber);
EXPORT int cuptiActivityEnable(uint32_t kind);
EXPORT int cuptiActivityDisable(uint32_t kind);
EXPORT int cuptiSetThreadIdType(uint32_t type);
EXPORT int cuptiActivityGetAttribute(uint32_t attribute, size_t *size, void *value);
EXPORT int cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value);
EXPORT int cuptiActivityRegisterTimestampCallback(uint64_t (*now)(void));
EXPORT int cuptiActivityEnableLatencyTimestamps(uint8_t on);
EXPORT int cuptiActivityConfigureUnifiedMemoryCounter(struct cupti_managed_config *v, uint32_t nr);
EXPORT int cuptiGetGraphNodeId(void *node, uint64_t *id);
EXPORT int cuptiGetContextId(uintptr_t context, uint32_t *id);
EXPORT int cuptiGetStreamIdEx(uintptr_t context, uintptr_t stream, uint8_t per_thread,
			      uint32_t *id);
EXPORT int cuptiEnableCallback(uint32_t on, void *subscriber, uint32_t domain, uint32_t id);

int cuptiGetVersion(uint32_t *v)
{
	*v = stand_in_api();
	return 0;
}

int cuptiGetResultString(int result, const char **text)
{
	*text = result ? "CUPTI_ERROR_OF_STAND_IN" : "CUPTI_SUCCESS";
	return 0;
}

int cuptiGetCallbackName(uint32_t domain, uint32_t id, const char **name)
{
	static const char *const runtime[] = {
		"INVALID", "cudaLaunchKernel_v7000", "cudaMemcpyAsync_v3020", "cudaGetDevice_v3020",
		"cudaStreamSynchronize_v3020", "cudaMemsetAsync_v3020", "cudaGraphLaunch_v10000",
	};
	static const char *const driver[] = {
		"INVALID", "cuLaunchKernel", "cuCtxGetCurrent", "cuGraphLaunch",
		"cuStreamBeginCapture_v2", "cuStreamEndCapture",
	};
	size_t n = domain == CUPTI_DOMAIN_DRIVER ? 6 : 7;

	if (id >= n)
		return 1;
	*name = domain == CUPTI_DOMAIN_DRIVER ? driver[id] : runtime[id];
	return 0;
}

int cuptiSubscribe(void **subscriber, cupti_callback_fn fn, void *data)
{
	(void)data;
	callback = fn;
	if (stand_in.subscribed)
		return stand_in.subscribed;
	*subscriber = &stand_in;
	stand_in.subscribed = CUPTI_SUBSCRIBED;
	ours = true;
	return 0;
}

int cuptiUnsubscribe(void *subscriber)
{
	stand_in.subscribed = 0;
	ours = false;
	memset(nodes_called, 0, sizeof(nodes_called));
	return subscriber == &stand_in ? 0 : 1;
}

/* An older version may lack kinds, in a mask of them. */
int cuptiActivityEnable(uint32_t kind)
{
	const char *without = getenv("STAND_IN_WITHOUT_KINDS");

	if (stand_in_mixes())
		return NOT_COMPATIBLE;
	if (stand_in.privilege)
		return stand_in.privilege;
	if (without && strtoull(without, NULL, 0) >> kind & 1)
		return NOT_COMPATIBLE;
	stand_in_enabled[kind] = 1;
	return 0;
}

int cuptiActivityDisable(uint32_t kind)
{
	if (stand_in_mixes())
		return NOT_COMPATIBLE;
	stand_in_enabled[kind] = 0;
	return 0;
}

int cuptiSetThreadIdType(uint32_t type)
{
	if (stand_in_mixes())
		return NOT_COMPATIBLE;
	stand_in_meddled += !ours;
	stand_in_thread_type = type;
	return 0;
}

int cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value)
{
	stand_in_meddled += !ours;
	if (attribute == CUPTI_ATTR_ZEROED && *size == 1)
		stand_in_zeroed = *(uint8_t *)value;
	if (attribute == CUPTI_ATTR_DEVICE_BUFFERS && *size == sizeof(size_t))
		stand_in_buffers = *(size_t *)value;
	return 0;
}

int cuptiActivityGetAttribute(uint32_t attribute, size_t *size, void *value)
{
	size_t *to = value;

	if (*size != sizeof(*to))
		return NO_SIZE;
	*to = attribute == CUPTI_ATTR_DEVICE_BUFFERS ? stand_in_buffers :
	      attribute == CUPTI_ATTR_DEVICE_BUFFER ? 3200000 : 0;
	return 0;
}

int cuptiActivityRegisterTimestampCallback(uint64_t (*now)(void))
{
	if (stand_in_mixes())
		return NOT_COMPATIBLE;
	stand_in_meddled += !ours;
	timestamp = now;
	return 0;
}

int cuptiActivityEnableLatencyTimestamps(uint8_t on)
{
	if (stand_in_mixes())
		return NOT_COMPATIBLE;
	stand_in_latency = on;
	return 0;
}

/* Fails while CUDA is being initialised; devices may lack the counters in a mask of them. */
int cuptiActivityConfigureUnifiedMemoryCounter(struct cupti_managed_config *v, uint32_t nr)
{
	const char *without = getenv("STAND_IN_WITHOUT_COUNTERS");
	uint32_t wanted = 0;

	if (stand_in_mixes())
		return NOT_COMPATIBLE;
	if (!nr)
		return 7;
	if (!__atomic_load_n(&initialised, __ATOMIC_RELAXED))
		return 13;
	for (uint32_t i = 0; i < nr; i++) {
		wanted |= (uint32_t)(v[i].scope == 2 && v[i].on) << v[i].counter;
		if (!v[i].on)
			counters &= ~(1u << v[i].counter);
	}
	if (without && wanted & strtoul(without, NULL, 0))
		return 28;
	counters |= wanted;
	return 0;
}

EXPORT bool stand_in_counts(uint32_t counter)
{
	return counters >> counter & 1;
}

/* Counts the timing as complete if there were enough launches with and without records. */
static void probe_is_over(void)
{
	bool enough = __atomic_exchange_n(&timed[0], 0, __ATOMIC_RELAXED) >= ENOUGH;

	enough = __atomic_exchange_n(&timed[1], 0, __ATOMIC_RELAXED) >= ENOUGH && enough;
	__atomic_fetch_add(&stand_in_probed, enough && called[1], __ATOMIC_RELAXED);
}

int cuptiEnableCallback(uint32_t on, void *subscriber, uint32_t domain, uint32_t id)
{
	if (subscriber == &stand_in && domain == CUPTI_DOMAIN_RESOURCE)
		nodes_called[id & 31] = on;
	else if (subscriber == &stand_in && id == 1 && !on && domain == CUPTI_DOMAIN_RUNTIME)
		probe_is_over();
	if (subscriber == &stand_in && domain != CUPTI_DOMAIN_RESOURCE && id == 1)
		__atomic_store_n(&called[domain == CUPTI_DOMAIN_RUNTIME], on, __ATOMIC_RELAXED);
	return 0;
}

int cuptiGetGraphNodeId(void *node, uint64_t *id)
{
	*id = (uintptr_t)node;
	return node ? 0 : 1;
}

/* Handles are their numbers. */
int cuptiGetContextId(uintptr_t context, uint32_t *id)
{
	*id = (uint32_t)context;
	return context != 3;
}

int cuptiGetStreamIdEx(uintptr_t context, uintptr_t stream, uint8_t per_thread, uint32_t *id)
{
	*id = (uint32_t)stream;
	return context != 3 || per_thread;
}
