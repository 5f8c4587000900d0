/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * <xsprof/kineto.h> for C++17, with the names of PyTorch's kineto_shim: code written for it
 * compiles with the namespace changed. Header-only. Errors are thrown as std::system_error with the
 * errno of the C function.
 */
#ifndef XSPROF_KINETO_HPP
#define XSPROF_KINETO_HPP

#include <xsprof/kineto.h>
#include <xsprof/profiler.hpp>

namespace xsprof {

namespace libkineto {

enum class ActivityType : uint8_t {
	CPU_OP = XSPROF_ACTIVITY_TYPE_CPU_OP,
	USER_ANNOTATION = XSPROF_ACTIVITY_TYPE_USER_ANNOTATION,
	GPU_USER_ANNOTATION = XSPROF_ACTIVITY_TYPE_GPU_USER_ANNOTATION,
	GPU_MEMCPY = XSPROF_ACTIVITY_TYPE_GPU_MEMCPY,
	GPU_MEMSET = XSPROF_ACTIVITY_TYPE_GPU_MEMSET,
	CONCURRENT_KERNEL = XSPROF_ACTIVITY_TYPE_CONCURRENT_KERNEL,
	EXTERNAL_CORRELATION = XSPROF_ACTIVITY_TYPE_EXTERNAL_CORRELATION,
	CUDA_RUNTIME = XSPROF_ACTIVITY_TYPE_CUDA_RUNTIME,
	CUDA_DRIVER = XSPROF_ACTIVITY_TYPE_CUDA_DRIVER,
	CPU_INSTANT_EVENT = XSPROF_ACTIVITY_TYPE_CPU_INSTANT_EVENT,
	PYTHON_FUNCTION = XSPROF_ACTIVITY_TYPE_PYTHON_FUNCTION,
	OVERHEAD = XSPROF_ACTIVITY_TYPE_OVERHEAD,
	MTIA_RUNTIME = XSPROF_ACTIVITY_TYPE_MTIA_RUNTIME,
	MTIA_CCP_EVENTS = XSPROF_ACTIVITY_TYPE_MTIA_CCP_EVENTS,
	MTIA_WORKLOADD = XSPROF_ACTIVITY_TYPE_MTIA_WORKLOADD,
	CUDA_SYNC = XSPROF_ACTIVITY_TYPE_CUDA_SYNC,
	GLOW_RUNTIME = XSPROF_ACTIVITY_TYPE_GLOW_RUNTIME,
	CUDA_EVENT = XSPROF_ACTIVITY_TYPE_CUDA_EVENT,
	CUDA_PROFILER_RANGE = XSPROF_ACTIVITY_TYPE_CUDA_PROFILER_RANGE,
	HPU_OP = XSPROF_ACTIVITY_TYPE_HPU_OP,
	XPU_RUNTIME = XSPROF_ACTIVITY_TYPE_XPU_RUNTIME,
	COLLECTIVE_COMM = XSPROF_ACTIVITY_TYPE_COLLECTIVE_COMM,
	PRIVATEUSE1_RUNTIME = XSPROF_ACTIVITY_TYPE_PRIVATEUSE1_RUNTIME,
	PRIVATEUSE1_DRIVER = XSPROF_ACTIVITY_TYPE_PRIVATEUSE1_DRIVER,
	ENUM_COUNT = XSPROF_ACTIVITY_TYPES,
};

inline const char *toString(ActivityType type)
{
	const char *name = xsprof_kineto_activity_name(static_cast<uint32_t>(type));

	return name ? name : "";
}

} // namespace libkineto

namespace profiler::impl::kineto {

using DeviceAndResource = xsprof_kineto_place;
using ActivitySet = std::set<ActivityType>;

inline DeviceAndResource kineto_ids() { return xsprof_kineto_ids(); }

/* An activity of a collection; valid until the collection is transferred. */
struct activity_t {
	xsprof_kineto_cpu_trace *trace;
	int64_t number;
};

/* The value is JSON, as in Kineto. */
inline void addMetadata(const activity_t &activity, const std::string &key,
			const std::string &value)
{
	detail::check(xsprof_kineto_add_activity_metadata_json(activity.trace, activity.number,
							       key.c_str(), value.c_str()),
		      "addMetadata");
}

/* Activities that the program timed itself: ns of CLOCK_REALTIME. */
class TraceWrapper {
public:
	TraceWrapper(int64_t start_time, const std::string &name)
		: trace(xsprof_kineto_cpu_trace_new(name.c_str(),
						    static_cast<uint64_t>(start_time)),
			xsprof_kineto_cpu_trace_free)
	{
		detail::check(trace ? 0 : -ENOMEM, "TraceWrapper");
	}

