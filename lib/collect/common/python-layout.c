// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finds the layout of Python's frames at run time, without regard to the version: it runs Python
 * functions of our own; the last one calls C, where the memory of its frame and of its caller's
 * frame is searched for the values that Python's API reports for the two. An offset that fits in
 * each of three calls, of functions with nothing else in common, is accepted.
 */
#include <stddef.h>
#include <string.h>

#include "collect/common/peek.h"
#include "collect/common/python-layout.h"

#define SPAN		64u	/* words searched of a frame and of a thread's state */
#define INNER		4u	/* words searched of memory that a state points to */
#define CALLS		3u
#define BASE_MAX	1024u	/* bytes of a code object before its instructions */

struct python_layout python_layout;

/* Two frames as Python's API reports them: of the function that called us, and of its caller. */
struct known {
	void		*object[2];	/* frame objects */
	void		*code[2];
	long		at[2];
	void		*argument;
};

/* Candidate offsets, in words; each call removes those that do not fit. */
static struct {
	bool		state[SPAN];
	bool		state_deep[SPAN][INNER];
	bool		back[SPAN];
	bool		code[SPAN];
	uint64_t	base[SPAN];	/* of a pointer into the code: offset of the instructions */
	uint8_t		scale[2 * SPAN];	/* unit of an int index, in 4 bytes */
	bool		self[SPAN];
	uint16_t	object;		/* frame pointer in a frame object; 0: it is the frame */
	unsigned int	calls;
	bool		wrong;
} found;

static bool copy_words(uint64_t *copy, const void *at)
{
	return at && collect_peek(copy, at, SPAN * sizeof(*copy));
}

/* ---- from a thread's state to its frame ----------------------------------------------------- */

/* Return: true if any remaining candidate leads from the state to this frame. */
static bool look_in_state(const uint64_t *state, const void *frame)
{
	bool first = !found.calls, any = false;
	uint64_t inner[INNER];

	for (uint32_t i = 0; i < SPAN; i++) {
		bool deep = state[i] > 4096 && !(state[i] & 7) &&
			    collect_peek(inner, python_untagged(state[i]), sizeof(inner));
		bool direct = state[i] == (uintptr_t)frame;

		found.state[i] = direct && (first || found.state[i]);
		any |= found.state[i];
		for (uint32_t k = 0; k < INNER; k++) {
			bool here = deep && inner[k] == (uintptr_t)frame;

			found.state_deep[i][k] = here && (first || found.state_deep[i][k]);
			any |= found.state_deep[i][k];
		}
	}
	return any;
}

/* Up to 3.10 frames are objects; since 3.11 a frame object points to its frame. */
static bool find_frames(const struct known *known, const void *frame[2])
{
	uint64_t state[SPAN], object[2][SPAN];

	if (!copy_words(state, python.this_state()) ||
	    !copy_words(object[0], known->object[0]) || !copy_words(object[1], known->object[1]))
		return false;
	for (uint32_t i = found.object; i < 8; i++) {
		if (i == 1 || (found.calls && i != found.object))
			continue;
		frame[0] = i ? (const void *)(uintptr_t)object[0][i] : known->object[0];
		frame[1] = i ? (const void *)(uintptr_t)object[1][i] : known->object[1];
		if (!frame[0] || !frame[1] || frame[0] == frame[1] ||
		    !look_in_state(state, frame[0]))
			continue;
		found.object = (uint16_t)i;
		return true;
	}
	return false;
}

/* ---- in a frame ----------------------------------------------------------------------------- */

static bool is_scaled(const struct known *known, const int32_t v[2], int32_t scale)
{
	return v[0] * (long)scale == known->at[0] && v[1] * (long)scale == known->at[1];
}

static void look_for_int(const struct known *known, const uint64_t *a, const uint64_t *b)
{
	for (uint32_t i = 0; i < 2 * SPAN; i++) {
		int32_t v[2];

		memcpy(&v[0], (const char *)a + 4ul * i, sizeof(v[0]));
		memcpy(&v[1], (const char *)b + 4ul * i, sizeof(v[1]));
		if (!found.calls && is_scaled(known, v, 1))
			found.scale[i] = 1;
		else if (!found.calls)
			found.scale[i] = is_scaled(known, v, 2) ? 2 : 0;
		else if (found.scale[i] && !is_scaled(known, v, found.scale[i]))
			found.scale[i] = 0;
	}
}

