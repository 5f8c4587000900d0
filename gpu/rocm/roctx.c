// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Ranges and marks of roctx.  They come from the library that is preloaded, which a program that is
 * linked with roctx calls; those of a program that opens it for itself come from rocprofiler-sdk,
 * which sees the functions of its own roctx alone.
 *
 * A call becomes a record before it returns.
 */
#include <pthread.h>

#include "gpu/common/start.h"
#include "gpu/rocm/local.h"
#include "gpu/rocm/preload/roctx.h"

#define EXPORT		__attribute__((visibility("default")))
#define CACHED		32u	/* a power of two */
#define CACHED_LEN	48u
#define STARTED		4096u	/* a power of two */
#define PROBES		64u
#define NO_NAME		"(no name)"

EXPORT const struct rocm_roctx *xsprof_rocm_roctx(void);

/* A text that the thread told before, which is mostly at the same address. */
struct cached {
	const char	*at;
	xsprof_name_t	name;
	char		text[CACHED_LEN];
};

/**
 * struct thread - of a thread
 * @depth: ranges that it pushed and that are open
 * @dead: as many of them, the outermost, are the parent's of a fork
 * @inside: it is in a call that the preloaded library tells of
 */
static __thread struct {
	struct cached	texts[CACHED];
	uint32_t	depth;
	uint32_t	dead;
	bool		inside;
} self;

/* Name and id of those that were started and not stopped; of more a later one takes the place. */
static uint64_t started[STARTED];

static int category;

static xsprof_name_t name_of(const char *text)
{
	struct cached *c = &self.texts[((uintptr_t)text >> 3) & (CACHED - 1)];
	xsprof_name_t name;
	size_t len;

	if (!text)
		text = NO_NAME;
	if (c->at == text && !strcmp(c->text, text))
		return c->name;
	name = xsprof_name_of_many(category, text);
	len = strnlen(text, CACHED_LEN);
	if (len == CACHED_LEN || (name & XSPROF_NAME_FULL) == XSPROF_NAME_FULL)
		return name;
	c->at = text;
	c->name = name;
	memcpy(c->text, text, len + 1);
	return name;
}

static void missed(void)
{
	static int64_t n;
	/* Relaxed: a sum orders nothing else. */
	int64_t now = __atomic_add_fetch(&n, 1, __ATOMIC_RELAXED);

	xsprof_counter(xsprof_name_in(category, "not recorded: ends of roctx ranges with unknown "
				      "start"), now);
}

static void enter(void)
{
	self.inside = true;
}

static void mark(const char *text)
{
	self.inside = false;
	xsprof_instant(name_of(text));
}

static void push(const char *text)
{
	self.inside = false;
	self.depth++;
	xsprof_begin(name_of(text));
}

/* Of a pop without a push roctx itself says so, to the program. */
static void pop(void)
{
	self.inside = false;
	if (!self.depth)
		return;
	if (self.depth == self.dead)
		self.dead--;
	else
		xsprof_end();
	self.depth--;
}

/* Relaxed, here and below: who ends a range got its id from the thread that started it. */
static void keep_started(uint64_t id, xsprof_name_t name)
{
	uint64_t is = (uint64_t)name << 32 | (uint32_t)id, none;

	for (uint32_t i = 0; i < PROBES; i++) {
		none = 0;
		if (__atomic_compare_exchange_n(&started[(id + i) & (STARTED - 1)], &none, is,
						false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return;
	}
	__atomic_store_n(&started[id & (STARTED - 1)], is, __ATOMIC_RELAXED);
}

/* Return: 0: it is not known. */
static xsprof_name_t take_started(uint64_t id)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		uint64_t *at = &started[(id + i) & (STARTED - 1)];
		uint64_t is = __atomic_load_n(at, __ATOMIC_RELAXED);

		if (is && (uint32_t)is == (uint32_t)id &&
		    __atomic_compare_exchange_n(at, &is, 0, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return (xsprof_name_t)(is >> 32);
	}
	return 0;
}

static void start(uint64_t id, const char *text)
{
	xsprof_name_t name = name_of(text);

	self.inside = false;
	keep_started(id, name);
	xsprof_async_begin(name, id);
}

static void stop(uint64_t id)
{
	xsprof_name_t name = take_started(id);

	self.inside = false;
	if (name)
		xsprof_async_end(name, id);
	else
		missed();
}

/* What the thread that forked has open goes on in the parent, and ends there. */
static void in_child(void)
{
	self.dead = self.depth;
}

static void init(void)
{
	category = xsprof_category("roctx");
	/* Where it fails, a child that pops what its parent pushed has an end too many. */
	(void)pthread_atfork(NULL, NULL, in_child);
}

void rocm_roctx_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, init);
}

void rocm_roctx_event(int32_t operation, uint32_t phase, const struct rocp_marker_data *d)
{
	if (self.inside)
		return;
	if (phase == ROCP_ENTER && operation == ROCP_MARK)
		mark(d->arg.text);
	else if (phase == ROCP_ENTER && operation == ROCP_PUSH)
		push(d->arg.text);
	else if (phase == ROCP_EXIT && operation == ROCP_POP)
		pop();
	else if (phase == ROCP_EXIT && operation == ROCP_START)
		start(d->result, d->arg.text);
	else if (phase == ROCP_ENTER && operation == ROCP_STOP)
		stop(d->arg.id);
}

/* Return: NULL: this process is not recorded. */
const struct rocm_roctx *xsprof_rocm_roctx(void)
{
	static const struct rocm_roctx roctx = {
		.enter = enter, .mark = mark, .push = push, .pop = pop, .start = start,
		.stop = stop,
	};

	if (!gpu_is_recording())
		return NULL;
	rocm_roctx_init();
	return &roctx;
}
