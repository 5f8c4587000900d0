/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * <xsprof/profiler.h> and <xsprof/result.h> for C++17, with the names that programs written for
 * PyTorch's profiler have: they compile with the namespace changed.  Header-only; what goes wrong
 * is thrown as std::system_error with the errno of the C function.
 */
#ifndef XSPROF_PROFILER_HPP
#define XSPROF_PROFILER_HPP

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

#include <xsprof/result.h>

namespace xsprof {

namespace detail {
inline void check(int err, const char *what)
{
	if (err < 0)
		throw std::system_error(-err, std::generic_category(), what);
}
} // namespace detail

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

/* A session; it must outlive the session that it is enabled with. */
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

/* The same for the C functions; keeps what they point to. */
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
	/* Both must stay for as long as this does. */
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

namespace autograd::profiler {

using xsprof::profiler::impl::ActivityType;
using xsprof::profiler::impl::ProfilerConfig;
using xsprof::profiler::impl::ProfilerState;

/* An event of a result, which must outlive it. */
class KinetoEvent {
public:
	explicit KinetoEvent(const xsprof_profiler_event *event) : ev(event) {}

	std::string name() const { return xsprof_event_name(ev); }
	uint64_t startNs() const { return xsprof_event_start_ns(ev); }
	uint64_t endNs() const { return xsprof_event_end_ns(ev); }
	uint64_t durationNs() const { return xsprof_event_duration_ns(ev); }
	uint64_t selfNs() const { return xsprof_event_self_ns(ev); }
	bool finished() const { return !xsprof_event_unfinished(ev); }
	uint32_t deviceType() const { return xsprof_event_device_type(ev); }
	int32_t deviceIndex() const { return xsprof_event_device_index(ev); }
	uint64_t deviceResourceId() const { return xsprof_event_device_resource_id(ev); }
	uint64_t startThreadId() const { return xsprof_event_start_thread_id(ev); }
	uint64_t endThreadId() const { return xsprof_event_end_thread_id(ev); }
	uint64_t fwdThreadId() const { return xsprof_event_forward_thread_id(ev); }
	int64_t sequenceNr() const { return xsprof_event_sequence_number(ev); }
	uint64_t recordFunctionId() const { return xsprof_event_record_function_id(ev); }
	uint64_t correlationId() const { return xsprof_event_correlation_id(ev); }
	uint64_t linkedCorrelationId() const { return xsprof_event_linked_correlation_id(ev); }
	uint8_t scope() const { return static_cast<uint8_t>(xsprof_event_scope(ev)); }
	bool isAsync() const { return xsprof_event_is_async(ev); }
	bool isUserAnnotation() const { return xsprof_event_is_user_annotation(ev); }
	int64_t nBytes() const { return xsprof_event_nbytes(ev); }
	uint64_t flops() const { return xsprof_event_flops(ev); }
	int64_t cudaElapsedUs() const { return xsprof_event_cuda_elapsed_us(ev); }
	int64_t privateuse1ElapsedUs() const { return xsprof_event_privateuse1_elapsed_us(ev); }
	/* Inputs, a place each; of what is no tensor, and of a list of them, sizes are empty. */
	std::vector<std::vector<int64_t>> shapes() const
	{
		return numbers(xsprof_event_input_dims);
	}
	std::vector<std::vector<int64_t>> strides() const
	{
		return numbers(xsprof_event_input_strides);
	}
	std::vector<std::string> dtypes() const { return texts(xsprof_event_input_dtype); }
	std::vector<std::string> concreteInputs() const
	{
		return texts(xsprof_event_input_concrete);
	}
	bool hasShapes() const { return xsprof_event_nr_inputs(ev) != 0; }
	bool hasTypes() const { return hasShapes(); }
	bool hasConcreteInputs() const { return hasShapes(); }
	/* The same as JSON, with the tensors of lists. */
	std::string shapesJson() const { return xsprof_event_shapes(ev); }
	std::string stridesJson() const { return xsprof_event_strides(ev); }
	std::string dtypesJson() const { return xsprof_event_dtypes(ev); }
	std::string concreteInputsJson() const { return xsprof_event_concrete_inputs(ev); }
	/* An object, "" for none: values are of any type. */
	std::string kwinputsJson() const { return xsprof_event_kwargs(ev); }
	bool hasKwinputs() const { return *xsprof_event_kwargs(ev) != 0; }
	/* "net.fc": those it is in, outermost first. */
	std::vector<std::string> moduleHierarchy() const
	{
		const std::string path = moduleText();
		std::vector<std::string> modules;

		if (path.empty())
			return modules;
		for (size_t at = 0, dot = 0; dot != std::string::npos; at = dot + 1) {
			dot = path.find('.', at);
			modules.push_back(path.substr(at, dot - at));
		}
		return modules;
	}
	std::string moduleText() const { return xsprof_event_module(ev); }
	bool hasModuleHierarchy() const { return *xsprof_event_module(ev) != 0; }
	std::vector<std::string> stack() const
	{
		std::vector<std::string> frames;

		for (size_t i = 0; i < xsprof_event_nr_frames(ev); i++)
			frames.emplace_back(xsprof_event_frame(ev, i));
		return frames;
	}
	bool hasStack() const { return xsprof_event_nr_frames(ev) != 0; }
	std::vector<KinetoEvent> children() const
	{
		std::vector<KinetoEvent> list;

		for (auto *e = xsprof_event_child(ev); e; e = xsprof_event_next(e))
			list.emplace_back(e);
		return list;
	}
	const xsprof_profiler_event *get() const { return ev; }

private:
	std::vector<std::vector<int64_t>> numbers(const int64_t *(*of)(const xsprof_profiler_event *,
									size_t, size_t *)) const
	{
		std::vector<std::vector<int64_t>> all(xsprof_event_nr_inputs(ev));

		for (size_t i = 0; i < all.size(); i++) {
			size_t nr;
			const int64_t *v = of(ev, i, &nr);

			if (nr)
				all[i].assign(v, v + nr);
		}
		return all;
	}
	std::vector<std::string> texts(const char *(*of)(const xsprof_profiler_event *,
							 size_t)) const
	{
		std::vector<std::string> all;

		for (size_t i = 0; i < xsprof_event_nr_inputs(ev); i++)
			all.emplace_back(of(ev, i));
		return all;
	}

