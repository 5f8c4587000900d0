// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Activities that began before their call: see early.h.
 *
 * Collectors write calls and activities in any order, and outputs are written while the trace is
 * read.  So the one of the two that is read last has the mark.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "ranges/early.h"

#define BITS	16u

/**
 * struct xsp_early_slot - a call and its activities
 * @key: hash of process and correlation id; 0: free
 * @call: begin of the call, the outer one of two; UINT64_MAX: not read yet
 * @work: begin of the earliest activity that was read before the call; UINT64_MAX: none
 * @device: where it ran
 */
struct xsp_early_slot {
	uint64_t	key;
	uint64_t	call;
	uint64_t	work;
	uint32_t	device;
};

/* Return: its slot, which may be of another id; NULL: it is neither a call nor an activity. */
static struct xsp_early_slot *slot_of(const struct xsp_early *early, const struct xsprof_event *ev,
				      uint64_t *key)
{
	if (ev->type != XSPROF_REC_GPU || !ev->value || !early->slots ||
	    (!xsp_device_is_work(ev->aux) && !xsp_device_is_call(ev->aux)))
		return NULL;
	*key = xsp_hash_pair(ev->producer + 1ull, ev->value) | 1;
	return &early->slots[xsp_hash_pair_place(*key, BITS)];
}

uint64_t xsp_early_event(struct xsp_early *early, const struct xsprof_event *ev, uint32_t *device)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;
	struct xsp_early_slot *slot;
	uint64_t key;

	if (ev->type != XSPROF_REC_GPU || !rec || ev->rec_size < sizeof(*rec))
		return 0;
	if (!early->slots)
		early->slots = calloc(1u << BITS, sizeof(*early->slots));
	slot = slot_of(early, ev, &key);
	if (!slot)
		return 0;
	if (slot->key != key)
		*slot = (struct xsp_early_slot){
			.key = key, .call = UINT64_MAX, .work = UINT64_MAX,
		};
	if (xsp_device_is_call(ev->aux)) {
		if (ev->begin_ns < slot->call)
			slot->call = ev->begin_ns;
	} else if (slot->call == UINT64_MAX && ev->begin_ns < slot->work) {
		slot->work = ev->begin_ns;
		slot->device = rec->device;
	}
	if (device)
		*device = xsp_device_is_call(ev->aux) ? slot->device : rec->device;
	return xsp_early_ns(early, ev);
}

uint64_t xsp_early_ns(const struct xsp_early *early, const struct xsprof_event *ev)
{
	uint64_t key, first;
	const struct xsp_early_slot *slot = slot_of(early, ev, &key);

	if (!slot || slot->key != key || slot->call == UINT64_MAX)
		return 0;
	first = xsp_device_is_call(ev->aux) ? slot->work : ev->begin_ns;
	return first < slot->call ? slot->call - first : 0;
}

void xsp_early_free(struct xsp_early *early)
{
	free(early->slots);
	early->slots = NULL;
}
