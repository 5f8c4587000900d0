// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Types of tensors among the inputs of ops.
 */
#include "collect/torch/inputs.h"

/*
 * Indexed by c10::ScalarType, which only grows at its end; in each version the number after the
 * last type is that of an undefined tensor, which has no type.
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

const uint32_t torch_nr_types = TYPES;
struct torch_type torch_types[TYPES];

void torch_tensor_init(int category)
{
	for (size_t i = 0; i < TYPES; i++) {
		torch_types[i].name = torch_user.name(category, types[i].name);
		torch_types[i].size = types[i].size;
	}
}

bool torch_tensor_has_sizes(const char *impl)
{
	return impl != torch_api.undefined && !torch_custom_sizes(impl);
}
