// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Memory events and shaders reported by programs.
 */
#include <string.h>

#include "ring/op-wanted.h"

static bool wanted(uint32_t flag)
{
	uint32_t ops = __atomic_load_n(&xsprof_op_wanted, __ATOMIC_RELAXED);

	return ops && xsprof_enabled() && (ops & XSPROF_OP_ALL || !(ops & XSP_OP_OFF)) &&
	       (!flag || __atomic_load_n(&xsp_ops.flags, __ATOMIC_RELAXED) & flag) &&
	       (!(ops & XSP_OP_JOINED) || xsp_op_joined());
}

void xsprof_report_memory_usage(const void *ptr, int64_t alloc_size, uint64_t total_allocated,
				uint64_t total_reserved, uint32_t device)
{
	if (!wanted(XSP_OPS_MEMORY))
		return;
	if (alloc_size >= 0)
		xsprof_alloc(0, ptr, (uint64_t)alloc_size, device, total_allocated,
			     total_reserved);
	else
		xsprof_free(0, ptr, -(uint64_t)alloc_size, device, total_allocated,
			    total_reserved);
}

void xsprof_report_out_of_memory(int64_t alloc_size, uint64_t total_allocated,
				 uint64_t total_reserved, uint32_t device)
{
	struct xsprof_kv kv[4];

	if (!wanted(XSP_OPS_MEMORY))
		return;
	kv[0] = xsprof_i64(XSPROF_NAME("Bytes"), alloc_size);
	kv[1] = xsprof_u64(XSPROF_NAME("Total Allocated"), total_allocated);
	kv[2] = xsprof_u64(XSPROF_NAME("Total Reserved"), total_reserved);
	kv[3] = xsprof_u64(XSPROF_NAME("Device"), device);
	xsprof_instant_args(XSPROF_NAME_IN(xsprof_category("profiler"), "[OutOfMemory]"), kv, 4);
}

/*
 * Its category distinguishes a shader from other spans, whatever category the program's name has.
 */
static xsprof_name_t shader_name(xsprof_name_t name)
{
	int category = xsprof_category("vulkan");
	char text[XSPROF_TEXT_MAX + 1];
	xsprof_name_t own;
	const char *from;
	uint32_t len;

	if (category < 0 || name >> XSPROF_NAME_SHIFT == (uint32_t)category)
		return name;
	from = xsp_name_text(name, &len);
	memcpy(text, from, len);
	text[len] = '\0';
	own = xsprof_name_in(category, text);
	return own ? own : name;
}

void xsprof_report_vulkan_event(xsprof_name_t name, uint64_t begin, uint64_t end, uint32_t queue)
{
	if (wanted(0))
		xsprof_span(shader_name(name), begin, end, queue, 0);
}
