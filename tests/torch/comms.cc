// SPDX-License-Identifier: GPL-2.0-only
//
// A process group that reports its collectives to profilers as groups of GPUs do, which no CPU
// build has: a Python extension that uses PyTorch's own macro.
#include <torch/csrc/distributed/c10d/ParamCommsUtils.hpp>
#include <torch/extension.h>

static void all_reduce(at::Tensor t, int64_t sequence, int64_t rank, int64_t size)
{
	std::vector<at::Tensor> tensors{t};

	RECORD_PARAM_COMMS_DATA(std::make_tuple(sequence, false),
				std::make_tuple(std::string("0"), std::string("default_pg")),
				tensors, tensors, rank, "allreduce", t.numel(), t.numel(),
				t.scalar_type(), std::vector<int64_t>(),
				std::vector<int64_t>(), 0, 1, size);
	t.mul_(2);
}

static void all_to_all(at::Tensor in, at::Tensor out, int64_t sequence, int64_t rank,
		       std::vector<int64_t> from, std::vector<int64_t> to)
{
	std::vector<at::Tensor> ins{in}, outs{out};

	RECORD_PARAM_COMMS_DATA(std::make_tuple(sequence, false),
				std::make_tuple(std::string("1"), std::string("other_pg")), ins,
				outs, rank, "all_to_allv", in.numel(), out.numel(),
				in.scalar_type(), from, to, 0, 1, 2);
	out.copy_(in);
}

PYBIND11_MODULE(comms, m)
{
	m.def("all_reduce", &all_reduce);
	m.def("all_to_all", &all_to_all);
}
