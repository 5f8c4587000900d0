// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arrows from calls to what they started on a device, as PyTorch's profiler draws them (ac2g).
 *
 * Collectors write calls and activities in any order. So the places of the latest ones of both are
 * kept, and an arrow is written when both of its ends are in the file. Each arrow has its own id: a
 * call that launches a graph starts many activities, and viewers end an arrow at its first end. An
 * activity has at most one arrow, even if the file repeats a correlation; an activity that begins
 * before its call has none.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "format/chrome/local.h"

#define BITS	15u
#define KEPT	(1u << BITS)

#define NO_PRODUCER	UINT32_MAX	/* makes ids differ from those of the program's flows */

/**
 * struct place - one end of an arrow
 * @key: hash of process and correlation
 * @ns: begin of the range
 * @before: number of the previous place in the same slot, 0: none
 * @len: of @prefix
 * @prefix: process and track, as in the file
 */
struct place {
	uint64_t	key;
	uint64_t	ns;
	uint64_t	before;
	uint32_t	len;
	char		prefix[64];
};

/**
 * struct side - one side: all calls, or all activities whose call is not known yet
 * @n: number of places so far; they are numbered from 1
 * @heads: by slot: number of the latest place
 * @v: the latest KEPT places
 */
struct side {
	uint64_t	n;
	uint64_t	heads[KEPT];
	struct place	v[KEPT];
};

struct chrome_arrows {
	struct side	calls;
	struct side	work;
	uint64_t	drawn;
};

/* The place of that number; NULL: none, or it was overwritten. */
static const struct place *place_at(const struct side *side, uint64_t number)
{
	return number && side->n - number < KEPT ? &side->v[number % KEPT] : NULL;
}

/* The latest place of @key. */
static const struct place *find(const struct side *side, uint64_t key)
{
	const struct place *place = place_at(side, side->heads[xsp_hash_slot(key, BITS)]);

	while (place && place->key != key)
		place = place_at(side, place->before);
	return place;
}

static void add(struct side *side, const struct place *place)
{
	uint64_t *head = &side->heads[xsp_hash_slot(place->key, BITS)];
	struct place *at = &side->v[++side->n % KEPT];

	*at = *place;
	at->before = *head;
	*head = side->n;
}

static void put_end(struct xsp_out *out, char ph, const struct place *place, uint64_t id)
{
	char *p = chrome_open_at(out, place->prefix, place->len, ph, place->ns);

	p = put_u64(put_lit(p, "\"id\":"), id);
	if (ph == 'f')
		p = put_lit(p, ",\"bp\":\"e\"");
	chrome_close_plain(out, put_lit(p, ",\"name\":\"ac2g\",\"cat\":\"ac2g\""));
}

static void put_arrow(struct xsp_out *out, const struct place *call, const struct place *work)
{
	struct chrome_arrows *arrows = ((struct chrome *)out->priv)->arrows;
	uint64_t id;

	if (work->ns < call->ns)
		return;
	id = xsp_hash_flow(NO_PRODUCER, ++arrows->drawn);
	put_end(out, 's', call, id);
	put_end(out, 'f', work, id);
}

/* Writes arrows to all activities that wait for @call; they wait no more. */
static void put_arrows(struct xsp_out *out, struct side *work, const struct place *call)
{
	uint64_t *link = &work->heads[xsp_hash_slot(call->key, BITS)];
	const struct place *place;

	while ((place = place_at(work, *link))) {
		if (place->key == call->key) {
			put_arrow(out, call, place);
			*link = place->before;
		} else {
			link = &work->v[*link % KEPT].before;
		}
	}
}

void chrome_arrow(struct xsp_out *out, const struct xsprof_event *ev,
		  const struct xsp_track *track, uint64_t begin)
{
	struct chrome *chrome = out->priv;
	struct chrome_arrows *arrows = chrome->arrows;
	const struct place *call;
	struct place place;

	if (!ev->value || (!xsp_device_is_call(ev->aux) && !xsp_device_is_work(ev->aux)) ||
	    track->prefix_len > sizeof(place.prefix))
		return;
	if (!arrows)
		arrows = chrome->arrows = calloc(1, sizeof(*arrows));
	if (!arrows) {
		out->buf.err = ENOMEM;
		return;
	}
	place = (struct place){
		.key = xsp_hash_pair(ev->producer + 1ull, ev->value), .ns = begin,
		.len = (uint32_t)track->prefix_len,
	};
	memcpy(place.prefix, track->prefix, place.len);
	if (xsp_device_is_call(ev->aux)) {
		add(&arrows->calls, &place);
		put_arrows(out, &arrows->work, &place);
		return;
	}
	call = find(&arrows->calls, place.key);
	if (call)
		put_arrow(out, call, &place);
	else
		add(&arrows->work, &place);
}
