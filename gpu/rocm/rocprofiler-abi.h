/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The part of the binary interface of AMD's rocprofiler-sdk that the collector uses, in words of
 * our own: no SDK is needed to build.  Structures begin with their size and only grow at their end
 * within a major version, so these are the parts that all versions of one have: 0.4 to 0.6 are of
 * ROCm 6.2 to 6.4, 1.x of ROCm 7.  Numbers of kinds and of functions differ between versions: they
 * are asked for by their names.
 */
#ifndef XSPROF_ROCPROFILER_ABI_H
#define XSPROF_ROCPROFILER_ABI_H

#include <stddef.h>
#include <stdint.h>

/* A version as rocprofiler_configure() gets it. */
#define ROCP_VERSION(major, minor)	((uint32_t)(major) * 10000 + (uint32_t)(minor) * 100)
#define ROCP_OLDEST	ROCP_VERSION(0, 4)
#define ROCP_OLD_END	ROCP_VERSION(0, 7)	/* never released; its records are like neither's */
#define ROCP_ANCESTORS	ROCP_VERSION(1, 0)	/* ids of calls have a third word from here on */
#define ROCP_END	ROCP_VERSION(2, 0)

#define ROCP_TRACING	1u		/* a category of a record's header */
#define ROCP_ENTER	1u		/* a phase of a callback; of a code object: it is loaded */
#define ROCP_EXIT	2u
#define ROCP_GPU	2u		/* a type of an agent */
#define ROCP_AGENT_V0	1u
#define ROCP_LOSSLESS	2u		/* a policy of a buffer: who finds it full waits */
#define ROCP_KERNEL_SYMBOL 2		/* an operation of code objects */

/* Operations of the core functions of roctx. */
enum rocp_marker { ROCP_MARK, ROCP_PUSH, ROCP_POP, ROCP_START, ROCP_STOP };

/**
 * struct rocp_record - what all records of a buffer begin with
 * @size: of the whole record
 * @kind: of tracing
 * @operation: number of the function, or what was done
 * @call: id of the call, or of the call that had it done
 * @external: the program's or a tool's own
 */
struct rocp_record {
	uint64_t	size;
	uint32_t	kind;
	int32_t		operation;
	uint64_t	call;
	uint64_t	external;
};

/* A call of the HIP runtime, of versions before 1.0, and from it on. */
struct rocp_call_old {
	struct rocp_record	record;
	uint64_t		start;
	uint64_t		end;
	uint64_t		thread;
};

struct rocp_call {
	struct rocp_record	record;
	uint64_t		ancestor;
	uint64_t		start;
	uint64_t		end;
	uint64_t		thread;
};

/* The same in all versions, as work of a device has no ancestor. */
struct rocp_kernel {
	struct rocp_record	record;
	uint64_t		thread;
	uint64_t		start;
	uint64_t		end;
	uint64_t		info_size;
	uint64_t		agent;
	uint64_t		queue;
	uint64_t		kernel;
	uint64_t		dispatch;
	uint32_t		private_bytes;
	uint32_t		group_bytes;
	uint32_t		workgroup[3];
	uint32_t		grid[3];		/* in work items */
};

struct rocp_copy {
	struct rocp_record	record;
	uint64_t		thread;
	uint64_t		start;
	uint64_t		end;
	uint64_t		to;			/* an agent */
	uint64_t		from;
	uint64_t		bytes;
};

/* Memory is allocated or freed: since 0.6, and with an ancestor since 1.0. */
struct rocp_memory_old {
	struct rocp_record	record;
	uint64_t		thread;
	uint64_t		start;
	uint64_t		end;
	uint64_t		agent;
	uint64_t		address;
	uint64_t		bytes;
};

struct rocp_memory {
	struct rocp_record	record;
	uint64_t		ancestor;
	uint64_t		thread;
	uint64_t		start;
	uint64_t		end;
	uint64_t		agent;
	uint64_t		address;
	uint64_t		bytes;
};

