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

/* It is stored again with each later name: a hostile process must not choose its length. */
#define EARLIER_BYTES	64u
#define EARLIER_MAX	(EARLIER_BYTES + sizeof(MANY))

/* How much of a name is kept when it is an earlier one: up to a character's end. */
static size_t kept_of(const char *text, size_t len)
{
	size_t kept = len < EARLIER_BYTES ? len : EARLIER_BYTES;

	while (kept < len && kept > EARLIER_BYTES - 3 && (text[kept] & 0xc0) == 0x80)
		kept--;
	return kept;
}

static bool is_same(const struct xst_text *earlier, const char *text, size_t len)
{
	return earlier->len == kept_of(text, len) && !memcmp(earlier->s, text, earlier->len);
}

/* Sets a thread's name: @text appended to the names of its predecessors. */
static int set(struct xsprof_trace *t, struct xsp_map *map, const struct xst_producer *p,
	       uint32_t tid, const char *text, size_t len)
{
	const struct xst_text *earlier = xst_map_get(&t->found.earlier, p->number, tid);
	const struct xst_text *old = xst_map_get(map, p->number, tid);
	char all[EARLIER_MAX + sizeof(BETWEEN) + XSPROF_TEXT_MAX];
	size_t at = 0;

	if (earlier && !is_same(earlier, text, len)) {
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
	const struct xst_text *text = xst_thread_text(t, p->number, tid);
	char many[EARLIER_MAX];

	if (!text || (earlier && is_same(earlier, text->s, text->len)) ||
	    (earlier && earlier->len >= strlen(MANY) &&
	    !memcmp(earlier->s + earlier->len - strlen(MANY), MANY, strlen(MANY))))
		return 0;
	if (earlier && text->len > earlier->len) {
		memcpy(many, earlier->s, earlier->len);
		memcpy(many + earlier->len, MANY, strlen(MANY));
		text = xst_pool_text(&t->found.pool, many, earlier->len + strlen(MANY));
	} else if (earlier) {
		return 0;
	} else {
		text = xst_pool_text(&t->found.pool, text->s, kept_of(text->s, text->len));
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

static int unset(struct xsp_map *map, const struct xst_producer *p, uint32_t tid)
{
	return xst_map_get(map, p->number, tid) ? xst_map_set(map, p->number, tid, NULL) : 0;
}

static int begins(struct xsprof_trace *t, struct xst_producer *p, uint32_t tid, uint64_t ticks)
{
	int err;

	if (!xst_map_get(&t->found.begun, p->number, tid))
		return xst_map_set(&t->found.begun, p->number, tid, p);
	err = keep_earlier(t, p, tid);
	/* The names that the program set belonged to the earlier thread. */
	if (!err)
		err = unset(&t->found.threads, p, tid);
	if (!err)
		err = unset(&t->found.others, p, tid);
	return err ? err : add_renewed(t, p, tid, ticks);
}

int xst_thread_entry(struct xsprof_trace *t, struct xst_producer *p,
		     const struct xsprof_entry *entry, const char *text)
{
	size_t rest = entry->size - sizeof(*entry), len = entry->text_len;
	struct xsp_map *map = &t->found.comms;
	uint64_t ticks = 0;
	int err;

	if (entry->aux & XSPROF_THREAD_NEW && rest >= ((len + 7) & ~7ull) + sizeof(ticks))
		memcpy(&ticks, text + rest - sizeof(ticks), sizeof(ticks));
	err = ticks ? begins(t, p, entry->id, ticks) : 0;
	if (err)
		return err;
	if (entry->aux & XSPROF_THREAD_OTHER)
		map = &t->found.others;
	else if (entry->aux & XSPROF_THREAD_GIVEN)
		map = &t->found.threads;
	return len || map == &t->found.comms ? set(t, map, p, entry->id, text, len) :
	       unset(map, p, entry->id);
}

int xst_thread_comm(struct xsprof_trace *t, struct xst_producer *p, uint32_t tid,
		    const char *comm, size_t len)
{
	return set(t, &t->found.comms, p, tid, comm, len);
}
