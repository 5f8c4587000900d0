// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the gaps between ranges of a thread, and between the activities of a stream, given event by
 * event. TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/tap.h"
#include "report/why-local.h"

static struct report report = { .filter.to_ns = UINT64_MAX };

static struct gaps *fresh(void)
{
	struct gaps *gaps;

	if (gaps_new(&report, &gaps))
		exit(1);
	return gaps;
}

static void range(struct gaps *gaps, uint16_t kind, uint32_t tid, uint64_t begin, uint64_t end,
		  uint32_t name, uint32_t depth)
{
	struct xsprof_range r = {
		.begin_ns = begin, .end_ns = end, .tid = tid, .name = name, .kind = kind,
		.depth = depth,
	};

	gaps_range(gaps, &r);
}

struct want {
	uint64_t	begin;
	uint64_t	end;
	uint32_t	tid;
	uint32_t	before;
	uint32_t	name;
};

/* The longest gaps, and no others. */
static bool are(struct gaps *gaps, const struct want *want, uint32_t nr)
{
	struct why_window *w;
	uint64_t found;
	bool good;
	int got;

	got = gaps_take(gaps, 100, &w, &found);
	good = got == (int)nr && found == nr;
	for (int i = 0; i < got; i++) {
		good = good && w[i].begin == want[i].begin && w[i].end == want[i].end &&
		       w[i].tid == want[i].tid && w[i].before == want[i].before &&
		       w[i].name == want[i].name;
		printf("# thread %u, %llu to %llu, between %u and %u\n", w[i].tid,
		       (unsigned long long)w[i].begin, (unsigned long long)w[i].end, w[i].before,
		       w[i].name);
	}
	free(w);
	gaps_free(gaps);
	return good;
}

static void threads(void)
{
	struct gaps *g = fresh();
	struct xsprof_event lost = { .type = XSPROF_EV_LOST };

	range(g, XSPROF_REC_BEGIN, 5, 120, 180, 9, 1);
	range(g, XSPROF_REC_BEGIN, 5, 100, 200, 1, 0);
	range(g, XSPROF_REC_BEGIN, 6, 150, 160, 3, 0);
	range(g, XSPROF_REC_BEGIN, 5, 300, 400, 2, 0);
	range(g, XSPROF_REC_SPAN, 5, 405, 408, 7, 0);
	range(g, XSPROF_REC_COMPLETE, 5, 410, 420, 1, 0);
	range(g, XSPROF_REC_BEGIN, 6, 960, 970, 4, 0);
	tap_ok("between the outermost ranges of a thread", are(g, (struct want[]){
		{ 160, 960, 6, 3, 4 }, { 200, 300, 5, 1, 2 }, { 400, 410, 5, 2, 1 } }, 3));

	g = fresh();
	range(g, XSPROF_REC_BEGIN, 5, 100, 200, 1, 0);
	range(g, XSPROF_REC_COMPLETE, 5, 500, 600, 2, 0);
	range(g, XSPROF_REC_COMPLETE, 6, 500, 600, 2, 0);
	range(g, XSPROF_REC_COMPLETE, 5, 700, 800, 3, 0);
	range(g, XSPROF_REC_COMPLETE, 5, 260, 900, 4, 0);
	tap_ok("none inside of a range that is told when it ends", are(g, (struct want[]){
		{ 200, 260, 5, 1, 4 } }, 1));

	g = fresh();
	report.filter.from_ns = 250;
	range(g, XSPROF_REC_BEGIN, 5, 100, 200, 1, 0);
	range(g, XSPROF_REC_BEGIN, 5, 220, 240, 2, 0);
	range(g, XSPROF_REC_BEGIN, 5, 300, 400, 3, 0);
	range(g, XSPROF_REC_BEGIN, 5, 500, 600, 4, 0);
	report.filter.from_ns = 0;
	tap_ok("one that began before --from counts from then on", are(g, (struct want[]){
		{ 400, 500, 5, 3, 4 }, { 250, 300, 5, 2, 3 } }, 2));

	g = fresh();
	range(g, XSPROF_REC_BEGIN, 5, 100, 200, 1, 0);
	gaps_event(g, &lost);
	range(g, XSPROF_REC_BEGIN, 5, 300, 400, 2, 0);
	tap_ok("none over a loss", are(g, NULL, 0));

	g = fresh();
	for (uint64_t i = 0; i < 50000; i++)
		range(g, XSPROF_REC_BEGIN, 5, i * 1000, i * 1000 + 500 - (i == 31000) -
		      2 * (i == 4000), 1, 0);
	{
		struct why_window *w;
		uint64_t found;
		int got = gaps_take(g, 2, &w, &found);

		tap_ok("the longest of many", got == 2 && found == 49999 &&
		       w[0].begin == 4000498 && w[1].begin == 31000499);
		free(w);
		gaps_free(g);
	}

	g = fresh();
	for (uint64_t i = 0; i < 50000; i++)
		range(g, XSPROF_REC_BEGIN, 5, i * 1000, i * 1000 + 500 - (i == 31000), 1, 0);
	{
		struct why_window *w;
		uint64_t found;
		int got = gaps_take(g, 5, &w, &found);

		tap_ok("the longest of many that are equal", got == 5 && found == 49999 &&
		       w[0].begin == 31000499 && w[1].begin == 500 && w[4].begin == 3500);
		free(w);
		gaps_free(g);
	}
}

