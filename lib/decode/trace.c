// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The handle: opening, closing, and yielding events.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/local.h"

static __thread char open_error[512];

/* The largest chunk needs three scratch buffers; the rest is for windows. */
static uint64_t window_memory(const struct xsprof_trace *t)
{
	return t->memory - 3ull * XSPROF_CHUNK_MAX;
}

static int check_options(struct xsprof_trace *t, const struct xsprof_trace_options *given,
			 struct xsprof_trace_options *opts)
{
	memset(opts, 0, sizeof(*opts));
	if (!given)
		return 0;
	/* Size 0 means all defaults, which are zeros. */
	memcpy(opts, given, given->size && given->size < sizeof(*opts) ? given->size :
							      sizeof(*opts));
	for (size_t i = sizeof(*opts); i < given->size; i++)
		if (((const char *)given)[i])
			return xst_fail(t, -E2BIG, "options unknown to this library");
	if (opts->flags & ~XSPROF_TRACE_FOLLOW || opts->reserved)
		return xst_fail(t, -EINVAL, "flags unknown to this library");
	return 0;
}

static int open_any(struct xsprof_trace *t)
{
	struct xsprof_ctl ctl;
	struct xsprof_chunk chunk;
	uint64_t magic = 0;

	if (!t->file.src.size)
		return xst_fail(t, -EINVAL, "is empty: the recorder has not written to it");
	if (xst_source_read(&t->file.src, 0, &magic, sizeof(magic)))
		return xst_fail(t, -EINVAL, "is too short to be a capture");
	if (magic == XSPROF_CAP_MAGIC)
		return xst_capture_open(t);
	if (!xst_source_read(&t->file.src, 0, &ctl, sizeof(ctl)) && ctl.magic == XSPROF_MAGIC)
		return xst_snapshot_open(t);
	/* Even with a damaged first page the rest is read. */
	if (xst_chunk_header(&t->file, sizeof(struct xsprof_cap_header), &chunk) == 1)
		return xst_capture_open(t);
	return xst_fail(t, -EINVAL, "is neither a capture of xsprof record nor a ring file");
}

int xsprof_trace_open(const char *path, const struct xsprof_trace_options *given,
		      struct xsprof_trace **trace)
{
	struct xsprof_trace_options opts;
	struct xsprof_trace *t;
	int err;

	*trace = NULL;
	open_error[0] = 0;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->file.src.fd = -1;
	t->name = strdup(strcmp(path, "-") ? path : "standard input");
	err = t->name ? check_options(t, given, &opts) : -ENOMEM;
	if (err)
		goto err_close;
	t->flags = opts.flags;
	t->warn = opts.warn;
	t->warn_data = opts.warn_data;
	t->memory = opts.memory ? opts.memory : XST_MEMORY_DEFAULT;
	if (t->memory < XST_MEMORY_MIN)
		t->memory = XST_MEMORY_MIN;
	t->reading.buffers.limit = window_memory(t);
	err = xst_source_open(t, path);
	if (!err)
		err = open_any(t);
	if (err)
		goto err_close;
	*trace = t;
	return 0;

err_close:
	if (!t->error[0])
		xst_fail(t, err, "%s", strerror(-err));
	strcpy(open_error, t->error);
	xsprof_trace_close(t);
	return err;
}

int xst_trace_again(const struct xsprof_trace *t, struct xsprof_trace **again)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", t->file.src.fd);
	return xsprof_trace_open(path, NULL, again);
}

void xsprof_trace_close(struct xsprof_trace *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->found.nr_streams; i++)
		xst_stream_free(t->found.streams[i]);
	free(t->found.streams);
	xst_producers_free(t);
	xst_kernel_free(t);
	xsp_map_free(&t->found.stream_map);
	xsp_map_free(&t->found.names);
	xsp_map_free(&t->found.categories);
	xsp_map_free(&t->found.threads);
	xsp_map_free(&t->found.comms);
	xsp_map_free(&t->found.others);
	xsp_map_free(&t->found.begun);
	xsp_map_free(&t->found.earlier);
	xsp_map_free(&t->found.stacks);
	xsp_pool_free(&t->found.pool);
	xst_facts_free(&t->found.host);
	free(t->found.notes);
	xst_clocks_free(t);
	xst_buffers_free(&t->reading.buffers);
	free(t->reading.heap);
	free(t->reading.begins.list);
	free(t->reading.ends.list);
	free(t->reading.evs);
	xst_file_close(&t->file);
	free(t->name);
	free(t);
}

const char *xsprof_trace_error(const struct xsprof_trace *t)
{
	return t ? t->error : open_error;
}

/* ---- events ------------------------------------------------------------------------------ */

/* At the current end. Return: 1: there is more, 0: the end, or -errno. */
static int at_end(struct xsprof_trace *t)
{
	bool follow = (t->flags & XSPROF_TRACE_FOLLOW) && !t->found.snapshot;
	int err;

	if (t->reading.to_ns && t->reading.horizon >= t->reading.to_ns)
		follow = false;
	if (follow && !t->found.has_end) {
		if (!xst_source_grown(&t->file.src))
			return -EAGAIN;
		err = xst_capture_scan(t);
		if (!err)
			err = xst_merge_more(t);
		return err ? err : 1;
	}
	if (!t->reading.finished)
		xst_warn_totals(t);
	t->reading.finished = true;
	return 0;
}

