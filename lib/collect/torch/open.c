// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tracks the open ops of each thread. PyTorch ends them in any order: a range that is open across
 * an await ends while one that began later goes on, and an op may end in another thread. A trace
 * has one stack per thread, whose ends close the innermost range: when an op around others ends,
 * they end with it and continue as new ranges.
 */
#include <stdlib.h>

#include "collect/torch/open.h"

#define FEW		64u	/* initial room */
#define DEPTH		4096u	/* deeper ops are assumed to nest */
#define ELSEWHERE	4096u	/* latest ops that ended in another thread */

__thread struct torch_open *torch_open __attribute__((tls_model("initial-exec")));
bool torch_open_elsewhere;

static struct torch_open no_memory;	/* for a thread without memory */
static uint64_t elsewhere[ELSEWHERE];
static xsprof_name_t continues;

/* glibc's, as in threads.c. */
extern int __cxa_thread_atexit_impl(void (*call)(void *), void *arg, void *dso)
	__attribute__((weak));
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *dso) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

/* ---- ops that ended in another thread ------------------------------------------------------- */

/*
 * Remembers an op that ended in another thread. The thread in which it began removes it when it
 * next begins an op inside it, ends one around it, or exits. If another id has replaced this one by
 * then, the op stays open. Ops that began before recording started are on no stack.
 */
static void ended_elsewhere(uint64_t id)
{
	/* Relaxed, here and below: only the number itself is read. */
	__atomic_store_n(&torch_open_elsewhere, true, __ATOMIC_RELAXED);
	__atomic_store_n(&elsewhere[id % ELSEWHERE], id, __ATOMIC_RELAXED);
}

static bool has_ended(uint64_t id)
{
	return id && __atomic_load_n(&elsewhere[id % ELSEWHERE], __ATOMIC_RELAXED) == id;
}

/* Removes innermost ops that ended in another thread. */
static void drop_ended(struct torch_open *o, bool wanted)
{
	while (o->depth && o->depth <= o->room && has_ended(o->op[o->depth - 1].id)) {
		o->depth--;
		if (wanted)
			torch_user.end_earlier(o->op[o->depth].name);
	}
}

/* ---- threads -------------------------------------------------------------------------------- */

static void thread_ends(void *mem)
{
	struct torch_open *o = mem;

	drop_ended(o, torch_wanted());
	torch_open = NULL;
	free(o->op);
	free(o);
}

/* In a forked child: the parent's trace has the ends of ops open at the fork. */
static void forked(void)
{
	if (torch_open)
		torch_open->depth = 0;
}

void torch_open_init(void)
{
	/* Interned now: later the name table may be full. */
	continues = torch_user.name(0, "continues");
	if (__register_atfork)
		(void)__register_atfork(NULL, NULL, forked, NULL);
}

/* Without memory the thread's ops are assumed to nest. */
static __attribute__((cold)) struct torch_open *make(void)
{
	struct torch_open *mem = __cxa_thread_atexit_impl ? calloc(1, sizeof(*mem)) : NULL;

	if (mem && __cxa_thread_atexit_impl(thread_ends, mem, &__dso_handle)) {
		free(mem);
		mem = NULL;
	}
	torch_open = mem ? mem : &no_memory;
	return torch_open;
}

static __attribute__((cold)) bool grow(struct torch_open *o)
{
	uint32_t room = o->room ? 2 * o->room : FEW;
	struct torch_open_op *op = room <= DEPTH ? realloc(o->op, room * sizeof(*op)) : NULL;

	if (!op)
		return false;
	o->op = op;
	o->room = room;
	return true;
}

void torch_open_begin_slow(const struct xsprof_op *op)
{
	struct torch_open *o = torch_open ? torch_open : make();

	if (o == &no_memory)
		return;
	drop_ended(o, true);
	if (o->depth < o->room || (o->depth == o->room && grow(o)))
		o->op[o->depth] = (struct torch_open_op){
			.id = op->record_function_id, .name = op->name, .scope = op->scope,
		};
	o->depth++;
}

/* ---- ends out of order ---------------------------------------------------------------------- */

/* Begins an op again, with an argument saying so and the same id. */
static void begin_again(const struct torch_open_op *open)
{
	struct xsprof_kv again = xsprof_bool(continues, true);
	struct xsprof_op op = {
		.name = open->name, .scope = (uint8_t)open->scope,
		.sequence = XSPROF_NO_SEQUENCE, .record_function_id = open->id,
		.kwargs = &again, .nr_kwargs = 1,
	};

	torch_user.begin(&op);
}

static void end_at(struct torch_open *o, uint32_t at, bool wanted)
{
	uint32_t depth = o->depth;

	o->depth = at;
	for (uint32_t i = depth; i-- > at + 1;) {
		bool ended = has_ended(o->op[i].id);

		if (ended)
			o->op[i].id = 0;
		if (wanted && ended)
			torch_user.end_earlier(o->op[i].name);
		else if (wanted)
			torch_user.end_continued();
	}
	if (wanted)
		torch_user.end();
	for (uint32_t i = at + 1; i < depth; i++) {
		if (!o->op[i].id)
			continue;
		o->op[o->depth++] = o->op[i];
		if (wanted)
			begin_again(&o->op[i]);
	}
}

static __attribute__((cold)) void end_out_of_order(struct torch_open *o, uint64_t id, bool wanted)
{
	for (uint32_t at = o->depth; at; at--)
		if (o->op[at - 1].id == id) {
			end_at(o, at - 1, wanted);
			return;
		}
	ended_elsewhere(id);
}

void torch_open_end_slow(uint64_t id, bool wanted)
{
	struct torch_open *o = torch_open;
	uint32_t top;

	if (__builtin_expect(!o || !o->depth, 0)) {
		if (o == &no_memory && wanted)
			torch_user.end();
		else if (o != &no_memory)
			ended_elsewhere(id);
		return;
	}
	top = o->depth - 1;
	if (top < o->room && __builtin_expect(o->op[top].id != id, 0)) {
		end_out_of_order(o, id, wanted);
		return;
	}
	o->depth = top;
	if (wanted)
		torch_user.end();
}
