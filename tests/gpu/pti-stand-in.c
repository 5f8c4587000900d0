// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stand-in for libpti_view. Its records have the size of the version that it plays, which the
 * collector does not know: it walks a buffer by ptiViewGetNextRecord(). Each thread has a buffer,
 * which is returned when the longest record no longer fits; ptiFlushAllViews() returns all.
 *
 * PTI_STAND_IN_DUMP=FILE: also writes returned buffers there, for PTI's own function.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gpu/levelzero/pti-abi.h"
#include "tests/gpu/pti-stand-in.h"

#define EXPORT	__attribute__((visibility("default")))
#define EXTERNAL	7u		/* a kind that was not enabled */
#define THREADS	1024u
#define LONGEST	192u

EXPORT struct pti_stand_in pti_stand_in;
EXPORT uint32_t pti_stand_in_enabled[16], pti_stand_in_refused;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pti_request_fn request;
static pti_complete_fn complete;
static uint64_t (*timestamp)(void);
static uint32_t correlation, granular, chosen[16];
static uint64_t records;
static FILE *dump;

struct buffer {
	unsigned char	*data;
	size_t		size;
	size_t		used;
};

static struct buffer buffers[THREADS];
static __thread uint32_t mine;
static uint32_t nr_threads;

/* The sizes in the headers of 1.0 and of 0.12. */
static size_t length(uint32_t kind)
{
	bool old = pti_stand_in.old;

	switch (kind) {
	case PTI_KERNEL:
		return old ? 168 : 184;
	case PTI_COPY:
		return old ? 136 : 152;
	case PTI_COPY_PEER:
		return old ? 168 : 192;
	case PTI_FILL:
		return old ? 136 : 152;
	case PTI_SYNC:
		return 72;
	case PTI_DRIVER_CALL:
	case PTI_RUNTIME_CALL:
		return 48;
	case EXTERNAL:
		return 24;
	default:
		return 0;
	}
}

static uint64_t now(void)
{
	return timestamp ? timestamp() : 1;
}

static void write_dump(uint32_t what, const void *address, const void *bytes, size_t len)
{
	static pthread_mutex_t dump_lock = PTHREAD_MUTEX_INITIALIZER;
	const uint32_t head[2] = { what, (uint32_t)len };
	uint64_t at = (uintptr_t)address;

	if (!dump)
		return;
	pthread_mutex_lock(&dump_lock);
	fwrite(head, sizeof(head), 1, dump);
	fwrite(&at, sizeof(at), 1, dump);
	fwrite(bytes, 1, len, dump);
	fflush(dump);
	pthread_mutex_unlock(&dump_lock);
}

/* Called with the lock. */
static void pass_on(struct buffer *b)
{
	if (!b->data)
		return;
	write_dump(2, b->data, b->data, b->used);
	complete(b->data, b->size, b->used);
	b->data = NULL;
}

static void put(const void *record, size_t len)
{
	uint32_t kind = *(const uint32_t *)record;
	uint8_t longest[256] = { 0 };
	size_t n = length(kind);
	struct buffer *b = NULL;

	pthread_mutex_lock(&lock);
	if (!request || (kind != EXTERNAL && !pti_stand_in_enabled[kind]))
		goto out;
	if (!mine)
		mine = ++nr_threads;
	b = &buffers[mine % THREADS];
	if (!b->data) {
		request(&b->data, &b->size);
		b->used = 0;
	}
	/* As in PTI: this record is lost, and the next one requests a buffer again. */
	if (!b->data) {
		pti_stand_in_refused++;
		goto out;
	}
	memcpy(longest, record, len < n ? len : n);
	memcpy(b->data + b->used, longest, n);
	b->used += n;
	records++;
	if (b->size - b->used < LONGEST)
		pass_on(b);
out:
	pthread_mutex_unlock(&lock);
	if (pti_stand_in.strange && kind != EXTERNAL && !(records & 7)) {
		const uint32_t strange[6] = { EXTERNAL };

		put(strange, sizeof(strange));
	}
	if (pti_stand_in.broken && b && b->data && b->used) {
		pti_stand_in.broken = false;
		/* PTI itself returns an unknown kind if it is the buffer's first record. */
		memset(b->data + b->used, 0xff, 8);
		b->used += 8;
	}
}

/* Sets a device's times: after the call, and missing for some. */
static void set_times(uint64_t *start, uint64_t *end)
{
	bool none = pti_stand_in.no_time && !(records & 3);

	*start = none ? 0 : now();
	*end = none ? 0 : now() + 1000;
}

