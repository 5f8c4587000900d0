// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Python's strings, read as memory: where they keep their length, what kind they are of, and their
 * characters is found by strings of our own, one of each kind.
 */
#include <string.h>

#include "collect/python/sample.h"

enum { ASCII, LATIN, TWO, FOUR, KINDS };

#define HEAD	96u	/* bytes of a string that are looked at */
#define LENGTH	13u	/* of ours */
#define MOST	512u	/* bytes of one that are read */

/**
 * struct layout - offsets in bytes
 * @length: of it: characters
 * @state: of the byte that says of which kind it is
 * @mask: the bits of that
 * @kind: what they are
 * @data: where the characters begin
 */
static struct {
	uint32_t	length;
	uint32_t	state;
	uint32_t	mask;
	uint32_t	kind[KINDS];
	uint32_t	data[KINDS];
} layout;

static const uint32_t width[KINDS] = { 1, 1, 2, 4 };

/* 13 characters, of which the last differs; as Python has them in memory. */
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

/* A word that is the same length in all. */
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

/* A byte by which each is told from all others, in as few bits as that takes. */
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
		/* Its end may be that of what is mapped. */
		while (object[k] && size > 48 && !sample_peek(bytes[k], object[k], size))
			size -= 4;
		found = object[k] && find_data(k, bytes[k], size);
	}
	found = found && find_length(bytes) && find_state(bytes);
	for (uint32_t k = 0; k < KINDS; k++)
		if (object[k])
			python.decref(object[k]);
	return found;
}

/* Return: bytes; 0: no more of them fit. */
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

uint32_t python_text_read(const void *object, char *to, uint32_t size)
{
	char head[48], data[MOST];
	uint32_t kind, used = 0, n, c;
	uint64_t length;

	if (!object || !sample_peek(head, object, sizeof(head)))
		return 0;
	memcpy(&length, head + layout.length, sizeof(length));
	for (kind = 0; kind < KINDS; kind++)
		if (((uint8_t)head[layout.state] & layout.mask) == layout.kind[kind])
			break;
	if (kind == KINDS || !length || length > 1 << 16)
		return 0;
	n = length < MOST / width[kind] ? (uint32_t)length : MOST / width[kind];
	/* Of a path that is too long the end tells more, here that of what is kept. */
	if (!sample_peek(data, (const char *)object + layout.data[kind], n * width[kind]))
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		c = 0;
		memcpy(&c, data + i * width[kind], width[kind]);
		/* Half a pair stands for a byte that was no text; a 0 would end the name. */
		if (!c || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			c = 0xfffd;
		c = put_utf8(to + used, size - 1 - used, c);
		if (!c)
			break;
		used += c;
	}
	to[used] = '\0';
	return used;
}
