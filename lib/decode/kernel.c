// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What a capture contains about the kernel's tracer: its clock, the layout of its sub-buffers,
 * tasks, symbols; kernel-kinds.c has the kinds of events, kernel-page.c the events. All texts come
 * from the file: they are parsed with bounds and may be incomplete.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/local.h"

#define SUBBUF_MAX	(1u << 20)

/* The tracer's pseudo-producer, to which its streams belong. */
static void init(struct xsprof_trace *t)
{
	struct xst_producer *p = &t->found.kernel.producer;

	if (t->found.kernel.any)
		return;
	t->found.kernel.any = true;
	t->found.kernel.subbuf = 4096;
	t->found.kernel.data_off = 16;
	t->found.kernel.commit_off = 8;
	t->found.kernel.long_size = 8;
	p->number = XSPROF_NO_PRODUCER;
	p->known = true;
	p->nr_rings = p->all_rings = XSPROF_MAX_RINGS;
	p->fit = &t->found.kernel.fit;
}

struct xst_producer *xst_kernel_producer(struct xsprof_trace *t)
{
	init(t);
	return &t->found.kernel.producer;
}

/* ---- information ------------------------------------------------------------------------- */

/* Layout of the tracer's sub-buffers. */
struct layout {
	uint32_t	subbuf;
	uint32_t	data_off;
	uint32_t	commit_off;
	uint32_t	long_size;
};

static int set_info(struct xsprof_trace *t, struct layout *lay, const char *key, size_t key_len,
		    const char *s, size_t len)
{
	struct xst_kernel *k = &t->found.kernel;
	uint32_t v = xst_number_of(s, len);

#define IS(name) (key_len == sizeof(name) - 1 && !memcmp(key, name, key_len))
	if (IS("clock") || IS("release")) {
		const struct xst_text *text = xst_pool_text(&t->found.pool, s, len);

		if (!text)
			return -ENOMEM;
		*(IS("clock") ? &k->clock : &k->release) = text;
	} else if (IS("until")) {
		k->until = xst_number64_of(s, len);
	} else if (IS("pids")) {
		k->namespaced = len == 9 && !memcmp(s, "namespace", 9);
	} else if (IS("subbuf_size")) {
		if (v < XSPROF_BLOCK_SIZE || v > SUBBUF_MAX || v & (v - 1))
			return -EBADMSG;
		lay->subbuf = v;
	} else if (IS("data_offset")) {
		lay->data_off = v;
	} else if (IS("commit_offset")) {
		lay->commit_off = v;
	} else if (IS("long_size")) {
		lay->long_size = v;
	}
#undef IS
	return 0;
}

static int add_info(struct xsprof_trace *t, const char *s, size_t len)
{
	struct xst_kernel *k = &t->found.kernel;
	struct layout lay = { k->subbuf, k->data_off, k->commit_off, k->long_size };
	int err = 0;

	while (len && !err) {
		const char *nl = memchr(s, '\n', len);
		size_t n = nl ? (size_t)(nl - s) : len;
		const char *is = memchr(s, '=', n);

		if (is)
			err = set_info(t, &lay, s, is - s, is + 1, n - (is + 1 - s));
		s += nl ? n + 1 : n;
		len -= nl ? n + 1 : n;
	}
	if (err)
		return err;
	/* An impossible layout is ignored: the previous one stays in use. */
	if ((lay.long_size != 4 && lay.long_size != 8) || lay.commit_off > 64 ||
	    lay.data_off < lay.commit_off + lay.long_size || lay.data_off > 256)
		return -EBADMSG;
	k->subbuf = lay.subbuf;
	k->data_off = lay.data_off;
	k->commit_off = lay.commit_off;
	k->long_size = lay.long_size;
	return 0;
}

/* ---- tasks, symbols ---------------------------------------------------------------------- */

static int add_task(struct xsprof_trace *t, const char *s, size_t len)
{
	const char *end = s + len;
	const struct xst_text *comm;
	uint32_t tid, tgid;

	tid = xst_number_of(s, len);
	while (s < end && *s != ' ')
		s++;
	while (s < end && *s == ' ')
		s++;
	tgid = xst_number_of(s, end - s);
	while (s < end && *s != ' ')
		s++;
	if (s < end)
		s++;
	if (tid >= XST_MAX_TASKS || t->found.kernel.tasks.used >= XST_MAX_TASKS)
		return 0;
	if (xst_full(t))
		return -ENOSPC;
	comm = xst_pool_text(&t->found.pool, s, end - s < 64 ? end - s : 64);
	if (!comm || xst_map_set(&t->found.kernel.tasks, 0, tid, comm))
		return -ENOMEM;
	if (tgid && xst_tgid_set(&t->found.kernel, tid, tgid, true))
		return -ENOMEM;
	return 0;
}

static int add_tasks(struct xsprof_trace *t, const char *s, size_t len)
{
	int err = 0;

	while (len && !err) {
		const char *nl = memchr(s, '\n', len);
		size_t n = nl ? (size_t)(nl - s) : len;

		if (n)
			err = add_task(t, s, n);
		s += nl ? n + 1 : n;
		len -= nl ? n + 1 : n;
	}
	return err;
}