static void set_uuid(uint8_t uuid[PTI_UUID], char address[PTI_ADDRESS], int device)
{
	memset(uuid, 0xa0 + device, PTI_UUID);
	snprintf(address, PTI_ADDRESS, "0:%x:0.0", 0x10 + device);
}

/* PTI keeps names for ever. */
static const char *keep(const char *name)
{
	char *kept = strdup(name);

	write_dump(1, kept, kept, strlen(kept));
	return kept;
}

#define CONTEXT	((const void *)0x7000)

EXPORT uint32_t pti_stand_in_call(uint32_t group, uint32_t function, uint32_t result)
{
	bool driver = group == PTI_GROUP_LEVELZERO;
	struct pti_call c = {
		.kind = driver ? PTI_DRIVER_CALL : PTI_RUNTIME_CALL, .group = group,
		.function = function, .start = now(), .process = (uint32_t)getpid(),
		.thread = (uint32_t)syscall(SYS_gettid), .result = result,
		.correlation = __atomic_add_fetch(&correlation, 1, __ATOMIC_RELAXED),
	};

	c.end = now() + 1;
	if (!driver || !granular || chosen[function])
		put(&c, sizeof(c));
	return c.correlation;
}

EXPORT void pti_stand_in_kernel(uint32_t corr, int device, uintptr_t queue, const char *name)
{
	struct pti_kernel k = {
		.kind = PTI_KERNEL, .queue = (const void *)queue, .context = CONTEXT,
		.name = name ? keep(name) : NULL, .id = corr, .correlation = corr,
		.thread = (uint32_t)syscall(SYS_gettid),
		.sycl_queue = queue == 0x100 ? 3 : PTI_NO_QUEUE,
	};

	if (queue == 0x100) {
		k.file = keep("axpy.cpp");
		k.line = 42;
	}
	set_uuid(k.uuid, k.address, device);
	set_times(&k.start, &k.end);
	if (k.start) {
		k.appended = k.start - 500;
		k.submitted = k.start - 200;
	}
	put(&k, sizeof(k));
}

EXPORT void pti_stand_in_copy(uint32_t corr, int device, uintptr_t queue, uint64_t bytes)
{
	struct pti_copy c = {
		.kind = PTI_COPY, .type = 2, .from = 0, .to = 2, .queue = (const void *)queue,
		.context = CONTEXT, .name = keep("zeCommandListAppendMemoryCopy"),
		.correlation = corr, .bytes = bytes, .sycl_queue = PTI_NO_QUEUE,
	};

	set_uuid(c.uuid, c.address, device);
	set_times(&c.start, &c.end);
	put(&c, sizeof(c));
}

EXPORT void pti_stand_in_peer(uint32_t corr, uintptr_t queue, uint64_t bytes)
{
	struct pti_copy_peer c = {
		.kind = PTI_COPY_PEER, .type = 10, .from = 2, .to = 2,
		.queue = (const void *)queue, .context = CONTEXT,
		.name = keep("zeCommandListAppendMemoryCopy"),
		.correlation = corr, .bytes = bytes, .sycl_queue = PTI_NO_QUEUE,
	};

	set_uuid(c.uuid, c.address, 0);
	set_uuid(c.to_uuid, c.to_address, 1);
	set_times(&c.start, &c.end);
	put(&c, sizeof(c));
}

EXPORT void pti_stand_in_fill(uint32_t corr, int device, uintptr_t queue, uint64_t bytes)
{
	struct pti_fill f = {
		.kind = PTI_FILL, .memory = 2, .queue = (const void *)queue, .context = CONTEXT,
		.name = keep("zeCommandListAppendMemoryFill"),
		.correlation = corr, .bytes = bytes, .value = 255, .sycl_queue = PTI_NO_QUEUE,
	};

	set_uuid(f.uuid, f.address, device);
	set_times(&f.start, &f.end);
	put(&f, sizeof(f));
}

EXPORT void pti_stand_in_sync(uint32_t corr, uintptr_t queue, uint32_t type)
{
	struct pti_sync s = {
		.kind = PTI_SYNC, .type = type, .context = CONTEXT, .queue = (const void *)queue,
		.thread = (uint32_t)syscall(SYS_gettid), .correlation = corr,
		.function = PTI_ZE_WAIT, .group = PTI_GROUP_LEVELZERO,
	};

	set_times(&s.start, &s.end);
	put(&s, sizeof(s));
}

/* ---- PTI's functions ------------------------------------------------------------------------- */