static void gpu(struct gaps *gaps, uint32_t kind, uint64_t begin, uint64_t end, uint64_t id,
		uint32_t stream, uint64_t thread)
{
	struct xsprof_rec_gpu rec = { .stream = stream, .thread = thread };
	struct xsprof_event ev = {
		.type = XSPROF_REC_GPU, .ns = end, .begin_ns = begin, .end_ns = end, .aux = kind,
		.value = id, .name = (uint32_t)id, .rec = &rec.rec, .rec_size = sizeof(rec),
	};

	gaps_event(gaps, &ev);
}

static void streams(void)
{
	struct gaps *g = fresh();

	gpu(g, XSPROF_GPU_RUNTIME, 90, 95, 1, 0, 50);
	gpu(g, XSPROF_GPU_KERNEL, 100, 200, 1, 7, 0);
	gpu(g, XSPROF_GPU_RUNTIME, 400, 410, 2, 0, 50);
	gpu(g, XSPROF_GPU_KERNEL, 420, 500, 2, 7, 0);
	gpu(g, XSPROF_GPU_KERNEL, 420, 500, 3, 8, 0);
	tap_ok("a stream waits for its launch", are(g, (struct want[]){
		{ 200, 400, 50, 1, 2 } }, 1));

	g = fresh();
	gpu(g, XSPROF_GPU_KERNEL, 100, 200, 1, 7, 0);
	gpu(g, XSPROF_GPU_MEMCPY, 420, 500, 2, 7, 0);
	gpu(g, XSPROF_GPU_RUNTIME, 90, 95, 1, 0, 50);
	gpu(g, XSPROF_GPU_RUNTIME, 400, 410, 2, 0, 50);
	tap_ok("the launch may be told later", are(g, (struct want[]){
		{ 200, 400, 50, 1, 2 } }, 1));

	g = fresh();
	gpu(g, XSPROF_GPU_KERNEL, 100, 200, 1, 7, 0);
	gpu(g, XSPROF_GPU_RUNTIME, 120, 390, 9, 0, 50);
	gpu(g, XSPROF_GPU_RUNTIME, 400, 410, 2, 0, 50);
	gpu(g, XSPROF_GPU_KERNEL, 420, 500, 2, 7, 0);
	tap_ok("not while the thread was in the runtime", are(g, (struct want[]){
		{ 390, 400, 50, 1, 2 } }, 1));

	g = fresh();
	gpu(g, XSPROF_GPU_RUNTIME, 90, 95, 1, 0, 50);
	gpu(g, XSPROF_GPU_RUNTIME, 150, 160, 2, 0, 50);
	gpu(g, XSPROF_GPU_KERNEL, 100, 200, 1, 7, 0);
	gpu(g, XSPROF_GPU_KERNEL, 205, 300, 2, 7, 0);
	tap_ok("none where it was launched in time", are(g, NULL, 0));

	/* Thread 50's launch is reported before what thread 60 did in between. */
	g = fresh();
	gpu(g, XSPROF_GPU_RUNTIME, 90, 95, 1, 0, 50);
	gpu(g, XSPROF_GPU_KERNEL, 100, 200, 1, 7, 0);
	gpu(g, XSPROF_GPU_RUNTIME, 600, 610, 2, 0, 50);
	gpu(g, XSPROF_GPU_KERNEL, 620, 700, 2, 7, 0);
	gpu(g, XSPROF_GPU_RUNTIME, 210, 215, 3, 0, 60);
	gpu(g, XSPROF_GPU_KERNEL, 220, 590, 3, 7, 0);
	tap_ok("of several threads no gap has an activity in it", are(g, (struct want[]){
		{ 200, 210, 60, 1, 3 }, { 590, 600, 50, 3, 2 } }, 2));
}

int main(void)
{
	threads();
	streams();
	return tap_done();
}