/* ---- the chunk --------------------------------------------------------------------------- */

static int take(struct xsprof_trace *t, uint32_t kind, const char *s, size_t len)
{
	if (xst_full(t))
		return -ENOSPC;
	switch (kind) {
	case XSPROF_SECTION_INFO:
		return add_info(t, s, len);
	case XSPROF_SECTION_FORMAT:
		return xst_kernel_add_format(t, s, len);
	case XSPROF_SECTION_SYMBOLS:
		t->found.lists += 2 * sizeof(*t->found.kernel.symbols.list);
		return xst_lines_add(&t->found.pool, &t->found.kernel.symbols, s, len);
	case XSPROF_SECTION_TASKS:
		return add_tasks(t, s, len);
	case XSPROF_SECTION_PRINTK:
		t->found.lists += 2 * sizeof(*t->found.kernel.printk.list);
		return xst_lines_add(&t->found.pool, &t->found.kernel.printk, s, len);
	}
	t->found.unknown++;
	return 0;
}

/**
 * xst_kernel_add() - handle a KERNEL chunk
 * @t: trace
 * @raw: payload
 * @len: bytes of it
 *
 * Return: 0; -EBADMSG: a part of it is invalid, the rest is used; -ENOSPC: it exceeds the memory
 * limit; -ENOMEM.
 */
int xst_kernel_add(struct xsprof_trace *t, const uint8_t *raw, size_t len)
{
	struct xsprof_cap_section section;
	int bad = 0;

	init(t);
	while (len >= sizeof(section)) {
		size_t whole;
		int err;

		memcpy(&section, raw, sizeof(section));
		raw += sizeof(section);
		len -= sizeof(section);
		if (section.len > len)
			return -EBADMSG;
		err = take(t, section.kind, (const char *)raw, section.len);
		if (err == -ENOMEM || err == -ENOSPC)
			return err;
		if (err)
			bad = -EBADMSG;
		whole = (section.len + 7) & ~(size_t)7;
		if (whole > len)
			whole = len;
		raw += whole;
		len -= whole;
	}
	return bad;
}

void xst_kernel_free(struct xsprof_trace *t)
{
	struct xst_kernel *k = &t->found.kernel;

	xst_kernel_free_kinds(k);
	free(k->symbols.list);
	free(k->printk.list);
	xsp_map_free(&k->tasks);
	xsp_map_free(&k->tgids);
	xsp_map_free(&k->votes);
	xsp_map_free(&k->elected);
	free(k->current);
	free(k->exits.list);
	free(k->owners.list);
	xst_fit_free(&k->fit);
}

/* ---- questions --------------------------------------------------------------------------- */

const char *xsprof_trace_comm(const struct xsprof_trace *t, uint32_t tid)
{
	const struct xst_text *comm = xst_map_get(&t->found.kernel.tasks, 0, tid);

	return comm ? comm->s : "";
}

uint32_t xsprof_trace_tgid(const struct xsprof_trace *t, uint32_t tid)
{
	return xst_tgid_get(&t->found.kernel, tid) >> 1;
}

const char *xsprof_trace_symbols(const struct xsprof_trace *t, uint32_t index)
{
	return index < t->found.kernel.symbols.nr ? t->found.kernel.symbols.list[index]->s : NULL;
}

const char *xsprof_trace_printk(const struct xsprof_trace *t, uint32_t index)
{
	return index < t->found.kernel.printk.nr ? t->found.kernel.printk.list[index]->s : NULL;
}

int xsprof_trace_get_kernel(const struct xsprof_trace *t, struct xsprof_trace_kernel *kernel)
{
	struct xsprof_trace_kernel out = { .size = sizeof(out) };
	const struct xst_kernel *k = &t->found.kernel;
	size_t size = kernel->size;

	if (size < offsetof(struct xsprof_trace_kernel, release) || size > sizeof(out))
		return -EINVAL;
	if (!k->any)
		return -ENOENT;
	out.kinds = k->nr_kinds;
	out.clock = k->clock ? k->clock->s : "";
	out.release = k->release ? k->release->s : "";
	out.refused = k->refused;
	out.events = k->producer.records;
	out.error_ns = xst_kernel_error(t);
	if (k->until && !k->refused)
		out.until_ns = xst_fit_ns(k->producer.fit, k->until);
	for (const struct xst_stream *s = k->producer.streams; s; s = s->next) {
		uint64_t told = s->has_ledger ? s->ledger.drops + s->ledger.busy : 0;

		out.cpus += s->nr_chunks > 0;
		out.lost += told > s->lost_yielded ? told : s->lost_yielded;
		out.lost_slots += s->has_ledger ? s->ledger.unsaved : s->gaps;
		out.bad_slots += s->bad_slots;
	}
	memcpy(kernel, &out, size);
	kernel->size = size;
	return 0;
}
