// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of code objects: "train.py(12): step", with the first line of the function. The address of
 * a freed code object is reused, and so are those of its strings, so a code is identified by its
 * names, of which Python keeps hashes, and its first line. Codes with equal values share a name.
 *
 * Owns the names of all codes seen. One thread writes the table; a signal handler whose answer is
 * late may read it at the same time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/common/python-file.h"
#include "collect/python/sample.h"

#define SLOTS		(1u << 15)	/* of the table, a power of two */
#define MOST		(SLOTS / 4 * 3)
#define HIDDEN		UINT32_MAX	/* in place of a name: not shown */

/* Offsets in a code object; 0: not found. */
static struct {
	uint32_t		name;
	uint32_t		file;
	uint32_t		full;	/* the qualified name */
	uint32_t		lines;
	uint32_t		first;
	uint32_t		flags;
	uint32_t		size;
	uint32_t		table;	/* in a bytes object: where its data begins */
	uint32_t		table_size;
	enum python_lines	kind;
} layout;

static struct {
	uint64_t	id;
	xsprof_name_t	name;
} known[SLOTS];

const void *python_code_hidden;

static uint32_t nr_known;
static int category;

void python_code_init(int c)
{
	category = c;
}

uint32_t python_code_size(void)
{
	return layout.size;
}

static const void *pointer(const char *bytes, uint32_t at)
{
	uint64_t v = 0;

	if (at)
		memcpy(&v, bytes + at, sizeof(v));
	return python_untagged(v);
}

/* ---- what is where --------------------------------------------------------------------------- */

#define PROBES	2u

static struct {
	uint32_t	calls;
	bool		wrong;
} probe;

/* The offset of the attribute's pointer in a code. Return: 0: not found, or not at @before. */
static uint32_t find_word(const char *bytes, void *code, const char *attribute, uint32_t before)
{
	void *object = python.attribute(code, attribute);
	uint64_t v;

	if (!object) {
		python.err_clear();
		return 0;
	}
	/* The code object holds a reference too. */
	python.decref(object);
	for (uint32_t i = before ? before : 16; i + 8 <= PYTHON_CODE_SPAN; i += 8) {
		memcpy(&v, bytes + i, sizeof(v));
		if ((uintptr_t)python_untagged(v) == (uintptr_t)object)
			return i;
		if (before)
			break;
	}
	return 0;
}

/* The offset of the attribute's number. Return: 0: not found, or not at @before. */
static uint32_t find_number(const char *bytes, void *code, const char *attribute, uint32_t before)
{
	void *object = python.attribute(code, attribute);
	long number = object ? python.number(object) : 0;
	int32_t v;

	if (object)
		python.decref(object);
	for (uint32_t i = before ? before : 16; i + 4 <= PYTHON_CODE_SPAN; i += 4) {
		memcpy(&v, bytes + i, sizeof(v));
		if (number && v == number)
			return i;
		if (before)
			break;
	}
	return 0;
}

/* Finds the bytes object with the line table, and the offset of its data. */
static bool find_table(void *code, const char *attribute)
{
	void *object = python.attribute(code, attribute);
	const char *bytes = object ? python.bytes(object) : NULL;

	if (bytes) {
		layout.table = (uint32_t)(bytes - (const char *)object);
		layout.table_size = 16;
	}
	if (object)
		python.decref(object);
	return bytes && layout.table >= layout.table_size + sizeof(uint64_t) && layout.table < 64;
}

