/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The part of Vulkan's ABI that the collector uses: structures that it reads or fills, up to the
 * last member used, and constants. These never change after the version that introduced them.
 * tests/gpu/vulkan-layer.c compares them with the headers.
 */
#ifndef XSPROF_VULKAN_ABI_H
#define XSPROF_VULKAN_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Handles of instances, devices, queues and command buffers: the loader owns their first word. */
typedef void *vk_handle;
/* All other objects. */
typedef uint64_t vk_object;
typedef void (*vk_function)(void);
typedef vk_function vk_get_address(vk_handle of, const char *name);

/* ---- constants ------------------------------------------------------------------------------- */

enum {
	VULKAN_OK			= 0,
	VULKAN_NOT_READY		= 1,
	VULKAN_NO_MEMORY		= -1,	/* out of host memory */
	VULKAN_NOT_STARTED		= -3,	/* initialization failed */
	VULKAN_LOST			= -4,	/* device lost */
	VULKAN_NO_EXTENSION		= -7,
	VULKAN_NO_FEATURE		= -8,
};

enum {
	VULKAN_IS_INSTANCE		= 1,	/* structure types */
	VULKAN_IS_DEVICE		= 3,
	VULKAN_IS_SUBMIT		= 4,
	VULKAN_IS_FENCE			= 8,
	VULKAN_IS_QUERIES		= 11,
	VULKAN_IS_COMMAND_POOL		= 39,
	VULKAN_IS_COMMANDS		= 40,
	VULKAN_IS_BEGIN			= 42,
	VULKAN_IS_LAYER_INSTANCE	= 47,
	VULKAN_IS_LAYER_DEVICE		= 48,
	VULKAN_IS_FEATURES_1_2		= 51,
	VULKAN_IS_FEATURES2		= 1000059000,
	VULKAN_IS_PROPERTIES2		= 1000059001,
	VULKAN_IS_GROUP_SUBMIT		= 1000060005,
	VULKAN_IS_GROUP_DEVICE		= 1000070001,
	VULKAN_IS_ID			= 1000071004,
	VULKAN_IS_PROTECTED_SUBMIT	= 1000145000,
	VULKAN_IS_TIMESTAMP		= 1000184000,
	VULKAN_IS_DRIVER		= 1000196000,
	VULKAN_IS_HOST_RESET		= 1000261000,
	VULKAN_IS_SUBMIT2		= 1000314004,
	VULKAN_IS_COMMAND_SUBMIT	= 1000314006,
};

enum {
	VULKAN_LINK_INFO		= 0,	/* kind of a loader structure */
	VULKAN_LOADER_DATA		= 1,
	VULKAN_NEGOTIATE		= 1,	/* type of the negotiation structure */
	VULKAN_LAYER_VERSION		= 2,
	VULKAN_QUEUE_GRAPHICS		= 1,
	VULKAN_QUEUE_COMPUTE		= 2,
	VULKAN_QUEUE_TRANSFER		= 4,
	VULKAN_STAGE_TOP		= 1,
	VULKAN_STAGE_BOTTOM		= 0x2000,
	VULKAN_QUERY_TIMESTAMP		= 2,
	VULKAN_RESULT_64		= 1,
	VULKAN_RESULT_AVAILABLE		= 4,
	VULKAN_PROTECTED		= 1,	/* flag of vkQueueSubmit2() */
	VULKAN_HEAP_LOCAL		= 1,
	VULKAN_TIME_DEVICE		= 0,
	VULKAN_TIME_MONOTONIC		= 1,
	VULKAN_TIME_MONOTONIC_RAW	= 2,
};

#define VULKAN_1_1	(1u << 22 | 1u << 12)
#define VULKAN_1_2	(1u << 22 | 2u << 12)

/* ---- the loader and layers ------------------------------------------------------------------- */

struct vk_negotiate {
	uint32_t		type;
	void			*next;
	uint32_t		version;
	vk_get_address		*get_instance_address;
	vk_get_address		*get_device_address;
	vk_get_address		*get_physical_address;
};

struct vk_instance_link {
	struct vk_instance_link	*next;
	vk_get_address		*get_instance_address;
};

struct vk_layer_instance {
	uint32_t		type;
	const void		*next;
	uint32_t		function;
	struct vk_instance_link	*link;
};

struct vk_device_link {
	struct vk_device_link	*next;
	vk_get_address		*get_instance_address;
	vk_get_address		*get_device_address;
};

typedef int32_t vk_set_loader_data(vk_handle device, void *object);

struct vk_layer_device {
	uint32_t			type;
	const void			*next;
	uint32_t			function;
	union {
		struct vk_device_link	*link;
		vk_set_loader_data	*set_loader_data;
	};
};

/* ---- instances and devices ------------------------------------------------------------------- */

/* The first members of every structure in a chain. */
struct vk_any {
	uint32_t	type;
	const void	*next;
};

