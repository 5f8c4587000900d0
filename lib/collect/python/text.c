// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reads Python's strings from memory: the offsets of length, kind and characters are found with
 * strings of our own, one of each kind. A string of a class derived from str has its characters
 * elsewhere: a pointer to them is where another string that is not ASCII has them.
 */
#include <string.h>

#include "collect/python/sample.h"

enum { ASCII, LATIN, TWO, FOUR, KINDS };

#define HEAD	96u	/* bytes searched of a string object */
#define LENGTH	13u	/* length of our strings */

/**
 * struct layout - offsets in bytes
 * @length: of the length in characters
 * @hash: of Python's hash, -1 until it is computed; 0: not found
 * @state: of the byte that contains the kind
 * @mask: bits of the kind in that byte
 * @kind: values of these bits
 * @data: of the characters
 * @derived: characters of derived strings are found
 */
static struct {
	uint32_t	length;
	uint32_t	hash;
	uint32_t	state;
	uint32_t	mask;
	uint32_t	kind[KINDS];
	uint32_t	data[KINDS];
	bool		derived;
} layout;

static const uint32_t width[KINDS] = { 1, 1, 2, 4 };

/* 13 characters, the last one differs; as Python stores them. */
static const char *const samples[KINDS] = {
	"xsprof-text-y", "xsprof-text-\xc3\xa9", "xsprof-text-\xe2\x86\x92",
	"xsprof-text-\xf0\x9f\x90\x8d",
};
static const uint32_t last[KINDS] = { 'y', 0xe9, 0x2192, 0x1f40d };

static bool characters_are(const char *at, uint32_t kind)
{
	uint32_t c;

	for (uint32_t i = 0; i < LENGTH; i++) {
		c = 0;
		memcpy(&c, at + i * width[kind], width[kind]);
		if (c != (i + 1 < LENGTH ? (uint32_t)samples[ASCII][i] : last[kind]))
			return false;
	}
	return true;
}

static bool find_data(uint32_t kind, const char *bytes, uint32_t size)
{
	for (uint32_t i = 16; i + LENGTH * width[kind] <= size; i += 4)
		if (characters_are(bytes + i, kind)) {
			layout.data[kind] = i;
			return true;
		}
	return false;
}

/* Finds a word that equals the length in all of them. */
static bool find_length(char bytes[KINDS][HEAD + LENGTH * 4])
{
	uint64_t v;

	for (uint32_t i = 16; i < 48; i += 8) {
		uint32_t same = 0;

		for (uint32_t k = 0; k < KINDS; k++) {
			memcpy(&v, bytes[k] + i, sizeof(v));
			same += v == LENGTH;
		}
		if (same != KINDS)
			continue;
		layout.length = i;
		return true;
	}
	return false;
}

/* Finds a byte that differs between all kinds, and the fewest bits needed. */
static bool find_state(char bytes[KINDS][HEAD + LENGTH * 4])
{
	for (uint32_t i = 16; i < 48; i++) {
		uint32_t byte[KINDS], mask = 0, differ = 0;

		for (uint32_t k = 0; k < KINDS; k++) {
			byte[k] = (uint8_t)bytes[k][i];
			mask |= byte[k] ^ byte[0];
		}
		for (uint32_t k = 0; k < KINDS; k++)
			for (uint32_t m = 0; m < k; m++)
				differ += byte[k] != byte[m];
		if (differ != KINDS * (KINDS - 1) / 2 || __builtin_popcount(mask) > 4)
			continue;
		layout.state = i;
		layout.mask = mask;
		for (uint32_t k = 0; k < KINDS; k++)
			layout.kind[k] = byte[k] & mask;
		return true;
	}
	return false;
}

/* Python stores the hash once it was computed. */
static void find_hash(void *const object[KINDS])
{
	intptr_t (*hash)(void *object), of[KINDS], v;

	layout.hash = 0;
	if (!python_find(&hash, "PyObject_Hash", NULL))
		return;
	for (uint32_t k = 0; k < KINDS; k++)
		of[k] = hash(object[k]);
	for (uint32_t i = 16; i + 8 <= PYTHON_TEXT_HEAD && !layout.hash; i += 8) {
		uint32_t same = 0;

		for (uint32_t k = 0; k < KINDS; k++)
			same += sample_peek(&v, (const char *)object[k] + i, sizeof(v)) &&
				v == of[k];
		if (same == KINDS)
			layout.hash = i;
	}
}

static uint32_t nr_derived;	/* that were found */

/* Return: the characters of a derived string; 0: they cannot be read. */
static uintptr_t derived_data(const void *object)
{
	uintptr_t at;

	return sample_peek(&at, (const char *)object + layout.data[LATIN], sizeof(at)) ? at : 0;
}

/* Called by our Python program with one of each kind, in turn. */
static void *called(void *self, void *object)
{
	static char characters[LENGTH * 4];
	uint32_t kind = nr_derived % KINDS;

	(void)self;
	nr_derived += sample_peek(characters, (const void *)derived_data(object),
				  LENGTH * width[kind]) && characters_are(characters, kind);
	python.incref(python.none);
	return python.none;
}

static void find_derived(void)
{
	static struct python_callee method = { "xsprof", called, PYTHON_METH_O, NULL };
	static const char program[] =
		"class Text(str):\n"
		"    pass\n"
		"for last in 'y', '\\xe9', '\\u2192', '\\U0001f40d':\n"
		"    xsprof(Text('xsprof-text-' + last))\n";

	nr_derived = 0;
	if (!python_run(program, &method))
		python.err_clear();
	layout.derived = nr_derived == KINDS;
}

