// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reads devices among the inputs of ops, and records them as the name of a type, "Device cuda:0".
 *
 * The IValue tag of a device differs between PyTorch versions, so it is learnt at run time from
 * aten::empty, which nearly every program calls: by its schema, the fourth input is a device or
 * None.
 */
#include <stdio.h>

#include "collect/torch/inputs.h"

/* aten::empty.memory_format(size, dtype, layout, device, pin_memory, memory_format) */
#define OP		"aten::empty"
#define OP_INPUTS	6
#define OP_DEVICE	3

#define KNOWN		32u	/* bounds of the name cache: types, and indices */

/* Indexed by c10::DeviceType, which only grows at the end. */
static const char *const types[] = {
	"cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip", "fpga", "maia", "xla",
	"vulkan", "metal", "xpu", "mps", "meta", "hpu", "ve", "lazy", "ipu", "mtia",
	"privateuseone",
};

static xsprof_name_t names[KNOWN][KNOWN];
static xsprof_name_t op_name;
static int torch_category;

void torch_devices_init(int category)
{
	torch_category = category;
	op_name = torch_user.name(category, OP);
}

bool torch_devices_find(xsprof_name_t name, const void *fn)
{
	const char *value = torch_ptr(fn, torch_layout.inputs) + OP_DEVICE * IVALUE_SIZE;
	uint8_t there = 0;
	uint32_t tag;

	if (name != op_name || torch_u64(fn, torch_layout.inputs + 8) != OP_INPUTS)
		return false;
	tag = torch_u32(value, IVALUE_TAG);
	if (tag <= TAG_INT || tag > UINT8_MAX || tag == TORCH_FOUND(tag_bool) ||
	    tag == TORCH_FOUND(tag_list) ||
	    torch_u8(value, 0) >= sizeof(types) / sizeof(types[0]))
		return false;
	return __atomic_compare_exchange_n(&torch_layout.tag_device, &there, (uint8_t)tag, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static __attribute__((cold, noinline)) xsprof_name_t name_of(uint8_t type, int8_t index)
{
	char text[64];

	if (index < 0)
		snprintf(text, sizeof(text), "Device %s", types[type]);
	else
		snprintf(text, sizeof(text), "Device %s:%d", types[type], index);
	return torch_user.name(torch_category, text);
}

bool torch_device_read(const char *value, struct xsprof_input *to)
{
	uint8_t type = torch_u8(value, 0);
	int8_t index = (int8_t)torch_u8(value, 1);	/* -1: none */
	xsprof_name_t name, *kept;

	if (type >= sizeof(types) / sizeof(types[0]))
		return false;
	/* Slot 0 of a type is the device without an index. */
	kept = index >= -1 && index < (int)KNOWN - 1 ? &names[type][index + 1] : NULL;
	/* Relaxed: threads that race here store the same name. */
	name = kept ? __atomic_load_n(kept, __ATOMIC_RELAXED) : 0;
	if (__builtin_expect(!name, 0)) {
		name = name_of(type, index);
		if (kept)
			__atomic_store_n(kept, name, __ATOMIC_RELAXED);
	}
	*to = (struct xsprof_input){ .kind = XSPROF_INPUT_OTHER, .u.type = name };
	return true;
}
