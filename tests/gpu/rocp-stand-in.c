// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stand-in for librocprofiler-sdk: see the header. Several tools may use it, each with its own
 * contexts and buffers. One thread at a time delivers buffers; a thread that finds its buffer full
 * waits for that.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/gpu/rocp-stand-in.h"

#define REFUSED		9		/* a status */
#define INCOMPATIBLE	17
#define MOST		16u
#define LATE		64u
#define KINDS		32u

EXPORT uint64_t rocp_stand_in_counts[ROCP_NR_WHATS];

struct buffer {
	struct rocp_id		context;
	rocp_buffer_fn		fn;
	void			*data;
	uint8_t			*bytes;
	size_t			size, used, watermark;
	struct rocp_header	*headers;
	size_t			nr;
	enum rocp_what		*whats;
	uint64_t		dropped;
};

static struct context {
	bool		made, on, chosen;
	uint8_t		wanted[KINDS];		/* buffer number by kind */
	bool		functions[KINDS];	/* HIP functions, if only some are chosen */
	rocp_event_fn	fn[KINDS];
	void		*fn_data[KINDS];
} contexts[MOST];
static struct buffer buffers[MOST];
static uint32_t nr_contexts = 1, nr_buffers = 1;

/* lock protects the buffers; handing, which one thread at a time holds, the delivery to tools. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t handing = PTHREAD_MUTEX_INITIALIZER;

static const struct rocp_tool *tools[MOST];
static uint32_t nr_tools;

static struct late {
	enum rocp_what	what;
	uint32_t	kind;
	size_t		len;
	uint8_t		record[192];
} late[LATE];
static uint32_t nr_late;
static bool ending;

/* ---- handing over ---------------------------------------------------------------------------- */

static void *hand_over(void *data)
{
	struct buffer *b = data;
	uint8_t *bytes = NULL;
	struct rocp_header *headers = NULL, **order = NULL;
	enum rocp_what *whats = NULL;
	size_t dropped = 0, n;

	pthread_mutex_lock(&handing);
	pthread_mutex_lock(&lock);
	n = b->nr;
	if (n) {
		bytes = b->bytes;
		headers = b->headers;
		whats = b->whats;
		dropped = b->dropped;
		b->bytes = malloc(b->size);
		b->headers = malloc(b->size);
		b->whats = malloc(b->size);
		b->used = b->nr = 0;
	}
	pthread_mutex_unlock(&lock);
	if (n) {
		order = calloc(n, sizeof(*order));
		for (size_t i = 0; i < n; i++) {
			order[i] = &headers[rocp_is("reverse") ? n - 1 - i : i];
			__atomic_fetch_add(&rocp_stand_in_counts[whats[i]],
					   headers[i].category == ROCP_TRACING, __ATOMIC_RELAXED);
		}
		b->fn(b->context, (struct rocp_id){ (uint64_t)(b - buffers) }, order, n, b->data,
		      dropped);
		/* They are freed when the callback returns. */
		memset(bytes, 0xff, b->size);
	}
	free(bytes);
	free(headers);
	free(whats);
	free(order);
	pthread_mutex_unlock(&handing);
	return NULL;
}

static int flush(struct buffer *b)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, hand_over, b))
		return REFUSED;
	return pthread_join(thread, NULL);
}