struct vk_application {
	uint32_t	type;
	const void	*next;
	const char	*name;
	uint32_t	version;
	const char	*engine;
	uint32_t	engine_version;
	uint32_t	api_version;
};

struct vk_instance_info {
	uint32_t			type;
	const void			*next;
	uint32_t			flags;
	const struct vk_application	*application;
	uint32_t			nr_layers;
	const char *const		*layers;
	uint32_t			nr_extensions;
	const char *const		*extensions;
};

struct vk_queue_info {
	uint32_t	type;
	const void	*next;
	uint32_t	flags;
	uint32_t	family;
	uint32_t	count;
	const float	*priorities;
};

struct vk_device_info {
	uint32_t			type;
	const void			*next;
	uint32_t			flags;
	uint32_t			nr_queues;
	const struct vk_queue_info	*queues;
	uint32_t			nr_layers;
	const char *const		*layers;
	uint32_t			nr_extensions;
	const char *const		*extensions;
	const void			*features;
};

struct vk_group_device {
	uint32_t	type;
	const void	*next;
	uint32_t	nr_devices;
};

struct vk_extension {
	char		name[256];
	uint32_t	version;
};

struct vk_family {
	uint32_t	flags;
	uint32_t	count;
	uint32_t	valid_bits;
	uint32_t	granularity[3];
};

struct vk_properties {
	uint32_t	api_version;
	uint32_t	driver_version;
	uint32_t	vendor;
	uint32_t	device;
	uint32_t	device_type;
	char		name[256];
	uint8_t		cache_uuid[16];
	uint64_t	limits[53];
	float		timestamp_period;
	uint64_t	limits_left[12];
};

struct vk_properties2 {
	uint32_t		type;
	void			*next;
	struct vk_properties	properties;
};

struct vk_id {
	uint32_t	type;
	void		*next;
	uint8_t		device_uuid[16];
	uint8_t		driver_uuid[16];
	uint8_t		luid[8];
	uint32_t	node_mask;
	uint32_t	luid_valid;
};

struct vk_driver {
	uint32_t	type;
	void		*next;
	uint32_t	id;
	char		name[256];
	char		info[256];
	uint8_t		conformance[4];
};

struct vk_heap {
	uint64_t	size;
	uint32_t	flags;
};

struct vk_memory {
	uint32_t	nr_types;
	uint32_t	types[64];
	uint32_t	nr_heaps;
	struct vk_heap	heaps[16];
};

struct vk_features2 {
	uint32_t	type;
	void		*next;
	uint32_t	features[55];
};

struct vk_features_1_2 {
	uint32_t	type;
	void		*next;
	uint32_t	before[36];
	uint32_t	host_reset;
};

struct vk_host_reset {
	uint32_t	type;
	const void	*next;
	uint32_t	enabled;
};

struct vk_queue_info2 {
	uint32_t	type;
	const void	*next;
	uint32_t	flags;
	uint32_t	family;
	uint32_t	index;
};

/* ---- work ------------------------------------------------------------------------------------ */

struct vk_submit {
	uint32_t		type;
	const void		*next;
	uint32_t		nr_waits;
	const vk_object		*waits;
	const uint32_t		*wait_stages;
	uint32_t		nr_commands;
	const vk_handle		*commands;
	uint32_t		nr_signals;
	const vk_object		*signals;
};

struct vk_command_submit {
	uint32_t	type;
	const void	*next;
	vk_handle	commands;
	uint32_t	device_mask;
};

struct vk_submit2 {
	uint32_t			type;
	const void			*next;
	uint32_t			flags;
	uint32_t			nr_waits;
	const void			*waits;
	uint32_t			nr_commands;
	const struct vk_command_submit	*commands;
	uint32_t			nr_signals;
	const void			*signals;
};

struct vk_protected_submit {
	uint32_t	type;
	const void	*next;
	uint32_t	is_protected;
};

struct vk_command_pool_info {
	uint32_t	type;
	const void	*next;
	uint32_t	flags;
	uint32_t	family;
};

struct vk_commands_info {
	uint32_t	type;
	const void	*next;
	vk_object	pool;
	uint32_t	level;
	uint32_t	count;
};

struct vk_begin_info {
	uint32_t	type;
	const void	*next;
	uint32_t	flags;
	const void	*inherited;
};

struct vk_queries_info {
	uint32_t	type;
	const void	*next;
	uint32_t	flags;
	uint32_t	query_type;
	uint32_t	count;
	uint32_t	statistics;
};

struct vk_fence_info {
	uint32_t	type;
	const void	*next;
	uint32_t	flags;
};

struct vk_timestamp_info {
	uint32_t	type;
	const void	*next;
	uint32_t	domain;
};

struct vk_label {
	uint32_t	type;
	const void	*next;
	const char	*name;
	float		color[4];
};

#endif /* XSPROF_VULKAN_ABI_H */