	activity_t addCPUActivity(const std::string &name, libkineto::ActivityType type,
				  DeviceAndResource ids, uint64_t correlation_id,
				  int64_t start_time, int64_t end_time)
	{
		xsprof_kineto_activity a{};

		a.size = sizeof(a);
		a.name = name.c_str();
		a.type = static_cast<uint32_t>(type);
		a.device = ids.device;
		a.resource = ids.resource;
		a.correlation_id = correlation_id;
		a.start_ns = static_cast<uint64_t>(start_time);
		a.end_ns = static_cast<uint64_t>(end_time);

		int64_t number = xsprof_kineto_add_cpu_activity(trace.get(), &a);

		detail::check(number < 0 ? static_cast<int>(number) : 0, "addCPUActivity");
		return { trace.get(), number };
	}

	/* May be called once: the collection is gone afterwards. */
	void transferCpuTrace(int64_t end_time)
	{
		detail::check(xsprof_kineto_transfer_cpu_trace(trace.get(),
							       static_cast<uint64_t>(end_time)),
			      "transferCpuTrace");
		trace.reset();
	}

	explicit operator bool() const { return trace != nullptr; }

private:
	std::unique_ptr<xsprof_kineto_cpu_trace, void (*)(xsprof_kineto_cpu_trace *)> trace;
};

/* The result of a trace. */
class ActivityTraceWrapper {
public:
	explicit ActivityTraceWrapper(xsprof_result *result) : res(result) {}
	ActivityTraceWrapper() : ActivityTraceWrapper(nullptr) {}

	void save(const std::string &path) { res.save(path); }
	explicit operator bool() const { return static_cast<bool>(res); }
	xsprof_result *get() const { return res.get(); }

private:
	autograd::profiler::ProfilerResult res;
};

/* A copy of @config is kept until the next trace is prepared. */
inline void prepareTrace(bool cpuOnly, const ActivitySet &activities,
			 const ExperimentalConfig &config = {})
{
	static std::unique_ptr<CConfig> kept;
	ProfilerConfig all(ProfilerState::KINETO, false, false, false, false, false, config);
	auto c = std::make_unique<CConfig>(all);
	uint32_t set = 0;

	for (ActivityType a : activities)
		set |= 1u << static_cast<unsigned>(a);
	detail::check(xsprof_kineto_prepare_trace(cpuOnly, set, c->get()->experimental),
		      "prepareTrace");
	kept = std::move(c);
}

inline void startTrace() { detail::check(xsprof_kineto_start_trace(), "startTrace"); }

inline ActivityTraceWrapper stopTrace()
{
	xsprof_result *result = nullptr;
	int err = xsprof_kineto_stop_trace(&result);

	/* An error of the recording does not discard the part that was recorded. */
	if (!result)
		detail::check(err, "stopTrace");
	return ActivityTraceWrapper(result);
}

inline void pushCorrelationId(uint64_t id) { xsprof_kineto_push_correlation_id(id); }
inline void popCorrelationId() { xsprof_kineto_pop_correlation_id(); }
inline void pushUserCorrelationId(uint64_t id) { xsprof_kineto_push_user_correlation_id(id); }
inline void popUserCorrelationId() { xsprof_kineto_pop_user_correlation_id(); }

/* As in kineto_shim, an error (not recorded) is ignored. */
inline void recordThreadInfo() { (void)xsprof_kineto_record_thread_info(); }

inline void logInvariantViolation(const std::string &assertion, const std::string &error,
				  const std::string &profile_id,
				  const std::string &group_profile_id)
{
	(void)xsprof_kineto_log_invariant_violation(assertion.c_str(), error.c_str(),
						    profile_id.c_str(), group_profile_id.c_str());
}

} // namespace profiler::impl::kineto

namespace autograd::profiler {

/* XSPROF_DEVICE_CPU, ... */
inline uint32_t deviceTypeFromActivity(libkineto::ActivityType type)
{
	return xsprof_kineto_device_type(static_cast<uint32_t>(type));
}

} // namespace autograd::profiler
} // namespace xsprof

#endif /* XSPROF_KINETO_HPP */
