// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Native frames of threads that are asked, on request (XSPROF_PYTHON_NATIVE): a walk from the
 * place that the signal interrupted, by collect/common/walk.c. Evaluator frames are recognised
 * by the evaluator's symbol.
 *
 * The handler may run anywhere, also inside malloc() or the dynamic linker. The walk takes no lock
 * and allocates nothing: _dl_find_object() is signal-safe according to glibc's manual; the table of
 * rules exists already, and a slot in it is taken by one compare-and-exchange; the stack's bounds
 * were read when the thread first took the GIL. The walk reads this thread's stack from the stack
 * pointer on, and the unwind information of its code: a program must not unload an object while a
 * thread runs its code.
 *
 * Rules are kept together with the number of objects unloaded so far. The ticking thread reads that
 * number, which takes the linker's lock, before it asks the thread and after the answer. If an
 * object was unloaded in between, the native frames are dropped, and rules stored meanwhile are
 * never used, as their number is out of date.
 *
 * The ticking thread also records a new stack, with the mappings of its addresses. It runs no code
 * of these objects, so it prevents their unloading meanwhile by holding the linker's lock.
 */
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <ucontext.h>

#include "collect/common/say.h"
#include "collect/python/native.h"
#include "collect/python/sample.h"

/* Weak: not every C library has it, and we are loaded into programs of all of them. */
#pragma weak dladdr1

bool python_native;

static struct native_known known = { .frames = NATIVE_FRAMES };

/* Return: false: no such symbol, or its size is 0. */
static bool find_eval(void)
{
	const void *eval = python_symbol("_PyEval_EvalFrameDefault");
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (!eval || !dladdr1 || !dladdr1(eval, &info, (void **)&symbol, RTLD_DL_SYMENT) ||
	    !symbol || !symbol->st_size)
		return false;
	/* +1: a return address may be one past the function's last call. */
	known.eval = (struct native_range){
		(uintptr_t)eval + 1, (uintptr_t)eval + symbol->st_size + 1,
	};
	return unwind_object(eval, &known.skipped.start, &known.skipped.end);
}

static const char *why_not(void)
{
#ifndef __x86_64__
	return "registers in a signal handler are not supported on this architecture";
#else
	if (!unwind_init() || !unwind_object(&known, &known.own.start, &known.own.end))
		return "the C library lacks _dl_find_object() (glibc 2.35 has it)";
	return find_eval() ? NULL : "this build has no symbol for the evaluator";
#endif
}

void python_native_init(int category)
{
	const char *text = getenv("XSPROF_PYTHON_NATIVE"), *why;

	if (!text || strcmp(text, "1"))
		return;
	why = why_not();
	if (why) {
		python_native_off(why);
		return;
	}
	known.cut = python_user.name(category, "[more native frames]");
	known.lost = python_user.name(category, "[no unwind information]");
	python_native = true;
}

void python_native_off(const char *why)
{
	python_native = false;
	collect_say("Python: %s: C frames are not recorded", why);
}

/* Counts from 1 on. */
static uint32_t number_of(const struct dl_phdr_info *info, size_t size)
{
	if (size < offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs))
		return 1;
	return info->dlpi_subs < UINT32_MAX ? (uint32_t)info->dlpi_subs + 1 : UINT32_MAX;
}

static int take_number(struct dl_phdr_info *info, size_t size, void *number)
{
	*(uint32_t *)number = number_of(info, size);
	/* Stop at the first object: all have the same number. */
	return 1;
}

uint32_t python_native_unloads(void)
{
	uint32_t number = 1;

	if (python_native)
		dl_iterate_phdr(take_number, &number);
	return number;
}

struct guarded {
	uint32_t	unloads;
	void		(*call)(void *arg);
	void		*arg;
	bool		called;
};

static int call_guarded(struct dl_phdr_info *info, size_t size, void *data)
{
	struct guarded *g = data;

	g->called = number_of(info, size) == g->unloads;
	if (g->called)
		g->call(g->arg);
	return 1;
}

bool python_native_guard(uint32_t unloads, void (*call)(void *arg), void *arg)
{
	struct guarded g = { .unloads = unloads, .call = call, .arg = arg };

	dl_iterate_phdr(call_guarded, &g);
	return g.called;
}

/*
 * Use the function's begin as the innermost frame: any instruction may be interrupted, and each
 * would be a new stack.
 */
static void begin_innermost(struct native_stack *stack, uintptr_t ip)
{
	uintptr_t begin;

	if (!stack->nr || stack->frame[0] != ip)
		return;
	begin = unwind_function(ip);
	if (begin)
		stack->frame[0] = begin + 1;
}

void python_native_walk(struct native_stack *stack, const void *context, uint32_t unloads)
{
#ifdef __x86_64__
	const greg_t *reg = ((const ucontext_t *)context)->uc_mcontext.gregs;
	/* The place is not after a call: the rule to use is that of the next byte. */
	const struct native_place from = {
		.ip = (uintptr_t)reg[REG_RIP] + 1, .cfa = (uintptr_t)reg[REG_RSP],
		.frame = (uintptr_t)reg[REG_RBP], .known = true,
	};

	native_walk_from(stack, &known, unloads, &from);
	begin_innermost(stack, from.ip);
#else
	(void)context;
	(void)unloads;
	stack->nr = 0;
#endif
}

/**
 * struct copied - arguments of a walk over a copy
 * @stack: where the frames go
 * @from: where the thread is stopped
 * @copy: its stack from there on
 * @size: bytes
 * @unloads: unloads when it was copied
 */
struct copied {
	struct native_stack		*stack;
	const struct native_place	*from;
	const void			*copy;
	size_t				size;
	uint32_t			unloads;
};

static void walk_copy(void *arg)
{
	const struct copied *c = arg;

	native_walk_copy(c->stack, &known, c->unloads, c->from, c->copy, c->size);
	begin_innermost(c->stack, c->from->ip);
}

bool python_native_walk_copy(struct native_stack *stack, const struct native_place *from,
			     const void *copy, size_t size, uint32_t unloads)
{
	struct copied c = { stack, from, copy, size, unloads };

	return python_native_guard(unloads, walk_copy, &c);
}
