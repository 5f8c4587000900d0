/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * <xsprof/profiler.h> and <xsprof/result.h> for C++17, with the names of PyTorch's profiler:
 * programs written for it compile with the namespace changed. Header-only. Errors are thrown as
 * std::system_error with the errno of the C function.
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

#include <xsprof/config.hpp>
#include <xsprof/event.hpp>
#include <xsprof/result.h>

namespace xsprof {

namespace detail {
inline void check(int err, const char *what)
{
	if (err < 0)
		throw std::system_error(-err, std::generic_category(), what);
}
} // namespace detail

namespace autograd::profiler {

using xsprof::profiler::impl::ActivityType;
using xsprof::profiler::impl::ProfilerConfig;
using xsprof::profiler::impl::ProfilerState;

/*
 * Called for each op of a result: @stack has the frames, innermost first, @modules the modules, as
 * recorded; the function may change both.
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
/* A post_process_t called from C; an exception is kept and rethrown after C has returned. */
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

/* The configuration of the running session; the C library keeps pointers into it. */
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

/* disableProfiler() calls @fn for each op of the result, and rethrows its exception. */
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

	/* An error of the recording does not discard the part that was recorded. */
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
	/* A destructor cannot report errors; call stop() to get them. */
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

/* Shortcut: a session of all threads, with everything that is cheap to record. */
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
