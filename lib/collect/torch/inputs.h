/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The inputs of ops, for the files that read them from libtorch's memory (inputs.c, tensor.c,
 * lists.c, strings.c), for those that hold what was read against libtorch's own answers (verify.c,
 * compare.c), and for who asks them.
 */
#ifndef XSP_TORCH_INPUTS_H
#define XSP_TORCH_INPUTS_H

#include "collect/common/peek.h"
#include "collect/torch/local.h"

#define TORCH_INPUTS	32	/* of an op that are recorded */
#define TORCH_TENSORS	96	/* of these, and in lists of these */
#define TORCH_SCALARS	30	/* in a list, as in PyTorch's profiler */
#define TORCH_NUMBERS	128	/* in all lists */

/* c10::IValue: 16 bytes, and tags that have not moved. */
enum { IVALUE_SIZE = 16, IVALUE_TAG = 8 };
enum { TAG_NONE = 0, TAG_TENSOR = 1, TAG_DOUBLE = 3, TAG_INT = 5 };

/* In a TensorImpl, from its sizes and strides on: the number of dimensions, then these. */
enum {
	SIZES_INLINE = 8, STRIDES_INLINE = 48, MOST_INLINE = 5,
	STORAGE_OFFSET = 88, NUMEL = 96, DTYPE = 104, DEVICE = 106, POLICIES = 110,
};

/* In a StorageImpl, from behind its reference counts on: its memory, on which device, its size. */
enum { STORAGE_DATA = 0, STORAGE_DEVICE = 24, STORAGE_BYTES = 32, STORAGE_READ = 40 };

/* Bits of POLICIES: its own code says its strides, or its sizes as well. */
#define CUSTOM		0x0c
#define CUSTOM_STRIDES	0x04

/**
 * struct torch_inputs - the inputs of an op
 * @input: by their place
 * @tensor: those, and those in lists
 * @numbers: that are in lists
 * @nr_tensors: how many
 * @nr_numbers: likewise
 * @others: inputs of which it is not known what they are
 * @storages: wanted: where tensors have their memory
 */
struct torch_inputs {
	struct xsprof_input	input[TORCH_INPUTS];
	struct xsprof_tensor	tensor[TORCH_TENSORS];
	uint64_t		numbers[TORCH_NUMBERS];
	uint32_t		nr_tensors;
	uint32_t		nr_numbers;
	uint32_t		others;
	bool			storages;
};

#define TORCH_ALL_INPUTS	UINT32_MAX

/*
 * The inputs of an op with so many @arguments: the last of those that are there, which are the
 * whole stack where TorchScript's interpreter calls it.  @nr: how many
 */
static inline const char *torch_inputs_of(const void *fn, uint32_t arguments, uint64_t *nr)
{
	const char *value = torch_ptr(fn, torch_layout.inputs);

	*nr = torch_u64(fn, torch_layout.inputs + 8);
	if (*nr > arguments) {
		value += (*nr - arguments) * IVALUE_SIZE;
		*nr = arguments;
	}
	return value;
}

/* Is an input that is a tensor an undefined one? */
static inline bool torch_undefined(const char *value)
{
	return torch_ptr(value, 0) == torch_api.undefined;
}

/*
 * What the first ops find: 0 until then, and never changed again. Threads look at the same time,
 * each at its own op, and read from memory what they have compared themselves.
 */
#define TORCH_FOUND(field)	__atomic_load_n(&torch_layout.field, __ATOMIC_RELAXED)

/* Return: false: another thread found something else in the meantime. */
static inline bool torch_find16(uint16_t *field, uint16_t v)
{
	uint16_t there = 0;

	return __atomic_compare_exchange_n(field, &there, v, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED) || there == v;
}

/* The inputs of an op, read from its memory; @lists: and their lists.  Return: how many. */
uint32_t torch_inputs_read(const void *fn, uint32_t arguments, bool lists, struct torch_inputs *in);
/* Names of types. */
void torch_inputs_init(int category);

enum { TORCH_VERIFY = 0, TORCH_VERIFIED, TORCH_DIFFERS };

/* TORCH_..., for the program's first ops: may inputs be read from memory? */
extern int torch_verified;

/*
 * Compares an op's inputs, as they would be read, with what libtorch says of them, until enough
 * were.  Return: true when this op's may be recorded.
 */
bool torch_verify(const void *fn, uint32_t arguments);
/* The same of its lists and bools, behind that. */
bool torch_verify_lists(const void *fn);

/* ---- tensor.c ------------------------------------------------------------------------------- */

/* By c10::ScalarType. */
struct torch_type {
	xsprof_name_t	name;
	uint32_t	size;
};

extern struct torch_type torch_types[];
extern const uint32_t torch_nr_types;

