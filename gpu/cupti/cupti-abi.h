/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The part of CUPTI's binary interface that the collector uses, in words of our own: no CUDA is
 * needed to build.  Records only ever grow at their end, so the part of a struct that version 11.8
 * has is the same in all later ones.
 */
#ifndef XSPROF_CUPTI_ABI_H
#define XSPROF_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

#define CUPTI_OLDEST		18u	/* cuptiGetVersion() of CUDA 11.8 */
#define CUPTI_OVERHEAD_DATA	22u	/* 12.4: details of an overhead are the reader's to free */
#define CUPTI_SYNC_IDS		26u	/* 12.8: waits name the recording of an event */
#define CUPTI_PROCESSORS	26u	/* 12.8: thrashing has a mask of all devices */
#define CUPTI_MAY_REFUSE	27u	/* 12.9: a request for a buffer may be refused */
#define CUPTI_DEVICE_NAMES	130000u	/* a device's name is the reader's to free */
#define CUPTI_LINK_PORTS	130200u	/* ports of an NVLink are the reader's to free */
#define CUPTI_SEVERAL		130300u	/* may have several users */
#define CUPTI_GRAPH_SOURCES	130400u	/* what ran of a graph names the node that its own copies */

/* Results. */
#define CUPTI_MAX_LIMIT		12
#define CUPTI_NO_PRIVILEGE	35
#define CUPTI_SUBSCRIBED	39	/* another subscriber is active; CUPTI allows one */

#define CUPTI_NOT_READY		600u	/* the driver's: a query of work that is not over */

/* Kinds of records. */
#define CUPTI_MEMCPY		1u
#define CUPTI_MEMSET		2u
#define CUPTI_DRIVER		4u
#define CUPTI_RUNTIME		5u
#define CUPTI_DEVICE		8u
#define CUPTI_CONTEXT		9u
#define CUPTI_KERNEL		10u
#define CUPTI_OVERHEAD		17u
#define CUPTI_MEMCPY_PEER	22u
#define CUPTI_MANAGED		25u
#define CUPTI_EVENT		36u
#define CUPTI_SYNC		38u
#define CUPTI_EXTERNAL		39u
#define CUPTI_NVLINK		40u
#define CUPTI_PCIE		46u
#define CUPTI_MEMORY		49u
#define CUPTI_POOL		50u
#define CUPTI_GRAPH		51u
#define CUPTI_JIT		52u

#define CUPTI_FLUSH_FORCED	1u
#define CUPTI_THREAD_DEFAULT	0u	/* thread ids are those of pthread_self() */
#define CUPTI_THREAD_SYSTEM	1u	/* thread ids are the kernel's */

/* Domains of callbacks; those of functions name them. */
#define CUPTI_DOMAIN_DRIVER	1u
#define CUPTI_DOMAIN_RUNTIME	2u
#define CUPTI_DOMAIN_RESOURCE	3u

/* Callbacks of resources: a context is destroyed. */
#define CUPTI_CONTEXT_ENDS	2u
/* cuInit() has finished. */
#define CUPTI_INIT_FINISHED	5u
/* A node of a graph was made, or is made as a copy of another. */
#define CUPTI_NODE_CREATED	13u
#define CUPTI_NODE_CLONED	20u

#define CUPTI_ATTR_DEVICE_BUFFER	0u	/* its size, on the device */
#define CUPTI_ATTR_DEVICE_BUFFERS	2u	/* at most, of a context */
#define CUPTI_ATTR_ZEROED	5u	/* a buffer is zero when CUPTI gets it */
/* Of one of several users: */
#define CUPTI_ATTR_LATENCY	15u
#define CUPTI_ATTR_WHOLE_GRAPHS	20u
#define CUPTI_ATTR_THREAD_ID	21u
#define CUPTI_ATTR_TIMESTAMP	22u

struct cupti_kernel {
	uint32_t	kind;
	uint8_t		cache_config;
	uint8_t		shared_config;
	uint16_t	registers;
	uint32_t	partitioned[2];
	uint64_t	start;
	uint64_t	end;
	uint64_t	completed;
	uint32_t	device;
	uint32_t	context;
	uint32_t	stream;
	int32_t		grid[3];
	int32_t		block[3];
	int32_t		static_shared;
	int32_t		dynamic_shared;
	uint32_t	local_per_thread;
	uint32_t	local_total;
	uint32_t	correlation;
	int64_t		grid_id;
	const char	*name;
	void		*reserved;
	uint64_t	queued;
	uint64_t	submitted;
	uint8_t		launch_type;
	uint8_t		carveout[3];
	uint32_t	shared_executed;
	uint64_t	graph_node;
	uint32_t	shared_limit;
	uint32_t	graph;
	void		*access_policy;
	uint32_t	channel;
	uint32_t	channel_type;
	uint32_t	cluster[3];
	uint32_t	cluster_policy;
};

