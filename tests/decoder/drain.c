// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a trace to its end and checks invariants of all traces. It does not know the expected
 * contents.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/drain.h"
#include "common/tap.h"

static void on_warning(void *data, const char *text)
{
	struct drained *d = data;

	if (!d->warnings++)
		snprintf(d->text, sizeof(d->text), "%s", text);
	if (strchr(text, '\n') || !text[0])
		tap_wrong("a warning that is not one line: %s", text);
}

size_t touch_args(const struct xsprof_event *ev)
{
	const uint8_t *begin = (const uint8_t *)ev->rec;
	struct xsprof_trace_arg arg;
	size_t pos = 0, n = 0;
	unsigned int sum = 0;

	while (xsprof_trace_args(ev, &pos, &arg)) {
		const uint8_t *s = (const uint8_t *)arg.str;

		if (arg.len && (s < begin || s + arg.len > begin + ev->rec_size))
			tap_wrong("an argument's string lies outside of its record");
		for (size_t i = 0; i < arg.len; i++)
			sum += s[i];
		if (++n > XSPROF_RECORD_SLOTS * 2) {
			tap_wrong("more arguments than a record can hold");
			break;
		}
	}
	return n + (sum == ~0u);
}

/* The bytes of every field of its kind are inside the event, or there are none. */
static void check_kernel(const struct drained *d, const struct xsprof_event *ev)
{
	const struct xsprof_kernel_event *kind = xsprof_trace_kernel_event(d->trace, ev->name);
	const char *begin = (const char *)ev->rec;

	if (d->nr && ev->ns < d->list[d->nr - 1].ev.ns)
		tap_wrong("event %zu: time goes back", d->nr);
	if (!ev->rec || ev->rec_size < 8 || ev->producer != XSPROF_NO_PRODUCER || ev->cpu < 0)
		tap_wrong("event %zu: of the kernel, with %zu bytes", d->nr, ev->rec_size);
	for (uint32_t i = 0; kind && i < kind->nr_fields; i++) {
		uint64_t value;
		size_t len;
		const char *s = xsprof_kernel_bytes(ev, &kind->fields[i], &len);

		if (s && (s < begin || s + len > begin + ev->rec_size))
			tap_wrong("event %zu: %s is outside of it", d->nr, kind->fields[i].name);
		xsprof_kernel_value(ev, &kind->fields[i], &value);
	}
}

static void check_event(const struct drained *d, const struct xsprof_event *ev)
{
	const struct xsprof_rec *rec = ev->rec;
	/* A switch by others has the type of the program's own record, but no record. */
	bool made = ev->type >= 0x100 || (ev->type == XSPROF_REC_CONTROL && !rec);

	if (ev->type == XSPROF_EV_KERNEL) {
		check_kernel(d, ev);
		return;
	}
	if (d->nr && ev->ns < d->list[d->nr - 1].ev.ns)
		tap_wrong("event %zu: time goes back", d->nr);
	if (made != !rec || (made && ev->rec_size))
		tap_wrong("event %zu: type 0x%x and a record do not fit", d->nr, ev->type);
	if (ev->end_ns < ev->begin_ns)
		tap_wrong("event %zu: it ends before it begins", d->nr);
	if (!rec)
		return;
	if (ev->rec_size != (size_t)(rec->size & 15) * XSPROF_SLOT_SIZE || !ev->rec_size ||
	    ev->rec_size > sizeof(d->list->rec))
		tap_wrong("event %zu: a record of %zu bytes", d->nr, ev->rec_size);
	if (ev->type != rec->type || ev->tid != rec->tid || ev->name != rec->name ||
	    ev->value != rec->value || ev->aux != rec->aux || ev->ticks != rec->ts)
		tap_wrong("event %zu: it is not what its record says", d->nr);
	touch_args(ev);
}

static void keep(struct drained *d, const struct xsprof_event *ev)
{
	struct taken *t;

	if (!(d->nr & (d->nr - 1))) {
		d->list = realloc(d->list, (d->nr ? d->nr * 2 : 1) * sizeof(*d->list));
		if (!d->list)
			tap_bail("no memory");
	}
	check_event(d, ev);
	t = &d->list[d->nr++];
	memset(t, 0, sizeof(*t));
	t->ev = *ev;
	if (ev->rec && ev->rec_size <= sizeof(t->rec))
		memcpy(t->rec, ev->rec, ev->rec_size);
	if (ev->type == XSPROF_EV_LOST && ev->flags & XSPROF_EVF_SLOTS)
		d->lost_slots += ev->value;
	else if (ev->type == XSPROF_EV_LOST)
		d->lost += ev->value;
}