/* Return: whether the buffer must be delivered; -1: it must, and @record did not fit. */
static int put(struct buffer *b, enum rocp_what what, uint32_t category, uint32_t kind,
	       const void *record, size_t len)
{
	int ret = -1;

	pthread_mutex_lock(&lock);
	if (b->used + len <= b->size) {
		memcpy(b->bytes + b->used, record, len);
		b->headers[b->nr] = (struct rocp_header){ category, kind, b->bytes + b->used };
		b->whats[b->nr++] = what;
		b->used += (len + 7) & ~(size_t)7;
		ret = b->used >= b->watermark;
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

static void put_odd(struct buffer *b, enum rocp_what what, const struct rocp_record *r)
{
	bool strange = rocp_is("strange"), shorter = rocp_is("short");
	struct rocp_record odd = *r;

	odd.size = sizeof(odd);
	if (strange) {
		(void)put(b, what, 3, 1, &odd, sizeof(odd));
		odd.kind = 1;
		(void)put(b, what, ROCP_TRACING, 1, &odd, sizeof(odd));
	} else if (shorter) {
		(void)put(b, what, ROCP_TRACING, odd.kind, &odd, sizeof(odd));
	}
	__atomic_fetch_sub(&rocp_stand_in_counts[what], strange || shorter, __ATOMIC_RELAXED);
}

static void emit_to(struct context *c, enum rocp_what what, uint32_t kind, const void *record,
		    size_t len)
{
	struct buffer *b = &buffers[c->wanted[kind]];
	static uint32_t n;
	uint32_t i = __atomic_add_fetch(&n, 1, __ATOMIC_RELAXED);
	int ret;

	if (rocp_is("drop") && !(i % 10)) {
		pthread_mutex_lock(&lock);
		b->dropped++;
		pthread_mutex_unlock(&lock);
		return;
	}
	do {
		ret = put(b, what, ROCP_TRACING, kind, record, len);
		if (ret)
			(void)flush(b);
	} while (ret < 0);
	if (!(i & 7))
		put_odd(b, what, record);
}

void rocp_emit(enum rocp_what what, uint32_t kind, int32_t operation, const void *record,
	       size_t len)
{
	if (rocp_is("late") && what != ROCP_CALLS && !ending && nr_late < LATE) {
		late[nr_late] = (struct late){ .what = what, .kind = kind, .len = len };
		memcpy(late[nr_late++].record, record, len);
		return;
	}
	for (uint32_t i = 1; i < nr_contexts; i++) {
		struct context *c = &contexts[i];

		/* Activities started while the context was on may arrive after that. */
		if ((!c->on && !ending) || !c->wanted[kind] ||
		    (what == ROCP_CALLS && c->chosen && !c->functions[operation]))
			continue;
		emit_to(c, what, kind, record, len);
	}
}

void rocp_tell(uint32_t kind, int32_t operation, uint32_t phase, void *data)
{
	uint64_t kept = 0;

	for (uint32_t i = 1; i < nr_contexts; i++) {
		struct context *c = &contexts[i];
		struct rocp_event event = {
			.context = i, .kind = kind, .operation = operation, .phase = phase,
			.data = data,
		};
		struct rocp_event_old old = {
			.context = i, .kind = kind, .operation = operation, .phase = phase,
			.data = data,
		};

		if (!c->on || !c->fn[kind])
			continue;
		if (rocp_stand_in_version() >= ROCP_ANCESTORS)
			((rocp_event_new_fn)c->fn[kind])(event, &kept, c->fn_data[kind]);
		else
			((rocp_event_old_fn)c->fn[kind])(old, &kept, c->fn_data[kind]);
	}
}

/* ---- tools ----------------------------------------------------------------------------------- */

typedef struct rocp_tool *(*configure_fn)(uint32_t version, const char *text, uint32_t priority,
					  void *client);

static void add_tool(const char *path)
{
	void *lib = dlopen(path, RTLD_LOCAL | RTLD_LAZY);
	void *symbol = lib ? dlsym(lib, "rocprofiler_configure") : NULL;
	uint64_t client[4] = { 0 };
	configure_fn configure;

	if (!lib)
		abort();
	memcpy(&configure, &symbol, sizeof(configure));
	if (!configure || nr_tools == MOST)
		return;
	tools[nr_tools] = configure(rocp_stand_in_version(), "stand-in", nr_tools, client);
	nr_tools += tools[nr_tools] != NULL;
}

/* Like the original: of several tools the one after the last colon is not read. */
static void find_tools(void)
{
	const char *all = getenv("ROCP_TOOL_LIBRARIES");
	char path[4096];
	size_t n;

	if (!all)
		return;
	if (!strchr(all, ':')) {
		add_tool(all);
		return;
	}
	for (; strchr(all, ':'); all += n + 1) {
		n = strcspn(all, ":");
		snprintf(path, sizeof(path), "%.*s", (int)n, all);
		if (n)
			add_tool(path);
	}
}

static void finalize(void)
{
	ending = true;
	for (uint32_t i = 0; i < nr_late; i++)
		rocp_emit(late[i].what, late[i].kind, 0, late[i].record, late[i].len);
	for (uint32_t i = 0; i < nr_tools; i++)
		if (tools[i]->finalize)
			tools[i]->finalize(tools[i]->data);
}

int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance, void **tables,
			      uint64_t n)
{
	static bool done;

	(void)name, (void)version, (void)instance, (void)tables, (void)n;
	if (done)
		return 0;
	done = true;
	atexit(finalize);
	find_tools();
	for (uint32_t i = 0; i < nr_tools; i++)
		tools[i]->initialize(NULL, tools[i]->data);
	return 0;
}

/* ---- its functions --------------------------------------------------------------------------- */

const char *rocprofiler_get_status_string(int status)
{
	return status == REFUSED ? "refused by the stand-in" : "status of the stand-in";
}

int rocprofiler_get_timestamp(uint64_t *ns)
{
	static bool asked;

	while (asked && rocp_is("stall") &&
	       __atomic_load_n(&rocp_stand_in_counts[ROCP_KERNELS], __ATOMIC_RELAXED) <
	       ROCP_STALLED)
		usleep(1000);
	asked = true;
	*ns = rocp_now();
	return 0;
}

int rocprofiler_create_context(struct rocp_id *context)
{
	if (rocp_is("refuse-context") || context->handle || nr_contexts == MOST)
		return REFUSED;
	context->handle = nr_contexts;
	contexts[nr_contexts++].made = true;
	return 0;
}

int rocprofiler_start_context(struct rocp_id context)
{
	if (rocp_is("refuse-start"))
		return REFUSED;
	contexts[context.handle].on = true;
	return 0;
}

int rocprofiler_stop_context(struct rocp_id context)
{
	contexts[context.handle].on = false;
	return 0;
}

int rocprofiler_create_buffer(struct rocp_id context, size_t size, size_t watermark,
			      uint32_t policy, rocp_buffer_fn fn, void *data,
			      struct rocp_id *buffer)
{
	struct buffer *b = &buffers[nr_buffers];

	if (rocp_is("refuse-buffer") || policy != ROCP_LOSSLESS || nr_buffers == MOST)
		return REFUSED;
	*b = (struct buffer){
		.context = context, .fn = fn, .data = data, .size = size, .watermark = watermark,
		.bytes = malloc(size), .headers = malloc(size), .whats = malloc(size),
	};
	buffer->handle = nr_buffers++;
	return 0;
}

int rocprofiler_flush_buffer(struct rocp_id buffer)
{
	return flush(&buffers[buffer.handle]);
}

int rocprofiler_configure_buffer_tracing_service(struct rocp_id context, uint32_t kind,
						 const int32_t *operations, size_t n,
						 struct rocp_id buffer)
{
	struct context *c = &contexts[context.handle];

	if (rocp_is("refuse-trace") || !kind || kind >= KINDS)
		return REFUSED;
	c->wanted[kind] = (uint8_t)buffer.handle;
	for (size_t i = 0; i < n; i++)
		c->functions[(uint32_t)operations[i] % KINDS] = c->chosen = true;
	return 0;
}

int rocprofiler_configure_callback_tracing_service(struct rocp_id context, uint32_t kind,
						   const int32_t *operations, size_t n,
						   rocp_event_fn fn, void *data)
{
	(void)operations, (void)n;
	if (rocp_is("refuse-callback") || kind >= KINDS)
		return REFUSED;
	contexts[context.handle].fn[kind] = fn;
	contexts[context.handle].fn_data[kind] = data;
	return 0;
}

static int name_in(const char *const *v, uint32_t i, const char **name, uint64_t *len)
{
	for (uint32_t at = 0; at <= i; at++)
		if (!v[at])
			return 4;
	*name = v[i];
	*len = strlen(v[i]);
	return 0;
}

int rocprofiler_iterate_buffer_tracing_kinds(rocp_kind_fn fn, void *data)
{
	for (uint32_t i = 1; rocp_kinds()[i]; i++)
		fn(i, data);
	return 0;
}

int rocprofiler_query_buffer_tracing_kind_name(uint32_t kind, const char **name, uint64_t *len)
{
	return name_in(rocp_kinds(), kind, name, len);
}

int rocprofiler_iterate_buffer_tracing_kind_operations(uint32_t kind, rocp_operation_fn fn,
						       void *data)
{
	if (kind == rocp_kind_of("HIP_RUNTIME_API"))
		for (int32_t i = rocp_first_function(); rocp_hip_name(i); i++)
			fn(kind, i, data);
	return 0;
}

int rocprofiler_query_buffer_tracing_kind_operation_name(uint32_t kind, int32_t operation,
							 const char **name, uint64_t *len)
{
	if (kind == rocp_kind_of("HIP_RUNTIME_API"))
		*name = rocp_hip_name(operation);
	else
		*name = rocp_memory_name(operation);
	*len = *name ? strlen(*name) : 0;
	return *name ? 0 : 5;
}

int rocprofiler_iterate_callback_tracing_kinds(rocp_kind_fn fn, void *data)
{
	for (uint32_t i = 1; rocp_event_kinds[i]; i++)
		fn(i, data);
	return 0;
}

int rocprofiler_query_callback_tracing_kind_name(uint32_t kind, const char **name, uint64_t *len)
{
	return name_in(rocp_event_kinds, kind, name, len);
}

int rocprofiler_query_available_agents(uint32_t version, rocp_agents_fn fn, size_t size, void *data)
{
	const bool old = rocp_stand_in_version() < ROCP_VERSION(0, 6);
	const size_t own = old ? offsetof(struct rocp_agent, uuid) : sizeof(struct rocp_agent) + 8;
	static struct rocp_agent agents[] = {
		{ .id = ROCP_HOST, .type = 1, .product = "a processor" },
		{ .id = ROCP_GPU_0, .product = "Stand-in 0", .location = 0x4100, .uuid = 0xa0a0 },
		{ .id = ROCP_GPU_1, .product = "", .location = 0x4218, .uuid = 0 },
	};
	const void *all[] = { &agents[0], &agents[1], &agents[2] };

	if (rocp_is("refuse-agents"))
		return REFUSED;
	if (size > own)
		return INCOMPATIBLE;
	for (int i = 0; i < 3; i++) {
		agents[i].size = own;
		agents[i].type = i ? ROCP_GPU : 1;
		agents[i].name = "gfx942";
		agents[i].compute_units = 304;
		agents[i].wavefront = 64;
	}
	return fn(version, all, rocp_is("no-gpu") ? 1 : 3, data);
}