static void look_in_frames(const struct known *known, const void *const frame[2],
			   const uint64_t *a, const uint64_t *b)
{
	bool first = !found.calls;

	for (uint32_t i = 0; i < SPAN; i++) {
		uint64_t base = a[i] - (uintptr_t)known->code[0] - (uint64_t)known->at[0];
		bool in_code = base && base < BASE_MAX &&
			b[i] - (uintptr_t)known->code[1] - (uint64_t)known->at[1] == base;

		found.back[i] = a[i] == (uintptr_t)frame[1] && (first || found.back[i]);
		found.code[i] = python_untagged(a[i]) == known->code[0] &&
				python_untagged(b[i]) == known->code[1] &&
				(first || found.code[i]);
		found.base[i] = in_code && (first || found.base[i] == base) ? base : 0;
		found.self[i] = python_untagged(a[i]) == known->argument &&
				(first || found.self[i]);
	}
	look_for_int(known, a, b);
}

static bool look(const struct known *known)
{
	uint64_t a[SPAN], b[SPAN];
	const void *frame[2];

	if (!find_frames(known, frame) || !copy_words(a, frame[0]) || !copy_words(b, frame[1]))
		return false;
	look_in_frames(known, frame, a, b);
	return true;
}

/* ---- calls ---------------------------------------------------------------------------------- */

static bool describe(void *object, void **code, long *at)
{
	void *number = python.attribute(object, "f_lasti");

	if (!number)
		return false;
	*at = python.number(number);
	python.decref(number);
	*code = python.code(object);
	/* Safe: the frame holds a reference too. */
	python.decref(*code);
	return true;
}

/* Called by a Python function with the function's first argument. */
static void *called(void *self, void *argument)
{
	struct known known = { .argument = argument };

	(void)self;
	known.object[0] = python.frame(python.this_state());
	known.object[1] = known.object[0] ? python.back(known.object[0]) : NULL;
	if (!known.object[1] || !describe(known.object[0], &known.code[0], &known.at[0]) ||
	    !describe(known.object[1], &known.code[1], &known.at[1]) || !look(&known))
		found.wrong = true;
	for (int i = 0; i < 2; i++)
		if (known.object[i])
			python.decref(known.object[i]);
	found.calls++;
	python.incref(python.none);
	return python.none;
}

static struct python_callee method = { "xsprof", called, PYTHON_METH_O, NULL };

/* Functions and callers that have nothing in common but the first argument. */
static const char source[] =
	"def one(self, *args, **kwargs):\n"
	"    return xsprof(self)\n"
	"def two(self, *args, **kwargs):\n"
	"    a, b, c = len(args), [2], 3\n"
	"    return [a, b, c, xsprof(self), c]\n"
	"def caller():\n"
	"    x = y = z = 1.5\n"
	"    return two(dict(a=x), x, y, b=z)\n"
	"one(object(), 1)\n"
	"caller()\n"
	"two([], x=1)\n";

#define OUR_FILE	"<xsprof>"

/* Runs it unseen by a tracer of the program, such as coverage's; before 3.11 it is seen. */
static void *run_untraced(void *(*run)(void *, void *, void *), void *code, void *globals)
{
	void (*enter)(void *state), (*leave)(void *state), *(*get_state)(void), *state, *result;

	if (!python_find(&get_state, "PyThreadState_Get", NULL) ||
	    !python_find(&enter, "PyThreadState_EnterTracing", NULL) ||
	    !python_find(&leave, "PyThreadState_LeaveTracing", NULL))
		return run(code, globals, globals);
	state = get_state();
	enter(state);
	result = run(code, globals, globals);
	leave(state);
	return result;
}

/* An audit hook of the program may refuse it. */
static bool not_compiled;

