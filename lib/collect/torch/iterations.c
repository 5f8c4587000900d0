// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The program's iterations, for requests that are about so many of them: one ends where its
 * optimizer does, as in PyTorch's own traces on demand. Of several optimizers the first one of the
 * thread that was first counts.
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

/* Of the thread that makes them; the others have none. */
static __thread struct {
	bool		ours;
	char		by[64];
	const void	*inside;	/* the op that is its step */
} iterations __attribute__((tls_model("initial-exec")));

static bool is_ours(const char *name)
{
	static int taken;

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

	*ret = NULL;
	if (!iterations.inside && !strncmp(name, STEP, strlen(STEP)) && is_ours(name))
		iterations.inside = fn;
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
