// SPDX-License-Identifier: GPL-2.0-only
/*
 * A C++ program that links libtorch: 13 aten::mm in the main thread, 17 in another, and an op with
 * an undefined tensor as weight.
 */
#include <ATen/core/Tensor.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/nll_loss_backward.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <thread>

static void run(int times)
{
	at::Tensor x = at::ones({ 2, 2 });

	for (int i = 0; i < times; i++)
		at::mm(x, x);
}

int main()
{
	run(13);
	std::thread(run, 17).join();
	at::nll_loss_backward(at::ones({}), at::ones({ 4, 3 }), at::zeros({ 4 }, at::kLong), {}, 1,
			      -100, at::ones({}));
}
