// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Bools, strings and lists among the inputs of ops. Their tags, and the offset of a list's
 * elements, differ between versions: libtorch is asked for the types of the program's first inputs
 * that are neither numbers nor tensors, and for the shapes of the tensors in their lists. If
 * anything differs from what is read, only the presence of lists and bools is recorded.
 */
#include "collect/torch/inputs.h"

#define ENOUGH		16u	/* non-empty lists that must match, and one bool */
#define ENOUGH_OPS	4096u	/* give up after these, if the program uses no lists */
#define LONGEST		64u	/* longer lists are not compared */

int torch_lists;

static unsigned int compared, ops;

/* libtorch's answers for one op's inputs. */
struct answers {
	const char			*types;
	const struct torch_vector	*sizes, *end;
	bool				unsure;	/* a list was not compared: long, or unsupported */
};

/* Learns a tag from the first value: then @tag must equal @known if @is, and differ if not. */
static bool learn(uint8_t *known, uint32_t tag, bool is)
{
	uint8_t there = __atomic_load_n(known, __ATOMIC_RELAXED);
	bool list = known == &torch_layout.tag_list;

	if (!is)
		return !there || there != tag;
	if (there)
		return there == tag;
	if (tag <= TAG_INT || tag > UINT8_MAX ||
	    tag == (list ? TORCH_FOUND(tag_bool) : TORCH_FOUND(tag_list)))
		return false;
	return __atomic_compare_exchange_n(known, &there, (uint8_t)tag, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED) || there == tag;
}

/*
 * Copies the elements of the vector at offset @at of a list. Return: their number, -1: not a
 * vector.
 */
static int elements(const char *impl, uint16_t at, char *copy, const char **where,
		    struct answers *have)
{
	struct torch_vector v;
	size_t len;

	if (!collect_peek(&v, impl + at, sizeof(v)) || v.end < v.begin || v.room < v.end)
		return -1;
	len = (size_t)(v.end - v.begin);
	if (len % IVALUE_SIZE)
		return -1;
	if (len > LONGEST * IVALUE_SIZE) {
		have->unsure = true;
		return -1;
	}
	if (len && !collect_peek(copy, v.begin, len))
		return -1;
	*where = v.begin;
	return (int)(len / IVALUE_SIZE);
}

/* Do all elements have the tag that the list's type implies? */
static bool is_of(const char *value, const char *copy, int n)
{
	uint32_t tag = torch_u32(copy, IVALUE_TAG);

	for (int i = 1; i < n; i++)
		if (torch_u32(copy + i * IVALUE_SIZE, IVALUE_TAG) != tag)
			return false;
	if (torch_api.is_bool_list(value))
		return learn(&torch_layout.tag_bool, tag, true);
	return (tag == TAG_INT && torch_api.is_int_list(value)) ||
	       (tag == TAG_DOUBLE && torch_api.is_double_list(value));
}

/* libtorch's answer omits elements that are not tensors, and undefined tensors. */
static bool are_tensors(const char *value, const char *copy, const char *where, int n,
			struct answers *have)
{
	struct answers a = *have;

	for (int i = 0; i < n; i++) {
		uint32_t tag = torch_u32(copy + i * IVALUE_SIZE, IVALUE_TAG);

		if (tag == TAG_NONE && !torch_api.is_tensor_list(value))
			continue;
		if (tag != TAG_TENSOR || a.sizes == a.end ||
		    !torch_same_tensor(where + i * IVALUE_SIZE, a.sizes))
			return false;
		a.sizes++;
	}
	/* For a list without tensors there is one empty answer. */
	a.sizes += a.sizes == have->sizes;
	*have = a;
	return true;
}

/* A list of symbolic sizes, strings, optional tensors or objects. */
static bool is_of_others(const char *value)
{
	return !torch_api.is_tensor_list(value) && !torch_api.is_int_list(value) &&
	       !torch_api.is_double_list(value) && !torch_api.is_bool_list(value);
}

static bool fits(const char *value, const char *impl, uint16_t at, struct answers *have)
{
	char copy[LONGEST * IVALUE_SIZE];
	const char *where;
	int n = elements(impl, at, copy, &where, have);
	uint32_t tag;

	if (n <= 0)
		return false;
	tag = torch_u32(copy, IVALUE_TAG);
	if (tag == TAG_TENSOR || tag == TAG_NONE)
		return are_tensors(value, copy, where, n, have);
	have->unsure = is_of_others(value);
	have->sizes++;
	return !have->unsure && is_of(value, copy, n);
}

/* A list of lists, strings or objects: not read, so it proves nothing. */
static bool is_unread(const char *value)
{
	return !torch_api.is_tensor_list(value) && !torch_api.is_int_list(value) &&
	       !torch_api.is_double_list(value) && !torch_api.is_bool_list(value);
}

