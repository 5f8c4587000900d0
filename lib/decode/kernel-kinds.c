// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Kinds of events of the kernel tracer: parses their descriptions, keeps them by id, and extracts
 * fields of events with them. A description is text from the file: invalid ones are left out, and
 * no field extends beyond its event.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/local.h"

#define MAX_KINDS	65536u		/* an id has 16 bits */

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

/* Parses "offset:8;" and similar. Return: the number, or -1. */
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

/* Splits "char prev_comm[16]" into type and name. Return: 0, -EBADMSG, -ENOMEM. */
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
	name = xst_pool_text(&t->found.pool, from, end - from);
	while (from > s && (from[-1] == ' ' || from[-1] == '\t'))
		from--;
	type = xst_pool_text(&t->found.pool, s, from - s);
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

/*
 * Parses "\tfield:DECLARATION;\toffset:N;\tsize:N;\tsigned:N;". Return: 1: a field, 0: none,
 * -ENOMEM.
 */
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
	t->found.lists += sizeof(*kind) + (kind->nr_fields + 1) * sizeof(*list);
	memcpy(list, fields, kind->nr_fields * sizeof(*list));
	kind->fields = list;
	return 0;
}

/* The value of a line "key: value" at the start of the text. Return: its length, 0 for none. */
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
	/* Callers hold pointers to kinds: the first description stays. */
	if (k->kinds[kind->id])
		return -EEXIST;
	k->kinds[kind->id] = kind;
	k->nr_kinds++;
	return 0;
}

/* As for the kernel's names: a damaged text must not look like a name, or be empty. */
static bool is_name(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (s[i] <= ' ' || s[i] > '~')
			return false;
	return len != 0;
}

int xst_kernel_add_format(struct xsprof_trace *t, const char *s, size_t len)
{
	const char *nl = memchr(s, '\n', len), *value = s;
	const struct xst_text *system, *name, *format;
	struct xsprof_kernel_event *kind;
	size_t n;
	int err;

	if (!nl || !is_name(s, nl - s))
		return -EBADMSG;
	n = header_line(nl + 1, len - (nl + 1 - s), "name:", &value);
	if (!is_name(value, n))
		return -EBADMSG;
	system = xst_pool_text(&t->found.pool, s, nl - s);
	name = xst_pool_text(&t->found.pool, value, n);
	format = xst_pool_text(&t->found.pool, nl + 1, len - (nl + 1 - s));
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
	kind->id = n ? xst_number_of(value, n) : MAX_KINDS;
	err = kind->id < MAX_KINDS ? take_fields(t, kind) : -EBADMSG;
	if (!err)
		err = put_kind(&t->found.kernel, kind);
	if (err)
		free_kind(kind);
	return err == -EEXIST ? 0 : err;
}

void xst_kernel_free_kinds(struct xst_kernel *k)
{
	for (uint32_t i = 0; i < k->room_kinds; i++)
		if (k->kinds[i])
			free_kind(k->kinds[i]);
	free(k->kinds);
}

/* ---- questions --------------------------------------------------------------------------- */

const struct xsprof_kernel_event *xsprof_trace_kernel_event(const struct xsprof_trace *t,
							    uint32_t id)
{
	return id < t->found.kernel.room_kinds ? t->found.kernel.kinds[id] : NULL;
}

const struct xsprof_kernel_event *xsprof_trace_kernel_next(const struct xsprof_trace *t,
							   uint32_t id)
{
	for (id++; id < t->found.kernel.room_kinds; id++)
		if (t->found.kernel.kinds[id])
			return t->found.kernel.kinds[id];
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
		/* __rel_loc: the offset is relative to the end of its own word. */
		if (strstr(field->type, "__rel_loc"))
			offset += field->offset + sizeof(loc);
		if (!inside(ev, offset, size))
			return NULL;
	}
	at = (const char *)ev->rec + offset;
	*len = field->flags & XSPROF_KFIELD_STRING ? strnlen(at, size) : size;
	return at;
}
