// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies that blocked their caller: the call returned at the end of the copy or later. Records show
 * only that; whether the call had to wait is up to CUDA.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "report/idle.h"

#define BITS	16u

/* A copy, or its call: whichever is read first waits for the other. */
struct half {
	uint64_t	key;
	uint64_t	begin;
	uint64_t	end;
	uint64_t	bytes;
	uint32_t	word;
	bool		copy;
};

struct copies {
	struct gpu_report	*gpu;
	struct half		waiting[1u << BITS];
};

int copies_new(struct gpu_report *gpu, struct copies **copies)
{
	*copies = calloc(1, sizeof(**copies));
	if (!*copies)
		return -ENOMEM;
	(*copies)->gpu = gpu;
	return 0;
}

void copies_free(struct copies *copies)
{
	free(copies);
}

static void add(struct gpu_report *gpu, const struct half *copy, const struct half *call)
{
	struct gpu_copy_row *row = gpu->copies;
	uint64_t ns = call->end - call->begin;

	while (row < gpu->copies + gpu->nr_copies &&
	       (row->copy != copy->word || row->call != call->word))
		row++;
	if (row == gpu->copies + GPU_COPY_ROWS) {
		gpu->unlisted_copies++;
		return;
	}
	if (row == gpu->copies + gpu->nr_copies)
		gpu->copies[gpu->nr_copies++] = (struct gpu_copy_row){
			.copy = copy->word, .call = call->word,
		};
	row->count++;
	if (call->end < copy->end)
		return;
	row->blocked++;
	row->bytes += copy->bytes;
	row->ns += ns;
	if (ns > row->longest)
		row->longest = ns;
}

void copies_event(struct copies *copies, const struct xsprof_event *ev,
		  const struct xsprof_rec_gpu *rec)
{
	const struct xsp_filter *filter = &copies->gpu->report->filter;
	struct half half = {
		.key = xsp_hash_pair(ev->producer + 1ull, ev->value),
		.begin = xsp_filter_begin(filter, ev->begin_ns, ev->end_ns), .end = ev->end_ns,
		.bytes = rec->bytes, .copy = ev->aux == XSPROF_GPU_MEMCPY,
	};
	struct half *other = &copies->waiting[xsp_hash_pair_place(half.key, BITS)];
	uint32_t category;

	/* The launch of a graph does not wait for the graph's copies. */
	if (!ev->value || ev->end_ns < ev->begin_ns || (half.copy && rec->graph) ||
	    (!half.copy && !xsp_device_is_call(ev->aux)) ||
	    !xsp_filter_time(filter, ev->end_ns))
		return;
	xsp_groups_words(copies->gpu->report->groups, ev->producer, ev->name, &half.word,
			 &category);
	if (other->key != half.key || other->copy == half.copy)
		*other = half;
	else
		add(copies->gpu, half.copy ? &half : other, half.copy ? other : &half);
}
