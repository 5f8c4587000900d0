// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What a capture says of the kernel's tracer: its clock, the kinds of its events, tasks,
 * symbols.  Every text is somebody else's: it is read for what it holds, bounded, and never
 * believed to be whole.  It never looks at events; kernel-page.c does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/local.h"

#define MAX_KINDS	65536u		/* an id has 16 bits */
#define MAX_TASKS	(4u << 20)	/* pids end there */
#define SUBBUF_MAX	(1u << 20)

/* The producer that is none: the tracer's streams hang on it. */
static void init(struct xsprof_trace *t)
{
	struct xst_producer *p = &t->kernel.producer;

	if (t->kernel.any)
		return;
	t->kernel.any = true;
	t->kernel.subbuf = 4096;
	t->kernel.data_off = 16;
	t->kernel.commit_off = 8;
	t->kernel.long_size = 8;
	p->number = XSPROF_NO_PRODUCER;
	p->known = true;
	p->nr_rings = p->all_rings = XSPROF_MAX_RINGS;
	p->fit = &t->kernel.fit;
}

struct xst_producer *xst_kernel_producer(struct xsprof_trace *t)
{
	init(t);
	return &t->kernel.producer;
}

/* ---- information ------------------------------------------------------------------------- */

static uint32_t number_of(const char *s, size_t len)
{
	uint32_t v = 0;

	for (; len && *s >= '0' && *s <= '9' && v < 100000000; s++, len--)
		v = v * 10 + (uint32_t)(*s - '0');
	return v;
}

/* How the tracer lays a sub-buffer out. */
struct layout {
	uint32_t	subbuf;
	uint32_t	data_off;
	uint32_t	commit_off;
	uint32_t	long_size;
};