void touch(struct xsprof_trace *t)
{
	struct xsprof_trace_kernel kernel = { .size = sizeof(kernel) };
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	const char *key, *value;
	uint32_t sum = 0;

	if (xsprof_trace_get_info(t, &info))
		tap_wrong("no info: %s", xsprof_trace_error(t));
	for (uint32_t i = 0; !xsprof_trace_host_fact_at(t, i, &key, &value); i++)
		sum += strlen(key) + strlen(value);
	xsprof_trace_host_fact(t, "hostname");
	for (uint32_t i = 0; xsprof_trace_note(t, i); i++)
		sum += strlen(xsprof_trace_note(t, i));
	for (uint32_t p = 0; p <= info.producers && p < 70; p++) {
		struct xsprof_trace_producer producer;
		struct xsprof_cap_ledger ledger;
		int err = xsprof_trace_get_producer(t, p, &producer);

		if (err && err != -ENOENT)
			tap_wrong("producer %u: %s", p, xsprof_trace_error(t));
		if (!err)
			sum += producer.ctl->pid;
		for (uint32_t i = 0; !xsprof_trace_get_ledger(t, p, i, &ledger); i++)
			sum += ledger.ring;
		for (uint32_t i = 0; !xsprof_trace_fact_at(t, p, i, &key, &value); i++)
			sum += strlen(key) + strlen(value);
		xsprof_trace_fact(t, p, "exe");
		for (uint32_t name = 0; name < 40; name++) {
			sum += strlen(xsprof_trace_name(t, p, name));
			sum += strlen(xsprof_trace_category(t, p, name << XSPROF_NAME_SHIFT));
			sum += strlen(xsprof_trace_thread(t, p, 1000 + name));
		}
		sum += strlen(xsprof_trace_name(t, p, ~0u));
	}
	for (const struct xsprof_kernel_event *k = xsprof_trace_kernel_next(t, UINT32_MAX); k;
	     k = xsprof_trace_kernel_next(t, k->id))
		sum += strlen(k->system) + strlen(k->name) + strlen(k->format) + k->nr_fields;
	for (uint32_t i = 0; i < 20; i++)
		sum += strlen(xsprof_trace_comm(t, i)) + xsprof_trace_tgid(t, i);
	for (uint32_t i = 0; xsprof_trace_symbols(t, i); i++)
		sum += strlen(xsprof_trace_symbols(t, i));
	for (uint32_t i = 0; xsprof_trace_printk(t, i); i++)
		sum += strlen(xsprof_trace_printk(t, i));
	if (!xsprof_trace_get_kernel(t, &kernel))
		sum += kernel.cpus + strlen(kernel.clock) + strlen(kernel.release);
	sum += xsprof_trace_ticks_to_ns(t, 0) + xsprof_trace_ticks_to_ns(t, UINT64_MAX);
	if (xsprof_trace_ticks_to_ns(t, 5) > xsprof_trace_ticks_to_ns(t, 1ull << 60))
		tap_wrong("the clock goes back");
	xsprof_trace_error(sum ? t : NULL);
}

static void check_end(struct drained *d, struct xsprof_trace *t)
{
	uint64_t records = 0, of_producers = 0;

	d->info.size_of = sizeof(d->info);
	if (xsprof_trace_get_info(t, &d->info))
		tap_wrong("no info at the end: %s", xsprof_trace_error(t));
	for (size_t i = 0; i < d->nr; i++)
		records += d->list[i].ev.rec && d->list[i].ev.type != XSPROF_EV_KERNEL &&
			   d->list[i].ev.type != XSPROF_REC_ARGS;
	for (uint32_t p = 0; p < d->info.producers; p++) {
		struct xsprof_trace_producer producer;

		if (!xsprof_trace_get_producer(t, p, &producer))
			of_producers += producer.records;
	}
	if (records != d->info.records || records != of_producers)
		tap_wrong("%llu records, but the info says %llu and the producers %llu",
			  (unsigned long long)records, (unsigned long long)d->info.records,
			  (unsigned long long)of_producers);
	/* After the end next() always returns the same. */
	if (!d->end) {
		struct xsprof_event ev;

		if (xsprof_trace_next_batch(t, &ev, 1))
			tap_wrong("something comes after the end");
	}
}

void drain_open(struct drained *d, struct xsprof_trace *t, size_t batch)
{
	struct xsprof_event evs[100];

	d->trace = t;
	if (batch > 100)
		batch = 100;
	for (;;) {
		const struct xsprof_event *ev;
		int n;

		if (!batch) {
			n = xsprof_trace_next(t, &ev);
			if (n == 1)
				keep(d, ev);
		} else {
			n = xsprof_trace_next_batch(t, evs, batch);
			if (n > (int)batch)
				tap_wrong("%d events in room for %zu", n, batch);
			for (int i = 0; i < n; i++)
				keep(d, &evs[i]);
		}
		d->end = n;
		if (n <= 0)
			break;
	}
	if (d->end < 0)
		snprintf(d->error, sizeof(d->error), "%s", xsprof_trace_error(t));
	if (d->end < 0 && d->end != -EAGAIN && !d->error[0])
		tap_wrong("error %d without a text", d->end);
}

void drain(struct drained *d, const char *path, const struct xsprof_trace_options *opts,
	   size_t batch)
{
	struct xsprof_trace_options with = { .size = sizeof(with) };
	struct xsprof_trace *t;

	memset(d, 0, sizeof(*d));
	if (opts)
		with = *opts;
	if (!with.warn) {
		with.warn = on_warning;
		with.warn_data = d;
	}
	d->open = xsprof_trace_open(path, &with, &t);
	if (d->open) {
		snprintf(d->error, sizeof(d->error), "%s", xsprof_trace_error(NULL));
		if (t || !d->error[0])
			tap_wrong("a failed open left a handle, or no text");
		return;
	}
	touch(t);
	drain_open(d, t, batch);
	check_end(d, t);
	touch(t);
	xsprof_trace_close(t);
}

void drained_free(struct drained *d)
{
	free(d->list);
	memset(d, 0, sizeof(*d));
}

size_t drained_count(const struct drained *d, uint16_t type)
{
	size_t n = 0;

	for (size_t i = 0; i < d->nr; i++)
		n += d->list[i].ev.type == type;
	return n;
}

const struct taken *drained_at(const struct drained *d, uint16_t type, size_t nth)
{
	for (size_t i = 0; i < d->nr; i++)
		if (d->list[i].ev.type == type && !nth--)
			return &d->list[i];
	tap_wrong("there is no such event of type 0x%x", type);
	return NULL;
}
