// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Push and pop: ranges of a thread.
 *
 * In NVTX each domain has its own stack in each thread; in a trace a thread has one stack.  This
 * file keeps the domain of each open range: the level that a push returns counts within the domain,
 * and a pop ends the innermost range of its domain.
 */
#define XSPROF_INLINE
#include "gpu/nvtx/local.h"

/* ---- levels ---------------------------------------------------------------------------------- */

/* Return: the index of the domain's innermost open range, or -1. */
static int innermost(const struct nvtx_thread *t, uint32_t domain)
{
	int at = (int)(t->depth < NVTX_DEPTH ? t->depth : NVTX_DEPTH) - 1;

	while (at >= 0 && t->open[at].domain != domain)
		at--;
	return at;
}

/* Return: the level of the new range. */
static inline int open_range(struct nvtx_thread *t, uint32_t domain, xsprof_name_t name)
{
	uint32_t depth = t->depth, level = 0;
	struct nvtx_open *open = t->open;
	int at;

	if (unlikely(depth >= NVTX_DEPTH)) {
		nvtx_miss(NVTX_MISS_DEEP);
		t->depth++;
		return (int)depth;
	}
	if (depth && likely(open[depth - 1].domain == domain)) {
		level = open[depth - 1].level + 1;
	} else if (depth) {
		at = innermost(t, domain);
		level = at < 0 ? 0 : open[at].level + 1;
	}
	open[depth] = (struct nvtx_open){ .name = name, .domain = domain, .level = level };
	t->depth = depth + 1;
	return (int)level;
}

/* Arguments of a pop belong to the range that it ends: recorded before the end. */
static void end_said(const struct nvtx_said *said)
{
	if (said)
		xsprof_args(said->kv, said->n);
	xsprof_end();
}

/*
 * Ends the range @at, which contains open ranges of other domains.  Ranges of a trace must nest:
 * the inner ones end too and begin again.
 */
static void end_outer(struct nvtx_thread *t, int at, const struct nvtx_said *said)
{
	uint32_t i;

	for (i = t->depth; i > (uint32_t)at + 1; i--)
		xsprof_end();
	end_said(said);
	for (i = (uint32_t)at; i + 1 < t->depth; i++) {
		t->open[i] = t->open[i + 1];
		xsprof_begin(t->open[i].name);
		nvtx_miss(NVTX_MISS_SPLIT);
	}
	t->depth--;
}

__attribute__((noinline)) static int pop_slow(struct nvtx_thread *t, uint32_t domain,
					      const struct nvtx_said *said)
{
	int at, level;

	if (t && t->depth > NVTX_DEPTH) {
		if (t->depth <= t->dead)
			t->dead = t->depth - 1;
		else
			end_said(said);
		return (int)--t->depth;
	}
	at = t ? innermost(t, domain) : -1;
	if (at < 0) {
		nvtx_miss(NVTX_MISS_POP);
		return t ? -1 : NVTX_NO_TRACKING;
	}
	level = (int)t->open[at].level;
	if ((uint32_t)at >= t->dead) {
		end_outer(t, at, said);
		return level;
	}
	/* Begun before the fork: the parent records its end. */
	memmove(&t->open[at], &t->open[at + 1], (t->depth - (uint32_t)at - 1) * sizeof(*t->open));
	t->depth--;
	t->dead--;
	return level;
}

int nvtx_pop(uint32_t domain)
{
	struct nvtx_thread *t = nvtx_thread;
	uint32_t top;

	if (unlikely(!t))
		return pop_slow(NULL, domain, NULL);
	top = t->depth - 1;
	if (unlikely(top >= NVTX_DEPTH || t->open[top].domain != domain || top < t->dead))
		return pop_slow(t, domain, NULL);
	t->depth = top;
	xsprof_end();
	return (int)t->open[top].level;
}

int nvtx_pop_said(uint32_t domain, const struct nvtx_said *said)
{
	return pop_slow(nvtx_thread, domain, said);
}

/* ---- the functions --------------------------------------------------------------------------- */

int nvtx_push_said(uint32_t domain, const struct nvtx_said *said)
{
	if (said->n && xsprof_wants(said->name))
		xsprof_begin_args(said->name, said->kv, said->n);
	else
		xsprof_begin(said->name);
	return open_range(nvtx_thread, domain, said->name);
}

/*
 * A push with arguments, or with a text that did not fit into the name table.  The domain's index
 * and category are separate arguments: as a struct the compiler would keep them in a vector
 * register, also on the callers' fast path.
 */
__attribute__((noinline)) static int push_said(struct nvtx_thread *t, uint32_t index,
					       uint32_t category, const struct nvtx_event *event)
{
	struct nvtx_domain domain = { .index = index, .category = category };
	struct nvtx_said said;

	nvtx_read_event(t, domain, event, &said);
	return nvtx_push_said(index, &said);
}

static int domain_push_ex(const void *domain, const struct nvtx_event *event)
{
	struct nvtx_domain d = nvtx_domain_of(domain);
	struct nvtx_thread *t = nvtx_thread_get();
	xsprof_name_t name;

	if (unlikely(!t))
		return NVTX_NO_TRACKING;
	if (unlikely(!nvtx_is_plain(event)))
		return push_said(t, d.index, d.category, event);
	name = nvtx_plain_name(t, d.category, event);
	if (unlikely(nvtx_no_room(name)))
		return push_said(t, d.index, d.category, event);
	xsprof_begin(name);
	return open_range(t, d.index, name);
}

static int push_ex(const struct nvtx_event *event)
{
	return domain_push_ex(NULL, event);
}

static int push(const char *text)
{
	struct nvtx_thread *t = nvtx_thread_get();
	struct nvtx_event event;
	xsprof_name_t name;

	if (unlikely(!t))
		return NVTX_NO_TRACKING;
	name = nvtx_text(t, nvtx_default_category(), text);
	if (unlikely(nvtx_no_room(name))) {
		event = nvtx_text_event(NVTX_MSG_ASCII, text);
		return push_said(t, 0, nvtx_default_category(), &event);
	}
	xsprof_begin(name);
	return open_range(t, 0, name);
}

static int push_wide(const void *text)
{
	struct nvtx_event event = nvtx_text_event(NVTX_MSG_WIDE, text);

	return domain_push_ex(NULL, &event);
}

static int pop_default(void)
{
	return nvtx_pop(0);
}

static int domain_pop(const void *domain)
{
	return nvtx_pop(nvtx_domain_of(domain).index);
}

const struct nvtx_entry nvtx_range_entries[] = {
	NVTX_ENTRY(NVTX_CORE, NVTX_PUSH_EX, push_ex),
	NVTX_ENTRY(NVTX_CORE, NVTX_PUSH_A, push),
	NVTX_ENTRY(NVTX_CORE, NVTX_PUSH_W, push_wide),
	NVTX_ENTRY(NVTX_CORE, NVTX_POP, pop_default),
	NVTX_ENTRY(NVTX_CORE2, NVTX_DOMAIN_PUSH_EX, domain_push_ex),
	NVTX_ENTRY(NVTX_CORE2, NVTX_DOMAIN_POP, domain_pop),
	{ 0, 0, NULL }
};