static bool is_empty(const char *impl, uint16_t at)
{
	struct torch_vector v;

	return collect_peek(&v, impl + at, sizeof(v)) && v.begin == v.end && v.room >= v.end;
}

/*
 * Compares a list in libtorch's memory: the vector follows the reference counts, which take one or
 * two words.
 */
static bool same_list(const char *value, struct answers *have)
{
	static const uint16_t places[] = { 16, 24 };
	const char *impl = torch_ptr(value, 0);
	uint16_t place = TORCH_FOUND(list);
	struct answers a = *have;

	if (place && is_empty(impl, place)) {
		have->sizes++;
		return true;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (place && place != places[i])
			continue;
		a = *have;
		if (!fits(value, impl, places[i], &a)) {
			have->unsure |= a.unsure;
			continue;
		}
		*have = a;
		__atomic_add_fetch(&compared, 1, __ATOMIC_RELAXED);
		return torch_find16(&torch_layout.list, places[i]);
	}
	/* An empty list does not show the offset. */
	have->sizes++;
	return is_unread(value) || (!place && (is_empty(impl, places[0]) ||
					       is_empty(impl, places[1])));
}

static size_t text_size(void)
{
	return torch_old_texts() ? sizeof(char *) : sizeof(struct torch_text);
}

static bool is_text(const char *string, const char *what)
{
	const char *text;
	size_t len = torch_text(string, &text);

	return len == strlen(what) && !memcmp(text, what, len);
}

static bool compare(const char *value, uint64_t n, struct answers *a)
{
	const char *type = a->types;

	for (uint64_t i = 0; i < n; i++, value += IVALUE_SIZE, type += text_size()) {
		uint32_t tag = torch_u32(value, IVALUE_TAG);
		bool list = is_text(type, "GenericList");

		if (a->sizes == a->end)
			return false;
		if (tag != TAG_TENSOR &&
		    (!learn(&torch_layout.tag_bool, tag, is_text(type, "Bool")) ||
		     !learn(&torch_layout.tag_list, tag, list)))
			return false;
		if (!list)
			a->sizes++;
		else if (!same_list(value, a))
			return false;
	}
	return a->sizes == a->end;
}

static void free_texts(const struct torch_vector *v)
{
	for (char *string = v->begin; string < v->end; string += text_size()) {
		struct torch_text *t = (struct torch_text *)string;

		/* Old-ABI strings may be shared: let libtorch destroy it. */
		if (torch_old_texts())
			torch_api.old_text_delete(string);
		else if (t->data != t->own)
			torch_api.free((void *)(uintptr_t)t->data);
	}
	torch_api.free(v->begin);
}

/* libtorch omits undefined tensors of a list. */
static bool unasked(const char *value)
{
	char tensor[TORCH_TENSOR_SPAN];

	return torch_undefined(value) ||
	       (torch_tensor_copy(value, tensor) && torch_custom_sizes(tensor));
}

/* Does @value hold a list with a tensor that libtorch must not be asked about? */
static bool has_custom_sizes(const char *value, struct answers *have)
{
	static const uint16_t places[] = { 16, 24 };
	char copy[LONGEST * IVALUE_SIZE];
	const char *impl = torch_ptr(value, 0), *where;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int n = elements(impl, places[i], copy, &where, have);

		for (int k = 0; k < n; k++)
			if (torch_u32(copy + k * IVALUE_SIZE, IVALUE_TAG) == TAG_TENSOR &&
			    unasked(copy + k * IVALUE_SIZE))
				return true;
	}
	return false;
}

/*
 * May libtorch be asked for all sizes among these inputs? Not if it would run code of the program,
 * or raise an exception.
 */
static bool may_ask(const char *value, uint64_t n)
{
	struct answers have = { 0 };

	for (uint64_t i = 0; i < n; i++, value += IVALUE_SIZE) {
		uint32_t tag = torch_u32(value, IVALUE_TAG);

		if (tag == TAG_TENSOR ? unasked(value) :
		    tag > TAG_INT && (has_custom_sizes(value, &have) || have.unsure))
			return false;
	}
	return true;
}

static bool can_ask(void)
{
	return (torch_api.input_types ||
		(torch_api.old_input_types && torch_api.old_text_delete)) &&
	       torch_api.is_tensor_list && torch_api.is_int_list &&
	       torch_api.is_bool_list && torch_api.is_double_list;
}

static void give_up(void)
{
	int before = __atomic_exchange_n(&torch_lists, TORCH_DIFFERS, __ATOMIC_RELEASE);

	if (before != TORCH_DIFFERS)
		collect_say("PyTorch: unexpected layout of lists: they and bools are recorded "
			  "without their contents");
}