void torch_tensor_init(int category);
/* Its own code says what is to be read of it: are its sizes? */
bool torch_tensor_has_sizes(const char *impl);

/* Where the memory of a tensor begins, whose storage is at @storage: 0 for none. */
static inline uint64_t torch_memory_of(const char *storage)
{
	return storage ? torch_u64(storage, TORCH_FOUND(storage) + STORAGE_DATA) : 0;
}

/*
 * A tensor in libtorch's memory; @storage: and where it has its own.  Return: false: what its sizes
 * are is not known.
 */
static inline __attribute__((always_inline)) bool torch_tensor_read(const char *impl, bool storage,
								    struct xsprof_tensor *t)
{
	static const struct torch_type unknown;
	const char *s = impl + TORCH_FOUND(sizes);
	uint16_t type = torch_u16(s, DTYPE), device = TORCH_FOUND(device);
	const struct torch_type *known = type < torch_nr_types ? &torch_types[type] : &unknown;
	bool custom = torch_u8(s, POLICIES) & CUSTOM;
	uint64_t ndim = torch_u64(s, 0);

	*t = (struct xsprof_tensor){
		.dtype = known->name,
		.itemsize = known->size,
		.device = torch_device(torch_u16(s, device ? device : DEVICE)),
		.id = (uintptr_t)impl,
	};
	/* Where its own code says what its sizes are, these are not them. */
	if (ndim > 64 || (__builtin_expect(custom, 0) && !torch_tensor_has_sizes(impl)))
		return false;
	t->ndim = (uint32_t)ndim;
	t->numel = torch_u64(s, NUMEL);
	t->offset = torch_u64(s, STORAGE_OFFSET);
	if (storage && TORCH_FOUND(storage))
		t->storage_id = torch_memory_of(torch_ptr(impl, TORCH_FOUND(storage)));
	if (__builtin_expect(ndim <= MOST_INLINE, 1)) {
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

/* ---- compare.c ------------------------------------------------------------------------------ */

/* As many bytes of a tensor as are looked at, wherever its sizes are in it. */
#define TORCH_TENSOR_SPAN	(256 + POLICIES + 2)

/* Tensors that were compared. */
extern unsigned int torch_compared;
/* Enough were compared, unless another thread found one that differs. */
void torch_verify_over(int *state);

/* An input that is a tensor: its first bytes in @copy. */
bool torch_tensor_copy(const char *value, char *copy);
/*
 * Are its sizes what its own code says?  Not where that says its strides alone, as an undefined
 * tensor's does: that shows the bit.  @copy: where sizes are is known
 */
static inline bool torch_custom_sizes(const char *copy)
{
	uint16_t at = TORCH_FOUND(sizes) + POLICIES;
	uint8_t custom = torch_u8(copy, at) & CUSTOM;

	return custom && (custom != CUSTOM_STRIDES || !torch_api.undefined ||
			  (torch_u8(torch_api.undefined, at) & CUSTOM) != CUSTOM_STRIDES);
}

/* Has the tensor of an input in libtorch's memory the sizes that it says? */
bool torch_same_tensor(const char *value, const struct torch_vector *sizes);
void torch_free_sizes(const struct torch_vector *sizes);

/* ---- lists.c -------------------------------------------------------------------------------- */

/* TORCH_..., for lists and bools. */
extern int torch_lists;

/* Return: true when this op's may be recorded. */
bool torch_lists_compare(const void *fn);
/* Return: false: it is one of which nothing is recorded but that it is there. */
bool torch_list_read(const char *value, struct torch_inputs *in, struct xsprof_input *to);

/* ---- strings.c ------------------------------------------------------------------------------ */

/* Finds where the text of one is: makes one, the first time. */
void torch_strings_find(void);
/* Is std::string of the old kind? */
static inline bool torch_old_texts(void)
{
	return !torch_api.input_types;
}

/* The text of a std::string that is there.  Return: its length. */
static inline size_t torch_text(const void *string, const char **text)
{
	*text = torch_ptr(string, 0);
	return torch_old_texts() ? torch_u64(*text - OLD_TEXT_LEN, 0) :
		torch_u64(string, offsetof(struct torch_text, len));
}

/*
 * Of an IValue with a tag between those of bools and of lists: it is a tuple, a string or a blob,
 * and points to it.  Return: false: it is no string, or not one that is read.
 */
bool torch_string_read(const char *value, struct xsprof_input *to);

/* ---- devices.c ------------------------------------------------------------------------------ */

void torch_devices_init(int category);
/* Looks which tag they have at an op with that @name.  Return: it is known now, and was not. */
bool torch_devices_find(xsprof_name_t name, const void *fn);
/* Return: false: it is of a type that is not known. */
bool torch_device_read(const char *value, struct xsprof_input *to);

#endif /* XSP_TORCH_INPUTS_H */
