// SPDX-License-Identifier: GPL-2.0-only
/*
 * A C++ program that links libtorch: f() calls g() calls h(), which runs aten::mm, in the main
 * thread and in another one; and a backward pass.
 */
#include <ATen/ATen.h>
#include <thread>

namespace calls
{
#define STAYS() asm volatile("" ::: "memory")

__attribute__((noinline)) at::Tensor h(const at::Tensor &x)
{
	at::Tensor y = at::mm(x, x);

	STAYS();
	return y;
}

__attribute__((noinline)) at::Tensor g(const at::Tensor &x)
{
	at::Tensor y = h(x);

	STAYS();
	return y;
}

__attribute__((noinline)) at::Tensor f(const at::Tensor &x)
{
	at::Tensor y = g(x);

	STAYS();
	return y;
}
} // namespace calls

int main()
{
	at::Tensor x = at::ones({ 2, 2 }).set_requires_grad(true);

	calls::f(x).sum().backward();
	std::thread([&x] { calls::g(x); }).join();
}
