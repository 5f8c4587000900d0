// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Scalar types in payloads, and their conversion to arguments.
 */
#include "gpu/nvtx/extension.h"

/* Size in bytes, and whether the type is signed or floating-point. */
static const struct type {
	uint8_t	size;
	char	as;
} types[NVTX_TYPES] = {
	[NVTX_TYPE_CHAR] = { 1, 'i' }, [NVTX_TYPE_UCHAR] = { 1, 'u' },
	[NVTX_TYPE_SHORT] = { sizeof(short), 'i' }, [NVTX_TYPE_USHORT] = { sizeof(short), 'u' },
	[NVTX_TYPE_INT] = { sizeof(int), 'i' }, [NVTX_TYPE_UINT] = { sizeof(int), 'u' },
	[NVTX_TYPE_LONG] = { sizeof(long), 'i' }, [NVTX_TYPE_ULONG] = { sizeof(long), 'u' },
	[NVTX_TYPE_LLONG] = { 8, 'i' }, [NVTX_TYPE_ULLONG] = { 8, 'u' },
	[NVTX_TYPE_I8] = { 1, 'i' }, [NVTX_TYPE_U8] = { 1, 'u' },
	[NVTX_TYPE_I16] = { 2, 'i' }, [NVTX_TYPE_U16] = { 2, 'u' },
	[NVTX_TYPE_I32] = { 4, 'i' }, [NVTX_TYPE_U32] = { 4, 'u' },
	[NVTX_TYPE_I64] = { 8, 'i' }, [NVTX_TYPE_U64] = { 8, 'u' },
	[NVTX_TYPE_FLOAT] = { 4, 'f' }, [NVTX_TYPE_DOUBLE] = { 8, 'f' },
	[NVTX_TYPE_LDOUBLE] = { sizeof(long double), 0 },
	[NVTX_TYPE_SIZE] = { sizeof(size_t), 'u' }, [NVTX_TYPE_ADDRESS] = { sizeof(void *), 'p' },
	[NVTX_TYPE_BYTE] = { 1, 'u' }, [NVTX_TYPE_F32] = { 4, 'f' }, [NVTX_TYPE_F64] = { 8, 'f' },
	[NVTX_TYPE_CATEGORY] = { 4, 'u' }, [NVTX_TYPE_COLOR] = { 4, 'u' },
	[NVTX_TYPE_SCOPE] = { 8, 'u' }, [NVTX_TYPE_PID32] = { 4, 'u' },
	[NVTX_TYPE_PID64] = { 8, 'u' }, [NVTX_TYPE_TID32] = { 4, 'u' },
	[NVTX_TYPE_TID64] = { 8, 'u' }, [NVTX_TYPE_STRING_HANDLE] = { sizeof(void *), 's' },
};

size_t nvtx_type_size(uint64_t type)
{
	return type < NVTX_TYPES ? types[type].size : 0;
}

uint64_t nvtx_type_unsigned(const void *at, size_t size)
{
	uint64_t v = 0;

	memcpy(&v, at, size < sizeof(v) ? size : sizeof(v));	/* little-endian, as we are */
	return v;
}

static int64_t read_signed(const void *at, size_t size)
{
	uint64_t v = nvtx_type_unsigned(at, size);
	unsigned int unused = 64 - 8 * (unsigned int)size;

	return (int64_t)(v << unused) >> unused;
}

bool nvtx_type_read(struct xsprof_kv *kv, xsprof_name_t key, uint64_t type, const void *at)
{
	uint64_t v = nvtx_type_unsigned(at, nvtx_type_size(type));
	double d;
	float f;

	switch (type < NVTX_TYPES ? types[type].as : 0) {
	case 'i':
		*kv = xsprof_i64(key, read_signed(at, types[type].size));
		return true;
	case 'u':
		*kv = xsprof_u64(key, v);
		return true;
	case 'f':
		memcpy(&f, at, sizeof(f));
		if (types[type].size == sizeof(d))
			memcpy(&d, at, sizeof(d));
		else
			d = (double)f;
		*kv = xsprof_f64(key, d);
		return true;
	case 'p':
		*kv = xsprof_ptr(key, (void *)(uintptr_t)v);
		return true;
	case 's':
		if (!nvtx_is((void *)(uintptr_t)v, NVTX_TAG_STRING))
			return false;
		*kv = xsprof_namev(key, (xsprof_name_t)v);
		return true;
	default:
		return false;
	}
}

bool nvtx_type_is_read(uint64_t type)
{
	return type < NVTX_TYPES && types[type].as;
}

bool nvtx_type_is_whole(uint64_t type)
{
	char as = type < NVTX_TYPES ? types[type].as : 0;

	return as == 'i' || as == 'u';
}

bool nvtx_type_is_number(uint64_t type)
{
	char as = type < NVTX_TYPES ? types[type].as : 0;

	return as == 'i' || as == 'u' || as == 'f';
}
