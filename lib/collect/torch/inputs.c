// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Inputs of ops, read from libtorch's memory while the op begins: the dispatcher holds them.
 */
#include "collect/torch/inputs.h"

static xsprof_name_t object;

void torch_inputs_init(int category)
{
	torch_tensor_init(category);
	torch_devices_init(category);
	object = torch_user.name(category, "object");
}

/* Reads a value that is neither None, a number nor a tensor. */
static __attribute__((noinline)) void read_other(const char *value, bool lists,
						 struct torch_inputs *in, struct xsprof_input *to)
{
	uint32_t tag = torch_u32(value, IVALUE_TAG);

	if (lists && tag == TORCH_FOUND(tag_bool)) {
		to->kind = XSPROF_INPUT_BOOL;
		to->u.i64 = torch_u8(value, 0) != 0;
		return;
	}
	if (lists && tag == TORCH_FOUND(tag_list) && TORCH_FOUND(list) &&
	    torch_list_read(value, in, to))
		return;
	if (lists && tag > TORCH_FOUND(tag_bool) && tag < TORCH_FOUND(tag_list) &&
	    torch_string_read(value, to))
		return;
	if (tag == TORCH_FOUND(tag_device) && torch_device_read(value, to))
		return;
	in->others++;
	/* A generator, or another object that is not read further. */
	*to = (struct xsprof_input){ .kind = XSPROF_INPUT_OTHER, .u.type = object };
}

static inline void read_tensor(const char *value, struct torch_inputs *in, struct xsprof_input *to)
{
	struct xsprof_tensor *t = &in->tensor[in->nr_tensors];

	if (torch_tensor_read(torch_ptr(value, 0), in->storages, t)) {
		*to = (struct xsprof_input){ .kind = XSPROF_INPUT_TENSOR, .u.tensor = t };
		in->nr_tensors++;
		return;
	}
	/* An undefined tensor has no type: its type number is the version's last. */
	if (torch_undefined(value)) {
		*to = (struct xsprof_input){ .kind = XSPROF_INPUT_NONE };
		return;
	}
	/* A tensor without sizes would look like a scalar. */
	*to = (struct xsprof_input){
		.kind = XSPROF_INPUT_OTHER, .u.type = t->dtype ? t->dtype : object,
	};
}

uint32_t torch_inputs_read(const void *fn, uint32_t arguments, bool lists, struct torch_inputs *in)
{
	uint64_t n;
	const char *value = torch_inputs_of(fn, arguments, &n);

	if (n > TORCH_INPUTS)
		n = TORCH_INPUTS;
	in->nr_tensors = in->nr_numbers = in->others = 0;
	for (uint64_t i = 0; i < n; i++, value += IVALUE_SIZE) {
		struct xsprof_input *to = &in->input[i];

		/* The common case. */
		if (__builtin_expect(torch_u32(value, IVALUE_TAG) == TAG_TENSOR &&
				     in->nr_tensors < TORCH_TENSORS, 1)) {
			read_tensor(value, in, to);
			continue;
		}
		*to = (struct xsprof_input){ .kind = XSPROF_INPUT_NONE };
		switch (torch_u32(value, IVALUE_TAG)) {
		case TAG_NONE:
			break;
		case TAG_TENSOR:
			read_other(value, false, in, to);
			break;
		case TAG_DOUBLE:
			to->kind = XSPROF_INPUT_F64;
			memcpy(&to->u.f64, value, sizeof(to->u.f64));
			break;
		case TAG_INT:
			to->kind = XSPROF_INPUT_I64;
			memcpy(&to->u.i64, value, sizeof(to->u.i64));
			break;
		default:
			read_other(value, lists, in, to);
		}
	}
	return (uint32_t)n;
}
