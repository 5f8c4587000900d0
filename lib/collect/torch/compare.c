// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What libtorch itself says of a tensor, against what is in its memory.  Nothing there is taken for
 * granted: it is asked for by a call that fails where no memory is.
 */
#include "collect/torch/inputs.h"

/* Before there was a function to ask, up to 2.1, they were here; nothing changes these any more. */
#define SIZES_OF_OLD	72

/* What a tensor has from its sizes on, as far as it is read; and as far as they may be in it. */
#define TENSOR_READ	(POLICIES + 2)

unsigned int torch_compared;

/* An input that is a tensor: its first bytes in @copy. */
bool torch_tensor_copy(const char *value, char *copy)
{
	return collect_peek(copy, torch_ptr(value, 0), TORCH_FOUND(sizes) + TENSOR_READ);
}

void torch_verify_over(int *state)
{
	int there = TORCH_VERIFY;

	/* Release: a thread that reads the word sees the layout that was found. */
	(void)__atomic_compare_exchange_n(state, &there, TORCH_VERIFIED, false, __ATOMIC_RELEASE,
					  __ATOMIC_RELAXED);
}

/* Where libtorch's own pointer to the sizes leads. */
static bool find_sizes(const char *value, uint64_t ndim)
{
	int64_t *sizes = NULL;
	ptrdiff_t at;

	if (TORCH_FOUND(sizes))
		return true;
	if (!torch_api.get_sizes)
		return torch_find16(&torch_layout.sizes, SIZES_OF_OLD);
	if (ndim > MOST_INLINE || torch_api.get_sizes(value, &sizes))
		return false;
	at = (const char *)sizes - torch_ptr(value, 0) - SIZES_INLINE;
	if (at < 16 || at > 256)
		return false;
	/* Another place than another thread found: the comparison fails. */
	(void)torch_find16(&torch_layout.sizes, (uint16_t)at);
	return true;
}

/*
 * Where the device is: three bytes, of which one says that there is any, the first with the C10 of
 * old and the last with the standard's. With most devices, and the CPU first of all, only one of
 * the two can be meant.
 */
static bool find_device(const char *sizes)
{
	uint8_t first = torch_u8(sizes, DEVICE), last = torch_u8(sizes, DEVICE + 2);

	if (TORCH_FOUND(device) || (first == 1) == (last == 1))
		return true;
	return torch_find16(&torch_layout.device, first == 1 ? DEVICE + 1 : DEVICE);
}

bool torch_same_tensor(const char *value, const struct torch_vector *sizes)
{
	uint64_t ndim = (uint64_t)(sizes->end - sizes->begin) / sizeof(int64_t);
	char tensor[TORCH_TENSOR_SPAN], many[64 * sizeof(int64_t)];
	uint16_t place;
	const char *at;
	int32_t type = -1;

	/* Nothing is said of one that has no sizes, or none that are known. */
	if (!ndim || ndim > 64 || !find_sizes(value, ndim))
		return true;
	place = TORCH_FOUND(sizes);
	if (!torch_tensor_copy(value, tensor) || torch_u64(tensor, place) != ndim ||
	    !find_device(tensor + place))
		return false;
	at = tensor + place + SIZES_INLINE;
	if (ndim > MOST_INLINE) {
		if (!collect_peek(many, torch_ptr(at, 0), ndim * sizeof(int64_t)))
			return false;
		at = many;
	}
	if (memcmp(at, sizes->begin, ndim * sizeof(int64_t)))
		return false;
	if (torch_api.get_dtype && (torch_api.get_dtype(value, &type) ||
				    type != torch_u16(tensor, place + DTYPE)))
		return false;
	__atomic_add_fetch(&torch_compared, 1, __ATOMIC_RELAXED);
	return true;
}

void torch_free_sizes(const struct torch_vector *sizes)
{
	for (struct torch_vector *one = (struct torch_vector *)sizes->begin;
	     (char *)one < sizes->end; one++)
		if (one->begin)
			torch_api.free(one->begin);
	if (sizes->begin)
		torch_api.free(sizes->begin);
}