static int set_info(struct xsprof_trace *t, struct layout *lay, const char *key, size_t key_len,
		    const char *s, size_t len)
{
	struct xst_kernel *k = &t->kernel;
	uint32_t v = number_of(s, len);

#define IS(name) (key_len == sizeof(name) - 1 && !memcmp(key, name, key_len))
	if (IS("clock") || IS("release")) {
		const struct xst_text *text = xst_pool_text(&t->pool, s, len);

		if (!text)
			return -ENOMEM;
		*(IS("clock") ? &k->clock : &k->release) = text;
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
	struct xst_kernel *k = &t->kernel;
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
	/* One that cannot be is not taken over: sub-buffers are read by what was said before. */
	if ((lay.long_size != 4 && lay.long_size != 8) || lay.commit_off > 64 ||
	    lay.data_off < lay.commit_off + lay.long_size || lay.data_off > 256)
		return -EBADMSG;
	k->subbuf = lay.subbuf;
	k->data_off = lay.data_off;
	k->commit_off = lay.commit_off;
	k->long_size = lay.long_size;
	return 0;
}

/* ---- kinds of events --------------------------------------------------------------------- */

static bool skip_word(const char **s, const char *end, const char *word)
{
	size_t n = strlen(word);

	while (*s < end && (**s == ' ' || **s == '\t'))
		(*s)++;
	if ((size_t)(end - *s) < n || memcmp(*s, word, n))
		return false;
	*s += n;
	return true;
}

/* "offset:8;" and the like.  Return: the number, or -1. */
static int take_number(const char **s, const char *end, const char *word)
{
	uint32_t v = 0;
	const char *from;

	if (!skip_word(s, end, word))
		return -1;
	for (from = *s; *s < end && **s >= '0' && **s <= '9' && v <= UINT16_MAX; (*s)++)
		v = v * 10 + (uint32_t)(**s - '0');
	if (*s == from || v > UINT16_MAX || *s == end || **s != ';')
		return -1;
	(*s)++;
	return v;
}

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* "char prev_comm[16]" into type and name.  Return: 0, -EBADMSG, -ENOMEM. */
static int take_declaration(struct xsprof_trace *t, const char *s, size_t len,
			    struct xsprof_kernel_field *field)
{
	const struct xst_text *type, *name;
	const char *end = s + len, *from;

	while (end > s && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	if (end > s && end[-1] == ']') {
		while (end > s && end[-1] != '[')
			end--;
		if (end == s)
			return -EBADMSG;
		end--;
		field->flags |= XSPROF_KFIELD_ARRAY;
	}
	for (from = end; from > s && name_char(from[-1]); )
		from--;
	if (from == end || from == s)
		return -EBADMSG;
	name = xst_pool_text(&t->pool, from, end - from);
	while (from > s && (from[-1] == ' ' || from[-1] == '\t'))
		from--;
	type = xst_pool_text(&t->pool, s, from - s);
	if (!name || !type)
		return -ENOMEM;
	field->name = name->s;
	field->type = type->s;
	if (!strncmp(type->s, "__data_loc", 10) || !strncmp(type->s, "__rel_loc", 9))
		field->flags |= XSPROF_KFIELD_DYNAMIC | XSPROF_KFIELD_ARRAY;
	if (field->flags & XSPROF_KFIELD_ARRAY && strstr(type->s, "char"))
		field->flags |= XSPROF_KFIELD_STRING;
	return 0;
}

/* "\tfield:DECLARATION;\toffset:N;\tsize:N;\tsigned:N;".  Return: 1 a field, 0 none, -ENOMEM. */
static int take_field(struct xsprof_trace *t, const char *s, const char *end,
		      struct xsprof_kernel_field *field)
{
	const char *declaration, *semi;
	int offset, size, sign, err;

	*field = (struct xsprof_kernel_field){ 0 };
	if (!skip_word(&s, end, "field:"))
		return 0;
	declaration = s;
	semi = memchr(s, ';', end - s);
	if (!semi)
		return 0;
	s = semi + 1;
	offset = take_number(&s, end, "offset:");
	size = offset < 0 ? -1 : take_number(&s, end, "size:");
	if (size < 0)
		return 0;
	sign = take_number(&s, end, "signed:");
	field->offset = offset;
	field->size = size;
	field->flags = sign == 1 ? XSPROF_KFIELD_SIGNED : 0;
	err = take_declaration(t, declaration, semi - declaration, field);
	if (err == -ENOMEM)
		return err;
	if (field->flags & XSPROF_KFIELD_DYNAMIC && size != 4)
		return 0;
	return !err;
}

static int take_fields(struct xsprof_trace *t, struct xsprof_kernel_event *kind)
{
	struct xsprof_kernel_field fields[XST_KERNEL_FIELDS], *list;
	const char *s = kind->format, *end = s + kind->format_len;

	while (s < end && kind->nr_fields < XST_KERNEL_FIELDS) {
		const char *nl = memchr(s, '\n', end - s);
		int r = take_field(t, s, nl ? nl : end, &fields[kind->nr_fields]);

		if (r < 0)
			return r;
		kind->nr_fields += r;
		if (!nl || (size_t)(end - s) < 10 || !memcmp(s, "print fmt:", 10))
			break;
		s = nl + 1;
	}
	list = malloc((kind->nr_fields + 1) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	memcpy(list, fields, kind->nr_fields * sizeof(*list));
	kind->fields = list;
	return 0;
}

/* The value of a line "key: value" at the start of the text.  Return: its length, 0 for none. */
static size_t header_line(const char *s, size_t len, const char *key, const char **value)
{
	const char *end = s + len;

	while (s < end) {
		const char *nl = memchr(s, '\n', end - s), *line = s;

		if (!nl)
			nl = end;
		if (skip_word(&line, nl, key)) {
			while (line < nl && *line == ' ')
				line++;
			*value = line;
			return nl - line;
		}
		s = nl + 1;
	}
	return 0;
}

static void free_kind(struct xsprof_kernel_event *kind)
{
	free((void *)kind->fields);
	free(kind);
}

static int put_kind(struct xst_kernel *k, struct xsprof_kernel_event *kind)
{
	if (kind->id >= k->room_kinds) {
		uint32_t room = k->room_kinds ? k->room_kinds : 1024;
		void *list;

		while (room <= kind->id)
			room *= 2;
		list = realloc(k->kinds, room * sizeof(*k->kinds));
		if (!list)
			return -ENOMEM;
		k->kinds = list;
		memset(k->kinds + k->room_kinds, 0,
		       (room - k->room_kinds) * sizeof(*k->kinds));
		k->room_kinds = room;
	}
	/* Pointers to kinds are given out: the first description stays. */
	if (k->kinds[kind->id])
		return -EEXIST;
	k->kinds[kind->id] = kind;
	k->nr_kinds++;
	return 0;
}

static int add_format(struct xsprof_trace *t, const char *s, size_t len)
{
	const char *nl = memchr(s, '\n', len), *value;
	const struct xst_text *system, *name, *format;
	struct xsprof_kernel_event *kind;
	size_t n;
	int err;

	if (!nl || nl == s)
		return -EBADMSG;
	n = header_line(nl + 1, len - (nl + 1 - s), "name:", &value);
	if (!n)
		return -EBADMSG;
	system = xst_pool_text(&t->pool, s, nl - s);
	name = xst_pool_text(&t->pool, value, n);
	format = xst_pool_text(&t->pool, nl + 1, len - (nl + 1 - s));
	kind = calloc(1, sizeof(*kind));
	if (!system || !name || !format || !kind) {
		free(kind);
		return -ENOMEM;
	}
	kind->system = system->s;
	kind->name = name->s;
	kind->format = format->s;
	kind->format_len = format->len;
	n = header_line(format->s, format->len, "ID:", &value);
	kind->id = n ? number_of(value, n) : MAX_KINDS;
	err = kind->id < MAX_KINDS ? take_fields(t, kind) : -EBADMSG;
	if (!err)
		err = put_kind(&t->kernel, kind);
	if (err)
		free_kind(kind);
	return err == -EEXIST ? 0 : err;
}

/* ---- tasks, symbols ---------------------------------------------------------------------- */

static int add_task(struct xsprof_trace *t, const char *s, size_t len)
{
	const char *end = s + len;
	const struct xst_text *comm;
	uint32_t tid, tgid;

	tid = number_of(s, len);
	while (s < end && *s != ' ')
		s++;
	while (s < end && *s == ' ')
		s++;
	tgid = number_of(s, end - s);
	while (s < end && *s != ' ')
		s++;
	if (s < end)
		s++;
	if (tid >= MAX_TASKS || t->kernel.tasks.used >= MAX_TASKS)
		return 0;
	comm = xst_pool_text(&t->pool, s, end - s < 64 ? end - s : 64);
	if (!comm || xst_map_set(&t->kernel.tasks, 0, tid, comm))
		return -ENOMEM;
	/* A number as a pointer: the map keeps it and nobody follows it. */
	if (tgid && xst_map_set(&t->kernel.tgids, 0, tid, (void *)(uintptr_t)tgid))
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
	switch (kind) {
	case XSPROF_SECTION_INFO:
		return add_info(t, s, len);
	case XSPROF_SECTION_FORMAT:
		return add_format(t, s, len);
	case XSPROF_SECTION_SYMBOLS:
		return xst_lines_add(&t->pool, &t->kernel.symbols, s, len);
	case XSPROF_SECTION_TASKS:
		return add_tasks(t, s, len);
	case XSPROF_SECTION_PRINTK:
		return xst_lines_add(&t->pool, &t->kernel.printk, s, len);
	}
	t->unknown++;
	return 0;
}

/**
 * xst_kernel_add() - take in a KERNEL chunk
 * @t: trace
 * @raw: payload
 * @len: bytes of it
 *
 * Return: 0; -EBADMSG: a part of it is not as it must be, the rest counts; -ENOMEM.
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
		if (err == -ENOMEM)
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
	struct xst_kernel *k = &t->kernel;

	for (uint32_t i = 0; i < k->room_kinds; i++)
		if (k->kinds[i])
			free_kind(k->kinds[i]);
	free(k->kinds);
	free(k->symbols.list);
	free(k->printk.list);
	xsp_map_free(&k->tasks);
	xsp_map_free(&k->tgids);
	xsp_map_free(&k->votes);
	free(k->current);
	xst_fit_free(&k->fit);
}

/* ---- questions --------------------------------------------------------------------------- */

const struct xsprof_kernel_event *xsprof_trace_kernel_event(const struct xsprof_trace *t,
							    uint32_t id)
{
	return id < t->kernel.room_kinds ? t->kernel.kinds[id] : NULL;
}

const struct xsprof_kernel_event *xsprof_trace_kernel_next(const struct xsprof_trace *t,
							   uint32_t id)
{
	for (id++; id < t->kernel.room_kinds; id++)
		if (t->kernel.kinds[id])
			return t->kernel.kinds[id];
	return NULL;
}

const struct xsprof_kernel_event *xsprof_trace_kernel_find(const struct xsprof_trace *t,
							   const char *system, const char *name)
{
	const struct xsprof_kernel_event *kind = xsprof_trace_kernel_next(t, UINT32_MAX);

	for (; kind; kind = xsprof_trace_kernel_next(t, kind->id))
		if (!strcmp(kind->system, system) && !strcmp(kind->name, name))
			return kind;
	return NULL;
}

const struct xsprof_kernel_field *xsprof_kernel_field(const struct xsprof_kernel_event *kind,
						      const char *name)
{
	for (uint32_t i = 0; kind && i < kind->nr_fields; i++)
		if (!strcmp(kind->fields[i].name, name))
			return &kind->fields[i];
	return NULL;
}

static bool inside(const struct xsprof_event *ev, size_t offset, size_t size)
{
	return ev->rec && offset <= ev->rec_size && size <= ev->rec_size - offset;
}

bool xsprof_kernel_value(const struct xsprof_event *ev, const struct xsprof_kernel_field *field,
			 uint64_t *value)
{
	uint64_t v = 0;

	if (!field || field->flags & XSPROF_KFIELD_ARRAY || !inside(ev, field->offset, field->size))
		return false;
	if (field->size != 1 && field->size != 2 && field->size != 4 && field->size != 8)
		return false;
	memcpy(&v, (const char *)ev->rec + field->offset, field->size);
	if (field->flags & XSPROF_KFIELD_SIGNED && field->size < 8) {
		unsigned int shift = 64 - 8 * field->size;

		v = (uint64_t)((int64_t)(v << shift) >> shift);
	}
	*value = v;
	return true;
}

const char *xsprof_kernel_bytes(const struct xsprof_event *ev,
				const struct xsprof_kernel_field *field, size_t *len)
{
	const char *at;
	size_t offset, size;
	uint32_t loc;

	*len = 0;
	if (!field || !inside(ev, field->offset, field->size))
		return NULL;
	offset = field->offset;
	size = field->size;
	if (field->flags & XSPROF_KFIELD_DYNAMIC) {
		memcpy(&loc, (const char *)ev->rec + offset, sizeof(loc));
		offset = loc & 0xffff;
		size = loc >> 16;
		/* Where it was counted from behind the word itself. */
		if (strstr(field->type, "__rel_loc"))
			offset += field->offset + sizeof(loc);
		if (!inside(ev, offset, size))
			return NULL;
	}
	at = (const char *)ev->rec + offset;
	*len = field->flags & XSPROF_KFIELD_STRING ? strnlen(at, size) : size;
	return at;
}

const char *xsprof_trace_comm(const struct xsprof_trace *t, uint32_t tid)
{
	const struct xst_text *comm = xst_map_get(&t->kernel.tasks, 0, tid);

	return comm ? comm->s : "";
}

uint32_t xsprof_trace_tgid(const struct xsprof_trace *t, uint32_t tid)
{
	return (uint32_t)(uintptr_t)xst_map_get(&t->kernel.tgids, 0, tid);
}

const char *xsprof_trace_symbols(const struct xsprof_trace *t, uint32_t index)
{
	return index < t->kernel.symbols.nr ? t->kernel.symbols.list[index]->s : NULL;
}

const char *xsprof_trace_printk(const struct xsprof_trace *t, uint32_t index)
{
	return index < t->kernel.printk.nr ? t->kernel.printk.list[index]->s : NULL;
}

int xsprof_trace_get_kernel(const struct xsprof_trace *t, struct xsprof_trace_kernel *kernel)
{
	struct xsprof_trace_kernel out = { .size = sizeof(out) };
	const struct xst_kernel *k = &t->kernel;
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