	const xsprof_profiler_event *ev;
};

/*
 * The program's last word on an op of a result: the frames of its stack, innermost first, and the
 * modules it belongs to.  Both are as they were recorded, and are what it leaves them as.
 */
using post_process_t = std::function<void(const KinetoEvent &event,
					  std::vector<std::string> &stack,
					  std::vector<std::string> &modules)>;

class ProfilerResult {
public:
	explicit ProfilerResult(xsprof_result *result) : res(result, xsprof_result_free) {}

	uint64_t trace_start_ns() const { return res ? xsprof_result_start_ns(res.get()) : 0; }
	const std::vector<KinetoEvent> &events() const
	{
		if (!listed) {
			int64_t n = res ? xsprof_result_nr_events(res.get()) : 0;

			detail::check(n < 0 ? static_cast<int>(n) : 0, "events of a result");
			for (int64_t i = 0; i < n; i++)
				all.emplace_back(xsprof_result_event(res.get(), i));
			listed = true;
		}
		return all;
	}
	const std::vector<KinetoEvent> &event_tree() const
	{
		if (res && roots.empty())
			for (auto *e = xsprof_result_tree(res.get()); e; e = xsprof_event_next(e))
				roots.emplace_back(e);
		return roots;
	}
	void save(const std::string &path)
	{
		detail::check(res ? xsprof_result_save(res.get(), path.c_str()) : -ENODATA,
			      path.c_str());
	}
	explicit operator bool() const { return res != nullptr; }
	xsprof_result *get() const { return res.get(); }

private:
	std::unique_ptr<xsprof_result, void (*)(xsprof_result *)> res;
	mutable std::vector<KinetoEvent> all, roots;
	mutable bool listed = false;
};

namespace detail {
/* A post_process_t called from C; what it throws is kept until C has returned. */
class PostProcess {
public:
	explicit PostProcess(post_process_t fn) : call(std::move(fn)) {}

