// SPDX-License-Identifier: GPL-2.0-only
/*
 * xsprof report --gil: which threads waited for the GIL, which thread held it meanwhile, and which
 * got it next. Reads the trace once, and keeps rows.
 *
 * A wait is divided among the threads that held the lock during it, so the times of a thread's
 * pairs add up to its waiting time. How long a thread was waited for is computed from the same
 * waits, not from its spans, so both tables agree: the time of its holds in which at least one
 * thread waited. A wait with lost records inside is in no row: its end may be that of another wait.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "report/handovers.h"

#define LOCKS	4096u
#define THREADS	65536u
#define PAIRS	262144u
#define LISTED	1024u	/* waiting threads of a lock; threads beyond see only the first holder */

/* ---- tables ---------------------------------------------------------------------------------- */

/*
 * Finds or adds @key in @rows, elements of @size bytes, at most @most; a new one is zeroed. Return:
 * its index, or -ENOSPC, -ENOMEM.
 */
static int64_t place_of(struct xsp_map *map, uint64_t key, void *rows, size_t size, uint32_t *nr,
			uint32_t most)
{
	uint64_t *at = xsp_map_get(map, key);
	char **base = rows;
	char *grown;

	if (at)
		return (int64_t)*at;
	if (*nr == most)
		return -ENOSPC;
	/* Grown at powers of two. */
	if (!(*nr & (*nr - 1))) {
		grown = realloc(*base, size * (*nr ? 2 * (size_t)*nr : 1));
		if (!grown)
			return -ENOMEM;
		*base = grown;
	}
	if (xsp_map_set(map, key, *nr))
		return -ENOMEM;
	memset(*base + size * *nr, 0, size);
	return (*nr)++;
}

static int64_t lock_at(struct handovers *h, uint64_t lock)
{
	uint32_t nr = h->nr_locks;
	int64_t at = place_of(&h->lock_at, lock + 1, &h->locks, sizeof(*h->locks), &h->nr_locks,
			      LOCKS);

	if (nr < h->nr_locks)
		h->locks[at] = (struct handover_lock){
			.number = (uint32_t)lock, .first = HANDOVER_NONE,
			.holder = HANDOVER_NONE,
		};
	return at;
}

static int64_t thread_at(struct handovers *h, uint32_t lock, const struct xsprof_event *ev,
			 uint32_t tid)
{
	uint32_t nr = h->nr_threads;
	int64_t at = place_of(&h->thread_at, ((uint64_t)lock << 32 | tid) + 1, &h->threads,
			      sizeof(*h->threads), &h->nr_threads, THREADS);

	if (nr < h->nr_threads) {
		h->threads[at].producer = ev->producer;
		h->threads[at].pid = ev->pid;
		h->threads[at].tid = tid;
		h->threads[at].lock = lock;
	}
	return at;
}

static struct handover_pair *pair_of(struct handovers *h, uint32_t holder, uint32_t waiter)
{
	int64_t at = place_of(&h->pair_at, ((uint64_t)holder << 32 | waiter) + 1, &h->pairs,
			      sizeof(*h->pairs), &h->nr_pairs, PAIRS);

	if (at < 0)
		return NULL;
	h->pairs[at].holder = holder;
	h->pairs[at].waiter = waiter;
	return &h->pairs[at];
}

/* ---- a wait ---------------------------------------------------------------------------------- */

static void list(struct handovers *h, uint32_t at)
{
	struct handover_thread *t = &h->threads[at];
	struct handover_lock *lock = &h->locks[t->lock];

	t->waiting = true;
	lock->waiting++;
	if (lock->nr == LISTED)
		return;
	t->listed = true;
	t->prev = HANDOVER_NONE;
	t->next = lock->first;
	if (lock->first != HANDOVER_NONE)
		h->threads[lock->first].prev = at;
	lock->first = at;
	lock->nr++;
}

static void unlist(struct handovers *h, uint32_t at)
{
	struct handover_thread *t = &h->threads[at];

	if (!t->waiting)
		return;
	t->waiting = false;
	h->locks[t->lock].waiting--;
	if (!t->listed)
		return;
	t->listed = false;
	if (t->prev == HANDOVER_NONE)
		h->locks[t->lock].first = t->next;
	else
		h->threads[t->prev].next = t->next;
	if (t->next != HANDOVER_NONE)
		h->threads[t->next].prev = t->prev;
	h->locks[t->lock].nr--;
}

/* The holder had the lock until @ns; time before @from does not count. */
static void add_part(struct handover_thread *t, uint64_t from, uint64_t ns)
{
	uint64_t time;
	uint32_t i;

	from = from > t->since ? from : t->since;
	time = ns > from ? ns - from : 0;
	t->since = ns > t->since ? ns : t->since;
	for (i = 0; i < t->nr && t->parts[i].holder != t->holder; i++)
		;
	if (i == HANDOVER_PARTS) {
		t->parts[i - 1].holder = HANDOVER_NONE;
		i--;
	} else if (i == t->nr) {
		t->parts[t->nr++] = (struct handover_part){ .holder = t->holder };
	}
	t->parts[i].ns += time;
}

