// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Device activities that come before the call that launched them, in a Kineto trace: CUPTI delivers
 * a kernel before its call has returned. They wait for the call, to determine the op they belong
 * to. Memory is bounded: the oldest are written without it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "export/kineto/wait.h"

#define BITS		14u
#define WAITING_MAX	(8u << 20)	/* bytes */

struct waiting {
	struct waiting		*same;		/* next with that hash, the oldest first */
	struct waiting		*newer;
	struct waiting		*older;
	uint64_t		key;
	struct xsprof_event	ev;
	uint32_t		len;
	_Alignas(8) char	note[];
};

struct xsr_waits {
	struct waiting	*slots[1u << BITS];
	struct waiting	*tails[1u << BITS];	/* the youngest of each */
	struct waiting	*oldest;
	struct waiting	*newest;
	struct waiting	*last;		/* the one returned last */
	size_t		bytes;
	uint64_t	seed;		/* of the hash: the program chooses ids */
};

int xsr_waits_new(struct xsr_waits **waits)
{
	*waits = calloc(1, sizeof(**waits));
	if (!*waits)
		return -ENOMEM;
	(*waits)->seed = xsp_hash_seed(*waits);
	return 0;
}

void xsr_waits_free(struct xsr_waits *waits)
{
	struct waiting *w, *newer;

	for (w = waits ? waits->oldest : NULL; w; w = newer) {
		newer = w->newer;
		free(w);
	}
	if (waits)
		free(waits->last);
	free(waits);
}

static uint64_t key_of(const struct xsr_waits *waits, uint32_t producer, uint64_t correlation)
{
	return xsp_hash_pair(producer, correlation ^ waits->seed);
}

static void remove_from(struct xsr_waits *waits, const struct waiting *w)
{
	struct waiting **at = &waits->slots[w->key >> (64 - BITS)], *before = NULL;

	for (; *at != w; at = &before->same)
		before = *at;
	*at = w->same;
	if (!w->same)
		waits->tails[w->key >> (64 - BITS)] = before;
}

static void pop(struct xsr_waits *waits, struct waiting *w, struct xsr_waited *out)
{
	remove_from(waits, w);
	*(w->older ? &w->older->newer : &waits->oldest) = w->newer;
	*(w->newer ? &w->newer->older : &waits->newest) = w->older;
	waits->bytes -= sizeof(*w) + w->len;
	free(waits->last);
	waits->last = w;
	xsr_walk_note(&out->walk, w->note, w->len);
	out->ev = w->ev;
	out->ev.rec = out->walk.ev.rec;
	out->ev.rec_size = out->walk.ev.rec_size;
}

bool xsr_wait_add(struct xsr_waits *waits, const struct xsprof_event *ev,
		  const struct xsr_walk *walk)
{
	size_t rest = (size_t)(walk->end - walk->at), len;
	struct waiting *w, **tail;
	char bytes[XSR_KEPT_MAX];

	len = xsr_keep_bytes(ev, bytes);
	w = len ? malloc(sizeof(*w) + len + rest) : NULL;
	if (!w)
		return false;
	*w = (struct waiting){
		.key = key_of(waits, ev->producer, ev->value), .ev = *ev,
		.len = (uint32_t)(len + rest), .older = waits->newest,
	};
	memcpy(w->note, bytes, len);
	if (rest)
		memcpy(w->note + len, walk->at, rest);
	tail = &waits->tails[w->key >> (64 - BITS)];
	*(*tail ? &(*tail)->same : &waits->slots[w->key >> (64 - BITS)]) = w;
	*tail = w;
	*(waits->newest ? &waits->newest->newer : &waits->oldest) = w;
	waits->newest = w;
	waits->bytes += sizeof(*w) + w->len;
	return true;
}

bool xsr_wait_next(struct xsr_waits *waits, uint32_t producer, uint64_t correlation,
		   struct xsr_waited *out)
{
	uint64_t key = key_of(waits, producer, correlation);
	struct waiting *w = waits->slots[key >> (64 - BITS)];

	while (w && w->key != key)
		w = w->same;
	if (w)
		pop(waits, w, out);
	return w;
}

bool xsr_wait_oldest(struct xsr_waits *waits, bool all, struct xsr_waited *out)
{
	if (!waits->oldest || (!all && waits->bytes <= WAITING_MAX))
		return false;
	pop(waits, waits->oldest, out);
	return true;
}
