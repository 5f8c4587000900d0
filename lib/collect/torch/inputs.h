/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Inputs of ops: for the files that read them from libtorch's memory (inputs.c, tensor.c, lists.c,
 * strings.c), those that compare what was read with libtorch's answers (verify.c, compare.c), and
 * their callers.
 */
#ifndef XSP_TORCH_INPUTS_H
#define XSP_TORCH_INPUTS_H

#include "collect/common/peek.h"
#include "collect/torch/local.h"

#define TORCH_INPUTS	32	/* inputs recorded per op */
#define TORCH_TENSORS	96	/* tensors per op, including those in lists */
#define TORCH_SCALARS	30	/* elements per list, as in PyTorch's profiler */
#define TORCH_NUMBERS	128	/* numbers in all lists of an op */

/* c10::IValue: 16 bytes; these tags are the same in all versions. */
enum { IVALUE_SIZE = 16, IVALUE_TAG = 8 };
enum { TAG_NONE = 0, TAG_TENSOR = 1, TAG_DOUBLE = 3, TAG_INT = 5 };

/* Offsets in a TensorImpl from its sizes and strides on, which begin with the dimensions. */
enum {
	SIZES_INLINE = 8, STRIDES_INLINE = 48, MOST_INLINE = 5,
	STORAGE_OFFSET = 88, NUMEL = 96, DTYPE = 104, DEVICE = 106, POLICIES = 110,
};

/* Offsets in a StorageImpl after its reference counts: memory, device, size. */
enum { STORAGE_DATA = 0, STORAGE_DEVICE = 24, STORAGE_BYTES = 32, STORAGE_READ = 40 };

/* Bits of POLICIES: the tensor's own code defines its strides, or its sizes too. */
#define CUSTOM		0x0c
#define CUSTOM_STRIDES	0x04

/**
 * struct torch_inputs - the inputs of an op as read
 * @input: by position
 * @tensor: tensors, including those in lists
 * @numbers: numbers in lists
 * @nr_tensors: number of tensors
 * @nr_numbers: number of numbers
 * @others: number of inputs of unknown kind
 * @storages: set by the caller: read where tensors have their memory
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
 * The inputs of an op with @arguments arguments: the last ones of the values it has, as for
 * TorchScript's interpreter these are its whole stack. @nr: number of inputs.
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

/* Is the tensor in this input undefined? */
static inline bool torch_undefined(const char *value)
{
	return torch_ptr(value, 0) == torch_api.undefined;
}

/*
 * Offsets found by the first ops: 0 until then, never changed afterwards. Threads find them
 * concurrently, each from its own op, and read with the offsets that they have verified.
 */
#define TORCH_FOUND(field)	__atomic_load_n(&torch_layout.field, __ATOMIC_RELAXED)

/* Return: false: another thread stored a different offset first. */
static inline bool torch_find16(uint16_t *field, uint16_t v)
{
	uint16_t there = 0;

	return __atomic_compare_exchange_n(field, &there, v, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED) || there == v;
}

/* Reads the inputs of an op; @lists: including its lists. Return: the number of inputs. */
uint32_t torch_inputs_read(const void *fn, uint32_t arguments, bool lists, struct torch_inputs *in);
/* Interns the names of types. */
void torch_inputs_init(int category);

enum { TORCH_VERIFY = 0, TORCH_VERIFIED, TORCH_DIFFERS };

/* TORCH_..., the state of verification: may inputs be read from memory? */
extern int torch_verified;

/*
 * Compares an op's inputs as they would be read with libtorch's answers, until enough matched.
 * Return: true if this op's inputs may be recorded.
 */
bool torch_verify(const void *fn, uint32_t arguments);
/* The same for its lists and bools, after torch_verify(). */
bool torch_verify_lists(const void *fn);

/* ---- tensor.c ------------------------------------------------------------------------------- */

/* Indexed by c10::ScalarType. */
struct torch_type {
	xsprof_name_t	name;
	uint32_t	size;
};

extern struct torch_type torch_types[];
extern const uint32_t torch_nr_types;

void torch_tensor_init(int category);
/* The tensor's own code defines its strides: does it also define its sizes? */
bool torch_tensor_has_sizes(const char *impl);

/* Return: the address of the memory of the storage at @storage, 0: none. */
static inline uint64_t torch_memory_of(const char *storage)
{
	return storage ? torch_u64(storage, TORCH_FOUND(storage) + STORAGE_DATA) : 0;
}

/*
 * Reads a tensor from libtorch's memory; @storage: with its storage. Return: false: its sizes are
 * unknown.
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
	/* If the tensor's own code defines its sizes, those in memory do not apply. */
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

/* Bytes read of a tensor, for any offset of its sizes. */
#define TORCH_TENSOR_SPAN	(256 + POLICIES + 2)

/* Number of tensors compared. */
extern unsigned int torch_compared;
/* Marks the verification as passed, unless another thread found a difference. */
void torch_verify_over(int *state);

/* Copies the first bytes of an input that is a tensor to @copy. */
bool torch_tensor_copy(const char *value, char *copy);
/*
 * Does the tensor's own code define its sizes? The bit is known from tensors whose code defines
 * strides only, such as an undefined one. @copy: read after the offset of sizes was found.
 */
static inline bool torch_custom_sizes(const char *copy)
{
	uint16_t at = TORCH_FOUND(sizes) + POLICIES;
	uint8_t custom = torch_u8(copy, at) & CUSTOM;

	return custom && (custom != CUSTOM_STRIDES || !torch_api.undefined ||
			  (torch_u8(torch_api.undefined, at) & CUSTOM) != CUSTOM_STRIDES);
}

/* Does the tensor in memory have the sizes that libtorch reports? */
bool torch_same_tensor(const char *value, const struct torch_vector *sizes);
void torch_free_sizes(const struct torch_vector *sizes);

/* ---- lists.c -------------------------------------------------------------------------------- */

/* TORCH_..., the state of verification of lists and bools. */
extern int torch_lists;

/* Return: true if the lists and bools of this op may be recorded. */
bool torch_lists_compare(const void *fn);
/* Return: false: only the presence of this list is recorded. */
bool torch_list_read(const char *value, struct torch_inputs *in, struct xsprof_input *to);

/* ---- strings.c ------------------------------------------------------------------------------ */

/* Finds the offset of the text in a string: makes one, at the first call. */
void torch_strings_find(void);
/* Does libtorch use the old ABI of std::string? */
static inline bool torch_old_texts(void)
{
	return !torch_api.input_types;
}

/* Sets *@text to the text of a std::string. Return: its length. */
static inline size_t torch_text(const void *string, const char **text)
{
	*text = torch_ptr(string, 0);
	return torch_old_texts() ? torch_u64(*text - OLD_TEXT_LEN, 0) :
		torch_u64(string, offsetof(struct torch_text, len));
}

/*
 * Reads an IValue whose tag is between those of bools and of lists: a tuple, a string or a blob,
 * with a pointer to the object. Return: false: not a readable string.
 */
bool torch_string_read(const char *value, struct xsprof_input *to);

/* ---- devices.c ------------------------------------------------------------------------------ */

void torch_devices_init(int category);
/* Learns the tag of devices from an op called @name. Return: true if it became known now. */
bool torch_devices_find(xsprof_name_t name, const void *fn);
/* Return: false: the device has an unknown type. */
bool torch_device_read(const char *value, struct xsprof_input *to);

#endif /* XSP_TORCH_INPUTS_H */
