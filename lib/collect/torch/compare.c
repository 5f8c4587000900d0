// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Compares what libtorch reports of a tensor with the tensor's memory. That memory is read with
 * collect_peek() only, as its layout is not trusted yet.
 */
#include "collect/torch/inputs.h"

/* Offset up to 2.1, which has no function to ask; no later release changes these versions. */
#define SIZES_OF_OLD	72

/* Bytes read from the sizes on, and the largest offset at which the sizes may be. */
#define TENSOR_READ	(POLICIES + 2)

unsigned int torch_compared;

/* Copies the first bytes of an input that is a tensor to @copy. */
bool torch_tensor_copy(const char *value, char *copy)
{
	return collect_peek(copy, torch_ptr(value, 0), TORCH_FOUND(sizes) + TENSOR_READ);
}

void torch_verify_over(int *state)
{
	int there = TORCH_VERIFY;

	/* Release: a thread that reads the word also sees the layout that was found. */
	(void)__atomic_compare_exchange_n(state, &there, TORCH_VERIFIED, false, __ATOMIC_RELEASE,
					  __ATOMIC_RELAXED);
}

/* Finds the offset of the pointer to the sizes that libtorch returns. */
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
	/* Fails if another thread has found another offset. */
	(void)torch_find16(&torch_layout.sizes, (uint16_t)at);
	return true;
}

/*
 * Finds the offset of the optional device: three bytes, of which one is the flag that it is set:
 * the first in c10::optional of old versions, the last in std::optional. For most devices, and
 * always for the CPU, only one of the two interpretations is valid.
 */
static bool find_device(const char *sizes)
{
	uint8_t first = torch_u8(sizes, DEVICE), last = torch_u8(sizes, DEVICE + 2);

	if (TORCH_FOUND(device) || (first == 1) == (last == 1))
		return true;
	return torch_find16(&torch_layout.device, first == 1 ? DEVICE + 1 : DEVICE);
}

/* Is @storage the StorageImpl of this tensor, with its first members at offset @at? */
static bool is_storage(const char *value, const char *sizes, const char *storage, uint16_t at)
{
	uint64_t offset = torch_u64(sizes, STORAGE_OFFSET), numel = torch_u64(sizes, NUMEL);
	uint16_t type = torch_u16(sizes, DTYPE), device = TORCH_FOUND(device);
	char copy[STORAGE_READ];
	const char *data;
	void *first;

	/*
	 * Types with less than a byte per element exist; all others have their size in the table.
	 */
	if (!numel || type >= torch_nr_types || !collect_peek(copy, storage + at, sizeof(copy)))
		return false;
	data = torch_ptr(copy, STORAGE_DATA);
	if (!data || !torch_u64(copy, STORAGE_BYTES) ||
	    torch_u16(copy, STORAGE_DEVICE) != torch_u16(sizes, device ? device : DEVICE))
		return false;
	return !torch_api.get_data || (!torch_api.get_data(value, &first) &&
				       data + offset * torch_types[type].size == first);
}

/*
 * Finds the offset of a tensor's storage, and of the memory in the storage: each follows the
 * reference counts, which take one or two words. Any tensor with elements can show it; until one
 * does, no storage is recorded.
 */
static void find_storage(const char *value, const char *tensor)
{
	static const uint16_t places[] = { 16, 24 };
	const char *sizes = tensor + TORCH_FOUND(sizes);

	for (size_t i = 0; !TORCH_FOUND(storage) && i < sizeof(places) / sizeof(places[0]); i++)
		if (is_storage(value, sizes, torch_ptr(tensor, places[i]), places[i]))
			(void)torch_find16(&torch_layout.storage, places[i]);
}

bool torch_same_tensor(const char *value, const struct torch_vector *sizes)
{
	uint64_t ndim = (uint64_t)(sizes->end - sizes->begin) / sizeof(int64_t);
	char tensor[TORCH_TENSOR_SPAN], many[64 * sizeof(int64_t)];
	uint16_t place;
	const char *at;
	int32_t type = -1;

	/* A tensor without sizes, or with unknown ones, proves nothing. */
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
	find_storage(value, tensor);
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
