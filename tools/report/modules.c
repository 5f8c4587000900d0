// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module or line of the program to which a range belongs. An op has the module that called it;
 * backward ops are called by none, and are found by the sequence number that they share with their
 * forward op. All ranges inside a range belong to the same module.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/local.h"

#define THREADS_MAX	4096u
#define SEQUENCES	(1u << 16)	/* kept for each thread, the latest */
#define BACKWARD	" (backward)"

/* The forward ops of a thread, by sequence number. */
struct forward {
	struct forward	*next;
	uint64_t	sequence[SEQUENCES];	/* + 1; untouched memory costs nothing */
	uint32_t	word[SEQUENCES];
};

/**
 * struct report_modules - modules of ops
 * @trace: the trace
 * @groups: holds the texts
 * @key: key of the argument that has the module or line
 * @by_thread: index in @all, by producer and thread
 * @outer: number of a module's text to that of the module around it
 * @all: the forward ops of threads
 * @nr: number of threads
 * @any: an op had a module
 * @full: number of the text for modules that do not fit
 * @crowded: number of modules that did not fit
 * @unlinked: backward ops whose forward op is not known any more
 */
struct report_modules {
	struct xsprof_trace	*trace;
	struct xsp_groups	*groups;
	uint32_t		key;
	struct xsp_map		by_thread;
	struct xsp_map		outer;
	struct forward		*all;
	uint32_t		nr;
	uint32_t		full;
	bool			any;
	uint64_t		crowded;
	uint64_t		unlinked;
};

int report_modules_new(struct xsprof_trace *trace, struct xsp_groups *groups, bool lines,
		       struct report_modules **modules)
{
	*modules = calloc(1, sizeof(**modules));
	if (!*modules)
		return -ENOMEM;
	(*modules)->trace = trace;
	(*modules)->groups = groups;
	(*modules)->key = lines ? XSPROF_KEY_LINE : XSPROF_KEY_MODULE;
	(*modules)->full = xsp_groups_intern(groups, "...", 3);
	return 0;
}

void report_modules_free(struct report_modules *modules)
{
	struct forward *forward;

	if (!modules)
		return;
	while ((forward = modules->all)) {
		modules->all = forward->next;
		free(forward);
	}
	xsp_map_free(&modules->by_thread);
	xsp_map_free(&modules->outer);
	free(modules);
}

/* ---- forward ops ---------------------------------------------------------------------------- */

static struct forward *forward_of(struct report_modules *modules, uint32_t producer, uint32_t tid,
				  bool make)
{
	uint64_t key = ((uint64_t)producer + 1) << 32 | tid;
	const uint64_t *at = xsp_map_get(&modules->by_thread, key);
	struct forward *forward;

	if (at || !make || modules->nr == THREADS_MAX)
		return at ? (void *)(uintptr_t)*at : NULL;
	forward = calloc(1, sizeof(*forward));
	if (!forward || xsp_map_set(&modules->by_thread, key, (uintptr_t)forward)) {
		free(forward);
		return NULL;
	}
	forward->next = modules->all;
	modules->all = forward;
	modules->nr++;
	return forward;
}

/* The latest op with a sequence number has the backward op: it replaces earlier ones. */
static void remember(struct report_modules *modules, const struct xsprof_event *ev,
		     int64_t sequence, uint32_t word)
{
	struct forward *forward = forward_of(modules, ev->producer, ev->tid, true);
	uint32_t at = (uint32_t)sequence % SEQUENCES;

	if (!forward)
		return;
	forward->sequence[at] = (uint64_t)sequence + 1;
	forward->word[at] = word;
}

static uint32_t intern(struct report_modules *modules, const char *s, size_t len)
{
	uint32_t word = xsp_groups_intern(modules->groups, s, len);

	modules->crowded += !word;
	return word ? word : modules->full;
}

static bool is_backward(const char *s, size_t len)
{
	const size_t n = sizeof(BACKWARD) - 1;

	return len > n && !memcmp(s + len - n, BACKWARD, n);
}

static uint32_t backward_word(struct report_modules *modules, uint32_t word)
{
	char text[1100];
	size_t len;
	const char *s = xsp_groups_word(modules->groups, word, &len);

	/* The backward of a backward belongs to the same module. */
	if (word == modules->full || is_backward(s, len))
		return word;
	len = (size_t)snprintf(text, sizeof(text), "%.*s" BACKWARD,
			       (int)(len < 1024 ? len : 1024), s);
	return intern(modules, text, len);
}

