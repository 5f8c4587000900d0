// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arrows from calls to what they started on a device, as PyTorch's profiler draws them (ac2g).
 *
 * Collectors report calls and activities in any order.  So the places of the latest of both are
 * kept, and an arrow is written once both of its ends are in the file.  Each arrow has an id of its
 * own: a call that launches a graph starts many activities, and viewers end an arrow at its first
 * end.  Nothing points backwards: an activity that begins before its call has no arrow.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "format/chrome/local.h"

#define BITS	15u
#define KEPT	(1u << BITS)

#define NO_PRODUCER	UINT32_MAX	/* so ids differ from those of the program's flows */

/**
 * struct place - one end of an arrow
 * @key: of the process and the correlation
 * @ns: begin of the range
 * @before: number of the place before it in the same slot, 0 for none
 * @len: of @prefix
 * @prefix: process and track, as they stand in the file
 */
struct place {
	uint64_t	key;
	uint64_t	ns;
	uint64_t	before;
	uint32_t	len;
	char		prefix[64];
};

/**
 * struct side - all calls, or all activities
 * @n: how many there were; their numbers begin at 1
 * @heads: by slot: the number of the latest
 * @v: the latest KEPT
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

/* The place with the number, or NULL where there is none or a later one has its room. */
static const struct place *place_at(const struct side *side, uint64_t number)
{
	return number && side->n - number < KEPT ? &side->v[number % KEPT] : NULL;
}

/* The next one of @key from the place @number on. */
static const struct place *find(const struct side *side, uint64_t key, uint64_t number)
{
	const struct place *place = place_at(side, number);

	while (place && place->key != key)
		place = place_at(side, place->before);
	return place;
}

static const struct place *add(struct side *side, uint64_t key, const struct xsp_track *track,
			       uint64_t ns)
{
	uint32_t slot = xsp_hash_slot(key, BITS);
	uint64_t number = ++side->n;
	struct place *place = &side->v[number % KEPT];

	*place = (struct place){
		.key = key, .ns = ns, .before = side->heads[slot],
		.len = (uint32_t)track->prefix_len,
	};
	memcpy(place->prefix, track->prefix, place->len);
	side->heads[slot] = number;
	return place;
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

static bool is_call(uint32_t kind)
{
	return kind == XSPROF_GPU_RUNTIME || kind == XSPROF_GPU_DRIVER;
}

static bool is_work(uint32_t kind)
{
	return (kind >= XSPROF_GPU_KERNEL && kind <= XSPROF_GPU_MEMSET) ||
	       kind == XSPROF_GPU_GRAPH;
}

void chrome_arrow(struct xsp_out *out, const struct xsprof_event *ev,
		  const struct xsp_track *track, uint64_t begin)
{
	struct chrome *chrome = out->priv;
	struct chrome_arrows *arrows = chrome->arrows;
	const struct place *place, *other;
	uint64_t key;

	if (!ev->value || (!is_call(ev->aux) && !is_work(ev->aux)) ||
	    track->prefix_len > sizeof(place->prefix))
		return;
	if (!arrows)
		arrows = chrome->arrows = calloc(1, sizeof(*arrows));
	if (!arrows) {
		out->spool_err = out->spool_err ? out->spool_err : -ENOMEM;
		return;
	}
	key = xsp_hash_pair(ev->producer + 1ull, ev->value);
	if (is_work(ev->aux)) {
		place = add(&arrows->work, key, track, begin);
		other = find(&arrows->calls, key, arrows->calls.heads[xsp_hash_slot(key, BITS)]);
		if (other)
			put_arrow(out, other, place);
		return;
	}
	place = add(&arrows->calls, key, track, begin);
	other = find(&arrows->work, key, arrows->work.heads[xsp_hash_slot(key, BITS)]);
	for (; other; other = find(&arrows->work, key, other->before))
		put_arrow(out, place, other);
}