/* Where the node that it copies stands in records of CUPTI_GRAPH_SOURCES and newer. */
#define CUPTI_KERNEL_SOURCE	240u
#define CUPTI_MEMCPY_SOURCE	104u
#define CUPTI_MEMSET_SOURCE	96u

struct cupti_memcpy {
	uint32_t	kind;
	uint8_t		copy_kind;
	uint8_t		from;
	uint8_t		to;
	uint8_t		flags;
	uint64_t	bytes;
	uint64_t	start;
	uint64_t	end;
	uint32_t	device;
	uint32_t	context;
	uint32_t	stream;
	uint32_t	correlation;
	uint32_t	runtime_correlation;
	uint32_t	pad;
	void		*reserved;
	uint64_t	graph_node;
	uint32_t	graph;
	uint32_t	channel;
	uint32_t	channel_type;
};

struct cupti_memcpy_peer {
	uint32_t	kind;
	uint8_t		copy_kind;
	uint8_t		from;
	uint8_t		to;
	uint8_t		flags;
	uint64_t	bytes;
	uint64_t	start;
	uint64_t	end;
	uint32_t	device;
	uint32_t	context;
	uint32_t	stream;
	uint32_t	from_device;
	uint32_t	from_context;
	uint32_t	to_device;
	uint32_t	to_context;
	uint32_t	correlation;
	void		*reserved;
	uint64_t	graph_node;
	uint32_t	graph;
	uint32_t	channel;
	uint32_t	channel_type;
};

struct cupti_memset {
	uint32_t	kind;
	uint32_t	value;
	uint64_t	bytes;
	uint64_t	start;
	uint64_t	end;
	uint32_t	device;
	uint32_t	context;
	uint32_t	stream;
	uint32_t	correlation;
	uint16_t	flags;
	uint16_t	memory;
	uint32_t	pad;
	void		*reserved;
	uint64_t	graph_node;
	uint32_t	graph;
	uint32_t	channel;
	uint32_t	channel_type;
};

struct cupti_call {
	uint32_t	kind;
	uint32_t	function;
	uint64_t	start;
	uint64_t	end;
	uint32_t	process;
	uint32_t	thread;
	uint32_t	correlation;
	uint32_t	result;
};

struct cupti_external {
	uint32_t	kind;
	uint32_t	external_kind;
	uint64_t	id;
	uint32_t	correlation;
	uint32_t	reserved;
};

struct cupti_sync {
	uint32_t	kind;
	uint32_t	type;
	uint64_t	start;
	uint64_t	end;
	uint32_t	correlation;
	uint32_t	context;
	uint32_t	stream;
	uint32_t	event;
};

/* Those of 12.8 and newer. */
struct cupti_sync_id {
	struct cupti_sync	sync;
	uint64_t		id;
	uint32_t		result;	/* of the driver's function */
	uint32_t		pad;
};

/* An event was recorded in a stream. */
struct cupti_event {
	uint32_t	kind;
	uint32_t	correlation;
	uint32_t	context;
	uint32_t	stream;
	uint32_t	event;
	uint32_t	pad;
	/* Of 12.8 and newer. */
	uint32_t	device;
	uint32_t	pad2;
	void		*reserved;
	uint64_t	timestamp;
	uint64_t	id;
};

/* A launch of a graph as a whole. */
struct cupti_graph {
	uint32_t	kind;
	uint32_t	correlation;
	uint64_t	start;
	uint64_t	end;
	uint32_t	device;
	uint32_t	graph;
	uint32_t	context;
	uint32_t	stream;
};

#define CUPTI_ALLOCATED		1u	/* an operation */

/* Memory was allocated, or freed. */
struct cupti_memory {
	uint32_t	kind;
	uint32_t	operation;
	uint32_t	memory;
	uint32_t	correlation;
	uint64_t	address;
	uint64_t	bytes;
	uint64_t	timestamp;
	uint64_t	pc;
	uint32_t	process;
	uint32_t	device;
	uint32_t	context;
	uint32_t	stream;
	const char	*name;
	uint32_t	async;
};

