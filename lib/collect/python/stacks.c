// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Builds the stacks of samples from Python functions and, if known, the native frames between them.
 * Each evaluator frame is replaced by the functions that it evaluates.
 *
 * Native frames outside the first Python function are left out: a thread's stacks then begin alike
 * whether or not its native frames could be read.
 */
#include <string.h>

#include "collect/python/native.h"
#include "collect/python/sample.h"

#define FUNCTIONS	(PYTHON_DEPTH + 1)	/* and a task */
#define ALL		(FUNCTIONS + NATIVE_FRAMES + 1)

/* The Python part. @entered: entered from C. */
struct functions {
	uint32_t	nr;
	uint64_t	frame[FUNCTIONS];
	bool		entered[FUNCTIONS];
};

/* A stack to be recorded. */
struct stack {
	uint32_t	nr;
	uint32_t	left;
	uint64_t	frame[ALL];
	uint64_t	key;
	uint32_t	id;
};

/* A task comes right after its coroutine: C called both. */
static void put_task(struct functions *f, const struct python_task *task)
{
	f->frame[f->nr] = XSPROF_FRAME_NAMED | task->name;
	f->entered[f->nr] = f->entered[f->nr - 1];
	f->entered[f->nr++ - 1] = false;
}

/* Names the functions that are new. */
static void take_functions(struct python_reading *r, struct functions *f)
{
	f->nr = 0;
	python_task_name(&r->task);
	for (uint32_t i = 0; i < r->nr; i++) {
		struct sampled_code *code = &r->code[i];

		if (!code->name && !code->hidden)
			python_code_name(code, r->at[i]);
		if (code->hidden) {
			/* A frame from C belongs to the evaluator of the next function. */
			if (f->nr)
				f->entered[f->nr - 1] = true;
			continue;
		}
		f->entered[f->nr] = r->entry[i];
		f->frame[f->nr++] = XSPROF_FRAME_NAMED | code->name;
		if (r->task.name && r->task.at == i)
			put_task(f, &r->task);
	}
}

static uint64_t evals_of(uint64_t word)
{
	return word & XSPROF_FRAME_NAMED || !(word & NATIVE_EVALS) ? 0 : word & ~NATIVE_EVALS;
}

/* Native frames contain only the evaluator where the interpreter calls itself. */
static bool has_code(const struct native_stack *native)
{
	for (uint32_t i = 0; i < native->nr; i++)
		if (!evals_of(native->frame[i]))
			return true;
	return false;
}

/*
 * Does each evaluator frame have its functions? Not while one begins or ends, nor if part of the
 * evaluator is elsewhere in memory. Unknown if the walk did not reach the end of the stack.
 */
static bool fits(const struct functions *f, const struct native_stack *native, uint32_t left)
{
	uint64_t evals = 0, entered = 0;

	for (uint32_t i = 0; i < native->nr; i++)
		evals += evals_of(native->frame[i]);
	for (uint32_t i = 0; i < f->nr; i++)
		entered += f->entered[i];
	return evals == entered || !native->whole || (left && evals > entered);
}

/* Adds functions up to one that was entered from C. Return: their number. */
static uint32_t put_entered(uint64_t *to, const struct functions *f, uint32_t *at)
{
	uint32_t n = 0;

	while (*at < f->nr) {
		to[n++] = f->frame[*at];
		if (f->entered[(*at)++])
			break;
	}
	return n;
}

/* Return: the number of frames. */
static uint32_t merge(uint64_t *to, const struct functions *f, const struct native_stack *native,
		      uint32_t left)
{
	bool turns = fits(f, native, left);
	uint32_t n = 0, at = 0;

	for (uint32_t i = 0; i < native->nr && at < f->nr; i++) {
		uint64_t evals = evals_of(native->frame[i]);

		/* The order with the native frames is unknown from here on: add all the others. */
		if (evals && !turns)
			break;
		if (!evals)
			to[n++] = native->frame[i];
		for (; evals; evals--)
			n += put_entered(to + n, f, &at);
	}
	memcpy(to + n, f->frame + at, (f->nr - at) * sizeof(*to));
	return n + f->nr - at;
}

static uint64_t begin_key(uint32_t left)
{
	/* The number of left-out frames differs from any name's value. */
	return (left + 1ull) * 0x9e3779b97f4a7c15u;
}

static uint64_t key_of(const struct stack *stack, uint32_t unloads)
{
	uint64_t key = begin_key(stack->left), frame;

	for (uint32_t i = 0; i < stack->nr; i++) {
		frame = stack->frame[i];
		key = native_mix(key, frame & XSPROF_FRAME_NAMED ? (uint32_t)frame : frame);
	}
	return unloads ? native_mix(key, unloads) : key;
}

/*
 * Finds the key of key_of(), computed without the memory for a stack: a handler has little room.
 */
static uint32_t find_known(const struct python_reading *r, bool task, xsprof_name_t *name)
{
	uint64_t key = begin_key(r->left);

	*name = 0;
	for (uint32_t i = 0; i < r->nr; i++) {
		if (r->code[i].hidden)
			continue;
		if (!r->code[i].name)
			return 0;
		if (!*name)
			*name = r->code[i].name;
		key = native_mix(key, r->code[i].name);
		if (task && r->task.at == i)
			key = native_mix(key, r->task.name);
	}
	return *name ? python_user.stack_find(key) : 0;
}

uint32_t python_stack_known(const struct python_reading *r, xsprof_name_t *name)
{
	bool task = r->task.id;
	uint32_t stack = 0;

	if (!task || r->task.name)
		stack = find_known(r, task, name);
	return stack || !task || !python_tasks_spent() ? stack : find_known(r, false, name);
}

static void add(void *stack)
{
	struct stack *s = stack;

	s->id = python_user.stack_add(s->key, s->frame, s->nr, s->left);
}

static bool has_room(const struct python_reading *r)
{
	return !r->task.name || python_task_stack();
}

static uint32_t find_merged(struct stack *stack, const struct python_reading *r,
			    const struct functions *f, const struct native_stack *native,
			    uint32_t unloads)
{
	stack->nr = merge(stack->frame, f, native, stack->left);
	if (stack->nr == f->nr)
		return 0;
	/* After an unload other code may be at these addresses. */
	stack->key = key_of(stack, unloads);
	stack->id = python_user.stack_find(stack->key);
	if (!stack->id && has_room(r) && !python_native_guard(unloads, add, stack))
		return 0;
	return stack->id;
}

/* Return: 0: there are no frames, or no room for a stack with a task. */
static uint32_t find_or_add(struct python_reading *r, const struct native_stack *native,
			    uint32_t unloads, xsprof_name_t *name)
{
	struct stack stack = { .left = r->left };
	struct functions f;

	take_functions(r, &f);
	if (!f.nr)
		return 0;
	*name = (xsprof_name_t)f.frame[0];
	if (native && native->nr && has_code(native) &&
	    find_merged(&stack, r, &f, native, unloads))
		return stack.id;
	stack.nr = f.nr;
	memcpy(stack.frame, f.frame, f.nr * sizeof(*f.frame));
	stack.key = key_of(&stack, 0);
	stack.id = python_user.stack_find(stack.key);
	if (!stack.id && has_room(r))
		add(&stack);
	return stack.id;
}

uint32_t python_stack_of(struct python_reading *r, const struct native_stack *native,
			 uint32_t unloads, xsprof_name_t *name)
{
	uint32_t id = find_or_add(r, native, unloads, name);

	if (id || !r->task.name)
		return id;
	r->task.id = r->task.name = 0;
	return find_or_add(r, native, unloads, name);
}
