/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * ABI of NVTX (NVIDIA's tools extension, versions 2 and 3) as a tool sees it: layouts and numbers,
 * written independently of NVIDIA's headers; tests/nvtx/abi.c compares the two.
 *
 * A structure with a size field may be longer or shorter than here: nothing beyond it is read.
 */
#ifndef XSPROF_NVTX_ABI_H
#define XSPROF_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>

/* ---- tables ---------------------------------------------------------------------------------- */

typedef void (*nvtx_slot)(void);

enum nvtx_export { NVTX_EXPORT_CALLBACKS = 1, NVTX_EXPORT_VERSION = 3 };

enum nvtx_module {
	NVTX_CORE = 1, NVTX_CUDA, NVTX_OPENCL, NVTX_CUDART, NVTX_CORE2, NVTX_SYNC, NVTX_MODULES
};

enum nvtx_core {
	NVTX_MARK_EX = 1, NVTX_MARK_A, NVTX_MARK_W, NVTX_START_EX, NVTX_START_A, NVTX_START_W,
	NVTX_END, NVTX_PUSH_EX, NVTX_PUSH_A, NVTX_PUSH_W, NVTX_POP, NVTX_NAME_CATEGORY_A,
	NVTX_NAME_CATEGORY_W, NVTX_NAME_THREAD_A, NVTX_NAME_THREAD_W, NVTX_CORE_SLOTS
};

/* Only version 3 has the last one: the tables of older programs are shorter. */
enum nvtx_core2 {
	NVTX_DOMAIN_MARK_EX = 1, NVTX_DOMAIN_START_EX, NVTX_DOMAIN_END, NVTX_DOMAIN_PUSH_EX,
	NVTX_DOMAIN_POP, NVTX_RESOURCE_CREATE, NVTX_RESOURCE_DESTROY, NVTX_DOMAIN_NAME_CATEGORY_A,
	NVTX_DOMAIN_NAME_CATEGORY_W, NVTX_REGISTER_STRING_A, NVTX_REGISTER_STRING_W,
	NVTX_DOMAIN_CREATE_A, NVTX_DOMAIN_CREATE_W, NVTX_DOMAIN_DESTROY, NVTX_INITIALIZE,
	NVTX_CORE2_SLOTS
};

enum nvtx_sync {
	NVTX_SYNC_CREATE = 1, NVTX_SYNC_DESTROY, NVTX_SYNC_ACQUIRE_START, NVTX_SYNC_ACQUIRE_FAILED,
	NVTX_SYNC_ACQUIRE_SUCCESS, NVTX_SYNC_RELEASING, NVTX_SYNC_SLOTS
};

enum nvtx_cuda {
	NVTX_NAME_DEVICE_A = 1, NVTX_NAME_DEVICE_W, NVTX_NAME_CONTEXT_A, NVTX_NAME_CONTEXT_W,
	NVTX_NAME_STREAM_A, NVTX_NAME_STREAM_W, NVTX_NAME_EVENT_A, NVTX_NAME_EVENT_W,
	NVTX_CUDA_SLOTS
};

enum nvtx_cudart {
	NVTX_NAME_RUNTIME_DEVICE_A = 1, NVTX_NAME_RUNTIME_DEVICE_W, NVTX_NAME_RUNTIME_STREAM_A,
	NVTX_NAME_RUNTIME_STREAM_W, NVTX_NAME_RUNTIME_EVENT_A, NVTX_NAME_RUNTIME_EVENT_W,
	NVTX_CUDART_SLOTS
};

enum nvtx_opencl_slots { NVTX_OPENCL_SLOTS = 15 };

/* @size counts the slots of *@table, including slot 0, which is unused. */
struct nvtx_callbacks {
	size_t	struct_size;
	int	(*get_module)(uint32_t module, nvtx_slot ***table, unsigned int *size);
};

struct nvtx_version {
	size_t		struct_size;
	uint32_t	version;
	uint32_t	reserved;
	void		(*set_tool_version)(uint32_t version);
};

typedef const void *(*nvtx_get_export)(uint32_t id);

/* ---- attributes ------------------------------------------------------------------------------ */

enum nvtx_message_type {
	NVTX_MSG_NONE, NVTX_MSG_ASCII, NVTX_MSG_WIDE, NVTX_MSG_REGISTERED
};

enum nvtx_payload_type {
	NVTX_PAYLOAD_NONE, NVTX_PAYLOAD_U64, NVTX_PAYLOAD_I64, NVTX_PAYLOAD_F64,
	NVTX_PAYLOAD_U32, NVTX_PAYLOAD_I32, NVTX_PAYLOAD_F32
};

#define NVTX_PAYLOAD_EXT	((int32_t)0xdfbd0009u)	/* of the extension: data with schemas */
#define NVTX_COLOR_TYPE_ARGB	1
#define NVTX_NO_TRACKING	(-2)	/* what a push returns where there is no tool */

struct nvtx_event {
	uint16_t	version;
	uint16_t	size;
	uint32_t	category;
	int32_t		color_type;
	uint32_t	color;
	int32_t		payload_type;
	int32_t		reserved;
	union {
		uint64_t	u64;
		int64_t		i64;
		double		f64;
		uint32_t	u32;
		int32_t		i32;
		float		f32;
	} payload;
	int32_t		message_type;
	const void	*message;
};

enum nvtx_resource_type {
	NVTX_RESOURCE_POINTER = 0x10001, NVTX_RESOURCE_HANDLE, NVTX_RESOURCE_THREAD_NATIVE,
	NVTX_RESOURCE_THREAD_POSIX
};

struct nvtx_resource {
	uint16_t	version;
	uint16_t	size;
	int32_t		type;
	uint64_t	identifier;
	int32_t		message_type;
	const void	*message;
};

struct nvtx_sync_object {
	uint16_t	version;
	uint16_t	size;
	int32_t		message_type;
	const void	*message;
};

_Static_assert(offsetof(struct nvtx_event, payload) == 24, "payload");
_Static_assert(offsetof(struct nvtx_event, message) == 40, "message");
_Static_assert(sizeof(struct nvtx_event) == 48, "struct nvtx_event");
_Static_assert(sizeof(struct nvtx_resource) == 32, "struct nvtx_resource");
_Static_assert(sizeof(struct nvtx_sync_object) == 16, "struct nvtx_sync_object");

#endif /* XSPROF_NVTX_ABI_H */
