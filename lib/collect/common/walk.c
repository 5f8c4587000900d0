// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Walks a thread's native frames, by the rules of unwind.c. Reads only this thread's stack, between
 * its own frame and the end of the stack, or a copy of another thread's. If the rules end before
 * the stack does, a note takes the place of a frame.
 *
 * Owns the last walk of each thread. Ops are called from the same outer frames again and again: a
 * frame at the same position with the same code as in the last walk, under the same rules, has the
 * same caller if the stack words that were read for it are unchanged. Comparing them replaces the
 * lookup of rules.
 */
#include <pthread.h>
#include <stdlib.h>

#include "collect/common/native.h"

/*
 * Without a stack limit, pthread reports that the first thread's stack extends down to the next
 * mapping: stacks that the program maps there later would be taken for part of it.
 */
#define STACK_MAX	((size_t)1 << 30)
#define VISITED_MAX	512u	/* frames, including left-out ones */
#define STEPS		128u	/* steps remembered */
#define WORDS		3u	/* read per step: return address, saved frame pointer, CFA */
#define CODE_BITS	56	/* no machine has more address bits for code */

/**
 * struct step - step from a frame to its caller
 * @from: position of the frame
 * @at: addresses of the stack words read for it; NULL: no more
 * @word: their values
 */
struct step {
	struct native_place	from;
	const uintptr_t	*at[WORDS];
	uintptr_t	word[WORDS];
};

/**
 * struct last - the last walk of a thread
 * @unloads: number of unloads when its rules were read
 * @first: index of its first step in @step; the steps fill the array to its end
 * @busy: a walk is under way: a walk in a signal handler remembers nothing
 * @step: innermost first; the last one is where the walk ended
 * @fresh: new steps of the current walk
 */
struct last {
	uint32_t	unloads;
	uint32_t	first;
	bool		busy;
	struct step	step[STEPS];
	struct step	fresh[STEPS];
};

/**
 * struct walk - a walk under way
 * @now: position
 * @stack: bounds of the stack, or of the part that was copied
 * @copy: added to an address in @stack it gives where the word is; 0: there
 * @short_copy: a word behind the copied part was needed
 * @unloads: how often code was unloaded
 * @on: @now is where step @at of the last walk begins, and nothing but its address was read
 * @last: the last walk; NULL: nothing is remembered
 * @at: first step of @last that can still match
 * @met: first step that matched; STEPS: none
 * @nr_fresh: number of new steps
 * @crowded: there were more new steps than fit
 */
struct walk {
	struct native_place	now;
	struct native_range	stack;
	uintptr_t		copy;
	bool			short_copy;
	struct last		*last;
	uint32_t		unloads;
	uint32_t	at;
	uint32_t	met;
	uint32_t	nr_fresh;
	bool		on;
	bool		crowded;
};

/* This thread's stack bounds; and its last walk, allocated, as static TLS is scarce. */
static __thread struct native_range own_stack __attribute__((tls_model("initial-exec")));
static __thread struct last *last_walk __attribute__((tls_model("initial-exec")));

extern void *__dso_handle __attribute__((visibility("hidden")));
/* glibc's. Without it, or without memory, nothing is remembered. */
extern int __cxa_thread_atexit_impl(void (*call)(void *), void *arg, void *dso)
	__attribute__((weak));

static struct last no_memory;

static void thread_ends(void *mem)
{
	last_walk = NULL;
	free(mem);
}

void native_thread_begins(void)
{
	pthread_attr_t attr;
	size_t size;
	void *base;

	if (own_stack.end || pthread_getattr_np(pthread_self(), &attr))
		return;
	if (!pthread_attr_getstack(&attr, &base, &size)) {
		own_stack.start = (uintptr_t)base + size -
				  (size < STACK_MAX ? size : STACK_MAX);
		/* A signal handler of this thread that sees the end also sees the start. */
		__atomic_signal_fence(__ATOMIC_RELEASE);
		own_stack.end = (uintptr_t)base + size;
	}
	pthread_attr_destroy(&attr);
}

static __attribute__((cold)) void thread_remembers(void)
{
	struct last *mem = __cxa_thread_atexit_impl ? calloc(1, sizeof(*mem)) : NULL;

	if (mem && __cxa_thread_atexit_impl(thread_ends, mem, &__dso_handle)) {
		free(mem);
		mem = NULL;
	}
	if (mem)
		mem->first = STEPS;
	last_walk = mem ? mem : &no_memory;
	native_thread_begins();
}

/* ---- by rules ------------------------------------------------------------------------------- */

/* On arm64 the upper bits of a return address may hold a signature. */
static inline uintptr_t unsigned_address(uintptr_t address)
{
#ifdef __aarch64__
	register uintptr_t x30 asm("x30") = address;

	asm("hint #7" : "+r"(x30));
	return x30;
#else
	return address;
#endif
}

