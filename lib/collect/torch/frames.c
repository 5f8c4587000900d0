// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of Python frames: "train.py(12): step". A stack is named once, when it is new. Stacks are
 * identified by the addresses of their code objects, so a reference to each such object is held: it
 * is not freed, and its address is not reused.
 */
#include <stdio.h>
#include <stdlib.h>

#include "collect/common/python-file.h"
#include "collect/torch/native.h"
#include "collect/torch/python.h"

#define SLOTS		(1u << 16)	/* of the table, a power of two */
#define CODES_MAX	(SLOTS / 2)	/* with more code objects, stacks are no longer named */
#define TEXT_MAX	512u
#define STACKS		(1u << 14)	/* stacks that may have a line; the library keeps fewer */

/**
 * struct known_code - a code object that we hold a reference to
 * @code: the object; NULL: free slot
 * @where: file and function in one allocation: "file\\0function"
 * @function: points to the function in @where
 * @foreign: belongs to a package or to Python's standard library
 * @ours: belongs to the Python package xsprof: its frames are left out
 */
struct known_code {
	void		*code;
	char		*where;
	const char	*function;
	bool		foreign;
	bool		ours;
};

const void *python_calls[PYTHON_CALLS];
const void *python_entry;

/*
 * By stack: name of its line, with half of the stack's key in the upper bits, which identifies the
 * stack: a forked child numbers stacks anew, and another thread may see the number before the line
 * is stored.
 */
static uint64_t lines[STACKS];

static struct known_code *codes;	/* allocated at the first stack, never freed */
static uint32_t nr_codes;
static int frames_category;

void python_frames_init(int category)
{
	frames_category = category;
}

/* Return: NULL: no such attribute, or no memory. */
static char *copy_of(void *code, const char *name)
{
	void *object = python.attribute(code, name), *bytes = NULL;
	const char *text = object ? python.text(object) : NULL;
	char *copy;

	/* A path that is not valid text: use the bytes of Python's own encoding. */
	if (object && !text) {
		python.err_clear();
		bytes = python.encode(object, "utf-8", "backslashreplace");
		text = bytes ? python.bytes(bytes) : NULL;
	}
	copy = text ? strdup(text) : NULL;
	if (!text)
		python.err_clear();
	if (bytes)
		python.decref(bytes);

	if (object)
		python.decref(object);
	return copy;
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len >= n && !strcmp(text + len - n, end);
}

/* Is the first argument, the module called, not also a cell variable of inner functions? */
static bool has_plain_self(void *code)
{
	void *cells = python.attribute(code, "co_cellvars");
	void *repr = cells ? python.repr(cells) : NULL;
	const char *text = repr ? python.text(repr) : NULL;
	bool plain = text && !strstr(text, "'self'");

	if (repr)
		python.decref(repr);
	if (cells)
		python.decref(cells);
	return plain;
}

static bool is_call(void *code, const char *file, const char *function)
{
	const char *name = strrchr(function, '.');

	name = name ? name + 1 : function;
	return (!strcmp(name, "_wrapped_call_impl") || !strcmp(name, "_call_impl")) &&
	       ends_with(file, "torch/nn/modules/module.py") && has_plain_self(code);
}

static bool note_call(void *code)
{
	for (uint32_t i = 0; i < PYTHON_CALLS; i++) {
		if (python_calls[i])
			continue;
		/* Other threads walk without the GIL: they see it now or at their next op. */
		__atomic_store_n(&python_calls[i], code, __ATOMIC_RELAXED);
		return true;
	}
	return false;
}

static bool note_entry(void *code)
{
	__atomic_store_n(&python_entry, code, __ATOMIC_RELAXED);
	return true;
}

/* Is it of a module of the package xsprof that calls PyTorch or functions of the program? */
static bool is_ours(const char *file)
{
	return ends_with(file, "/xsprof/_marker.py") ||
	       ends_with(file, "/xsprof/profiler/_profile.py") ||
	       ends_with(file, "/xsprof/profiler/_session.py");
}

