/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Events of a result in C++17.  Part of <xsprof/profiler.hpp>, which includes it.
 */
#ifndef XSPROF_EVENT_HPP
#define XSPROF_EVENT_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <xsprof/result.h>

namespace xsprof::autograd::profiler {

/* An event of a result; the result must outlive it. */
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
	/*
	 * One element per input; empty for a list of tensors and for inputs that are not tensors.
	 */
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
	/* The same as JSON, including the tensors of lists. */
	std::string shapesJson() const { return xsprof_event_shapes(ev); }
	std::string stridesJson() const { return xsprof_event_strides(ev); }
	std::string dtypesJson() const { return xsprof_event_dtypes(ev); }
	std::string concreteInputsJson() const { return xsprof_event_concrete_inputs(ev); }
	/* A JSON object, "" for none; values can be of any type. */
	std::string kwinputsJson() const { return xsprof_event_kwargs(ev); }
	bool hasKwinputs() const { return *xsprof_event_kwargs(ev) != 0; }
	/* The modules that it is in, outermost first: "net", "fc". */
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

} // namespace xsprof::autograd::profiler

#endif /* XSPROF_EVENT_HPP */
