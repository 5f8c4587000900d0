// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PyTorch op in a C++ loop, for torch-work.py, so that no interpreter is measured. And an
 * observer that only counts: the least cost of any observer of all ops.
 */
#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <c10/core/GradMode.h>

static at::CallbackHandle handle;
static uint64_t counted;	/* by one thread */

static std::unique_ptr<at::ObserverContext> starts(const at::RecordFunction &)
{
	counted++;
	return nullptr;
}

static void ends(const at::RecordFunction &, at::ObserverContext *)
{
	counted++;
}

extern "C" void count_ops()
{
	counted = 0;
	handle = at::addGlobalCallback(at::RecordFunctionCallback(starts, ends).needsIds(true));
}

/* Return: how many ops began, and how many ended. */
extern "C" uint64_t ops_counted()
{
	at::removeCallback(handle);
	return counted;
}

/* Return: how many of @n were true. */
extern "C" int run_ops(int n)
{
	static const at::Tensor a = at::ones({1}), b = at::ones({1});
	c10::NoGradGuard without_grad;
	int same = 0;

	for (int i = 0; i < n; i++)
		same += at::is_same_size(a, b);
	return same;
}
