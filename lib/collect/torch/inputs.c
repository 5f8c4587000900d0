// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Inputs of ops, read from libtorch's memory while the op begins: the dispatcher holds them.
 */
#include "collect/torch/local.h"

/* c10::ScalarType: numbers are added at the end, never changed. */
static const struct {
	const char	*name;
	uint32_t	size;
} types[] = {
	{ "unsigned char", 1 }, { "signed char", 1 }, { "short int", 2 }, { "int", 4 },
	{ "long int", 8 }, { "c10::Half", 2 }, { "float", 4 }, { "double", 8 },
	{ "c10::complex<c10::Half>", 4 }, { "c10::complex<float>", 8 },
	{ "c10::complex<double>", 16 }, { "bool", 1 }, { "c10::qint8", 1 }, { "c10::quint8", 1 },
	{ "c10::qint32", 4 }, { "c10::BFloat16", 2 }, { "c10::quint4x2", 1 },
	{ "c10::quint2x4", 1 },
};

#define TYPES	(sizeof(types) / sizeof(types[0]))

static xsprof_name_t type_names[TYPES], object;

void torch_inputs_init(int category)
{
	for (size_t i = 0; i < TYPES; i++)
		type_names[i] = torch_user.name(category, types[i].name);
	object = torch_user.name(category, "object");
}

static void read_tensor(const char *impl, struct xsprof_tensor *t)
{
	const char *s = impl + torch_layout.sizes;
	uint64_t ndim = torch_u64(s, 0);
	uint16_t type = torch_u16(s, DTYPE);

	memset(t, 0, sizeof(*t));
	t->id = (uintptr_t)impl;
	t->dtype = type < TYPES ? type_names[type] : 0;
	t->itemsize = type < TYPES ? types[type].size : 0;
	t->device = XSPROF_DEVICE((uint32_t)torch_u8(s, DEVICE), (uint32_t)torch_u8(s, DEVICE + 1));
	/* Where its own code says what its sizes are, these are not them. */
	if (torch_u8(s, POLICIES) & CUSTOM_SIZES || ndim > 64)
		return;
	t->ndim = (uint32_t)ndim;
	t->numel = torch_u64(s, NUMEL);
	t->offset = torch_u64(s, STORAGE_OFFSET);
	if (ndim <= MOST_INLINE) {
		t->sizes = (const int64_t *)(s + SIZES_INLINE);
		t->strides = (const int64_t *)(s + STRIDES_INLINE);
	} else {
		t->sizes = (const int64_t *)torch_ptr(s, SIZES_INLINE);
		t->strides = t->sizes + ndim;
	}
}

uint32_t torch_inputs_read(const void *fn, struct torch_inputs *in)
{
	const char *value = torch_ptr(fn, torch_layout.inputs);
	uint64_t n = torch_u64(fn, torch_layout.inputs + 8);

	if (n > TORCH_INPUTS)
		n = TORCH_INPUTS;
	for (uint64_t i = 0; i < n; i++, value += IVALUE_SIZE) {
		struct xsprof_input *to = &in->input[i];

		/* A list, a string, or what else is not looked into. */
		*to = (struct xsprof_input){ .kind = XSPROF_INPUT_OTHER, .u.type = object };
		switch (torch_u32(value, IVALUE_TAG)) {
		case TAG_NONE:
			to->kind = XSPROF_INPUT_NONE;
			break;
		case TAG_TENSOR:
			to->kind = XSPROF_INPUT_TENSOR;
			to->u.tensor = &in->tensor[i];
			read_tensor(torch_ptr(value, 0), &in->tensor[i]);
			break;
		case TAG_DOUBLE:
			to->kind = XSPROF_INPUT_F64;
			memcpy(&to->u.f64, value, sizeof(to->u.f64));
			break;
		case TAG_INT:
			to->kind = XSPROF_INPUT_I64;
			memcpy(&to->u.i64, value, sizeof(to->u.i64));
			break;
		}
	}
	return (uint32_t)n;
}
