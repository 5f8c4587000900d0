// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The program's iterations, for on-demand requests counted in iterations: one ends at the end of an
 * optimizer's step, as in PyTorch's own on-demand traces. With several optimizers, the first one
 * used by the first such thread counts.
 *
 * Optimizers may step during the backward pass, one per parameter, in whatever thread runs the
 * pass. If there are only such optimizers, each of these passes is an iteration; it ends when the
 * first of them steps in the next pass.
 *
 * The observer is present from the start if the program listens to requests. It observes only
 * ranges of the program (USER_SCOPE), so ops of other scopes find no observer.
 */
#include <stdlib.h>

#include "collect/torch/local.h"

#define STEP		"Optimizer.step#"
#define USER_SCOPE	7	/* at::RecordScope::USER_SCOPE */

static uint64_t handle;
static bool on;

static int taken;	/* a thread has an optimizer outside of backward passes */

/*
 * State of the thread whose iterations count; empty in others. @pass: the latest backward pass in
 * which the first thread that had any, @has_passes, ran an optimizer.
 */
static __thread struct {
	bool		ours;
	char		by[64];
	const void	*inside;	/* the op that is the optimizer's step */
	bool		has_passes;
	int		pass;
} iterations __attribute__((tls_model("initial-exec")));

/* An optimizer steps in backward pass @number: has a pass with optimizers ended? */
static bool is_next_pass(int number)
{
	static int passes_taken;

	if (!iterations.has_passes) {
		if (__atomic_exchange_n(&passes_taken, 1, __ATOMIC_RELAXED))
			return false;
		iterations.has_passes = true;
		iterations.pass = number;
		return false;
	}
	if (iterations.pass == number)
		return false;
	iterations.pass = number;
	return !__atomic_load_n(&taken, __ATOMIC_RELAXED);
}

static bool is_ours(const char *name)
{
	if (iterations.ours)
		return !strncmp(name, iterations.by, sizeof(iterations.by) - 1);
	if (__atomic_exchange_n(&taken, 1, __ATOMIC_RELAXED))
		return false;
	iterations.ours = true;
	strncpy(iterations.by, name, sizeof(iterations.by) - 1);
	return true;
}

static void *starts(void **ret, const void *fn)
{
	const char *name = torch_api.fn_name(fn);
	int number;

	*ret = NULL;
	if (iterations.inside || strncmp(name, STEP, strlen(STEP)))
		return ret;
	number = torch_api.backward ? torch_api.backward() : -1;
	if (number >= 0) {
		if (is_next_pass(number))
			torch_user.iteration();
	} else if (is_ours(name)) {
		iterations.inside = fn;
	}
	return ret;
}

static void ends(const void *fn, void *context)
{
	(void)context;
	if (iterations.inside != fn)
		return;
	iterations.inside = NULL;
	torch_user.iteration();
}

void torch_iterations_observe(void)
{
	struct torch_callback cb = { .start = starts, .end = ends, .probability = 1 };

	cb.scopes[USER_SCOPE] = true;
	handle = torch_api.add_global(cb);
	on = true;
}

void torch_iterations_last(void)
{
	if (!on)
		return;
	torch_api.remove(handle);
	torch_iterations_observe();
}