/* Reads the stack word at @at, above @low. Return: false: outside the stack. */
static inline bool read_stack(struct walk *w, struct step *step, uint32_t which, uintptr_t at,
			      uintptr_t low)
{
	if (at < low || at % sizeof(at))
		return false;
	if (at > w->stack.end - sizeof(at)) {
		w->short_copy = w->copy;
		return false;
	}
	step->at[which] = (const uintptr_t *)(at + w->copy);
	step->word[which] = *step->at[which];
	return true;
}

/*
 * Moves to the caller by the rule of the code and fills @step. Return: UNWIND_UNKNOWN: no usable
 * rule; UNWIND_END: there is no caller.
 */
static uint32_t by_rule(struct walk *w, struct step *step)
{
	struct native_place *p = &w->now;
	const struct unwind_rule rule = unwind_rule(p->ip, w->unloads);
	uintptr_t low = p->cfa, cfa = low + (intptr_t)rule.cfa, saved = 0, back;

	*step = (struct step){ .from = *p };
	if (rule.kind <= UNWIND_END)
		return rule.kind;
	if (rule.kind != UNWIND_STACK) {
		if (!p->known)
			return UNWIND_UNKNOWN;
		cfa = p->frame + (intptr_t)rule.cfa;
		if (rule.kind == UNWIND_MEMORY) {
			if (!read_stack(w, step, 2, cfa, low))
				return UNWIND_UNKNOWN;
			cfa = step->word[2];
		}
	}
	/* The CFA must grow from frame to frame: rules out loops. */
	if (cfa <= low || !read_stack(w, step, 0, cfa + rule.back * sizeof(cfa), low))
		return UNWIND_UNKNOWN;
	/* A wrong rule: values with the highest bits set are notes and names in a stack. */
	back = unsigned_address(step->word[0]);
	if (back >> CODE_BITS)
		return UNWIND_UNKNOWN;
	if (rule.frame == UNWIND_LOST) {
		p->known = false;
	} else if (rule.at_frame || rule.frame) {
		if (!rule.at_frame || p->known)
			saved = (rule.at_frame ? p->frame : cfa) + rule.frame * sizeof(cfa);
		p->known = saved && read_stack(w, step, 1, saved, low);
		p->frame = p->known ? step->word[1] : 0;
	}
	p->ip = back;
	p->cfa = cfa;
	return p->ip ? rule.kind : UNWIND_END;
}

/* ---- by the last walk ----------------------------------------------------------------------- */

static inline bool same_place(const struct native_place *a, const struct native_place *b)
{
	return a->ip == b->ip && a->cfa == b->cfa && a->frame == b->frame && a->known == b->known;
}

static inline bool same_words(const struct step *step)
{
	for (uint32_t i = 0; i < WORDS; i++)
		if (step->at[i] && *step->at[i] != step->word[i])
			return false;
	return true;
}

/* Moves to the caller by a step of the last walk. Return: false: none matches. */
static inline bool by_last(struct walk *w)
{
	const struct step *step = w->last->step;

	if (!w->on) {
		while (w->at < STEPS && step[w->at].from.cfa < w->now.cfa)
			w->at++;
		if (w->at == STEPS || !same_place(&step[w->at].from, &w->now))
			return false;
		w->on = true;
	}
	/* The last step has no caller. */
	if (w->at + 1 < STEPS && same_words(&step[w->at])) {
		if (w->met == STEPS)
			w->met = w->at;
		w->now.ip = step[++w->at].from.ip;
		return true;
	}
	w->now = step[w->at].from;
	w->on = false;
	return false;
}

static void add_fresh(struct walk *w, const struct step *step, uint32_t nr)
{
	if (w->nr_fresh + nr > STEPS) {
		w->crowded = true;
		return;
	}
	memcpy(w->last->fresh + w->nr_fresh, step, nr * sizeof(*step));
	w->nr_fresh += nr;
}

static uint32_t to_caller(struct walk *w)
{
	struct step step;
	uint32_t kind;

	if (w->last && by_last(w))
		return UNWIND_STACK;
	kind = by_rule(w, &step);
	if (!w->last || kind <= UNWIND_END)
		return kind;
	/* From here on the last walk differs: keep its steps up to here as ours. */
	if (w->met < w->at)
		add_fresh(w, w->last->step + w->met, w->at - w->met);
	w->met = STEPS;
	add_fresh(w, &step, 1);
	return kind;
}