EXPORT const char *ptiVersionString(void);
EXPORT int ptiViewSetCallbacks(pti_request_fn req, pti_complete_fn comp);
EXPORT int ptiViewSetTimestampCallback(uint64_t (*fn)(void));
EXPORT int ptiViewEnable(uint32_t kind);
EXPORT int ptiViewDisable(uint32_t kind);
EXPORT int ptiFlushAllViews(void);
EXPORT int ptiViewGetNextRecord(uint8_t *buffer, size_t valid, void **record);
EXPORT int ptiViewGetApiIdName(uint32_t group, uint32_t function, const char **name);
EXPORT int ptiViewEnableDriverApi(uint32_t on, uint32_t group, uint32_t function);
EXPORT int ptiViewEnableRuntimeApiClass(uint32_t on, uint32_t class, uint32_t group);
EXPORT const char *ptiResultTypeToString(int result);

const char *ptiVersionString(void)
{
	return pti_stand_in.old ? "0.12.0" : "1.2.0";
}

/* Requests the calling thread's buffer at once. */
int ptiViewSetCallbacks(pti_request_fn req, pti_complete_fn comp)
{
	const char *path = getenv("PTI_STAND_IN_DUMP");

	if (path && !dump)
		dump = fopen(path, "wb");
	request = req;
	complete = comp;
	if (!mine)
		mine = ++nr_threads;
	request(&buffers[mine].data, &buffers[mine].size);
	buffers[mine].used = 0;
	return 0;
}

int ptiViewSetTimestampCallback(uint64_t (*fn)(void))
{
	timestamp = fn;
	return 0;
}

int ptiViewEnable(uint32_t kind)
{
	if (pti_stand_in.refuse)
		return pti_stand_in.refuse;
	pti_stand_in_enabled[kind] = 1;
	return 0;
}

int ptiViewDisable(uint32_t kind)
{
	pti_stand_in_enabled[kind] = 0;
	return 0;
}

static void *pass_all_on(void *unused)
{
	pthread_mutex_lock(&lock);
	for (uint32_t i = THREADS; i-- > 0;)
		pass_on(&buffers[pti_stand_in.reverse ? i : THREADS - 1 - i]);
	pthread_mutex_unlock(&lock);
	return unused;
}

/* PTI does this in a thread of its own. */
int ptiFlushAllViews(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, pass_all_on, NULL))
		return 1;
	return pthread_join(thread, NULL);
}

int ptiViewGetNextRecord(uint8_t *buffer, size_t valid, void **record)
{
	uint8_t *next = buffer;
	size_t n = 0;

	if (!valid)
		return PTI_END_OF_BUFFER;
	if (*record) {
		n = length(**(uint32_t **)record);
		if (!n)
			return 3;
		next = (uint8_t *)*record + n;
	}
	if (next == buffer + valid)
		return PTI_END_OF_BUFFER;
	*record = next;
	return 0;
}

int ptiViewGetApiIdName(uint32_t group, uint32_t function, const char **name)
{
	static const char *const texts[] = {
		[PTI_ZE_INIT] = "zeInit", [PTI_ZE_LAUNCH] = "zeCommandListAppendLaunchKernel",
		[PTI_ZE_COPY] = "zeCommandListAppendMemoryCopy",
		[PTI_ZE_FILL] = "zeCommandListAppendMemoryFill",
		[PTI_ZE_WAIT] = "zeCommandQueueSynchronize", [PTI_ZE_DEVICE_GET] = "zeDeviceGet",
	};

	if (pti_stand_in.empty)
		return PTI_NOT_IMPLEMENTED;
	if (group == PTI_GROUP_SYCL && function == 1)
		*name = "urEnqueueKernelLaunch";
	else if (group == PTI_GROUP_LEVELZERO && function && function < PTI_ZE_NEWER)
		*name = texts[function];
	else
		return 3;
	return 0;
}

int ptiViewEnableDriverApi(uint32_t on, uint32_t group, uint32_t function)
{
	if (group != PTI_GROUP_LEVELZERO || function >= 16)
		return 7;
	granular = 1;
	chosen[function] = on;
	chosen[PTI_ZE_NEWER] = on;
	return 0;
}

int ptiViewEnableRuntimeApiClass(uint32_t on, uint32_t class, uint32_t group)
{
	return on && class == PTI_CLASS_WORK && group == PTI_GROUP_SYCL ? 0 : 3;
}

const char *ptiResultTypeToString(int result)
{
	return result ? "PTI_ERROR_OF_STAND_IN" : "PTI_SUCCESS";
}