/* How a callback for a buffer finds them. */
struct rocp_header {
	uint32_t	category;
	uint32_t	kind;
	void		*record;
};

/* What other callbacks get, by value and without a size: before 1.0, and from it on. */
struct rocp_event_old {
	uint64_t	context;
	uint64_t	thread;
	uint64_t	call;
	uint64_t	external;
	uint32_t	kind;
	int32_t		operation;
	uint32_t	phase;
	void		*data;
};

struct rocp_event {
	uint64_t	context;
	uint64_t	thread;
	uint64_t	call;
	uint64_t	external;
	uint64_t	ancestor;
	uint32_t	kind;
	int32_t		operation;
	uint32_t	phase;
	void		*data;
};

/* Data of ROCP_KERNEL_SYMBOL. */
struct rocp_symbol {
	uint64_t	size;
	uint64_t	kernel;
	uint64_t	code_object;
	const char	*name;
};

/* Data of a function of roctx. */
struct rocp_marker_data {
	uint64_t	size;
	union {
		const char	*text;
		uint64_t	id;
	}		arg;
	uint64_t	second;		/* of functions with two arguments */
	uint64_t	result;		/* at ROCP_EXIT */
};

/* A device or a processor; the part up to @uuid is all that versions before 0.6 have. */
struct rocp_agent {
	uint64_t	size;
	uint64_t	id;
	uint32_t	type;
	uint32_t	counts[5];
	uint32_t	bases[2];
	uint32_t	waves_per_simd;
	uint32_t	lds_kb;
	uint32_t	gds_kb;
	uint32_t	gws;
	uint32_t	wavefront;
	uint32_t	xcc;
	uint32_t	compute_units;
	uint32_t	arrays[5];
	uint32_t	scratch_slots;
	uint32_t	target;
	uint16_t	vendor;
	uint16_t	device;
	uint32_t	location;		/* bus, device and function on the PCI bus */
	uint32_t	domain;
	uint32_t	render_minor;
	uint32_t	engines[4];
	uint32_t	cpu_clock;
	uint32_t	clock;			/* MHz */
	uint32_t	firmware[2];
	uint32_t	capability;
	uint32_t	computed[2];
	uint32_t	family;
	uint32_t	workgroup_max;
	uint32_t	grid_max;
	uint64_t	memory;
	uint64_t	hive;
	uint64_t	gpu;
	uint32_t	dims_max[6];
	const void	*lists[3];
	const char	*name;			/* gfx942 */
	const char	*vendor_name;
	const char	*product;
	const char	*model;
	uint32_t	node;
	int32_t		number;
	int32_t		number_of_type;		/* from 0 among those of its type */
	uint32_t	visible;
	uint64_t	uuid;			/* of 16 bytes since 1.0, of which these are used */
};

