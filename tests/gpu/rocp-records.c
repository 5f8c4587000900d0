// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of the rocprofiler-sdk stand-in, with the sizes of the version that it plays.
 */
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/gpu/rocp-stand-in.h"

#define LONG_KERNEL	184u
#define LONG_COPY	96u

static uint64_t last_call, last_dispatch;
static __thread uint64_t open_call;

uint64_t rocp_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static bool newer(void)
{
	return rocp_stand_in_version() >= ROCP_ANCESTORS;
}

static uint64_t tid(void)
{
	return (uint64_t)syscall(SYS_gettid);
}

/* Sets a device's times: after the call, and missing for some. */
static void set_times(uint64_t *start, uint64_t *end)
{
	static uint32_t n;
	bool none = rocp_is("no-time") && !(__atomic_add_fetch(&n, 1, __ATOMIC_RELAXED) & 3);

	*start = none ? 0 : rocp_now();
	*end = none ? 0 : rocp_now() + 1000;
}

static struct rocp_record begin(const char *kind, int32_t operation, uint64_t call)
{
	return (struct rocp_record){
		.kind = rocp_kind_of(kind), .operation = operation, .call = call,
	};
}

EXPORT uint64_t rocp_stand_in_call(const char *name)
{
	struct rocp_call c = {
		.record = begin("HIP_RUNTIME_API", rocp_hip_number(name),
				__atomic_add_fetch(&last_call, 1, __ATOMIC_RELAXED)),
		.thread = tid(), .start = rocp_now(),
	};
	struct rocp_call_old old;

	c.end = rocp_now() + 1;
	open_call = c.record.call;
	c.record.size = newer() ? sizeof(c) : sizeof(old);
	old = (struct rocp_call_old){
		.record = c.record, .start = c.start, .end = c.end, .thread = c.thread,
	};
	rocp_emit(ROCP_CALLS, c.record.kind, c.record.operation,
		  newer() ? (void *)&c : (void *)&old, c.record.size);
	return c.record.call;
}

/* The text is freed afterwards, as when a module is unloaded. */
EXPORT void rocp_stand_in_symbol(uint64_t kernel, const char *name)
{
	char text[128];
	struct {
		struct rocp_symbol	known;
		uint64_t		rest[6];
	} s = {
		.known = { .size = sizeof(s), .kernel = kernel, .code_object = 1, .name = text },
	};

	strcpy(text, name);
	rocp_tell(rocp_event_kind_of("CODE_OBJECT"), ROCP_KERNEL_SYMBOL, ROCP_ENTER, &s);
	memset(text, 'x', sizeof(text) - 1);
}

EXPORT void rocp_stand_in_kernel(uint64_t call, uint64_t agent, uint64_t queue, uint64_t kernel)
{
	struct {
		struct rocp_kernel	known;
		uint8_t			rest[LONG_KERNEL - sizeof(struct rocp_kernel)];
	} k = {
		.known = {
			.record = begin("KERNEL_DISPATCH", 2, call), .thread = tid(),
			.info_size = 72, .agent = agent, .queue = queue, .kernel = kernel,
			.dispatch = __atomic_add_fetch(&last_dispatch, 1, __ATOMIC_RELAXED),
			.group_bytes = 4096, .workgroup = { 64, 2, 1 }, .grid = { 6400, 5, 1 },
		},
	};

	k.known.record.size = sizeof(k);
	set_times(&k.known.start, &k.known.end);
	rocp_emit(ROCP_KERNELS, k.known.record.kind, 2, &k, sizeof(k));
}

EXPORT void rocp_stand_in_copy(uint64_t call, uint64_t from, uint64_t to, uint64_t bytes)
{
	struct {
		struct rocp_copy	known;
		uint64_t		addresses[2];
	} c = {
		.known = {
			.record = begin("MEMORY_COPY", 1, call), .thread = tid(), .from = from,
			.to = to, .bytes = bytes,
		},
	};

	c.known.record.size = newer() ? LONG_COPY : sizeof(c.known);
	set_times(&c.known.start, &c.known.end);
	rocp_emit(ROCP_COPIES, c.known.record.kind, 1, &c, c.known.record.size);
}

EXPORT void rocp_stand_in_memory(uint64_t call, const char *name, uint64_t agent, uint64_t bytes)
{
	struct rocp_memory m = {
		.thread = tid(), .agent = agent, .address = 0x7000, .bytes = bytes,
	};
	struct rocp_memory_old old;
	int32_t operation = 1;

	while (rocp_memory_name(operation) && !strstr(rocp_memory_name(operation), name))
		operation++;
	m.record = begin("MEMORY_ALLOCATION", operation, call);
	m.record.size = newer() ? sizeof(m) : sizeof(old);
	m.start = rocp_now();
	m.end = rocp_now() + 1;
	old = (struct rocp_memory_old){
		.record = m.record, .thread = m.thread, .start = m.start, .end = m.end,
		.agent = m.agent, .address = m.address, .bytes = m.bytes,
	};
	if (m.record.kind)
		rocp_emit(ROCP_MEMORIES, m.record.kind, operation,
			  newer() ? (void *)&m : (void *)&old, m.record.size);
}

EXPORT void rocp_stand_in_marker(enum rocp_marker what, const char *text, uint64_t id)
{
	struct rocp_marker_data d = { .size = sizeof(d), .arg = { .text = text } };
	uint32_t kind = rocp_event_kind_of("MARKER_CORE_API");

	if (what == ROCP_STOP)
		d.arg.id = id;
	rocp_tell(kind, (int32_t)what, ROCP_ENTER, &d);
	d.result = id;
	rocp_tell(kind, (int32_t)what, ROCP_EXIT, &d);
}

/* ---- roctx ----------------------------------------------------------------------------------- */

static __thread int level;

void roctxMarkA(const char *text)
{
	rocp_stand_in_marker(ROCP_MARK, text, 0);
}

int roctxRangePushA(const char *text)
{
	rocp_stand_in_marker(ROCP_PUSH, text, 0);
	return level++;
}

int roctxRangePop(void)
{
	rocp_stand_in_marker(ROCP_POP, NULL, 0);
	return level ? --level : -1;
}

uint64_t roctxRangeStartA(const char *text)
{
	static uint64_t last;
	uint64_t id = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);

	rocp_stand_in_marker(ROCP_START, text, id);
	return id;
}

void roctxRangeStop(uint64_t id)
{
	rocp_stand_in_marker(ROCP_STOP, NULL, id);
}