/* The number of waiting threads, or the holder, changes at @ns. */
static void add_held(struct handovers *h, struct handover_lock *lock, uint64_t ns)
{
	uint64_t from = h->report->filter.from_ns;

	if (lock->holder != HANDOVER_NONE && lock->waiting && ns >= from) {
		lock->wanted = true;
		from = from > lock->since ? from : lock->since;
		lock->held += ns > from ? ns - from : 0;
	}
	lock->since = ns > lock->since ? ns : lock->since;
}

static void end_hold(struct handovers *h, struct handover_lock *lock)
{
	struct handover_thread *t;

	if (lock->holder == HANDOVER_NONE)
		return;
	t = &h->threads[lock->holder];
	if (lock->wanted && xsp_filter_thread(&h->report->filter, t->pid, t->tid)) {
		t->holds++;
		t->held += lock->held;
		if (lock->held > t->longest_hold)
			t->longest_hold = lock->held;
	}
	lock->holder = HANDOVER_NONE;
	lock->wanted = false;
	lock->held = 0;
}

/*
 * From @ns on another thread holds the lock; or from the last change on, if the record of a hold
 * comes after those of threads that began to wait at its end.
 */
static void changes(struct handovers *h, uint32_t at, uint32_t holder, uint64_t ns)
{
	struct handover_lock *lock = &h->locks[at];

	ns = ns > lock->since ? ns : lock->since;
	add_held(h, lock, ns);
	if (lock->holder != holder)
		end_hold(h, lock);
	lock->holder = holder;
	for (uint32_t i = lock->first; i != HANDOVER_NONE; i = h->threads[i].next) {
		struct handover_thread *t = &h->threads[i];

		if (t->holder == holder)
			continue;
		add_part(t, h->report->filter.from_ns, ns);
		if (t->holder != HANDOVER_NONE)
			t->from = t->holder;
		t->holder = holder;
	}
}

/* The thread's previous wait is over, or its end was never recorded. */
static void forget_wait(struct handovers *h, uint32_t at, uint64_t ns)
{
	add_held(h, &h->locks[h->threads[at].lock], ns);
	unlist(h, at);
}

static int begins(struct handovers *h, const struct xsprof_event *ev)
{
	uint32_t tid, holder = HANDOVER_NONE;
	int64_t lock = lock_at(h, gil_record_lock(h->report->source.trace, ev, &tid)), at, had;
	uint64_t key = ((uint64_t)ev->producer << 32 | ev->tid) + 1, *before;
	struct handover_thread *t;

	if (lock < 0)
		return (int)lock;
	at = thread_at(h, (uint32_t)lock, ev, ev->tid);
	if (at < 0)
		return (int)at;
	if (tid) {
		had = thread_at(h, (uint32_t)lock, ev, tid);
		if (had < 0)
			return (int)had;
		holder = (uint32_t)had;
	}
	before = xsp_map_get(&h->waits_at, key);
	if (before)
		forget_wait(h, (uint32_t)*before, ev->ns);
	if (xsp_map_set(&h->waits_at, key, (uint64_t)at))
		return -ENOMEM;
	changes(h, (uint32_t)lock, holder, ev->ns);
	t = &h->threads[at];
	t->since = ev->ns;
	t->holder = t->from = holder;
	t->nr = 0;
	list(h, (uint32_t)at);
	return 0;
}

static void add_pairs(struct handovers *h, uint32_t at, bool taken)
{
	struct handover_thread *t = &h->threads[at];

	for (uint32_t i = 0; i < t->nr; i++) {
		struct handover_pair *pair = pair_of(h, t->parts[i].holder, at);

		if (!pair) {
			h->left_out++;
			continue;
		}
		pair->waited += t->parts[i].ns;
		if (t->parts[i].ns > pair->longest)
			pair->longest = t->parts[i].ns;
		pair->count += taken && t->parts[i].holder == t->from;
	}
}

/* Called by the pairer: a wait is over. */
static void range(void *data, const struct xsprof_range *range)
{
	struct handovers *h = data;
	const struct xsp_filter *filter = &h->report->filter;
	struct handover_thread *t;
	bool ended = range->how == XSPROF_RANGE_ENDED, taken = ended && !h->untaken;
	uint64_t ns = range->end_ns - xsp_filter_begin(filter, range->begin_ns, range->end_ns);
	uint64_t *at;

	if (range->kind != XSPROF_REC_BEGIN ||
	    gil_record_of(&h->names, h->report->source.trace, range->producer, range->name) !=
	    GIL_WAIT)
		return;
	at = xsp_map_get(&h->waits_at, ((uint64_t)range->producer << 32 | range->tid) + 1);
	t = at ? &h->threads[*at] : NULL;
	if (!t || !t->waiting)
		return;
	add_part(t, filter->from_ns, range->end_ns);
	forget_wait(h, (uint32_t)*at, range->end_ns);
	if (taken)
		changes(h, t->lock, (uint32_t)*at, range->end_ns);
	if (!xsp_filter_thread(filter, range->pid, range->tid) ||
	    !xsp_filter_time(filter, range->end_ns))
		return;
	if (range->flags & XSPROF_RANGEF_UNCERTAIN || range->how == XSPROF_RANGE_CUT) {
		h->doubtful++;
		return;
	}
	h->waits++;
	h->waited += ns;
	h->open += !ended;
	t->waits++;
	t->waited += ns;
	if (ns > t->longest_wait)
		t->longest_wait = ns;
	add_pairs(h, (uint32_t)*at, taken);
}