bool torch_lists_compare(const void *fn)
{
	uint64_t n = torch_u64(fn, torch_layout.inputs + 8);
	struct torch_vector types, sizes;
	struct answers a = { 0 };
	unsigned int asked;
	bool good;

	if (!can_ask()) {
		__atomic_store_n(&torch_lists, TORCH_DIFFERS, __ATOMIC_RELEASE);
		return false;
	}
	if (n > TORCH_INPUTS || !may_ask(torch_ptr(fn, torch_layout.inputs), n))
		return false;
	torch_strings_find();
	types = torch_old_texts() ? torch_api.old_input_types(fn) : torch_api.input_types(fn);
	sizes = torch_api.input_sizes(fn, true);
	a.types = types.begin;
	a.sizes = (const struct torch_vector *)sizes.begin;
	a.end = (const struct torch_vector *)sizes.end;
	good = (uint64_t)(types.end - types.begin) == n * text_size() &&
	       compare(torch_ptr(fn, torch_layout.inputs), n, &a);
	free_texts(&types);
	torch_free_sizes(&sizes);
	asked = __atomic_add_fetch(&ops, 1, __ATOMIC_RELAXED);
	/* A list was not compared: leave the lists of this op out and go on with other ops. */
	if (!good && a.unsure)
		return false;
	if (!good)
		give_up();
	else if ((__atomic_load_n(&compared, __ATOMIC_RELAXED) >= ENOUGH &&
		  TORCH_FOUND(tag_bool)) || asked >= ENOUGH_OPS)
		torch_verify_over(&torch_lists);
	return good;
}

/* ---- reading -------------------------------------------------------------------------------- */

static bool read_tensors(const char *value, const char *from, uint64_t n, struct torch_inputs *in,
			 struct xsprof_input *to)
{
	/* PyTorch's profiler omits lists of optional tensors too. */
	if (!torch_api.is_tensor_list(value) || n > TORCH_TENSORS - in->nr_tensors)
		return false;
	*to = (struct xsprof_input){
		.kind = XSPROF_INPUT_TENSORS, .n = (uint32_t)n,
		.u.tensor = in->tensor + in->nr_tensors,
	};
	for (uint64_t i = 0; i < n; i++, from += IVALUE_SIZE) {
		if (torch_u32(from, IVALUE_TAG) != TAG_TENSOR ||
		    !torch_tensor_read(torch_ptr(from, 0), in->storages,
				       &in->tensor[in->nr_tensors++]))
			return false;
	}
	return true;
}

static bool read_numbers(uint32_t tag, const char *from, uint64_t n, struct torch_inputs *in,
			 struct xsprof_input *to)
{
	uint64_t *numbers = in->numbers + in->nr_numbers;
	bool *bools = (bool *)numbers;

	if (n > TORCH_SCALARS || n > TORCH_NUMBERS - in->nr_numbers)
		return false;
	for (uint64_t i = 0; i < n; i++, from += IVALUE_SIZE) {
		if (torch_u32(from, IVALUE_TAG) != tag)
			return false;
		if (tag == TORCH_FOUND(tag_bool))
			bools[i] = torch_u8(from, 0) != 0;
		else
			numbers[i] = torch_u64(from, 0);
	}
	in->nr_numbers += (uint32_t)n;
	*to = (struct xsprof_input){ .n = (uint32_t)n };
	if (tag == TORCH_FOUND(tag_bool)) {
		to->kind = XSPROF_INPUT_BOOLS;
		to->u.bools = bools;
	} else if (tag == TAG_DOUBLE) {
		to->kind = XSPROF_INPUT_F64S;
		to->u.f64s = (const double *)numbers;
	} else {
		to->kind = XSPROF_INPUT_I64S;
		to->u.i64s = (const int64_t *)numbers;
	}
	return true;
}

bool torch_list_read(const char *value, struct torch_inputs *in, struct xsprof_input *to)
{
	const char *impl = torch_ptr(value, 0), *from = torch_ptr(impl, TORCH_FOUND(list));
	uint64_t n = (uint64_t)(torch_ptr(impl, TORCH_FOUND(list) + 8) - from) / IVALUE_SIZE;
	uint32_t tag = n ? torch_u32(from, IVALUE_TAG) : TAG_INT;

	if (tag == TAG_TENSOR || (!n && torch_api.is_tensor_list(value)))
		return read_tensors(value, from, n, in, to);
	if (tag != TAG_INT && tag != TAG_DOUBLE && tag != TORCH_FOUND(tag_bool))
		return false;
	return read_numbers(tag, from, n, in, to);
}
