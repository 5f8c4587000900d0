/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Offsets in libtorch's objects, found at run time, and reads at such offsets.
 */
#ifndef XSP_TORCH_LAYOUT_H
#define XSP_TORCH_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <xsprof/profiler.h>

/**
 * struct torch_layout - offsets in libtorch's objects, found at run time
 * @scope: in a RecordFunction: scope
 * @fn: in a RecordFunction: text of the name, or schema
 * @fn_index: in a RecordFunction: which of the two; 1: schema
 * @sequence: in a RecordFunction: sequence number
 * @inputs: in a RecordFunction: address and number of inputs
 * @keywords: in a RecordFunction: keyword values; 0: unknown
 * @forward: in a RecordFunction: forward thread
 * @handle: in a RecordFunction: its number
 * @sizes: in a TensorImpl: sizes and strides; 0: not known yet
 * @device: relative to @sizes: optional device; 0: not known yet
 * @storage: in a TensorImpl: storage; and in a StorageImpl: memory; 0: not known yet
 * @list: in a ListImpl: elements; 0: not known yet
 * @text: in a ConstantString: std::string; 0: unknown
 * @text_class: vtable of ConstantString
 * @tag_list: tag of a list IValue; 0: not known yet
 * @tag_bool: tag of a bool IValue; 0: not known yet
 * @tag_device: tag of a device IValue; 0: not known yet
 */
struct torch_layout {
	uint16_t	scope;
	uint16_t	fn;
	uint16_t	fn_index;
	uint16_t	sequence;
	uint16_t	inputs;
	uint16_t	keywords;
	uint16_t	forward;
	uint16_t	handle;
	uint16_t	sizes;
	uint16_t	device;
	uint16_t	storage;
	uint16_t	list;
	uint16_t	text;
	uint8_t		tag_list;
	uint8_t		tag_bool;
	uint8_t		tag_device;
	uint64_t	text_class;
};

extern struct torch_layout torch_layout;

static inline uint64_t torch_u64(const void *at, size_t offset)
{
	uint64_t v;

	memcpy(&v, (const char *)at + offset, sizeof(v));
	return v;
}

static inline uint32_t torch_u32(const void *at, size_t offset)
{
	uint32_t v;

	memcpy(&v, (const char *)at + offset, sizeof(v));
	return v;
}

static inline uint16_t torch_u16(const void *at, size_t offset)
{
	uint16_t v;

	memcpy(&v, (const char *)at + offset, sizeof(v));
	return v;
}

static inline uint8_t torch_u8(const void *at, size_t offset)
{
	return *((const uint8_t *)at + offset);
}

static inline const char *torch_ptr(const void *at, size_t offset)
{
	return (const char *)(uintptr_t)torch_u64(at, offset);
}

/*
 * Finds the offsets in a RecordFunction by running ops of our own, which only observers registered
 * before see. Return: NULL, or the name of the failed check.
 */
const char *torch_layout_find(void);

/* c10::Device is two bytes: type and index; a CPU and some others have no index (-1). */
static inline uint32_t torch_device(uint16_t device)
{
	uint8_t index = device >> 8;

	return XSPROF_DEVICE((uint32_t)(device & 0xff), index == UINT8_MAX ? 0u : index);
}

#endif /* XSP_TORCH_LAYOUT_H */
