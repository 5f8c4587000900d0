// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the collector's copies of rocprofiler-sdk's structures with its headers: compiles only
 * if each member has the same offset, and is no longer.
 */
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include "gpu/rocm/rocprofiler-abi.h"

#define VERSION	ROCP_VERSION(ROCPROFILER_VERSION_MAJOR, ROCPROFILER_VERSION_MINOR)
/* The preprocessor cannot evaluate casts. */
#define NUMBER	(ROCPROFILER_VERSION_MAJOR * 100 + ROCPROFILER_VERSION_MINOR)

#define SAME(theirs, member, ours, ours_member)							\
	_Static_assert(offsetof(theirs, member) == offsetof(struct ours, ours_member) &&	\
		       sizeof(((theirs *)0)->member) >= sizeof(((struct ours *)0)->ours_member), \
		       #theirs "." #member)
#define LONG(theirs, ours)	_Static_assert(sizeof(theirs) == sizeof(struct ours), #theirs)
#define IS(theirs, ours)	_Static_assert((int)(theirs) == (int)(ours), #theirs)

_Static_assert(VERSION >= ROCP_OLDEST && VERSION < ROCP_END, "a version that is known");

typedef rocprofiler_buffer_tracing_hip_api_record_t	call;
typedef rocprofiler_buffer_tracing_kernel_dispatch_record_t kernel;
typedef rocprofiler_buffer_tracing_memory_copy_record_t	copy;
typedef rocprofiler_callback_tracing_record_t		event;
typedef rocprofiler_callback_tracing_marker_api_data_t	marker;
typedef rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t symbol;
typedef rocprofiler_agent_v0_t				agent;

#if NUMBER >= 100
#define CALL	rocp_call
#define EVENT	rocp_event
#define MEMORY	rocp_memory
SAME(call, correlation_id.ancestor, CALL, ancestor);
#else
#define CALL	rocp_call_old
#define EVENT	rocp_event_old
#define MEMORY	rocp_memory_old
#endif

SAME(call, kind, CALL, record.kind);
SAME(call, operation, CALL, record.operation);
SAME(call, correlation_id.internal, CALL, record.call);
SAME(call, start_timestamp, CALL, start);
SAME(call, end_timestamp, CALL, end);
SAME(call, thread_id, CALL, thread);
LONG(call, CALL);

SAME(kernel, correlation_id.internal, rocp_kernel, record.call);
SAME(kernel, thread_id, rocp_kernel, thread);
SAME(kernel, start_timestamp, rocp_kernel, start);
SAME(kernel, end_timestamp, rocp_kernel, end);
SAME(kernel, dispatch_info.agent_id, rocp_kernel, agent);
SAME(kernel, dispatch_info.queue_id, rocp_kernel, queue);
SAME(kernel, dispatch_info.kernel_id, rocp_kernel, kernel);
SAME(kernel, dispatch_info.private_segment_size, rocp_kernel, private_bytes);
SAME(kernel, dispatch_info.group_segment_size, rocp_kernel, group_bytes);
SAME(kernel, dispatch_info.workgroup_size, rocp_kernel, workgroup);
SAME(kernel, dispatch_info.grid_size, rocp_kernel, grid);

SAME(copy, correlation_id.internal, rocp_copy, record.call);
SAME(copy, thread_id, rocp_copy, thread);
SAME(copy, start_timestamp, rocp_copy, start);
SAME(copy, dst_agent_id, rocp_copy, to);
SAME(copy, src_agent_id, rocp_copy, from);
SAME(copy, bytes, rocp_copy, bytes);

#if NUMBER >= 6
typedef rocprofiler_buffer_tracing_memory_allocation_record_t memory;
SAME(memory, correlation_id.internal, MEMORY, record.call);
SAME(memory, thread_id, MEMORY, thread);
SAME(memory, start_timestamp, MEMORY, start);
SAME(memory, agent_id, MEMORY, agent);
SAME(memory, address, MEMORY, address);
SAME(memory, allocation_size, MEMORY, bytes);
SAME(agent, uuid, rocp_agent, uuid);
#else
_Static_assert(sizeof(agent) == offsetof(struct rocp_agent, uuid), "agent");
#endif

SAME(event, kind, EVENT, kind);
SAME(event, operation, EVENT, operation);
SAME(event, phase, EVENT, phase);
SAME(event, payload, EVENT, data);
LONG(event, EVENT);
SAME(symbol, kernel_id, rocp_symbol, kernel);
SAME(symbol, kernel_name, rocp_symbol, name);
SAME(marker, args, rocp_marker_data, arg);
SAME(marker, retval, rocp_marker_data, result);
LONG(rocprofiler_record_header_t, rocp_header);
SAME(rocprofiler_tool_configure_result_t, finalize, rocp_tool, finalize);
SAME(rocprofiler_tool_configure_result_t, tool_data, rocp_tool, data);
LONG(rocprofiler_tool_configure_result_t, rocp_tool);

SAME(agent, id, rocp_agent, id);
SAME(agent, type, rocp_agent, type);
SAME(agent, wave_front_size, rocp_agent, wavefront);
SAME(agent, cu_count, rocp_agent, compute_units);
SAME(agent, vendor_id, rocp_agent, vendor);
SAME(agent, device_id, rocp_agent, device);
SAME(agent, location_id, rocp_agent, location);
SAME(agent, domain, rocp_agent, domain);
SAME(agent, max_engine_clk_fcompute, rocp_agent, clock);
SAME(agent, local_mem_size, rocp_agent, memory);
SAME(agent, name, rocp_agent, name);
SAME(agent, product_name, rocp_agent, product);

IS(ROCPROFILER_BUFFER_CATEGORY_TRACING, ROCP_TRACING);
IS(ROCPROFILER_CALLBACK_PHASE_ENTER, ROCP_ENTER);
IS(ROCPROFILER_CALLBACK_PHASE_EXIT, ROCP_EXIT);
IS(ROCPROFILER_AGENT_TYPE_GPU, ROCP_GPU);
IS(ROCPROFILER_AGENT_INFO_VERSION_0, ROCP_AGENT_V0);
IS(ROCPROFILER_BUFFER_POLICY_LOSSLESS, ROCP_LOSSLESS);
IS(ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER, ROCP_KERNEL_SYMBOL);
IS(ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA, ROCP_MARK);
IS(ROCPROFILER_MARKER_CORE_API_ID_roctxRangePushA, ROCP_PUSH);
IS(ROCPROFILER_MARKER_CORE_API_ID_roctxRangePop, ROCP_POP);
IS(ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStartA, ROCP_START);
IS(ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStop, ROCP_STOP);
