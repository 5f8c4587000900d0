// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The functions of the program, by the codes of Python that they are: what they are called, and
 * whether they are asked for. A code that was seen is kept from being freed, and its memory from
 * being another's. All with the GIL held.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/python/local.h"

#define SLOTS		(1u << 16)	/* a power of two */
#define CODES_MAX	(SLOTS / 2)
#define TEXT_MAX	512u

static struct python_code codes[SLOTS];
static uint32_t nr_codes;
static char *words;		/* each ended by a 0, the last by two; NULL: all */
static int category;

void python_codes_init(const char *wanted)
{
	size_t len = strlen(wanted);

	category = python_user.category("python_function");
	if (category < 0)
		category = 0;
	if (!strcmp(wanted, "all"))
		return;
	/* Without memory for it: all. */
	words = calloc(len + 2, 1);
	for (size_t i = 0; words && i < len; i++)
		words[i] = wanted[i] == ',' ? 0 : wanted[i] == '.' ? '/' : wanted[i];
}

/* Is it a module's, or a package's: .../WORD.py, .../WORD/...? */
static bool is_of(const char *file, const char *word)
{
	size_t len = strlen(word);
	const char *at = file;

	while ((at = strstr(at, word))) {
		bool begins = at == file || at[-1] == '/';
		const char *end = at + len;

		if (begins && (*end == '/' || !strcmp(end, ".py")))
			return true;
		at++;
	}
	return false;
}

static bool is_wanted(const char *file)
{
	if (!words)
		return true;
	for (const char *word = words; *word; word += strlen(word) + 1)
		if (is_of(file, word))
			return true;
	return false;
}

/* Below a folder of packages its path is that of the package. */
static const char *below_packages(const char *file)
{
	static const char *const folders[] = { "/site-packages/", "/dist-packages/" };
	const char *at;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		at = strstr(file, folders[i]);
		if (at)
			return at + strlen(folders[i]);
	}
	return file;
}

/* A copy, "?" where it is no text. */
static void copy_text(char *to, void *object, const char *attribute)
{
	void *value = cpython.attribute(object, attribute);
	const char *text = value ? cpython.text(value) : NULL;

	if (!text)
		cpython.err_clear();
	snprintf(to, TEXT_MAX, "%s", text ? text : "?");
	cpython_drop(value);
}

static bool has(void *object, const char *attribute)
{
	void *value = cpython.attribute(object, attribute);

	if (!value)
		cpython.err_clear();
	cpython_drop(value);
	return value;
}

static void describe(struct python_code *known, void *code)
{
	/* Before 3.11 a code knows the last part of its name alone. */
	const char *name = has(code, "co_qualname") ? "co_qualname" : "co_name";
	char file[TEXT_MAX], function[TEXT_MAX], text[2 * TEXT_MAX + 32];
	void *line;

	copy_text(file, code, "co_filename");
	known->wanted = is_wanted(file);
	if (!known->wanted)
		return;
	copy_text(function, code, name);
	line = cpython.attribute(code, "co_firstlineno");
	snprintf(text, sizeof(text), "%s(%ld): %s", below_packages(file),
		 line ? cpython.number(line) : 0, function);
	cpython_drop(line);
	known->name = python_user.name(category, text);
}

const struct python_code *python_code(void *code)
{
	uint32_t at = (uint32_t)(((uintptr_t)code * 0x9e3779b97f4a7c15u) >> 40) % SLOTS;
	struct python_code *known;

	for (known = &codes[at]; known->code; known = &codes[at = (at + 1) % SLOTS])
		if (known->code == code)
			return known;
	if (nr_codes == CODES_MAX)
		return NULL;
	nr_codes++;
	cpython.incref(code);
	known->code = code;
	describe(known, code);
	return known;
}
