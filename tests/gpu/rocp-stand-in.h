/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stand-in for librocprofiler-sdk, and calls by which a test program makes device activities.
 * ROCP_STAND_IN_VERSION, such as "0.4", selects the version: numbers of kinds, sizes of records and
 * arguments of callbacks. ROCP_STAND_IN has comma-separated words for its behaviour:
 *
 *	refuse-WHAT	that function fails: context, buffer, trace, callback, start, agents
 *	no-gpu		there is only a CPU
 *	no-time		each fourth record has no times
 *	strange		each eighth is followed by one of another category, and one of another kind
 *	short		each eighth is followed by one that is too short
 *	reverse		records are delivered in the opposite order
 *	drop		each tenth is dropped, and counted
 *	late		device activities are reported only when rocprofiler-sdk ends
 *	stall		a second request for the time waits until ROCP_STALLED kernels were
 *			delivered
 */
#ifndef ROCP_STAND_IN_H
#define ROCP_STAND_IN_H

#include <stdbool.h>

#include "gpu/rocm/rocprofiler-abi.h"

#define EXPORT	__attribute__((visibility("default")))

#define ROCP_STALLED	120000u

/* Agents. */
#define ROCP_HOST	7u
#define ROCP_GPU_0	8u
#define ROCP_GPU_1	9u

enum rocp_what {
	ROCP_CALLS, ROCP_KERNELS, ROCP_COPIES, ROCP_MEMORIES, ROCP_NR_WHATS,
};

/* How many records of each were delivered, to any tool. */
extern uint64_t rocp_stand_in_counts[ROCP_NR_WHATS];

/* Makes a call of HIP by its name. Return: its id. */
uint64_t rocp_stand_in_call(const char *name);
void rocp_stand_in_symbol(uint64_t kernel, const char *name);
void rocp_stand_in_kernel(uint64_t call, uint64_t agent, uint64_t queue, uint64_t kernel);
void rocp_stand_in_copy(uint64_t call, uint64_t from, uint64_t to, uint64_t bytes);
/* @name: the end of an operation's name. */
void rocp_stand_in_memory(uint64_t call, const char *name, uint64_t agent, uint64_t bytes);
/* Makes a call of roctx, by a program that opened the library itself. */
void rocp_stand_in_marker(enum rocp_marker what, const char *text, uint64_t id);

/* rocprofiler-sdk's own roctx, for programs linked with it. */
EXPORT void roctxMarkA(const char *text);
EXPORT int roctxRangePushA(const char *text);
EXPORT int roctxRangePop(void);
EXPORT uint64_t roctxRangeStartA(const char *text);
EXPORT void roctxRangeStop(uint64_t id);

/* ---- its functions --------------------------------------------------------------------------- */

EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **tables, uint64_t n);
EXPORT const char *rocprofiler_get_status_string(int status);
EXPORT int rocprofiler_get_timestamp(uint64_t *ns);
EXPORT int rocprofiler_create_context(struct rocp_id *context);
EXPORT int rocprofiler_start_context(struct rocp_id context);
EXPORT int rocprofiler_stop_context(struct rocp_id context);
EXPORT int rocprofiler_create_buffer(struct rocp_id context, size_t size, size_t watermark,
				     uint32_t policy, rocp_buffer_fn fn, void *data,
				     struct rocp_id *buffer);
EXPORT int rocprofiler_flush_buffer(struct rocp_id buffer);
EXPORT int rocprofiler_configure_buffer_tracing_service(struct rocp_id context, uint32_t kind,
							const int32_t *operations, size_t n,
							struct rocp_id buffer);
EXPORT int rocprofiler_configure_callback_tracing_service(struct rocp_id context, uint32_t kind,
							  const int32_t *operations, size_t n,
							  rocp_event_fn fn, void *data);
EXPORT int rocprofiler_iterate_buffer_tracing_kinds(rocp_kind_fn fn, void *data);
EXPORT int rocprofiler_query_buffer_tracing_kind_name(uint32_t kind, const char **name,
						      uint64_t *len);
EXPORT int rocprofiler_iterate_buffer_tracing_kind_operations(uint32_t kind, rocp_operation_fn fn,
							      void *data);
EXPORT int rocprofiler_query_buffer_tracing_kind_operation_name(uint32_t kind, int32_t operation,
								const char **name, uint64_t *len);
EXPORT int rocprofiler_iterate_callback_tracing_kinds(rocp_kind_fn fn, void *data);
EXPORT int rocprofiler_query_callback_tracing_kind_name(uint32_t kind, const char **name,
							uint64_t *len);
EXPORT int rocprofiler_query_available_agents(uint32_t version, rocp_agents_fn fn, size_t size,
					      void *data);

/* ---- between its files ------------------------------------------------------------------- */

bool rocp_is(const char *word);
/* Names of the version's kinds, by number, then NULL. */
const char *const *rocp_kinds(void);
extern const char *const rocp_event_kinds[];
int32_t rocp_first_function(void);
/* Their numbers; 0: not in this version. */
uint32_t rocp_kind_of(const char *name);
uint32_t rocp_event_kind_of(const char *name);
const char *rocp_hip_name(int32_t operation);
int32_t rocp_hip_number(const char *name);
const char *rocp_memory_name(int32_t operation);
uint32_t rocp_stand_in_version(void);
uint64_t rocp_now(void);
/* Sends a record to all tools that asked for it. */
void rocp_emit(enum rocp_what what, uint32_t kind, int32_t operation, const void *record,
	       size_t len);
void rocp_tell(uint32_t kind, int32_t operation, uint32_t phase, void *data);

#endif /* ROCP_STAND_IN_H */