/* A pool of memory was created, destroyed, or trimmed. */
struct cupti_pool_change {
	uint32_t	kind;
	uint32_t	operation;
	uint32_t	pool;
	uint32_t	correlation;
	uint32_t	process;
	uint32_t	device;
	uint64_t	keep;
	uint64_t	address;
	uint64_t	size;
	uint64_t	threshold;
	uint64_t	timestamp;
	uint64_t	used;
};

/* The driver compiled something, or used its cache. */
struct cupti_jit {
	uint32_t	kind;
	uint32_t	entry;
	uint32_t	operation;
	uint32_t	device;
	uint64_t	start;
	uint64_t	end;
	uint32_t	correlation;
	uint32_t	pad;
	uint64_t	operation_correlation;
	uint64_t	cache_size;
	const char	*cache_path;
};

#define CUPTI_LINK_PEER			(1u << 1)
#define CUPTI_LINK_MEMORY		(1u << 2)
#define CUPTI_LINK_ATOMICS		(1u << 3)
#define CUPTI_LINK_MEMORY_ATOMICS	(1u << 4)

/* Devices are connected by so many links; @from and @to: a UUID, or an index and a domain. */
struct cupti_nvlink {
	uint32_t	kind;
	uint32_t	version;
	uint32_t	from_type;
	uint32_t	to_type;
	uint8_t		from[16];
	uint8_t		to[16];
	uint32_t	flags;
	uint32_t	links;
	union {
		struct {
			int8_t		ports[2][32];
			uint64_t	bandwidth;	/* KB a second */
		} older;
		/* Of CUPTI_LINK_PORTS and newer. */
		struct {
			uint32_t	*ports[2];
			uint64_t	bandwidth;
		} newer;
	} of_version;
};

/* A device on PCI Express, or a bridge. */
struct cupti_pcie {
	uint32_t	kind;
	uint32_t	type;
	uint32_t	id;
	uint32_t	domain;
	uint16_t	generation;
	uint16_t	rate;
	uint16_t	width;
	uint16_t	upstream_bus;
	union {
		uint8_t		uuid[16];
		uint16_t	secondary_bus;
	} of_type;
};

enum cupti_counter {	/* of unified memory */
	CUPTI_TO_DEVICE = 1, CUPTI_TO_HOST, CUPTI_HOST_FAULT, CUPTI_DEVICE_FAULT, CUPTI_THRASHING,
	CUPTI_THROTTLING, CUPTI_REMOTE_MAP, CUPTI_PEER,
};

#define CUPTI_HOST	0xffffffffu	/* in place of a device */
#define CUPTI_IN_HOST	1u		/* flag of thrashing and throttling */

/* Of unified memory: what was moved, or a fault. */
struct cupti_managed {
	uint32_t	kind;
	uint32_t	counter;
	uint64_t	value;
	uint64_t	start;
	uint64_t	end;
	uint64_t	address;
	uint32_t	from;
	uint32_t	to;
	uint32_t	stream;
	uint32_t	process;
	uint32_t	flags;
};

/* Those of CUPTI_PROCESSORS and newer: of thrashing, the devices by bits, from 0 on. */
struct cupti_managed_masks {
	struct cupti_managed	managed;
	uint64_t		processors[5];
};

/* Which counters of unified memory are collected; of a device or of all of them. */
struct cupti_managed_config {
	uint32_t	scope;
	uint32_t	counter;
	uint32_t	device;
	uint32_t	on;
};

struct cupti_overhead {
	uint32_t	kind;
	uint32_t	type;
	uint32_t	object_kind;
	uint32_t	object[3];
	uint64_t	start;
	uint64_t	end;
};

/* Those of 12.4 and newer. */
struct cupti_overhead_data {
	struct cupti_overhead	overhead;
	uint32_t		correlation;
	uint32_t		reserved;
	void			*data;	/* the reader's to free() */
};