static void find_lines(const char *bytes, void *code)
{
	uint32_t before = layout.lines;
	char buffer[1024];

	if (probe.calls > 1 && layout.kind == PYTHON_LINES_NONE)
		return;
	layout.lines = find_word(bytes, code, "co_linetable", before);
	layout.kind = layout.full ? PYTHON_LINES_PLACES : PYTHON_LINES_RANGES;
	if (!layout.lines) {
		layout.lines = find_word(bytes, code, "co_lnotab", before);
		layout.kind = PYTHON_LINES_PAIRS;
	}
	if (!layout.lines || !find_table(code, layout.kind == PYTHON_LINES_PAIRS ? "co_lnotab" :
					       "co_linetable"))
		layout.kind = PYTHON_LINES_NONE;
	/* Compare with the lines that Python itself reports. */
	for (int32_t at = 0; at < 64 && layout.kind != PYTHON_LINES_NONE; at += 2) {
		int line = python.addr_line(code, at);

		if (python_code_line(bytes, at, buffer, 0, sizeof(buffer)) !=
		    (uint32_t)(line > 0 ? line : 0))
			layout.kind = PYTHON_LINES_NONE;
	}
}

static uint32_t most_of(uint32_t most, uint32_t at)
{
	return at + 8 > most ? at + 8 : most;
}

/* Called by our Python program with a code object. */
static void *called(void *self, void *code)
{
	char bytes[PYTHON_CODE_SPAN];

	(void)self;
	probe.calls++;
	if (!sample_peek(bytes, code, sizeof(bytes))) {
		probe.wrong = true;
	} else {
		layout.name = find_word(bytes, code, "co_name", layout.name);
		layout.file = find_word(bytes, code, "co_filename", layout.file);
		layout.full = find_word(bytes, code, "co_qualname", layout.full);
		layout.first = find_number(bytes, code, "co_firstlineno", layout.first);
		layout.flags = find_number(bytes, code, "co_flags", layout.flags);
		find_lines(bytes, code);
		probe.wrong |= !layout.name || !layout.file || !layout.first;
	}
	python.incref(python.none);
	return python.none;
}

static struct python_callee method = { "xsprof", called, PYTHON_METH_O, NULL };

/*
 * Functions with nothing in common; each has more than the 64 bytes that are compared. The flags
 * added are those of "from __future__" that no longer mean anything.
 */
static const char program[] =
	"def outer():\n"
	"    def inner(a, b):\n"
	"        for i in a:\n"
	"            b[i] = (a[0],\n"
	"                    i + 1)\n"
	"        return [x + 1 for x in b], a(b=1)(\n"
	"            b, a, b)\n"
	"    return inner\n"
	"def other(x, *y):\n"
	"    try:\n"
	"        return x(y) + y[x:1] - x.a.b.c\n"
	"    except Exception as e:\n"
	"        raise ValueError(e) from None\n"
	"xsprof(outer().__code__.replace(co_firstlineno=54321, co_filename='xsprof-one',\n"
	"    co_flags=outer.__code__.co_flags | 0x60000))\n"
	"xsprof(other.__code__.replace(co_firstlineno=43219, co_filename='xsprof-two',\n"
	"    co_flags=other.__code__.co_flags | 0x40000))\n";

bool python_code_find(void)
{
	memset(&layout, 0, sizeof(layout));
	memset(&probe, 0, sizeof(probe));
	if (!python_text_find() || !python_run(program, &method) || probe.wrong ||
	    probe.calls != PROBES)
		return false;
	layout.size = most_of(most_of(most_of(0, layout.name), layout.file), layout.full);
	layout.size = most_of(most_of(layout.size, layout.lines), layout.first);
	layout.size = most_of(layout.size, layout.flags);
	return layout.size <= PYTHON_CODE_SPAN;
}

/* ---- one code -------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t key, uint64_t word)
{
	key = (key ^ word) * 0xd6e8feb86659fd93u;
	return key ^ key >> 32;
}

/* Return: the slot of the id, or a free one. */
static uint32_t place_of(uint64_t id)
{
	uint32_t at = (uint32_t)(id >> 40) % SLOTS;

	while (known[at].id && known[at].id != id)
		at = (at + 1) % SLOTS;
	return at;
}

bool python_code_texts(const char *bytes, const void *text[PYTHON_TEXTS])
{
	if (pointer(bytes, sizeof(void *)) != python.code_type)
		return false;
	text[0] = pointer(bytes, layout.file);
	/* Before 3.11 a code has only the last part of its qualified name. */
	text[1] = pointer(bytes, layout.full ? layout.full : layout.name);
	return text[0] && text[1];
}

