// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program written for other profilers, with only the namespace changed.
 *
 *	usage FOLDER
 */
#include <iostream>
#include <stdexcept>

#include <xsprof/profiler.hpp>

static void work()
{
	for (int i = 0; i < 10; i++) {
		xsprof::RecordFunction outer(xsprof_name("aten::linear"));
		xsprof::RecordFunction inner(xsprof_name("aten::addmm"));
	}
}

static int used(const std::string &folder)
{
	// Configure profiler
	xsprof::profiler::impl::ProfilerConfig config(
		xsprof::profiler::impl::ProfilerState::KINETO,
		true,	// report_input_shapes
		true,	// profile_memory
		true,	// with_stack
		false,	// with_flops
		false	// with_modules
	);

	// Specify activities
	std::set<xsprof::profiler::impl::ActivityType> activities{
		xsprof::profiler::impl::ActivityType::CPU
	};

	// Start profiling
	xsprof::autograd::profiler::enableProfiler(config, activities);

	work();

	// Stop and get results
	auto result = xsprof::autograd::profiler::disableProfiler();

	// Save trace
	result->save(folder + "/profile_trace.json");

	// Access events
	int n = 0;
	for (const auto &event : result->events()) {
		if (event.name().rfind("aten::", 0) != 0 || event.endNs() < event.startNs())
			return 1;
		n++;
	}
	if (n != 20 || result->event_tree().size() != 10 ||
	    result->event_tree()[0].children().size() != 1)
		return 2;
	try {
		result->save(folder + "/again.json");
		return 3;
	} catch (const std::system_error &e) {
		if (e.code().value() != EALREADY)
			return 4;
	}
	return 0;
}

static int guarded(const std::string &folder)
{
	using namespace xsprof::autograd::profiler;

	{
		RecordProfile guard(folder + "/guard.json");

		work();
		try {
			enableProfiler(ProfilerConfig(ProfilerState::CPU), { ActivityType::CPU });
			return 1;
		} catch (const std::system_error &e) {
			if (e.code().value() != EBUSY)
				return 2;
		}
	}
	xsprof::profiler::kineto_init();
	xsprof::profiler::kineto_start_trace();
	work();
	xsprof::profiler::itt_range_push("operation");
	xsprof::profiler::itt_range_pop();
	auto trace = xsprof::profiler::kineto_stop_trace();

	trace->save(folder + "/trace.json");
	return trace->events().size() == 20 ? 0 : 3;
}

/* An exception thrown while events are read leaves disableProfiler(), through C code. */
static int processed()
{
	using namespace xsprof::autograd::profiler;
	const ProfilerConfig config(ProfilerState::KINETO);
	int n = 0;

	enableProfilerWithEventPostProcess(
		config, { ActivityType::CPU },
		[&n](const KinetoEvent &event, std::vector<std::string> &stack,
		     std::vector<std::string> &modules) {
			n++;
			if (event.name() != "aten::addmm")
				return;
			stack = { "model.py(3): forward", "train.py(9): <module>" };
			modules.emplace_back("net");
			modules.emplace_back("fc");
		});
	work();
	auto result = disableProfiler();

	for (const auto &event : result->events()) {
		bool inner = event.name() == "aten::addmm";

		if (event.moduleHierarchy() != (inner ? std::vector<std::string>{ "net", "fc" } :
							std::vector<std::string>{}) ||
		    event.hasModuleHierarchy() != inner || event.hasShapes() ||
		    event.stack().size() != (inner ? 2 : 0) ||
		    (inner && event.stack()[1] != "train.py(9): <module>"))
			return 1;
	}
	if (n != 20)
		return 2;
	enableProfilerWithEventPostProcess(
		config, { ActivityType::CPU },
		[](const KinetoEvent &, std::vector<std::string> &, std::vector<std::string> &) {
			throw std::runtime_error("of the program's own");
		});
	work();
	try {
		disableProfiler();
		return 3;
	} catch (const std::runtime_error &e) {
		if (e.what() != std::string("of the program's own"))
			return 4;
	}
	return profilerEnabled() ? 5 : 0;
}

/* Inputs as other profilers return them: vectors, one element per place. */
static int inputs()
{
	using namespace xsprof::autograd::profiler;
	const ProfilerConfig config(ProfilerState::KINETO, true, false, false, false, true);
	const int64_t sizes[2] = { 2, 3 }, strides[2] = { 3, 1 };
	xsprof_tensor tensor{};
	xsprof_input in[3]{};
	xsprof_op op{};

	tensor.sizes = sizes;
	tensor.strides = strides;
	tensor.ndim = 2;
	tensor.dtype = xsprof_name("float");
	in[0].kind = XSPROF_INPUT_TENSOR;
	in[0].u.tensor = &tensor;
	in[1].kind = XSPROF_INPUT_F64;
	in[1].u.f64 = 0.5;
	in[2].kind = XSPROF_INPUT_TENSORS;
	in[2].n = 1;
	in[2].u.tensor = &tensor;
	op.name = xsprof_name("aten::addmm");
	op.sequence = XSPROF_NO_SEQUENCE;
	op.inputs = in;
	op.nr_inputs = 3;
	op.module = "net.fc.0";
	enableProfiler(config, { ActivityType::CPU });
	{
		xsprof::RecordFunction whole(op);
		xsprof::RecordFunction plain(xsprof_name("aten::empty"));
	}
	auto result = disableProfiler();
	const KinetoEvent &ev = result->events().at(0), &empty = result->events().at(1);
	size_t elements = 0;

	for (const std::vector<int64_t> &shape : ev.shapes())
		elements += shape.empty() ? 0 : static_cast<size_t>(shape[0] * shape[1]);
	if (elements != 6 || ev.shapes().size() != 3 || ev.shapes()[0].size() != 2 ||
	    ev.strides() != std::vector<std::vector<int64_t>>{ { 3, 1 }, {}, {} })
		return 1;
	if (ev.dtypes() != std::vector<std::string>{ "float", "Scalar", "TensorList" } ||
	    ev.concreteInputs() != std::vector<std::string>{ "", "0.5", "" })
		return 2;
	if (ev.moduleHierarchy() != std::vector<std::string>{ "net", "fc", "0" } ||
	    ev.moduleText() != "net.fc.0")
		return 3;
	if (ev.shapesJson() != "[[2,3],[],[[2,3]]]" || ev.stridesJson() != "[[3,1],[],[[3,1]]]" ||
	    ev.dtypesJson() != "[\"float\",\"Scalar\",\"TensorList\"]" ||
	    ev.concreteInputsJson() != "[\"\",\"0.5\",\"\"]" || !ev.kwinputsJson().empty())
		return 4;
	if (!ev.hasShapes() || empty.hasShapes() || !empty.shapes().empty() ||
	    !empty.dtypes().empty() || !empty.moduleHierarchy().empty() || ev.hasKwinputs())
		return 5;
	return 0;
}

int main(int argc, char **argv)
{
	int err;

	if (argc != 2)
		return 2;
	std::cout << "1..4\n";
	err = used(argv[1]);
	std::cout << (err ? "not ok" : "ok") << " 1 the usual program: " << err << "\n";
	int other = guarded(argv[1]);
	std::cout << (other ? "not ok" : "ok") << " 2 guards, and the short way: " << other << "\n";
	int last = processed();
	std::cout << (last ? "not ok" : "ok") << " 3 the last word on ops: " << last << "\n";
	int given = inputs();
	std::cout << (given ? "not ok" : "ok") << " 4 inputs as vectors: " << given << "\n";
	return err || other || last || given;
}