struct cupti_device {
	uint32_t	kind;
	uint32_t	flags;
	uint64_t	bandwidth;	/* KB a second */
	uint64_t	memory;
	uint32_t	constant_memory;
	uint32_t	l2;
	uint32_t	warp;
	uint32_t	clock;		/* kHz */
	uint32_t	copy_engines;
	uint32_t	multiprocessors;
	uint32_t	ipc;
	uint32_t	warps_per_sm;
	uint32_t	blocks_per_sm;
	uint32_t	shared_per_sm;
	uint32_t	registers_per_sm;
	uint32_t	registers_per_block;
	uint32_t	shared_per_block;
	uint32_t	threads_per_block;
	uint32_t	block_dim[3];
	uint32_t	grid_dim[3];
	uint32_t	major;
	uint32_t	minor;
	uint32_t	id;
	uint32_t	ecc;
	uint8_t		uuid[16];
	const char	*name;
	uint8_t		visible;
	uint8_t		mig;		/* the device is split into slices */
	uint8_t		pad[6];
	uint32_t	gpu_instance;	/* UINT32_MAX: it is no slice */
	uint32_t	compute_instance;
	uint8_t		mig_uuid[16];
};

struct cupti_context {
	uint32_t	kind;
	uint32_t	context;
	uint32_t	device;
};

typedef void (*cupti_callback_fn)(void *data, uint32_t domain, uint32_t id, const void *info);
#define CUPTI_API_ENTER		0u
#define CUPTI_API_EXIT		1u

/*
 * What a callback of a function is told.  @symbol: the kernel that a launch is of; @context: CUDA's
 * own, current in the thread.
 */
struct cupti_callback {
	uint32_t	site;
	const char	*function;
	const void	*params;
	void		*result;
	const char	*symbol;
	void		*context;
	uint32_t	context_id;
	uint64_t	*data;
	uint32_t	correlation;
};

/* What a callback of a resource is told; of a graph the last points to struct cupti_graph_data. */
struct cupti_resource {
	void	*context;
	void	*handle;
	void	*descriptor;
};

/* @source: the node that @node is a copy of. */
struct cupti_graph_data {
	void		*graph;
	void		*source_graph;
	void		*node;
	void		*source;
	uint32_t	type;
	void		*dependency;
	void		*exec;
};

typedef void (*cupti_request_fn)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*cupti_complete_fn)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
				  size_t valid);

/* With several users these are told more, which nothing needs. */
typedef void (*cupti_request_info_fn)(uint8_t **buffer, size_t *size, size_t *max_records,
				      void *info);
typedef void (*cupti_complete_info_fn)(uint8_t *buffer, size_t size, size_t valid, void *info);

/* @old_name: CUPTI writes who was there before; @several: others are allowed. */
struct cupti_subscriber_params {
	size_t		size;
	const char	*name;
	char		*old_name;
	size_t		old_size;
	uint8_t		several;
	uint8_t		pad[7];
};

/**
 * struct cupti - functions of CUPTI; those from @enable_driver on may be NULL
 */
struct cupti {
	int	(*get_version)(uint32_t *version);
	int	(*get_result_string)(int result, const char **text);
	int	(*get_callback_name)(uint32_t domain, uint32_t id, const char **name);
	int	(*subscribe)(void **subscriber, cupti_callback_fn callback, void *data);
	int	(*unsubscribe)(void *subscriber);
	int	(*register_callbacks)(cupti_request_fn request, cupti_complete_fn complete);
	int	(*enable)(uint32_t kind);
	int	(*disable)(uint32_t kind);
	int	(*flush_all)(uint32_t flag);
	int	(*get_next)(uint8_t *buffer, size_t valid, void **record);
	int	(*get_dropped)(void *context, uint32_t stream, size_t *dropped);
	int	(*set_thread_id)(uint32_t type);
	int	(*get_attribute)(uint32_t attribute, size_t *size, void *value);
	int	(*set_attribute)(uint32_t attribute, size_t *size, void *value);
	int	(*set_timestamp)(uint64_t (*timestamp)(void));
	int	(*enable_driver)(uint32_t id, uint8_t on);
	int	(*enable_runtime)(uint32_t id, uint8_t on);
	int	(*enable_latency)(uint8_t on);
	int	(*enable_all_waits)(uint8_t on);
	int	(*enable_callback)(uint32_t on, void *subscriber, uint32_t domain, uint32_t id);
	int	(*get_node_id)(void *node, uint64_t *id);
	int	(*get_device_id)(void *context, uint32_t *id);
	int	(*get_context_id)(void *context, uint32_t *id);
	int	(*get_stream_id)(void *context, const void *stream, uint8_t per_thread,
				 uint32_t *id);
	int	(*configure_managed)(struct cupti_managed_config *configs, uint32_t nr);
};

#endif /* XSPROF_CUPTI_ABI_H */