bool python_code_read(struct sampled_code *code, const char *bytes,
		      const uint64_t ids[PYTHON_TEXTS], char *data, uint32_t room)
{
	const void *text[PYTHON_TEXTS];
	xsprof_name_t name;
	int32_t references;
	uint32_t place;

	/* Its references: since 3.12 an object that is never freed has so many. */
	memcpy(&references, bytes, sizeof(references));
	code->immortal = references < 0;
	memcpy(&code->first, bytes + layout.first, sizeof(code->first));
	code->id = mix(mix(mix(0, (uint32_t)code->first), ids[0]), ids[1]) | 1;
	place = place_of(code->id);
	/* Acquire: if the slot was just given to another id, the code counts as new. */
	name = __atomic_load_n(&known[place].id, __ATOMIC_ACQUIRE) == code->id ?
	       __atomic_load_n(&known[place].name, __ATOMIC_RELAXED) : 0;
	code->hidden = name == HIDDEN;
	code->name = code->hidden ? 0 : name;
	if (name)
		return true;
	return python_code_texts(bytes, text) &&
	       python_text_read(text[0], code->file, sizeof(code->file), data, room) &&
	       python_text_read(text[1], code->function, sizeof(code->function), data, room);
}

bool python_code_awaits(const char *bytes)
{
	uint32_t flags;

	if (!layout.flags)
		return false;
	memcpy(&flags, bytes + layout.flags, sizeof(flags));
	/* CO_COROUTINE, CO_ITERABLE_COROUTINE */
	return flags & 0x180;
}

const void *python_code_lines(const char *bytes)
{
	return layout.kind == PYTHON_LINES_NONE ? NULL : pointer(bytes, layout.lines);
}

uint32_t python_code_line(const char *bytes, int32_t at, char *buffer, size_t got, size_t room)
{
	const char *object = python_code_lines(bytes);
	char *table = buffer + layout.table;
	int32_t first;
	uint64_t size;

	if (!object || (got < layout.table && !sample_peek(buffer, object, layout.table)))
		return 0;
	memcpy(&size, buffer + layout.table_size, sizeof(size));
	size = size < room - layout.table ? size : room - layout.table;
	if (got < layout.table + size && !sample_peek(table, object + layout.table, size))
		return 0;
	memcpy(&first, bytes + layout.first, sizeof(first));
	return python_line_at(layout.kind, (const uint8_t *)table, (uint32_t)size, first, at);
}

void python_code_again(void)
{
	__atomic_store_n(&python_code_hidden, NULL, __ATOMIC_RELAXED);
}

void python_code_name(struct sampled_code *code, const void *at)
{
	char text[PYTHON_FILE_MAX + PYTHON_FUNCTION_MAX + 16];
	uint32_t place = place_of(code->id);

	if (known[place].id) {
		code->hidden = known[place].name == HIDDEN;
		code->name = code->hidden ? 0 : known[place].name;
		return;
	}
	code->hidden = !strcmp(code->function, "<interpreter trampoline>");
	/* Python's own is a single one, and its address identifies it. */
	if (code->hidden && code->immortal)
		__atomic_store_n(&python_code_hidden, at, __ATOMIC_RELAXED);
	if (!code->hidden) {
		snprintf(text, sizeof(text), "%s(%d): %s", python_file_shown(code->file),
			 code->first, code->function);
		code->name = python_user.name(category, text);
	}
	/* The table is full: forget all names; codes still in use are named again. */
	if (nr_known == MOST) {
		memset(known, 0, sizeof(known));
		nr_known = 0;
		place = place_of(code->id);
	}
	__atomic_store_n(&known[place].name, code->hidden ? HIDDEN : code->name, __ATOMIC_RELAXED);
	/* Release: pairs with the acquire in python_code_read(). */
	__atomic_store_n(&known[place].id, code->id, __ATOMIC_RELEASE);
	nr_known++;
}