#define ROCP_AT(type, member, offset) \
	_Static_assert(offsetof(struct type, member) == (offset), #type "." #member)
#define ROCP_LONG(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)

ROCP_LONG(rocp_record, 32);
ROCP_LONG(rocp_call_old, 56);
ROCP_LONG(rocp_call, 64);
ROCP_LONG(rocp_kernel, 128);
ROCP_AT(rocp_kernel, agent, 64);
ROCP_AT(rocp_kernel, workgroup, 104);
ROCP_LONG(rocp_copy, 80);
ROCP_LONG(rocp_memory_old, 80);
ROCP_LONG(rocp_memory, 88);
ROCP_LONG(rocp_header, 16);
ROCP_LONG(rocp_event_old, 56);
ROCP_LONG(rocp_event, 64);
ROCP_LONG(rocp_symbol, 32);
ROCP_LONG(rocp_marker_data, 32);
ROCP_AT(rocp_agent, compute_units, 72);
ROCP_AT(rocp_agent, memory, 176);
ROCP_AT(rocp_agent, name, 248);
ROCP_AT(rocp_agent, uuid, 296);

struct rocp_id { uint64_t handle; };
/* What a client is told of itself; nothing of it is used. */
struct rocp_client;

typedef void (*rocp_buffer_fn)(struct rocp_id context, struct rocp_id buffer,
			       struct rocp_header **headers, size_t n, void *data,
			       uint64_t dropped);
/* One of those below, by the version. */
typedef void (*rocp_event_fn)(void);
typedef void (*rocp_event_old_fn)(struct rocp_event_old event, uint64_t *kept, void *data);
typedef void (*rocp_event_new_fn)(struct rocp_event event, uint64_t *kept, void *data);
typedef int (*rocp_kind_fn)(uint32_t kind, void *data);
typedef int (*rocp_operation_fn)(uint32_t kind, int32_t operation, void *data);
typedef int (*rocp_agents_fn)(uint32_t version, const void **agents, size_t n, void *data);

/* What rocprofiler_configure() returns. */
struct rocp_tool {
	size_t	size;
	int	(*initialize)(void *finalize_now, void *data);
	void	(*finalize)(void *data);
	void	*data;
};

/**
 * struct rocp - functions of rocprofiler-sdk; each returns 0 or a status
 * @text: rocprofiler_get_status_string()
 * @timestamp: rocprofiler_get_timestamp(): the clock of all records, in ns
 * @create_context: rocprofiler_create_context(): @context must be 0
 * @start: rocprofiler_start_context()
 * @stop: rocprofiler_stop_context()
 * @create_buffer: rocprofiler_create_buffer(): @watermark in bytes
 * @flush: rocprofiler_flush_buffer(): the callback has returned when it does
 * @trace: rocprofiler_configure_buffer_tracing_service()
 * @call_back: rocprofiler_configure_callback_tracing_service()
 * @kinds: rocprofiler_iterate_buffer_tracing_kinds()
 * @kind_name: rocprofiler_query_buffer_tracing_kind_name()
 * @operations: rocprofiler_iterate_buffer_tracing_kind_operations()
 * @operation_name: rocprofiler_query_buffer_tracing_kind_operation_name()
 * @event_kinds: rocprofiler_iterate_callback_tracing_kinds()
 * @event_kind_name: rocprofiler_query_callback_tracing_kind_name()
 * @agents: rocprofiler_query_available_agents(): refuses a larger @size than its own
 */
struct rocp {
	const char	*(*text)(int status);
	int		(*timestamp)(uint64_t *ns);
	int		(*create_context)(struct rocp_id *context);
	int		(*start)(struct rocp_id context);
	int		(*stop)(struct rocp_id context);
	int		(*create_buffer)(struct rocp_id context, size_t size, size_t watermark,
					 uint32_t policy, rocp_buffer_fn fn, void *data,
					 struct rocp_id *buffer);
	int		(*flush)(struct rocp_id buffer);
	int		(*trace)(struct rocp_id context, uint32_t kind, const int32_t *operations,
				 size_t n, struct rocp_id buffer);
	int		(*call_back)(struct rocp_id context, uint32_t kind,
				     const int32_t *operations, size_t n, rocp_event_fn fn,
				     void *data);
	int		(*kinds)(rocp_kind_fn fn, void *data);
	int		(*kind_name)(uint32_t kind, const char **name, uint64_t *len);
	int		(*operations)(uint32_t kind, rocp_operation_fn fn, void *data);
	int		(*operation_name)(uint32_t kind, int32_t operation, const char **name,
					  uint64_t *len);
	int		(*event_kinds)(rocp_kind_fn fn, void *data);
	int		(*event_kind_name)(uint32_t kind, const char **name, uint64_t *len);
	int		(*agents)(uint32_t version, rocp_agents_fn fn, size_t size, void *data);
};

#endif /* XSPROF_ROCPROFILER_ABI_H */