static bool describe(struct known_code *known, void *code, bool *more)
{
	char *file = copy_of(code, "co_filename");
	char *function = copy_of(code, "co_qualname");
	const char *shown = file ? python_file_shown(file) : NULL;
	size_t len;

	/* Before 3.11 code objects have only the last part of the qualified name. */
	if (!function)
		function = copy_of(code, "co_name");
	len = file && function ? strlen(shown) + strlen(function) + 2 : 0;

	known->where = len ? malloc(len) : NULL;
	if (known->where) {
		strcpy(known->where, shown);
		known->foreign = python_file_is_foreign(file);
		known->ours = is_ours(file);
		known->function = strcpy(known->where + strlen(shown) + 1, function);
		*more |= is_call(code, file, function) && note_call(code);
		*more |= !strcmp(function, "<interpreter trampoline>") && note_entry(code);
	}
	free(function);
	free(file);
	return known->where;
}

/* Return: NULL: the table is full. */
static const struct known_code *get(void *code, bool *more)
{
	uint32_t at = (uint32_t)(((uintptr_t)code * 0x9e3779b97f4a7c15u) >> 40) % SLOTS;
	struct known_code *known;

	if (!codes)
		codes = calloc(SLOTS, sizeof(*codes));
	if (!codes)
		return NULL;
	for (known = &codes[at]; known->code; known = &codes[at = (at + 1) % SLOTS])
		if (known->code == code)
			return known;
	if (nr_codes == CODES_MAX || !describe(known, code, more))
		return NULL;
	python.incref(code);
	known->code = code;
	nr_codes++;
	return known;
}

static void set_line(uint32_t stack, uint64_t key, xsprof_name_t line)
{
	if (stack < STACKS)
		__atomic_store_n(&lines[stack], (key >> 32 << 32) | line, __ATOMIC_RELAXED);
}

/* Adds the stack without names, so that it is not tried again with the GIL at every op. */
static uint32_t add_unnamed(uint64_t key, uint32_t nr)
{
	const uint64_t frame = XSPROF_FRAME_NAMED |
			       torch_user.name(frames_category, "(no room for its name)");
	uint32_t stack = torch_user.stack_add(key, &frame, 1, nr - 1);

	set_line(stack, key, PYTHON_NO_LINE);
	return stack;
}

uint32_t python_stack(uint64_t key, const struct python_frames *frames, bool *more)
{
	const struct python_frame *frame = frames->frame;
	uint64_t all[NATIVE_FRAMES + 1 + PYTHON_FRAMES] = { 0 };
	const struct native_stack *native = frames->native;
	uint32_t outer = native->nr - native->inner;
	uint64_t *named = all + native->inner;
	uint32_t nr = frames->nr, left = frames->left;
	const struct known_code *known;
	xsprof_name_t name, own = 0;
	char text[TEXT_MAX];
	uint32_t stack, n = 0;
	int line;

	memcpy(all, native->frame, native->inner * sizeof(*all));
	for (uint32_t i = 0; i < nr; i++) {
		known = get(frame[i].code, more);
		if (!known)
			return add_unnamed(key, nr + left);
		line = python.addr_line(frame[i].code, frame[i].at);
		/* Python made this code up; PyTorch's profiler does not show it either. */
		if ((line < 0 || known->ours) && (n || i + 1 < nr))
			continue;
		/* Cut a path that is too long at its begin: the end says more. */
		if (snprintf(text, sizeof(text), "%s(%d): %s", known->where, line,
			     known->function) >= (int)sizeof(text))
			snprintf(text, sizeof(text), "...%.*s(%d): %.*s", 200,
				 known->where + (strlen(known->where) > 200 ?
						 strlen(known->where) - 200 : 0),
				 line, 200, known->function);
		name = torch_user.name(frames_category, text);
		if (!name)
			return add_unnamed(key, nr + left);
		named[n++] = XSPROF_FRAME_NAMED | name;
		if (!own && !known->foreign && line >= 0)
			own = name;
	}
	/*
	 * Frames outside the interpreter. Native frames between two evaluators are not placed
	 * between the Python frames.
	 */
	memcpy(named + n, native->frame + native->inner, outer * sizeof(*all));
	stack = torch_user.stack_add(key, all, native->nr + n, left);
	/* If all frames are of packages (python -m), the line is the innermost one. */
	set_line(stack, key, own ? own : (xsprof_name_t)named[0]);
	return stack;
}

xsprof_name_t python_line(uint32_t stack, uint64_t key)
{
	uint64_t line;

	if (stack >= STACKS)
		return PYTHON_NO_LINE;
	/* Relaxed: a thread that sees none takes the GIL and looks again. */
	line = __atomic_load_n(&lines[stack], __ATOMIC_RELAXED);
	return line >> 32 == key >> 32 ? (xsprof_name_t)line : 0;
}
