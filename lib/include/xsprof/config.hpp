/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Configuration of sessions in C++17.  Part of <xsprof/profiler.hpp>, which includes it.
 */
#ifndef XSPROF_CONFIG_HPP
#define XSPROF_CONFIG_HPP

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <xsprof/profiler.h>

namespace xsprof {

enum class RecordScope : uint8_t {
	FUNCTION = XSPROF_OP_FUNCTION,
	BACKWARD_FUNCTION = XSPROF_OP_BACKWARD_FUNCTION,
	TORCHSCRIPT_FUNCTION = XSPROF_OP_TORCHSCRIPT_FUNCTION,
	KERNEL_FUNCTION_DTYPE = XSPROF_OP_KERNEL_FUNCTION_DTYPE,
	CUSTOM_CLASS = XSPROF_OP_CUSTOM_CLASS,
	BUILD_FEATURE = XSPROF_OP_BUILD_FEATURE,
	LITE_INTERPRETER = XSPROF_OP_LITE_INTERPRETER,
	USER_SCOPE = XSPROF_OP_USER_SCOPE,
	STATIC_RUNTIME_OP = XSPROF_OP_STATIC_RUNTIME_OP,
	STATIC_RUNTIME_MODEL = XSPROF_OP_STATIC_RUNTIME_MODEL,
	NUM_SCOPES,
};

namespace profiler::impl {

enum class ActivityType {
	CPU = XSPROF_ACTIVITY_CPU,
	XPU = XSPROF_ACTIVITY_XPU,
	CUDA = XSPROF_ACTIVITY_CUDA,
	HPU = XSPROF_ACTIVITY_HPU,
	MTIA = XSPROF_ACTIVITY_MTIA,
	PrivateUse1 = XSPROF_ACTIVITY_PRIVATEUSE1,
	NUM_KINETO_ACTIVITIES,
};

enum class ProfilerState {
	Disabled = XSPROF_PROFILER_DISABLED,
	CPU = XSPROF_PROFILER_CPU,
	CUDA = XSPROF_PROFILER_CUDA,
	NVTX = XSPROF_PROFILER_NVTX,
	ITT = XSPROF_PROFILER_ITT,
	PRIVATEUSE1 = XSPROF_PROFILER_PRIVATEUSE1,
	KINETO = XSPROF_PROFILER_KINETO,
	KINETO_GPU_FALLBACK = XSPROF_PROFILER_KINETO_GPU_FALLBACK,
	KINETO_PRIVATEUSE1_FALLBACK = XSPROF_PROFILER_KINETO_PRIVATEUSE1_FALLBACK,
	KINETO_ONDEMAND = XSPROF_PROFILER_KINETO_ONDEMAND,
	NUM_PROFILER_STATES,
};

struct ExperimentalConfig {
	std::vector<std::string> profiler_metrics;
	bool profiler_measure_per_kernel = false;
	bool verbose = false;
	bool enable_cuda_sync_events = false;
	bool adjust_profiler_step = false;
	bool disable_external_correlation = false;
	bool profile_all_threads = false;
	bool capture_overload_names = false;
	std::string custom_profiler_config;
};

/* The configuration of a session; it must outlive the session. */
struct ProfilerConfig {
	explicit ProfilerConfig(ProfilerState s, bool shapes = false, bool memory = false,
				bool stack = false, bool flops = false, bool modules = false,
				ExperimentalConfig experimental = {}, std::string id = {})
		: state(s), report_input_shapes(shapes), profile_memory(memory),
		  with_stack(stack), with_flops(flops), with_modules(modules),
		  experimental_config(std::move(experimental)), trace_id(std::move(id))
	{
	}

	ProfilerState state;
	bool report_input_shapes;
	bool profile_memory;
	bool with_stack;
	bool with_flops;
	bool with_modules;
	ExperimentalConfig experimental_config;
	std::string trace_id;
};

/* The same for the C functions; owns the memory that the C structs point to. */
class CConfig {
public:
	explicit CConfig(const ProfilerConfig &from) : copy(from)
	{
		for (const std::string &m : copy.experimental_config.profiler_metrics)
			metrics.push_back(m.c_str());
		experimental.size = sizeof(experimental);
		experimental.metrics = metrics.empty() ? nullptr : metrics.data();
		experimental.nr_metrics = metrics.size();
		experimental.measure_per_kernel =
			copy.experimental_config.profiler_measure_per_kernel;
		experimental.verbose = copy.experimental_config.verbose;
		experimental.enable_cuda_sync_events =
			copy.experimental_config.enable_cuda_sync_events;
		experimental.adjust_profiler_step = copy.experimental_config.adjust_profiler_step;
		experimental.disable_external_correlation =
			copy.experimental_config.disable_external_correlation;
		experimental.all_threads = copy.experimental_config.profile_all_threads;
		experimental.capture_overload_names =
			copy.experimental_config.capture_overload_names;
		if (!copy.experimental_config.custom_profiler_config.empty())
			experimental.custom =
				copy.experimental_config.custom_profiler_config.c_str();
		config.size = sizeof(config);
		config.state = static_cast<uint32_t>(copy.state);
		config.report_input_shapes = copy.report_input_shapes;
		config.profile_memory = copy.profile_memory;
		config.with_stack = copy.with_stack;
		config.with_flops = copy.with_flops;
		config.with_modules = copy.with_modules;
		config.experimental = &experimental;
		config.trace_id = copy.trace_id.empty() ? nullptr : copy.trace_id.c_str();
	}
	CConfig(const CConfig &) = delete;
	CConfig &operator=(const CConfig &) = delete;

	const xsprof_profiler_config *get() const { return &config; }
	/* Both must stay valid as long as this object. */
	void set_post_process(int (*each)(void *data, xsprof_profiler_event *ev), void *data)
	{
		config.post_process = each;
		config.post_process_data = data;
	}

private:
	ProfilerConfig copy;
	std::vector<const char *> metrics;
	xsprof_experimental experimental{};
	xsprof_profiler_config config{};
};

} // namespace profiler::impl

} // namespace xsprof

#endif /* XSPROF_CONFIG_HPP */