/*
 * Reads, in advance, the events from which threads' numbers and ends of processes are determined,
 * if needed; errors are reported later by the actual reading.
 *
 * Return: 0 or -errno.
 */
static int learn(struct xsprof_trace *t, struct xsprof_event *evs, size_t max)
{
	uint64_t from = t->reading.from_ns, to = t->reading.to_ns, warned[XST_WARN_KINDS], until;
	void (*warn)(void *data, const char *text) = t->warn;
	bool tids;
	int n;

	/* A growing capture has no end to read to. */
	if (!t->found.kernel.any || t->found.kernel.learned || t->flags & XSPROF_TRACE_FOLLOW)
		return 0;
	t->found.kernel.learned = true;
	tids = xst_tids_wanted(t);
	until = xst_exits_until(t);
	if (!tids && !until)
		return 0;
	memcpy(warned, t->warned, sizeof(warned));
	t->warn = NULL;
	t->reading.kernel_only = !tids;
	t->reading.from_ns = 0;
	t->reading.to_ns = tids ? 0 : until;
	n = xst_merge_start(t);
	while (!n && (n = xst_merge_batch(t, evs, max)) > 0) {
		if (tids)
			xst_tids_learn(t, evs, n);
		if (until)
			xst_exits_learn(t, evs, n);
		n = 0;
	}
	xst_tids_elect(t);
	xst_exits_settle(t);
	t->reading.kernel_only = false;
	t->reading.from_ns = from;
	t->reading.to_ns = to;
	t->warn = warn;
	memcpy(t->warned, warned, sizeof(warned));
	/* xsprof_trace_next() will return the error. */
	return n == -ENOMEM ? n : 0;
}

static int read_batch(struct xsprof_trace *t, struct xsprof_event *evs, size_t max)
{
	int n = 0;

	if (t->reading.failed)
		return t->reading.failed;
	if (!t->reading.started) {
		n = learn(t, evs, max);
		if (!n)
			n = xst_thread_ends_settle(t);
		if (!n)
			n = xst_merge_start(t);
		t->reading.started = !n;
	}
	while (!n) {
		n = xst_merge_batch(t, evs, max);
		if (n)
			break;
		n = at_end(t);
		if (n <= 0)
			return n;
		n = 0;
	}
	if (n < 0 && n != -EAGAIN) {
		t->reading.failed = n;
		if (!t->error[0])
			xst_fail(t, n, "%s", strerror(-n));
	}
	return n;
}

static int batch(struct xsprof_trace *t, struct xsprof_event *evs, size_t max)
{
	int n = read_batch(t, evs, max);

	t->reading.turn++;
	return n;
}

int xsprof_trace_next_batch(struct xsprof_trace *t, struct xsprof_event *evs, size_t n)
{
	size_t have = t->reading.ev_nr - t->reading.ev_next;

	if (!n)
		return -EINVAL;
	if (n > INT32_MAX)
		n = INT32_MAX;
	/* First the events that xsprof_trace_next() has read ahead. */
	if (have) {
		if (have > n)
			have = n;
		memcpy(evs, t->reading.evs + t->reading.ev_next, have * sizeof(*evs));
		t->reading.ev_next += have;
		return have;
	}
	return batch(t, evs, n);
}

int xsprof_trace_next(struct xsprof_trace *t, const struct xsprof_event **ev)
{
	if (t->reading.ev_next == t->reading.ev_nr) {
		int n;

		if (!t->reading.evs)
			t->reading.evs = calloc(XST_NEXT_EVENTS, sizeof(*t->reading.evs));
		if (!t->reading.evs)
			return xst_fail(t, -ENOMEM, "no memory");
		t->reading.ev_next = t->reading.ev_nr = 0;
		n = batch(t, t->reading.evs, XST_NEXT_EVENTS);
		if (n <= 0)
			return n;
		t->reading.ev_nr = n;
	}
	*ev = &t->reading.evs[t->reading.ev_next++];
	return 1;
}

int xsprof_trace_rewind(struct xsprof_trace *t)
{
	t->reading.started = false;
	t->reading.finished = false;
	t->reading.failed = 0;
	t->error[0] = 0;
	t->reading.ev_next = t->reading.ev_nr = 0;
	t->reading.nr_heap = 0;
	return 0;
}

int xsprof_trace_set_filter(struct xsprof_trace *t, const struct xsprof_trace_filter *filter)
{
	struct xsprof_trace_filter f = { 0 };

	if (filter->size < offsetof(struct xsprof_trace_filter, to_ns))
		return xst_fail(t, -EINVAL, "xsprof_trace_set_filter: invalid size");
	memcpy(&f, filter, filter->size < sizeof(f) ? filter->size : sizeof(f));
	for (size_t i = sizeof(f); i < filter->size; i++)
		if (((const char *)filter)[i])
			return xst_fail(t, -E2BIG, "a filter unknown to this library");
	if (f.to_ns && f.to_ns < f.from_ns)
		return xst_fail(t, -EINVAL, "a filter that ends before it begins");
	t->reading.from_ns = f.from_ns;
	t->reading.to_ns = f.to_ns;
	return 0;
}