bool python_text_find(void)
{
	void *(*make)(const char *text);
	char bytes[KINDS][HEAD + LENGTH * 4];
	void *object[KINDS] = { NULL };
	bool found;

	found = python_find(&make, "PyUnicode_FromString", NULL);
	for (uint32_t k = 0; k < KINDS && found; k++) {
		uint32_t size = HEAD - 16 + LENGTH * width[k];

		object[k] = make(samples[k]);
		/* The object's end may be the end of a mapping. */
		while (object[k] && size > 48 && !sample_peek(bytes[k], object[k], size))
			size -= 4;
		found = object[k] && find_data(k, bytes[k], size);
	}
	found = found && find_length(bytes) && find_state(bytes);
	if (found) {
		find_hash(object);
		find_derived();
	}
	for (uint32_t k = 0; k < KINDS; k++)
		if (object[k])
			python.decref(object[k]);
	return found;
}

/* Return: bytes; 0: no room. */
static uint32_t put_utf8(char *to, uint32_t room, uint32_t c)
{
	static const uint32_t first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	uint32_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	if (n > room)
		return 0;
	for (uint32_t i = n; i-- > 1; c >>= 6)
		to[i] = (char)(0x80 | (c & 0x3f));
	to[0] = (char)(first[n] | c);
	return n;
}

/**
 * struct text - a string being read
 * @kind: its kind
 * @length: length in characters
 * @from: first character read: of a long string the end is read
 * @nr: number of characters read
 * @data: buffer of @size bytes for them
 */
struct text {
	uint32_t	kind;
	uint64_t	length;
	uint64_t	from;
	uint32_t	nr;
	char		*data;
	uint32_t	size;
};

/* @head: its first @known bytes. Return: false: not such a string. */
static bool read_text(struct text *t, const void *object, const char *head, size_t known)
{
	uint32_t most;
	uint64_t at, len;
	uintptr_t type;

	memcpy(&type, head + sizeof(void *), sizeof(type));
	memcpy(&t->length, head + layout.length, sizeof(t->length));
	for (t->kind = 0; t->kind < KINDS; t->kind++)
		if (((uint8_t)head[layout.state] & layout.mask) == layout.kind[t->kind])
			break;
	/* A length beyond any memory: not a string. */
	if (t->kind == KINDS || t->length > 1ull << 40)
		return false;
	most = t->size / width[t->kind];
	t->nr = t->length < most ? (uint32_t)t->length : most;
	t->from = t->length - t->nr;
	at = layout.data[t->kind] + t->from * width[t->kind];
	len = (uint64_t)t->nr * width[t->kind];
	if (type != (uintptr_t)python.text_type) {
		at = layout.derived ? derived_data(object) + t->from * width[t->kind] : 0;
		/* Their number is known, and no more. */
		if (!at)
			t->nr = 0;
		return !t->nr || sample_peek(t->data, (const void *)at, len);
	}
	if (at + len > known)
		return !len || sample_peek(t->data, (const char *)object + at, len);
	memcpy(t->data, head + at, len);
	return true;
}

uint64_t python_text_id(const void *object, const char *head, size_t known, char *data,
			uint32_t size)
{
	struct text t = { .data = data, .size = size };
	uint64_t hash = UINT64_MAX, length;

	memcpy(&length, head + layout.length, sizeof(length));
	if (layout.hash)
		memcpy(&hash, head + layout.hash, sizeof(hash));
	if (hash == UINT64_MAX) {
		if (!read_text(&t, object, head, known))
			return 0;
		hash = 0xcbf29ce484222325u;
		for (uint32_t i = 0; i < t.nr * width[t.kind]; i++)
			hash = (hash ^ (uint8_t)data[i]) * 0x100000001b3u;
	}
	hash ^= length * 0x9e3779b97f4a7c15u;
	return hash ? hash : 1;
}

/* A lone surrogate stands for a byte that was not text; a 0 would end the name. */
static uint32_t character(const struct text *t, uint32_t i)
{
	uint32_t c = 0;

	memcpy(&c, t->data + i * width[t->kind], width[t->kind]);
	return !c || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c;
}

bool python_text_read(const void *object, char *to, uint32_t size, char *data, uint32_t room)
{
	static const char mark[] = "...", none[] = "<no name>";
	struct text t = { .data = data, .size = room };
	uint32_t used = 0, first = 0, bytes = 0;
	char head[PYTHON_TEXT_HEAD], one[4];

	if (!object || !sample_peek(head, object, sizeof(head)) ||
	    !read_text(&t, object, head, sizeof(head)))
		return false;
	/* Cut at the begin: of paths and qualified names the end says more. */
	for (uint32_t i = 0; i < t.nr; i++)
		bytes += put_utf8(one, sizeof(one), character(&t, i));
	for (; bytes + (first || t.from ? sizeof(mark) - 1 : 0) >= size; first++)
		bytes -= put_utf8(one, sizeof(one), character(&t, first));
	if (first || t.from) {
		memcpy(to, mark, sizeof(mark));
		used = sizeof(mark) - 1;
	} else if (!t.nr) {
		memcpy(to, none, sizeof(none));
		used = sizeof(none) - 1;
	}
	for (uint32_t i = first; i < t.nr; i++)
		used += put_utf8(to + used, size - 1 - used, character(&t, i));
	to[used] = '\0';
	return true;
}
