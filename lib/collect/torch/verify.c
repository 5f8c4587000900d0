// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Are tensors where inputs.c reads them? What it would read of the program's first tensors is
 * compared with what libtorch itself says of them. One that differs, and no input is read in this
 * process any more: a shape is right or it is not there.
 */
#include <pthread.h>

#include "collect/torch/local.h"

#define ENOUGH		256u	/* tensors */

/* Before there was a function to ask, up to 2.1, they were here; nothing changes these any more. */
#define SIZES_OF_OLD	72

int torch_verified;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int compared;

static const char *value_of(const void *fn, uint64_t i)
{
	return torch_ptr(fn, torch_layout.inputs) + i * IVALUE_SIZE;
}

/* Any whose sizes are not in memory?  To ask libtorch for them runs their own code. */
static bool has_code(const void *fn, uint64_t n)
{
	for (uint64_t i = 0; i < n && torch_layout.sizes; i++) {
		const char *value = value_of(fn, i);

		if (torch_u32(value, IVALUE_TAG) == TAG_TENSOR &&
		    torch_u8(torch_ptr(value, 0), torch_layout.sizes + POLICIES) & CUSTOM_SIZES)
			return true;
	}
	return false;
}

/* Where libtorch's own pointer to the sizes leads. */
static bool find_sizes(const char *value, uint64_t ndim)
{
	const char *impl = torch_ptr(value, 0);
	int64_t *sizes = NULL;
	ptrdiff_t at;

	if (torch_layout.sizes)
		return true;
	if (!torch_api.get_sizes) {
		torch_layout.sizes = SIZES_OF_OLD;
		return true;
	}
	if (ndim > MOST_INLINE || torch_api.get_sizes(value, &sizes))
		return false;
	at = (const char *)sizes - impl - SIZES_INLINE;
	if (at < 16 || at > 256)
		return false;
	torch_layout.sizes = (uint16_t)at;
	return true;
}

static bool same(const char *value, const struct torch_vector *sizes)
{
	uint64_t ndim = (uint64_t)(sizes->end - sizes->begin) / sizeof(int64_t);
	const char *impl = torch_ptr(value, 0), *at;
	int32_t type = -1;

	/* Nothing is said of one that has no sizes, or none that are known. */
	if (!ndim || !find_sizes(value, ndim))
		return true;
	if (torch_u64(impl, torch_layout.sizes) != ndim)
		return false;
	at = impl + torch_layout.sizes + SIZES_INLINE;
	if (ndim > MOST_INLINE)
		at = torch_ptr(at, 0);
	if (memcmp(at, sizes->begin, ndim * sizeof(int64_t)))
		return false;
	if (torch_api.get_dtype && (torch_api.get_dtype(value, &type) ||
				    type != torch_u16(impl, torch_layout.sizes + DTYPE)))
		return false;
	compared++;
	return true;
}

static bool compare(const void *fn, uint64_t n)
{
	struct torch_vector all = torch_api.input_sizes(fn, false), *one;
	bool good = (uint64_t)(all.end - all.begin) == n * sizeof(*one);

	one = (struct torch_vector *)all.begin;
	for (uint64_t i = 0; good && i < n; i++)
		if (torch_u32(value_of(fn, i), IVALUE_TAG) == TAG_TENSOR)
			good = same(value_of(fn, i), &one[i]);
	for (; (char *)one < all.end; one++)
		if (one->begin)
			torch_api.free(one->begin);
	if (all.begin)
		torch_api.free(all.begin);
	return good;
}

static void give_up(const char *what)
{
	__atomic_store_n(&torch_verified, TORCH_DIFFERS, __ATOMIC_RELEASE);
	torch_say("PyTorch: %s is not where it was expected: ops are recorded without their "
		  "inputs", what);
}

/* The lock is held. */
static bool verify(const void *fn)
{
	uint64_t n = torch_u64(fn, torch_layout.inputs + 8);

	if (torch_verified != TORCH_VERIFY)
		return torch_verified == TORCH_VERIFIED;
	if (!torch_api.nr_inputs || !torch_api.input_sizes || !torch_api.free) {
		give_up("the number of inputs");
		return false;
	}
	if (torch_api.nr_inputs(fn) != n) {
		give_up("the number of inputs");
		return false;
	}
	if (has_code(fn, n))
		return false;
	if (!compare(fn, n)) {
		give_up("the shape of a tensor");
		return false;
	}
	/* Release: whoever reads the word may read inputs, by the layout that was found. */
	if (compared >= ENOUGH)
		__atomic_store_n(&torch_verified, TORCH_VERIFIED, __ATOMIC_RELEASE);
	return torch_layout.sizes != 0;
}

bool torch_verify(const void *fn)
{
	bool good;

	/* An op inside the comparison, or one at the same time: without inputs. */
	if (pthread_mutex_trylock(&lock))
		return false;
	good = verify(fn);
	pthread_mutex_unlock(&lock);
	return good;
}
