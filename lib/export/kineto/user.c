// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Ids that a thread has pushed, in a Kineto trace: its launches belong to the op or to the user's
 * annotation with that id. The annotation's name may come after everything launched for it, so
 * spans are kept until the end, within bounded memory.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "export/kineto/local.h"

#define PUSHED_DEEP	4096u		/* per thread */
#define PUSHED_MAX	(1u << 17)	/* over all threads */
#define USERS_MAX	(1u << 17)
#define USER_TAG	(1ull << 63)

struct user {
	uint64_t	id;
	uint32_t	producer;
	uint32_t	name;		/* 0: not known yet */
};

/* Activities of a stream that belong to an annotation. */
struct user_span {
	uint64_t	begin;
	uint64_t	end;
	uint32_t	user;
	uint32_t	device;
	uint32_t	stream;
};

/* A list whose elements are found by a hash of their key. */
struct table {
	void		*list;
	uint32_t	*slots;		/* index + 1, 0 for none */
	uint32_t	room;		/* number of slots, at least twice the number of elements */
	uint32_t	nr;
	uint64_t	seed;		/* seed of the hash: the program chooses ids */
};

struct xsr_users {
	struct table	users;
	struct table	spans;
};

int xsr_users_new(struct xsr_users **users)
{
	*users = calloc(1, sizeof(**users));
	return *users ? 0 : -ENOMEM;
}

void xsr_users_free(struct xsr_users *u)
{
	if (!u)
		return;
	free(u->users.slots);
	free(u->users.list);
	free(u->spans.slots);
	free(u->spans.list);
	free(u);
}

/* ---- pushed --------------------------------------------------------------------------------- */

static bool room_for_push(struct xsr_kineto *k, struct xsr_pushes *p)
{
	uint32_t room = p->room ? 2 * p->room : 8;
	void *v;

	if (p->n < p->room)
		return true;
	if (room > PUSHED_DEEP || k->pushed + room - p->room > PUSHED_MAX)
		return false;
	v = realloc(p->v, room * sizeof(*p->v));
	if (!v)
		return false;
	k->pushed += room - p->room;
	p->v = v;
	p->room = room;
	return true;
}

bool xsr_user_push(struct xsr_kineto *k, struct xsp_track *thread, const struct xsprof_event *ev)
{
	struct xsr_host *host = xsr_kineto_state(thread);
	struct xsr_pushes *p = host && ev->aux < 2 ? &host->pushes[ev->aux] : NULL;

	if (!p)
		return false;
	/* Pushes beyond the limit are counted: their pops are to come. */
	if (p->deep || !room_for_push(k, p)) {
		p->deep++;
		return false;
	}
	p->v[p->n++] = (struct xsr_pushed){ ev->value, ev->ns };
	return true;
}

void xsr_user_pop(struct xsp_track *thread, const struct xsprof_event *ev)
{
	struct xsr_host *host = thread->priv;
	struct xsr_pushes *p = host && ev->aux < 2 ? &host->pushes[ev->aux] : NULL;

	if (!p)
		return;
	if (p->deep)
		p->deep--;
	else if (p->n)
		p->n--;
}

const struct xsr_pushed *xsr_user_top(const struct xsp_track *thread, uint32_t kind, uint64_t ns)
{
	const struct xsr_host *host = thread->priv;
	const struct xsr_pushes *p = host ? &host->pushes[kind] : NULL;
	uint32_t i = p ? p->n : 0;

	while (i && p->v[i - 1].ns > ns)
		i--;
	return i ? &p->v[i - 1] : NULL;
}

/* ---- annotations, and what was done for them ------------------------------------------------ */

static uint64_t user_hash(const struct table *t, const void *element)
{
	const struct user *user = element;

	return xsp_hash_pair(user->producer, user->id ^ t->seed);
}

static uint64_t span_hash(const struct table *t, const void *element)
{
	const struct user_span *s = element;

	return xsp_hash_pair(s->user, ((uint64_t)s->device << 32 | s->stream) ^ t->seed);
}