/* Return: false: it is no backward op. */
static bool find_forward(struct report_modules *modules, const struct xsprof_event *ev,
			 const struct xsprof_trace_op *op, uint32_t *word)
{
	struct forward *forward;
	uint32_t at = (uint32_t)op->sequence % SEQUENCES;

	if (!op->forward_thread || op->sequence < 0)
		return false;
	forward = forward_of(modules, ev->producer, (uint32_t)op->forward_thread, false);
	if (forward && forward->sequence[at] == (uint64_t)op->sequence + 1)
		*word = forward->word[at] ? backward_word(modules, forward->word[at]) : 0;
	else
		modules->unlinked += modules->any;
	return true;
}

/* ---- modules in modules --------------------------------------------------------------------- */

static uint32_t find_outer(struct report_modules *modules, uint32_t module)
{
	const size_t n = sizeof(BACKWARD) - 1;
	size_t len, dot;
	const char *s = xsp_groups_word(modules->groups, module, &len);
	bool back = is_backward(s, len);
	char text[1100];

	for (dot = len; dot && s[dot - 1] != '.'; dot--)
		;
	if (module == modules->full || dot < 2 || dot - 1 + n > sizeof(text))
		return 0;
	memcpy(text, s, dot - 1);
	memcpy(text + dot - 1, BACKWARD, n);
	return intern(modules, text, dot - 1 + (back ? n : 0));
}

uint32_t report_modules_outer(struct report_modules *modules, uint32_t module)
{
	const uint64_t *known = xsp_map_get(&modules->outer, module);
	uint32_t outer;

	/* Lines do not nest. */
	if (modules->key == XSPROF_KEY_LINE)
		return 0;
	if (known)
		return (uint32_t)*known;
	outer = find_outer(modules, module);
	/* If memory runs out it is computed again next time. */
	(void)xsp_map_set(&modules->outer, module, outer);
	return outer;
}

/* ---- ops ------------------------------------------------------------------------------------ */

static uint32_t own_module(struct report_modules *modules, const struct xsprof_event *ev)
{
	struct xsprof_trace_arg arg;
	size_t pos = 0, len;
	const char *s;

	while (xsprof_trace_args(ev, &pos, &arg)) {
		if (arg.key != modules->key)
			continue;
		if (arg.type == XSPROF_ARG_NAME)
			s = xsprof_trace_name_len(modules->trace, ev->producer, (uint32_t)arg.u.u64,
						  &len);
		else if (arg.type == XSPROF_ARG_STR && !(arg.flags & XSPROF_ARGF_CONT))
			s = arg.str, len = arg.len;
		else
			continue;
		modules->any = true;
		return intern(modules, s, len);
	}
	return 0;
}

/*
 * In a backward op: the module that called the backward says nothing about the ops inside. Another
 * module does, if a forward is computed again.
 */
static void begin_in_backward(struct report_modules *modules, const struct xsprof_event *ev,
			      const struct xsprof_trace_op *op, const struct report_module *outer,
			      struct report_module *to)
{
	uint32_t word = own_module(modules, ev);

	to->backward = !word || word == outer->called_in;
	to->called_in = outer->called_in;
	if (!to->backward) {
		to->word = to->called_in = word;
		to->own = true;
	}
	to->sequence = op->sequence;
	if (op->sequence >= 0)
		remember(modules, ev, op->sequence, to->word);
}

void report_modules_begin(struct report_modules *modules, const struct xsprof_event *ev,
			  struct report_module *outer, struct report_module *to)
{
	struct xsprof_trace_op op;

	*to = (struct report_module){ .sequence = -1 };
	if (outer) {
		to->word = outer->word;
		to->backward = outer->backward;
		to->called_in = outer->called_in;
	}
	if (!xsprof_trace_op(ev, &op))
		return;
	if (find_forward(modules, ev, &op, &to->word)) {
		to->backward = to->linked = true;
		to->called_in = own_module(modules, ev);
		/*
		 *  The range that evaluates a backward op begins before the op, without its number.
		 */
		if (outer && !outer->linked && outer->sequence < 0)
			*outer = *to;
		return;
	}
	if (to->backward) {
		begin_in_backward(modules, ev, &op, outer, to);
		return;
	}
	to->sequence = op.sequence;
	report_modules_args(modules, ev, to);
	if (!to->own && op.sequence >= 0)
		remember(modules, ev, op.sequence, to->word);
}

void report_modules_args(struct report_modules *modules, const struct xsprof_event *ev,
			 struct report_module *to)
{
	uint32_t word = to->linked || to->own ? 0 : own_module(modules, ev);

	if (!word || (to->backward && word == to->called_in))
		return;
	to->word = to->called_in = word;
	to->own = true;
	to->backward = false;
	if (to->sequence >= 0)
		remember(modules, ev, to->sequence, word);
}

uint64_t report_modules_crowded(const struct report_modules *modules)
{
	return modules->crowded;
}

bool report_modules_any(const struct report_modules *modules)
{
	return modules->any;
}

uint64_t report_modules_unlinked(const struct report_modules *modules)
{
	return modules->unlinked;
}
