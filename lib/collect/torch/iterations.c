// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The program's iterations, for requests that are about so many of them: one ends where its
 * optimizer does, as in PyTorch's own traces on demand. Of several optimizers the first one of the
 * thread that was first counts.
 *
 * One may step in the backward pass, one a parameter, in whatever thread runs the pass: where there
 * is no other, each such pass is an iteration, which ends where the first of them steps in the next
 * pass.
 *
 * The observer for it is there from the beginning where the program listens to requests. It is
 * of ranges of the program alone: what every op asks finds none for its scope.
 */
#include <stdlib.h>

#include "collect/torch/local.h"

#define STEP		"Optimizer.step#"
#define USER_SCOPE	7	/* at::RecordScope::USER_SCOPE */

static uint64_t handle;
static bool on;

static int taken;	/* a thread has one outside of backward passes */

/*
 * Of the thread that makes them; the others have none.  @pass: the latest backward pass in which
 * the first thread that had any, @has_passes, had an optimizer.
 */
static __thread struct {
	bool		ours;
	char		by[64];
	const void	*inside;	/* the op that is its step */
	bool		has_passes;
	int		pass;
} iterations __attribute__((tls_model("initial-exec")));

/* In backward pass @number an optimizer steps: is one over that had any? */
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
