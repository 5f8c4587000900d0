// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Native stacks of ops: whether they are recorded, which code is left out of them, and their ids in
 * the trace. collect/common/walk.c walks the frames.
 */
#include "collect/torch/native.h"

#define FRAMES	32u	/* frames kept of a stack */

bool torch_native;
struct native_known torch_native_known = { .frames = FRAMES };

void torch_native_init(int category)
{
	struct native_range *own = &torch_native_known.own;

	if (!unwind_init() || !unwind_object(own, &own->start, &own->end)) {
		collect_say("PyTorch: the C library lacks _dl_find_object() (glibc 2.35 has it): "
			    "ops are recorded without their native stacks");
		return;
	}
	if (!torch_sees_unloads()) {
		collect_say("PyTorch: libxsprof-torch.so is not the first library with dlclose(): "
			    "ops are recorded without their native stacks: put it first in "
			    "LD_PRELOAD");
		return;
	}
	torch_native_known.cut = torch_user.name(category, "[more native frames]");
	torch_native_known.lost = torch_user.name(category, "[no unwind information]");
	torch_native = true;
}

void torch_native_skip(const void *inside)
{
	uintptr_t start, end;

	if (!torch_native || !unwind_object(inside, &start, &end))
		return;
	torch_native_known.skipped.start = start;
	/* Release: pairs with the acquire in the walk. */
	__atomic_store_n(&torch_native_known.skipped.end, end, __ATOMIC_RELEASE);
}

uint64_t torch_native_key(const struct native_stack *stack, uint64_t more)
{
	return native_mix(stack->key, more);
}

uint32_t torch_native_stack(const struct native_stack *stack)
{
	uint32_t id;

	if (!stack->nr)
		return 0;
	id = torch_user.stack_find(stack->key);
	return id ? id : torch_user.stack_add(stack->key, stack->frame, stack->nr, 0);
}