static inline void set_busy(struct last *last, bool busy)
{
	/* Orders @busy against the steps for signal handlers of this thread. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	last->busy = busy;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Stores the new steps. If they do not fit, the last walk stays as it is, which is still valid. */
static inline void remember(struct walk *w)
{
	struct last *last = w->last;

	if (!last)
		return;
	/* The position that the last step led to. */
	if (w->met == STEPS)
		add_fresh(w, &(struct step){ .from = w->now }, 1);
	if (!w->crowded && w->nr_fresh <= w->met) {
		last->first = w->met - w->nr_fresh;
		memcpy(last->step + last->first, last->fresh,
		       w->nr_fresh * sizeof(*last->fresh));
	}
	set_busy(last, false);
}

/* ---- the walk ------------------------------------------------------------------------------- */

/* Takes the last walk if its rules still apply. */
static inline void take_last(struct walk *w)
{
	w->last = last_walk == &no_memory || last_walk->busy ? NULL : last_walk;
	w->met = STEPS;
	if (!w->last)
		return;
	set_busy(w->last, true);
	if (w->last->unloads != w->unloads)
		w->last->first = STEPS;
	w->last->unloads = w->unloads;
	w->at = w->last->first;
}

/* Return: false if there is no room. */
static bool add_eval(struct native_stack *stack, const struct native_known *known)
{
	uint64_t *last = stack->nr ? &stack->frame[stack->nr - 1] : NULL;

	if (last && *last & NATIVE_EVALS) {
		++*last;
		return true;
	}
	if (stack->nr == known->frames)
		return false;
	stack->frame[stack->nr++] = NATIVE_EVALS | 1;
	return true;
}

static void run(struct walk *w, struct native_stack *stack, const struct native_known *known)
{
	uint64_t key = native_mix(w->unloads, 0);
	uint32_t kind = UNWIND_STACK;
	struct native_range skip;

	/* Acquire: pairs with the release that sets @end: the start is visible too. */
	skip.end = __atomic_load_n(&known->skipped.end, __ATOMIC_ACQUIRE);
	skip.start = known->skipped.start;
	for (uint32_t visited = 0; visited < VISITED_MAX; visited++) {
		if (native_is_in(&skip, w->now.ip)) {
			if (stack->inner > stack->nr)
				stack->inner = stack->nr;
			if (native_is_in(&known->eval, w->now.ip) && !add_eval(stack, known))
				break;
		} else if (!native_is_in(&known->own, w->now.ip)) {
			if (stack->nr == known->frames)
				break;
			stack->frame[stack->nr++] = w->now.ip;
			key = native_mix(key, w->now.ip);
		}
		kind = to_caller(w);
		if (kind <= UNWIND_END)
			break;
	}
	remember(w);
	stack->whole = kind == UNWIND_END;
	if (!stack->whole)
		stack->frame[stack->nr++] = XSPROF_FRAME_NAMED |
					    (kind == UNWIND_UNKNOWN && !w->short_copy ?
					     known->lost : known->cut);
	if (stack->inner > stack->nr)
		stack->inner = stack->nr;
	stack->key = native_mix(native_mix(key, kind > UNWIND_END ? UNWIND_STACK : kind),
				stack->inner);
}

/* noinline: the walk starts at this function's caller; the library's own frames are skipped. */
__attribute__((noinline)) void native_walk(struct native_stack *stack,
					   const struct native_known *known, uint32_t unloads)
{
	struct walk w = {
		.now = {
			.ip = (uintptr_t)__builtin_return_address(0),
			.cfa = (uintptr_t)__builtin_dwarf_cfa(),
			.frame = *(uintptr_t *)__builtin_frame_address(0),
			.known = true,
		},
		.unloads = unloads,
	};

	stack->nr = 0;
	stack->inner = UINT32_MAX;
	if (__builtin_expect(!last_walk, 0))
		thread_remembers();
	/* Another stack than the thread's own (of a fibre, or a signal stack) has other bounds. */
	if (!native_is_in(&own_stack, w.now.cfa)) {
		stack->inner = 0;
		return;
	}
	w.stack = own_stack;
	take_last(&w);
	run(&w, stack, known);
}

/*
 * Remembers nothing, as that would need memory. Reads this thread's stack from its stack pointer
 * on, and rules of code whose address is on the stack, so that its object stays loaded while the
 * thread is stopped here.
 */
void native_walk_from(struct native_stack *stack, const struct native_known *known,
		      uint32_t unloads, const struct native_place *from)
{
	struct walk w = { .now = *from, .stack = own_stack, .unloads = unloads };

	stack->nr = 0;
	stack->inner = UINT32_MAX;
	if (native_is_in(&own_stack, from->cfa))
		run(&w, stack, known);
	else
		stack->inner = 0;
}

void native_walk_copy(struct native_stack *stack, const struct native_known *known,
		      uint32_t unloads, const struct native_place *from, const void *copy,
		      size_t size)
{
	struct walk w = {
		.now = *from, .stack = { from->cfa, from->cfa + size },
		.copy = (uintptr_t)copy - from->cfa, .unloads = unloads,
	};

	stack->nr = 0;
	stack->inner = UINT32_MAX;
	run(&w, stack, known);
}
