// SPDX-License-Identifier: LGPL-2.1-only
/*
 * A tensor among the inputs of an op, read from libtorch's memory.
 */
#include "collect/torch/inputs.h"

/*
 * c10::ScalarType: numbers are added at the end, never changed; behind the last of each version is
 * that of an undefined tensor, which has no type.
 */
static const struct {
	const char	*name;
	uint32_t	size;
} types[] = {
	{ "unsigned char", 1 }, { "signed char", 1 }, { "short int", 2 }, { "int", 4 },
	{ "long int", 8 }, { "c10::Half", 2 }, { "float", 4 }, { "double", 8 },
	{ "c10::complex<c10::Half>", 4 }, { "c10::complex<float>", 8 },
	{ "c10::complex<double>", 16 }, { "bool", 1 }, { "c10::qint8", 1 }, { "c10::quint8", 1 },
	{ "c10::qint32", 4 }, { "c10::BFloat16", 2 }, { "c10::quint4x2", 1 },
	{ "c10::quint2x4", 1 }, { "c10::bits1x8", 1 }, { "c10::bits2x4", 1 }, { "c10::bits4x2", 1 },
	{ "c10::bits8", 1 }, { "c10::bits16", 2 }, { "c10::Float8_e5m2", 1 },
	{ "c10::Float8_e4m3fn", 1 }, { "c10::Float8_e5m2fnuz", 1 }, { "c10::Float8_e4m3fnuz", 1 },
	{ "short unsigned int", 2 }, { "unsigned int", 4 }, { "long unsigned int", 8 },
	{ "c10::dummy_uint1_7_t<1>", 1 }, { "c10::dummy_uint1_7_t<2>", 1 },
	{ "c10::dummy_uint1_7_t<3>", 1 }, { "c10::dummy_uint1_7_t<4>", 1 },
	{ "c10::dummy_uint1_7_t<5>", 1 }, { "c10::dummy_uint1_7_t<6>", 1 },
	{ "c10::dummy_uint1_7_t<7>", 1 },
	{ "c10::dummy_int1_7_t<1>", 1 }, { "c10::dummy_int1_7_t<2>", 1 },
	{ "c10::dummy_int1_7_t<3>", 1 }, { "c10::dummy_int1_7_t<4>", 1 },
	{ "c10::dummy_int1_7_t<5>", 1 }, { "c10::dummy_int1_7_t<6>", 1 },
	{ "c10::dummy_int1_7_t<7>", 1 }, { "c10::Float8_e8m0fnu", 1 },
	{ "c10::Float4_e2m1fn_x2", 1 }, { "c10::complex<c10::BFloat16>", 4 },
};

#define TYPES	(sizeof(types) / sizeof(types[0]))

static xsprof_name_t type_names[TYPES];

void torch_tensor_init(int category)
{
	for (size_t i = 0; i < TYPES; i++)
		type_names[i] = torch_user.name(category, types[i].name);
}

/* Its own code says what is not to be read of it. */
static __attribute__((noinline)) bool has_sizes(const char *impl)
{
	return impl != torch_api.undefined && !torch_custom_sizes(impl);
}

bool torch_tensor_read(const char *impl, struct xsprof_tensor *t)
{
	const char *s = impl + TORCH_FOUND(sizes);
	uint64_t ndim = torch_u64(s, 0);
	uint16_t type = torch_u16(s, DTYPE);
	bool custom = torch_u8(s, POLICIES) & CUSTOM;

	memset(t, 0, sizeof(*t));
	t->id = (uintptr_t)impl;
	t->dtype = type < TYPES ? type_names[type] : 0;
	t->itemsize = type < TYPES ? types[type].size : 0;
	t->device = torch_device(torch_u16(s, TORCH_FOUND(device) ? TORCH_FOUND(device) : DEVICE));
	/* Where its own code says what its sizes are, these are not them. */
	if (ndim > 64 || (__builtin_expect(custom, 0) && !has_sizes(impl)))
		return false;
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
	if (__builtin_expect(custom, 0))
		t->strides = NULL;
	return true;
}