/* ---- who has it ------------------------------------------------------------------------------ */

static int holds(struct handovers *h, const struct xsprof_event *ev, enum gil_record what)
{
	uint32_t unused;
	int64_t lock = lock_at(h, gil_record_lock(h->report->source.trace, ev, &unused)), at;

	at = lock < 0 ? lock : thread_at(h, (uint32_t)lock, ev, ev->tid);
	if (at < 0)
		return (int)at;
	if (what == GIL_TAKEN)
		changes(h, (uint32_t)lock, (uint32_t)at, ev->ns);
	else
		changes(h, (uint32_t)lock, HANDOVER_NONE, ev->end_ns);
	return 0;
}

/* Events after --to: a thread that waits then waited until --to. */
static int behind(struct handovers *h)
{
	if (h->report->show.window)
		return 0;
	h->report->show.window = true;
	xsprof_pairer_pass(h->pairer, h->report->filter.to_ns);
	return xsprof_pairer_finish(h->pairer);
}

static int one(void *data, const struct xsprof_event *ev)
{
	enum gil_record what = GIL_OTHER;
	struct handovers *h = data;
	int ret = 0;

	if (ev->producer == XSPROF_NO_PRODUCER)
		return 0;
	if (ev->ns > h->report->filter.to_ns)
		return behind(h);
	if (ev->name && (ev->type == XSPROF_REC_BEGIN || ev->type == XSPROF_REC_INSTANT ||
			 ev->type == XSPROF_REC_SPAN))
		what = gil_record_of(&h->names, h->report->source.trace, ev->producer, ev->name);
	if (ev->type == XSPROF_REC_BEGIN && what == GIL_WAIT)
		ret = begins(h, ev);
	else if (ev->type == XSPROF_REC_INSTANT && what == GIL_TAKEN)
		ret = holds(h, ev, what);
	else if (ev->type == XSPROF_REC_SPAN && what == GIL_HELD)
		ret = holds(h, ev, what);
	if (ret == -ENOSPC) {
		h->left_out++;
		ret = 0;
	}
	if (ret)
		return ret;
	h->untaken = ev->type == XSPROF_REC_END && gil_record_untaken(h->report->source.trace, ev);
	ret = xsprof_pairer_event(h->pairer, ev);
	h->untaken = false;
	return ret;
}

static int read_all(struct handovers *h)
{
	int ret, status = report_read(h->report, true, one, h);

	if (status)
		return status;
	ret = h->report->show.window ? 0 : xsprof_pairer_finish(h->pairer);
	for (uint32_t i = 0; i < h->nr_locks; i++)
		end_hold(h, &h->locks[i]);
	return ret ? tool_error("%s: %s", h->report->source.path, strerror(-ret)) : 0;
}

static bool any(const struct handovers *h)
{
	for (uint32_t i = 0; i < h->nr_threads; i++)
		if (h->threads[i].waits || h->threads[i].holds)
			return true;
	return h->doubtful;
}

int handovers_run(struct report *report)
{
	struct handovers *h = calloc(1, sizeof(*h));
	int status, ret;

	if (!h || xsprof_pairer_new(report->source.trace, range, h, &h->pairer)) {
		free(h);
		return tool_error("%s", strerror(ENOMEM));
	}
	h->report = report;
	status = read_all(h);
	if (!status && !any(h))
		status = tool_error(xsp_filter_given(&report->filter) ?
				    "%s: no wait for the GIL matches the filters: leave out --pid, "
				    "--tid, --from or --to" :
				    xsp_source_attached(&report->source) ?
				    "%s: has no waits for the GIL: record -p records none, since "
				    "they are recorded only in programs started by 'xsprof record "
				    "COMMAND'; in samples a thread that waits is off CPU" :
				    "%s: has no waits for the GIL: no thread waited, no Python "
				    "ran, or it was recorded with --no-python or without the "
				    "category python", report->source.path);
	if (!status) {
		ret = report->json ? handovers_print_json(h) : handovers_print(h);
		status = ret ? tool_error("%s", strerror(-ret)) : tool_finish(0);
	}
	xsprof_pairer_free(h->pairer);
	xsp_map_free(&h->thread_at);
	xsp_map_free(&h->pair_at);
	xsp_map_free(&h->lock_at);
	xsp_map_free(&h->waits_at);
	free(h->threads);
	free(h->pairs);
	free(h->locks);
	free(h);
	if (!status)
		status = xsp_source_losses(&report->source);
	return status;
}