bool python_run(const char *program, struct python_callee *callee)
{
	void *(*dict_new)(void), *(*builtins)(void), *(*run)(void *, void *, void *);
	void *(*compile)(const char *, const char *, int);
	int (*dict_set)(void *, const char *, void *);
	void *globals, *function, *code, *result = NULL;

	if (!python_find(&dict_new, "PyDict_New", NULL) ||
	    !python_find(&builtins, "PyEval_GetBuiltins", NULL) ||
	    !python_find(&compile, "Py_CompileString", NULL) ||
	    !python_find(&run, "PyEval_EvalCode", NULL) ||
	    !python_find(&dict_set, "PyDict_SetItemString", NULL))
		return false;
	globals = dict_new();
	function = python.function_new(callee, NULL, NULL);
	code = compile(program, OUR_FILE, 257 /* Py_file_input */);
	not_compiled = !code;
	if (globals && function && code && !dict_set(globals, "__builtins__", builtins()) &&
	    !dict_set(globals, callee->name, function))
		result = run_untraced(run, code, globals);
	if (result)
		python.decref(result);
	if (code)
		python.decref(code);
	if (function)
		python.decref(function);
	if (globals)
		python.decref(globals);
	return result;
}

/* Gets an attribute of an object, and drops the object. Return: NULL: there is none. */
static void *step(void *object, const char *name)
{
	void *next = object ? python.attribute(object, name) : NULL;

	if (object)
		python.decref(object);
	if (object && !next)
		python.err_clear();
	return next;
}

/* The function in which an exception was raised, by its traceback. Is that in our source? */
static bool is_raised_by_us(void *trace)
{
	void *at = trace, *next, *file;
	const char *text;
	bool ours;

	python.incref(trace);
	for (;;) {
		python.incref(at);
		next = step(at, "tb_next");
		if (!next || next == python.none)
			break;
		python.decref(at);
		at = next;
	}
	if (next)
		python.decref(next);
	file = step(step(step(at, "tb_frame"), "f_code"), "co_filename");
	text = file ? python.text(file) : NULL;
	ours = !text || !strcmp(text, OUR_FILE);
	if (file && !text)
		python.err_clear();
	if (file)
		python.decref(file);
	return ours;
}

bool python_run_failed(void)
{
	int (*matches)(void *, void *) = NULL;
	void *type, *value, *trace, **interrupt = NULL;
	bool ours;

	python.err_fetch(&type, &value, &trace);
	/* Ctrl-C: its handler is a C function. */
	ours = !(python_find(&matches, "PyErr_GivenExceptionMatches", NULL) &&
		 python_find(&interrupt, "PyExc_KeyboardInterrupt", NULL) && type &&
		 matches(type, *interrupt)) && (!trace || not_compiled || is_raised_by_us(trace));
	python.err_restore(type, value, trace);
	if (ours)
		python.err_clear();
	return ours;
}

/* ---- what is left --------------------------------------------------------------------------- */

static bool take_word(const bool *is, uint16_t *to)
{
	for (uint32_t i = 0; i < SPAN; i++)
		if (is[i]) {
			*to = (uint16_t)(8 * i);
			return true;
		}
	return false;
}

static bool take_state(struct python_layout *l)
{
	if (take_word(found.state, &l->state))
		return true;
	for (uint32_t i = 0; i < SPAN; i++)
		for (uint32_t k = 0; k < INNER; k++)
			if (found.state_deep[i][k]) {
				l->state = (uint16_t)(8 * i);
				l->state_inner = (uint16_t)(8 * k);
				l->state_deep = true;
				return true;
			}
	return false;
}

static bool take_at(struct python_layout *l)
{
	for (uint32_t i = 0; i < SPAN; i++)
		if (found.base[i]) {
			l->at = (uint16_t)(8 * i);
			l->at_base = (uint16_t)found.base[i];
			return true;
		}
	for (uint32_t i = 0; i < 2 * SPAN; i++)
		if (found.scale[i]) {
			l->at = (uint16_t)(4 * i);
			l->at_scale = found.scale[i];
			return true;
		}
	return false;
}

bool python_layout_find(void)
{
	struct python_layout *l = &python_layout;

	memset(&found, 0, sizeof(found));
	if (!python_run(source, &method) || found.wrong || found.calls != CALLS)
		return false;
	/* Without @self there are stacks but no modules. */
	(void)take_word(found.self, &l->self);
	l->objects = !found.object;
	return take_state(l) && take_word(found.back, &l->back) &&
	       take_word(found.code, &l->code) && take_at(l);
}
