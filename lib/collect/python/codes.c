// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Functions of the program, by code object: their names, and whether tracing of them was requested.
 * A reference to each code object seen is held, so that its address is not reused. All functions
 * require the GIL.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/python/local.h"

#define SLOTS		(1u << 16)	/* a power of two */
#define CODES_MAX	(SLOTS / 2)	/* code objects kept */
#define TEXT_MAX	512u

static struct python_code codes[SLOTS];
static uint32_t nr_codes;
static char *words;		/* each ends with a 0, the list with two; NULL: all */
static uint64_t stated;		/* bit k: a function matching word k was called */
static int category;
static void *sys;		/* module sys */

void python_codes_init(const char *wanted, void *module)
{
	size_t len = strlen(wanted);

	sys = module;
	category = python_user.category("python_function");
	if (category < 0)
		category = 0;
	if (!strcmp(wanted, "all"))
		return;
	/* Without memory: trace all. */
	words = calloc(len + 2, 1);
	/* Skip empty words: one would end the list. */
	for (size_t i = 0, at = 0; words && i < len; i++)
		if (wanted[i] != ',' || (at && words[at - 1]))
			words[at++] = wanted[i] == ',' ? 0 : wanted[i] == '.' ? '/' : wanted[i];
	if (words && !python_user_can_state())
		stated = UINT64_MAX;
}

/* Reports the match, so that the recorder can tell the user which module had no call. */
static void state(uint32_t number, const char *word)
{
	char key[32];

	if (number >= 64 || stated & 1ull << number)
		return;
	stated |= 1ull << number;
	snprintf(key, sizeof(key), "python.module.%u", number);
	(void)python_user.fact(key, word);
}

/* Is the file that module, or part of that package? */
static bool is_of(const char *file, const char *word)
{
	size_t len = strlen(word);

	return !strncmp(file, word, len) && (file[len] == '/' || !strcmp(file + len, ".py"));
}

static bool is_wanted(const char *file)
{
	uint32_t number = 0;
	bool wanted = false;

	if (!words)
		return true;
	for (const char *word = words; *word; word += strlen(word) + 1, number++) {
		if (!is_of(file, word))
			continue;
		state(number, word);
		/* A package and one of its modules may both be listed. */
		wanted = true;
	}
	return wanted;
}

/*
 * The path as imports see it: relative to the longest folder of sys.path that contains it. sys.path
 * changes while the program runs.
 */
static const char *below_path(const char *file)
{
	void *list = cpython.attribute(sys, "path");
	intptr_t n = list ? cpython.list_size(list) : 0;
	size_t best = 0;

	for (intptr_t i = 0; i < n; i++) {
		void *item = cpython.list_item(list, i);
		const char *folder = item ? cpython.text(item) : NULL;
		size_t len = folder ? strlen(folder) : 0;

		if (!folder) {
			cpython.err_clear();
			continue;
		}
		while (len && folder[len - 1] == '/')
			len--;
		if (len > best && !strncmp(file, folder, len) && file[len] == '/')
			best = len;
	}
	cpython.err_clear();
	cpython_drop(list);
	return best ? file + best + 1 : file;
}

/* Copies the attribute's text, "?" if it is not text. */
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

/* Sets @to, of TEXT_MAX bytes, to the code's path. */
static void find_file(char *to, void *code)
{
	char path[TEXT_MAX], *real = NULL;

	copy_text(path, code, "co_filename");
	/* Normalise the path of a program started by a relative path. */
	if (strstr(path, "/../") || strstr(path, "/./"))
		real = realpath(path, NULL);
	snprintf(to, TEXT_MAX, "%s", below_path(real ? real : path));
	free(real);
}

static void describe(struct python_code *known, void *code)
{
	/* Before 3.11 a code object has only the last part of its qualified name. */
	const char *name = has(code, "co_qualname") ? "co_qualname" : "co_name";
	char file[TEXT_MAX], function[TEXT_MAX], text[2 * TEXT_MAX + 32];
	void *line;

	find_file(file, code);
	known->wanted = is_wanted(file);
	if (!known->wanted)
		return;
	copy_text(function, code, name);
	line = cpython.attribute(code, "co_firstlineno");
	snprintf(text, sizeof(text), "%s(%ld): %s", file, line ? cpython.number(line) : 0,
		 function);
	cpython_drop(line);
	known->name = python_user.name(category, text);
}

const struct python_code *python_code(void *code, bool keep_all)
{
	uint32_t at = (uint32_t)(((uintptr_t)code * 0x9e3779b97f4a7c15u) >> 40) % SLOTS;
	static struct python_code other;	/* a code object that is not kept */
	struct python_code *known;

	for (known = &codes[at]; known->code; known = &codes[at = (at + 1) % SLOTS])
		if (known->code == code)
			return known;
	other = (struct python_code){ 0 };
	describe(&other, code);
	/* The table is full, or the code is not wanted: describe it at each call. */
	if (nr_codes == CODES_MAX || (!other.wanted && !keep_all))
		return &other;
	nr_codes++;
	cpython.incref(code);
	*known = other;
	known->code = code;
	return known;
}
