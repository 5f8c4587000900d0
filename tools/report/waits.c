// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits of threads for synchronization objects, as reported by the program: from the announcement
 * of a wait until the object was acquired or the wait given up. Current waits are in a table of
 * fixed size; those that do not fit are counted.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "cli/tool.h"
#include "report/local.h"

#define PLACES		(1u << 15)
#define PRODUCERS	(1u << 10)
#define PROBES		16u

/* A thread that is about to wait; a key of 0 is a free place. */
struct waiting {
	uint64_t	key;
	uint64_t	since;
	uint32_t	producer;
	uint32_t	epoch;		/* of its producer */
};

/**
 * struct report_waits - current waits
 * @places: the waits, by thread and object
 * @epochs: of producers: current waits are unknown after lost records
 * @crowded: waits replaced by another one
 */
struct report_waits {
	struct waiting	places[PLACES];
	uint32_t	epochs[PRODUCERS];
	uint64_t	crowded;
};

int report_waits_new(struct report_waits **waits)
{
	*waits = calloc(1, sizeof(**waits));
	return *waits ? 0 : -ENOMEM;
}

void report_waits_free(struct report_waits *waits)
{
	free(waits);
}

uint64_t report_waits_crowded(const struct report_waits *waits)
{
	return waits->crowded;
}

void report_waits_lost(struct report_waits *waits, const struct xsprof_event *ev)
{
	waits->epochs[ev->producer % PRODUCERS]++;
}

static bool is_used(const struct report_waits *waits, const struct waiting *at)
{
	return at->key && at->epoch == waits->epochs[at->producer % PRODUCERS];
}

/* The place of @key, or a free one, or one that another wait uses. */
static struct waiting *find_place(struct report_waits *waits, uint64_t key)
{
	uint32_t first = xsp_hash_pair_place(key, XSP_HASH_PLACE);
	struct waiting *at, *place = NULL;

	for (uint32_t i = 0; i < PROBES; i++) {
		at = &waits->places[(first + i) % PLACES];
		if (at->key == key)
			return at;
		if (!place && !is_used(waits, at))
			place = at;
	}
	return place ? place : &waits->places[first % PLACES];
}

uint64_t report_waits_event(struct report_waits *waits, const struct xsprof_event *ev,
			    uint64_t from)
{
	uint64_t key = xsp_hash_pair((uint64_t)ev->producer << 32 | ev->tid, ev->value) | 1;
	struct waiting *at = find_place(waits, key);
	bool used = is_used(waits, at);

	switch (ev->aux) {
	case XSPROF_SYNC_PREPARE:
		waits->crowded += used && at->key != key;
		*at = (struct waiting){
			.key = key, .since = ev->ns, .producer = ev->producer,
			.epoch = waits->epochs[ev->producer % PRODUCERS],
		};
		break;
	case XSPROF_SYNC_ACQUIRED:
	case XSPROF_SYNC_CANCEL:
		if (!used || at->key != key)
			break;
		at->key = 0;
		from = from > at->since ? from : at->since;
		return ev->ns > from ? ev->ns - from : 0;
	}
	return REPORT_NO_WAIT;
}

void report_waits_add(struct xsp_group *group, uint64_t ns)
{
	group->timed++;
	group->sum += ns;
	if (ns < group->min)
		group->min = ns;
	if (ns > group->max)
		group->max = ns;
}

/* ---- the table ------------------------------------------------------------------------------ */

static int by_total(const void *pa, const void *pb)
{
	const struct xsp_group *a = *(struct xsp_group *const *)pa;
	const struct xsp_group *b = *(struct xsp_group *const *)pb;

	return (a->sum < b->sum) - (a->sum > b->sum);
}

void report_print_waits(const struct report *report, struct xsp_group **rows, size_t n)
{
	struct report_width width = { 7, 6, 8, 6 };
	struct report by_name = *report;
	struct xsp_group **waits = calloc(n + 1, sizeof(*waits));
	bool bold = report_colours();
	char text[4][32];
	size_t nr = 0;

	by_name.by |= REPORT_BY_NAME;
	for (size_t i = 0; waits && i < n; i++) {
		if (rows[i]->key.type != XSPROF_REC_SYNC || !rows[i]->timed)
			continue;
		waits[nr++] = rows[i];
		report_widen(report, rows[i], &width);
	}
	if (!waits)
		puts("\n# no memory for the table of waits");
	if (!nr) {
		free(waits);
		return;
	}
	qsort(waits, nr, sizeof(*waits), by_total);
	puts("\n# waits for synchronization objects, as reported by the program");
	if (report->waits->crowded)
		printf("# %" PRIu64 " waits are not counted: too many at a time\n",
		       report->waits->crowded);
	printf("\n%s%10s  %12s  %12s  %12s  %12s  ", bold ? "\033[1m" : "", "Waits", "Total",
	       "Mean", "Min", "Max");
	report_print_heads(&by_name, &width, bold);
	for (size_t i = 0; i < nr && i < report->reading.limit; i++) {
		const struct xsp_group *row = waits[i];

		printf("%10" PRIu64 "  %12s  %12s  %12s  %12s  ", row->timed,
		       tool_format_time(text[0], sizeof(text[0]), row->sum),
		       tool_format_time(text[1], sizeof(text[1]), row->sum / row->timed),
		       tool_format_time(text[2], sizeof(text[2]), row->min),
		       tool_format_time(text[3], sizeof(text[3]), row->max));
		report_print_words(&by_name, row, &width);
	}
	if (nr > report->reading.limit)
		printf("... rows left out: %zu\n", nr - (size_t)report->reading.limit);
	free(waits);
}
