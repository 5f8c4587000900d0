// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Threads as their process reports them: names, and reuse of a number of an ended thread. The
 * kernel reuses numbers, sooner the fewer there are (/proc/sys/kernel/pid_max); the start of a
 * thread shows that the earlier one is gone. Outputs then show the names of both threads for the
 * number.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/local.h"

#define BETWEEN		", "
#define MANY		", ..."		/* between the first and the latest name */
#define EARLIER_MAX	(XSPROF_TEXT_MAX + sizeof(MANY))

/* Sets a thread's name: @text appended to the names of its predecessors. */
static int set(struct xsprof_trace *t, struct xsp_map *map, const struct xst_producer *p,
	       uint32_t tid, const char *text, size_t len)
{
	const struct xst_text *earlier = xst_map_get(&t->found.earlier, p->number, tid);
	const struct xst_text *old = xst_map_get(map, p->number, tid);
	char all[EARLIER_MAX + sizeof(BETWEEN) + XSPROF_TEXT_MAX];
	size_t at = 0;

	if (earlier && (earlier->len != len || memcmp(earlier->s, text, len))) {
		memcpy(all, earlier->s, earlier->len);
		memcpy(all + earlier->len, BETWEEN, strlen(BETWEEN));
		at = earlier->len + strlen(BETWEEN);
	}
	memcpy(all + at, text, len);
	len += at;
	/* A thread may set its name again and again. */
	if (old && old->len == len && !memcmp(old->s, all, len))
		return 0;
	old = xst_pool_text(&t->found.pool, all, len);
	return old ? xst_map_set(map, p->number, tid, old) : -ENOMEM;
}

/* Moves the predecessor's name to the earlier names: of many only the first is kept. */
static int keep_earlier(struct xsprof_trace *t, const struct xst_producer *p, uint32_t tid)
{
	const struct xst_text *earlier = xst_map_get(&t->found.earlier, p->number, tid);
	const struct xst_text *text = xst_map_get(&t->found.threads, p->number, tid);
	char many[EARLIER_MAX];

	if (!text)
		text = xst_map_get(&t->found.comms, p->number, tid);
	if (!text || text == earlier || (earlier && earlier->len >= strlen(MANY) &&
	    !memcmp(earlier->s + earlier->len - strlen(MANY), MANY, strlen(MANY))))
		return 0;
	if (earlier && text->len > earlier->len) {
		memcpy(many, earlier->s, earlier->len);
		memcpy(many + earlier->len, MANY, strlen(MANY));
		text = xst_pool_text(&t->found.pool, many, earlier->len + strlen(MANY));
	} else if (earlier) {
		return 0;
	}
	return text ? xst_map_set(&t->found.earlier, p->number, tid, text) : -ENOMEM;
}

static int add_renewed(struct xsprof_trace *t, struct xst_producer *p, uint32_t tid, uint64_t ticks)
{
	struct xst_renewed *list;

	/* The capacity doubles at each power of two. */
	if (!(p->nr_renewed & (p->nr_renewed - 1))) {
		list = realloc(p->renewed, (2 * (size_t)p->nr_renewed + 1) * sizeof(*list));
		if (!list)
			return -ENOMEM;
		p->renewed = list;
	}
	p->renewed[p->nr_renewed++] = (struct xst_renewed){ .ticks = ticks, .tid = tid };
	t->found.lists += 2 * sizeof(*p->renewed) + sizeof(struct xst_mark);
	return 0;
}

/* Forgets the name that the program set. */
static int unname(struct xsprof_trace *t, const struct xst_producer *p, uint32_t tid)
{
	int err = 0;

	if (xst_map_get(&t->found.own, p->number, tid))
		err = xst_map_set(&t->found.own, p->number, tid, NULL);
	if (!err && xst_map_get(&t->found.threads, p->number, tid))
		err = xst_map_set(&t->found.threads, p->number, tid, NULL);
	return err;
}

static int begins(struct xsprof_trace *t, struct xst_producer *p, uint32_t tid, uint64_t ticks)
{
	int err;

	if (!xst_map_get(&t->found.begun, p->number, tid))
		return xst_map_set(&t->found.begun, p->number, tid, p);
	err = keep_earlier(t, p, tid);
	/* The name that the program set belonged to the earlier thread. */
	if (!err)
		err = unname(t, p, tid);
	return err ? err : add_renewed(t, p, tid, ticks);
}

/* @own: by a call of the thread itself */
static int give(struct xsprof_trace *t, const struct xst_producer *p, uint32_t tid, bool own,
		const char *text, size_t len)
{
	int err;

	if (!own && xst_map_get(&t->found.own, p->number, tid))
		return 0;
	if (!len)
		return unname(t, p, tid);
	err = own ? xst_map_set(&t->found.own, p->number, tid, p) : 0;
	return err ? err : set(t, &t->found.threads, p, tid, text, len);
}

int xst_thread_entry(struct xsprof_trace *t, struct xst_producer *p,
		     const struct xsprof_entry *entry, const char *text)
{
	size_t rest = entry->size - sizeof(*entry), len = entry->text_len;
	uint64_t ticks = 0;
	int err;

	if (entry->aux & XSPROF_THREAD_NEW && rest >= ((len + 7) & ~7ull) + sizeof(ticks))
		memcpy(&ticks, text + rest - sizeof(ticks), sizeof(ticks));
	err = ticks ? begins(t, p, entry->id, ticks) : 0;
	if (err)
		return err;
	return entry->aux & XSPROF_THREAD_GIVEN ?
	       give(t, p, entry->id, !(entry->aux & XSPROF_THREAD_OTHER), text, len) :
	       set(t, &t->found.comms, p, entry->id, text, len);
}

int xst_thread_comm(struct xsprof_trace *t, struct xst_producer *p, uint32_t tid,
		    const char *comm, size_t len)
{
	return set(t, &t->found.comms, p, tid, comm, len);
}