/* Makes room for one more element of @size bytes. */
static bool grow(struct table *table, size_t size,
		 uint64_t (*hash)(const struct table *t, const void *element))
{
	uint32_t room = table->room ? 2 * table->room : 256, i, at;
	uint32_t *slots;
	void *more;

	if (table->nr < table->room / 2)
		return true;
	if (table->nr >= USERS_MAX)
		return false;
	more = realloc(table->list, room / 2 * size);
	if (!more)
		return false;
	table->list = more;
	slots = calloc(room, sizeof(*slots));
	if (!slots)
		return false;
	if (!table->room)
		table->seed = xsp_hash_seed(table);
	for (i = 0; i < table->nr; i++) {
		at = (uint32_t)hash(table, (char *)more + i * size) & (room - 1);
		while (slots[at])
			at = (at + 1) & (room - 1);
		slots[at] = i + 1;
	}
	free(table->slots);
	table->slots = slots;
	table->room = room;
	return true;
}

/* Its index + 1, created if new; 0: no memory. */
static uint32_t user_of(struct xsr_kineto *k, uint32_t producer, uint64_t id)
{
	struct user user = { .id = id, .producer = producer }, *list;
	struct table *t = &k->users->users;
	uint32_t at, i;

	if (!grow(t, sizeof(*list), user_hash)) {
		k->lost++;
		return 0;
	}
	list = t->list;
	at = (uint32_t)user_hash(t, &user) & (t->room - 1);
	for (; (i = t->slots[at]); at = (at + 1) & (t->room - 1))
		if (list[i - 1].id == id && list[i - 1].producer == producer)
			return i;
	list[t->nr++] = user;
	t->slots[at] = t->nr;
	return t->nr;
}

uint64_t xsr_user_tag(struct xsr_kineto *k, const struct xsp_track *thread)
{
	const struct xsr_pushed *top = xsr_user_top(thread, 1, UINT64_MAX);
	uint32_t user = top && top->id ? user_of(k, thread->producer, top->id) : 0;

	return user ? USER_TAG | user : 0;
}

void xsr_user_name(struct xsr_kineto *k, uint32_t producer, uint64_t id, uint32_t name)
{
	uint32_t user = id ? user_of(k, producer, id) : 0;

	if (user)
		((struct user *)k->users->users.list)[user - 1].name = name;
}

bool xsr_user_gpu(struct xsr_kineto *k, uint64_t tag, uint32_t device, uint64_t stream,
		  uint64_t begin, uint64_t end)
{
	struct user_span span = { begin, end, (uint32_t)tag, device, (uint32_t)stream };
	struct table *t = &k->users->spans;
	struct user_span *list, *old;
	uint32_t at, i;

	if (!(tag & USER_TAG))
		return false;
	if (!grow(t, sizeof(*list), span_hash)) {
		k->lost++;
		return true;
	}
	list = t->list;
	at = (uint32_t)span_hash(t, &span);
	for (at &= t->room - 1; (i = t->slots[at]); at = (at + 1) & (t->room - 1)) {
		old = &list[i - 1];
		if (old->user != span.user || old->device != device || old->stream != span.stream)
			continue;
		if (begin < old->begin)
			old->begin = begin;
		if (end > old->end)
			old->end = end;
		return true;
	}
	list[t->nr++] = span;
	t->slots[at] = t->nr;
	return true;
}

void xsr_user_finish(struct xsr_kineto *k)
{
	const struct user_span *spans = k->users->spans.list;
	const struct user *users = k->users->users.list;

	for (uint32_t i = 0; i < k->users->spans.nr; i++) {
		const struct user_span *span = &spans[i];
		const struct user *user = &users[span->user - 1];

		/* An annotation that never came has no name to show. */
		if (user->name)
			xsr_kineto_gpu_note(k, &(struct xsr_gpu_note){
				.producer = user->producer, .name = user->name,
				.external = user->id, .device = span->device,
				.stream = span->stream, .begin = span->begin, .end = span->end,
			});
	}
}
