// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Are tensors where inputs.c reads them? What it would read of the program's first tensors is
 * compared with what libtorch itself says of them. One that differs, and no input is read in this
 * process any more: a shape is right or it is not there.
 */
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#include "collect/torch/local.h"

#define ENOUGH		256u	/* tensors */

/* Before there was a function to ask, up to 2.1, they were here; nothing changes these any more. */
#define SIZES_OF_OLD	72

int torch_verified;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int compared;

/* What a tensor has from its sizes on, as far as it is read; and as far as they may be in it. */
#define TENSOR_READ	(POLICIES + 2)
#define TENSOR_SPAN	(256 + TENSOR_READ)

/*
 * Memory that may not be there, as long as nothing is verified.  Return: false: it is not, or this
 * process may not ask.
 */
static bool peek(void *to, const void *from, size_t len)
{
	struct iovec local = { to, len }, remote = { (void *)(uintptr_t)from, len };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)len;
}

/* An input that is a tensor: its first bytes in @copy. */
static bool copy_tensor(const char *value, char *copy)
{
	size_t len = torch_layout.sizes ? torch_layout.sizes + TENSOR_READ : TENSOR_READ;

	return peek(copy, torch_ptr(value, 0), len);
}

/* Where libtorch's own pointer to the sizes leads. */
static bool find_sizes(const char *value, uint64_t ndim)
{
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
	at = (const char *)sizes - torch_ptr(value, 0) - SIZES_INLINE;
	if (at < 16 || at > 256)
		return false;
	torch_layout.sizes = (uint16_t)at;
	return true;
}

/* @value: the input as libtorch has it. */
static bool same(const char *value, const struct torch_vector *sizes)
{
	uint64_t ndim = (uint64_t)(sizes->end - sizes->begin) / sizeof(int64_t);
	char tensor[TENSOR_SPAN], many[64 * sizeof(int64_t)];
	const char *at;
	int32_t type = -1;

	/* Nothing is said of one that has no sizes, or none that are known. */
	if (!ndim || ndim > 64 || !find_sizes(value, ndim))
		return true;
	if (!copy_tensor(value, tensor) || torch_u64(tensor, torch_layout.sizes) != ndim)
		return false;
	at = tensor + torch_layout.sizes + SIZES_INLINE;
	if (ndim > MOST_INLINE) {
		if (!peek(many, torch_ptr(at, 0), ndim * sizeof(int64_t)))
			return false;
		at = many;
	}
	if (memcmp(at, sizes->begin, ndim * sizeof(int64_t)))
		return false;
	if (torch_api.get_dtype && (torch_api.get_dtype(value, &type) ||
				    type != torch_u16(tensor, torch_layout.sizes + DTYPE)))
		return false;
	compared++;
	return true;
}

static bool compare(const void *fn, const char *values, uint64_t n)
{
	const char *value = torch_ptr(fn, torch_layout.inputs);
	struct torch_vector all = torch_api.input_sizes(fn, false), *one;
	bool good = (uint64_t)(all.end - all.begin) == n * sizeof(*one);

	one = (struct torch_vector *)all.begin;
	for (uint64_t i = 0; good && i < n; i++)
		if (torch_u32(values + i * IVALUE_SIZE, IVALUE_TAG) == TAG_TENSOR)
			good = same(value + i * IVALUE_SIZE, &one[i]);
	for (; (char *)one < all.end; one++)
		if (one->begin)
			torch_api.free(one->begin);
	if (all.begin)
		torch_api.free(all.begin);
	return good;
}

enum { GOOD, SKIP, BAD };

/* Are these inputs at all?  Not to be asked for: sizes that are what their own code says. */
static int look(const char *values, uint64_t n)
{
	int ret = GOOD;

	for (uint64_t i = 0; i < n; i++) {
		const char *value = values + i * IVALUE_SIZE;
		char tensor[TENSOR_SPAN];

		if (torch_u32(value, IVALUE_TAG) != TAG_TENSOR)
			continue;
		if (!copy_tensor(value, tensor))
			return BAD;
		if (torch_layout.sizes &&
		    torch_u8(tensor, torch_layout.sizes + POLICIES) & CUSTOM_SIZES)
			ret = SKIP;
	}
	return ret;
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
	char values[TORCH_INPUTS * IVALUE_SIZE];

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
	if (!n || n > TORCH_INPUTS)
		return false;
	if (!peek(values, torch_ptr(fn, torch_layout.inputs), n * IVALUE_SIZE) ||
	    look(values, n) == BAD) {
		give_up("the inputs of an op");
		return false;
	}
	if (look(values, n) == SKIP)
		return false;
	if (!compare(fn, values, n)) {
		give_up("the shape of a tensor");
		return false;
	}
	/* Release: a thread that reads the word sees the layout that was found. */
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