	static int each(void *data, xsprof_profiler_event *ev) noexcept
	{
		auto *self = static_cast<PostProcess *>(data);

		try {
			self->one(ev);
			return 0;
		} catch (...) {
			self->thrown = std::current_exception();
			return -ECANCELED;
		}
	}
	void rethrow() const
	{
		if (thrown)
			std::rethrow_exception(thrown);
	}

private:
	void one(xsprof_profiler_event *ev)
	{
		const KinetoEvent event(ev);
		const std::vector<std::string> old_stack = event.stack();
		const std::vector<std::string> old_modules = event.moduleHierarchy();
		std::vector<std::string> stack = old_stack, modules = old_modules;
		std::vector<const char *> frames;
		std::string module;

		call(event, stack, modules);
		for (const std::string &m : modules)
			module += (module.empty() ? "" : ".") + m;
		if (modules != old_modules)
			xsprof::detail::check(xsprof_event_set_module(ev, module.c_str()),
					      "modules of an op");
		if (stack == old_stack)
			return;
		for (const std::string &frame : stack)
			frames.push_back(frame.c_str());
		xsprof::detail::check(xsprof_event_set_stack(ev, frames.data(), frames.size()),
				      "stack of an op");
	}

	post_process_t call;
	std::exception_ptr thrown;
};

/* What the session that runs was asked for: the C functions point into it. */
struct Session {
	std::unique_ptr<xsprof::profiler::impl::CConfig> config;
	std::unique_ptr<PostProcess> post_process;
};

inline Session &current()
{
	static Session session;

	return session;
}

inline uint32_t bits(const std::set<ActivityType> &activities)
{
	uint32_t set = 0;

	for (ActivityType a : activities)
		set |= 1u << static_cast<unsigned>(a);
	return set;
}
} // namespace detail

inline void prepareProfiler(const ProfilerConfig &config, const std::set<ActivityType> &activities)
{
	xsprof::profiler::impl::CConfig c(config);

	xsprof::detail::check(xsprof_prepare_profiler(c.get(), detail::bits(activities)),
			      "prepareProfiler");
}

/* @fn is called with each op of the result by disableProfiler(), which throws what it throws. */
inline void
enableProfilerWithEventPostProcess(const ProfilerConfig &config,
				   const std::set<ActivityType> &activities, post_process_t fn,
				   const std::unordered_set<RecordScope> &scopes = {})
{
	detail::Session session;
	uint32_t set = 0;

	session.config = std::make_unique<xsprof::profiler::impl::CConfig>(config);
	if (fn) {
		session.post_process = std::make_unique<detail::PostProcess>(std::move(fn));
		session.config->set_post_process(detail::PostProcess::each,
						 session.post_process.get());
	}
	for (RecordScope s : scopes)
		set |= 1u << static_cast<unsigned>(s);
	xsprof::detail::check(xsprof_enable_profiler(session.config->get(),
						     detail::bits(activities), set),
			      "enableProfiler");
	detail::current() = std::move(session);
}

inline void enableProfiler(const ProfilerConfig &config, const std::set<ActivityType> &activities,
			   const std::unordered_set<RecordScope> &scopes = {})
{
	enableProfilerWithEventPostProcess(config, activities, nullptr, scopes);
}

inline std::unique_ptr<ProfilerResult> disableProfiler()
{
	xsprof_result *result = nullptr;

	int err = xsprof_disable_profiler(&result);
	auto owner = std::make_unique<ProfilerResult>(result);

	/* What went wrong with the recording costs a part of it, and not the rest. */
	if (!result)
		xsprof::detail::check(err, "disableProfiler");
	detail::Session ended = std::exchange(detail::current(), {});
	if (ended.post_process)
		ended.post_process->rethrow();
	return owner;
}

inline void toggleCollectionDynamic(bool enable, const std::set<ActivityType> &activities = {})
{
	xsprof::detail::check(xsprof_toggle_collection(enable, detail::bits(activities)),
			      "toggleCollectionDynamic");
}

inline void enableProfilerInChildThread()
{
	xsprof::detail::check(xsprof_enable_profiler_in_child_thread(),
			      "enableProfilerInChildThread");
}

inline void disableProfilerInChildThread()
{
	xsprof::detail::check(xsprof_disable_profiler_in_child_thread(),
			      "disableProfilerInChildThread");
}

inline bool isProfilerEnabledInMainThread()
{
	return xsprof_is_profiler_enabled_in_main_thread();
}

inline bool profilerEnabled()
{
	return xsprof_profiler_state() != XSPROF_PROFILER_DISABLED;
}

inline ProfilerState profilerType()
{
	return static_cast<ProfilerState>(xsprof_profiler_state());
}

inline void profilerStep()
{
	xsprof::detail::check(xsprof_profiler_step(), "profilerStep");
}

inline void addMetadata(const std::string &key, const std::string &value)
{
	xsprof::detail::check(xsprof_profiler_add_metadata(key.c_str(), value.c_str()),
			      "addMetadata");
}

inline void addMetadataJson(const std::string &key, const std::string &value)
{
	xsprof::detail::check(xsprof_profiler_add_metadata_json(key.c_str(), value.c_str()),
			      "addMetadataJson");
}

/* A whole session as a block, saved at its end. */
class RecordProfile {
public:
	explicit RecordProfile(std::string file,
			       const ProfilerConfig &config = ProfilerConfig(ProfilerState::CPU))
		: path(std::move(file))
	{
		enableProfiler(config, { ActivityType::CPU });
	}
	RecordProfile(const RecordProfile &) = delete;
	RecordProfile &operator=(const RecordProfile &) = delete;
	/* What goes wrong here has nobody left to tell; stop() tells. */
	~RecordProfile()
	{
		try {
			stop();
		} catch (const std::exception &) {
		}
	}
	void stop()
	{
		if (!std::exchange(done, true))
			disableProfiler()->save(path);
	}

private:
	std::string path;
	bool done = false;
};

} // namespace autograd::profiler

/* An op as a block. */
class RecordFunction {
public:
	explicit RecordFunction(xsprof_name_t name, RecordScope scope = RecordScope::FUNCTION)
	{
		xsprof_op op{};

		op.name = name;
		op.scope = static_cast<uint32_t>(scope);
		op.sequence = XSPROF_NO_SEQUENCE;
		xsprof_op_begin(&op);
	}
	explicit RecordFunction(const xsprof_op &op) { xsprof_op_begin(&op); }
	RecordFunction(const RecordFunction &) = delete;
	RecordFunction &operator=(const RecordFunction &) = delete;
	~RecordFunction() { xsprof_op_end(); }
};

namespace profiler {

inline bool itt_is_available() { return xsprof_itt_is_available(); }
inline void itt_range_push(const char *msg) { (void)xsprof_itt_range_push(msg); }
inline void itt_range_pop() { (void)xsprof_itt_range_pop(); }
inline void itt_mark(const char *msg) { xsprof_itt_mark(msg); }

/* The short way: a session of all threads, with everything that costs little. */
inline void kineto_init() {}
inline void kineto_start_trace()
{
	impl::ExperimentalConfig all;

	all.profile_all_threads = true;
	autograd::profiler::enableProfiler(
		impl::ProfilerConfig(impl::ProfilerState::KINETO, true, true, false, false, false,
				     all),
		{ impl::ActivityType::CPU, impl::ActivityType::CUDA });
}
inline std::unique_ptr<autograd::profiler::ProfilerResult> kineto_stop_trace()
{
	return autograd::profiler::disableProfiler();
}

} // namespace profiler
} // namespace xsprof

#endif /* XSPROF_PROFILER_HPP */
