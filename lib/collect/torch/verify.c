// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Verifies that tensors are where inputs.c reads them: compares what it would read of the program's
 * first tensors with what libtorch reports. If one differs, no input is read any more in this
 * process: a shape is right or absent. Each thread compares its own ops: a thread that is preempted
 * or forks in the middle of it delays no other.
 */
#include "collect/torch/inputs.h"

#define ENOUGH		256u	/* tensors */
#define MOST		65536u	/* values on the interpreter's stack */

int torch_verified;

/* Ops inside the comparison have no inputs. Not the general TLS model: see threads.c. */
static __thread bool comparing __attribute__((tls_model("initial-exec")));

/* @value: the last @n inputs of the op. */
static bool compare(const void *fn, const char *value, const char *values, uint64_t n)
{
	uint64_t there = torch_u64(fn, torch_layout.inputs + 8);
	struct torch_vector all = torch_api.input_sizes(fn, false), *one;
	bool good = (uint64_t)(all.end - all.begin) == there * sizeof(*one);

	one = (struct torch_vector *)all.begin + there - n;
	for (uint64_t i = 0; good && i < n; i++)
		if (torch_u32(values + i * IVALUE_SIZE, IVALUE_TAG) == TAG_TENSOR)
			good = torch_same_tensor(value + i * IVALUE_SIZE, &one[i]);
	torch_free_sizes(&all);
	return good;
}

enum { GOOD, SKIP, BAD };

/* Are these inputs? Tensors whose own code defines their sizes must not be asked about. */
static int look(const char *values, uint64_t n)
{
	int ret = GOOD;

	for (uint64_t i = 0; i < n; i++) {
		const char *value = values + i * IVALUE_SIZE;
		char tensor[TORCH_TENSOR_SPAN];

		if (torch_u32(value, IVALUE_TAG) != TAG_TENSOR || torch_undefined(value))
			continue;
		if (!torch_tensor_copy(value, tensor))
			return BAD;
		if (TORCH_FOUND(sizes) && torch_custom_sizes(tensor))
			ret = SKIP;
	}
	return ret;
}

static void give_up(const char *what)
{
	int before = __atomic_exchange_n(&torch_verified, TORCH_DIFFERS, __ATOMIC_RELEASE);

	if (before != TORCH_DIFFERS)
		collect_say("PyTorch: unexpected location of %s: ops are recorded without their "
			  "inputs", what);
}

static bool verify(const void *fn, uint32_t arguments)
{
	uint64_t there = torch_u64(fn, torch_layout.inputs + 8), n;
	const char *value = torch_inputs_of(fn, arguments, &n);
	char values[TORCH_INPUTS * IVALUE_SIZE];

	if (!torch_api.nr_inputs || !torch_api.input_sizes || !torch_api.free) {
		give_up("the number of inputs");
		return false;
	}
	/* It began with the observer of before, which had no inputs. */
	if (!there)
		return false;
	/* The stack may hold more than the operator's inputs. */
	if (torch_api.nr_inputs(fn) != n || there > MOST) {
		give_up("the number of inputs");
		return false;
	}
	if (!n || n > TORCH_INPUTS)
		return false;
	if (!collect_peek(values, value, n * IVALUE_SIZE) ||
	    look(values, n) == BAD) {
		give_up("the inputs of an op");
		return false;
	}
	if (look(values, n) == SKIP)
		return false;
	if (!compare(fn, value, values, n)) {
		give_up("the shape of a tensor");
		return false;
	}
	if (__atomic_load_n(&torch_compared, __ATOMIC_RELAXED) >= ENOUGH)
		torch_verify_over(&torch_verified);
	return TORCH_FOUND(sizes) != 0;
}

bool torch_verify(const void *fn, uint32_t arguments)
{
	bool good;

	if (comparing)
		return false;
	comparing = true;
	good = verify(fn, arguments);
	comparing = false;
	return good;
}

bool torch_verify_lists(const void *fn)
{
	bool good;

	if (comparing)
		return false;
	comparing = true;
	good = torch_lists_compare(fn);
	comparing = false;
	return good;
}
