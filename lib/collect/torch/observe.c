// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The observer of PyTorch's ops. It is registered only while ops are wanted: a registered observer
 * makes each op about a tenth slower, whatever it does.
 */
#include "collect/torch/entry.h"
#include "collect/torch/inputs.h"
#include "collect/torch/native.h"
#include "collect/torch/open.h"
#include "collect/torch/python.h"

#define SCRIPT_SCOPE	2	/* at::RecordScope::TORCHSCRIPT_FUNCTION */

bool torch_observing;
bool torch_with_inputs;
enum torch_detail torch_detail;

static uint64_t handle;
static uint32_t changing;
static uint32_t registered;	/* number of registrations */

/* Return: the number of inputs read. */
static uint32_t read_inputs(const void *fn, xsprof_name_t name, uint32_t arguments,
			    struct torch_inputs *in)
{
	/*
	 * Acquire, both: pair with the releases in verify.c and lists.c after the layout was found.
	 */
	int verified = __atomic_load_n(&torch_verified, __ATOMIC_ACQUIRE);
	int lists = __atomic_load_n(&torch_lists, __ATOMIC_ACQUIRE);
	uint32_t n;

	if (__builtin_expect(verified != TORCH_VERIFIED, 0) &&
	    (verified != TORCH_VERIFY || !torch_verify(fn, arguments)))
		return 0;
	in->storages = torch_records(XSPROF_DETAIL_MEMORY, TORCH_ALL);
	n = torch_inputs_read(fn, arguments, lists == TORCH_VERIFIED, in);
	if (__builtin_expect(lists == TORCH_VERIFY && in->others, 0) && torch_verify_lists(fn))
		n = torch_inputs_read(fn, arguments, true, in);
	if (__builtin_expect(lists == TORCH_VERIFIED && in->others, 0) &&
	    !TORCH_FOUND(tag_device) && torch_devices_find(name, fn))
		n = torch_inputs_read(fn, arguments, true, in);
	return n;
}

/* Sets line, stack and modules of the op. */
static inline void read_place(struct xsprof_op *op)
{
	struct python_place place = { 0 };
	struct native_stack native;

	native.nr = native.inner = 0;
	if (torch_native)
		torch_native_walk(&native);
	if (torch_records(XSPROF_DETAIL_STACK | XSPROF_DETAIL_MODULES, TORCH_ALL))
		torch_python_place(&place, &native,
				   __atomic_load_n(&registered, __ATOMIC_RELAXED));
	op->stack = place.stack ? place.stack : torch_native_stack(&native);
	op->line = place.line;
	op->module_name = place.module;
}

/*
 * Begins an op with keyword values, or without room for its name. Separate: rare, with a large
 * frame.
 */
static __attribute__((cold, noinline)) void begin_with_words(const void *fn, struct xsprof_op *op,
							     bool keywords)
{
	struct torch_keywords words;

	words.nr = 0;
	if (keywords)
		torch_keywords_read(fn, &words);
	if (torch_names_full(op->name))
		words.kv[words.nr++] = xsprof_str(torch_name_key, torch_api.fn_name(fn));
	if (words.nr) {
		op->kwargs = words.kv;
		op->nr_kwargs = words.nr;
	}
	torch_user.begin(op);
}

static __attribute__((used)) void *starts(void **ret, const void *fn)
{
	struct xsprof_op op = { .sequence = XSPROF_NO_SEQUENCE };
	const struct torch_layout *l = &torch_layout;
	struct torch_inputs in;
	struct torch_comms comms;
	uint32_t arguments;
	uint64_t number;
	bool is_comms, shapes, words;

	*ret = NULL;
	if (!torch_wanted())
		return ret;
	shapes = torch_records(XSPROF_DETAIL_INPUTS, TORCH_SHAPES);
	op.name = torch_name(fn, &arguments);
	op.scope = torch_u8(fn, l->scope);
	op.sequence = (int64_t)torch_u64(fn, l->sequence);
	torch_thread_enter();
	number = torch_u64(fn, l->forward);
	if (number) {
		op.forward_thread = torch_thread(number);
		/*
		 * The forward thread is unknown: without it, the op would link to an op of any
		 * thread.
		 */
		if (!op.forward_thread)
			op.sequence = XSPROF_NO_SEQUENCE;
	}
	op.record_function_id = torch_u64(fn, l->handle);
	/* The inputs of a scripted function are stored in another way. */
	if (op.scope != SCRIPT_SCOPE && shapes) {
		op.nr_inputs = read_inputs(fn, op.name, arguments, &in);
		op.inputs = in.input;
	}
	if (torch_native ||
	    torch_records(XSPROF_DETAIL_STACK | XSPROF_DETAIL_MODULES, TORCH_ALL))
		read_place(&op);
	is_comms = torch_is_comms(op.name);
	if (__builtin_expect(is_comms, 0)) {
		torch_comms_read(fn, &comms);
		op.kwargs = comms.kv;
		op.nr_kwargs = comms.nr;
	}
	torch_open_begin(&op);
	words = shapes && l->keywords && torch_u64(fn, l->keywords + TORCH_MAP_NR);
	if (__builtin_expect(words || torch_names_full(op.name), 0))
		begin_with_words(fn, &op, words);
	else
		torch_user.begin(&op);
	if (__builtin_expect(is_comms, 0))
		torch_comms_free(&comms);
	return ret;
}

TORCH_X8(starts);

static void ends(const void *fn, void *context)
{
	(void)context;
	torch_open_end(torch_u64(fn, torch_layout.handle), torch_wanted());
}

void torch_observe(void)
{
	struct torch_callback cb = { .start = TORCH_ENTRY(starts), .end = ends, .probability = 1,
		.needs_ids = true };

	/* One thread does it; others go on and check again at their next op. */
	if (__atomic_exchange_n(&changing, 1, __ATOMIC_ACQUIRE))
		return;
	/* A session that wants inputs began beside a recorder that does not, or has ended. */
	if (torch_wanted() && torch_observing && !torch_inputs_as_wanted()) {
		torch_api.remove(handle);
		__atomic_store_n(&torch_observing, false, __ATOMIC_RELAXED);
	}
	if (torch_wanted() && !torch_observing) {
		cb.needs_inputs = torch_records(XSPROF_DETAIL_INPUTS, TORCH_SHAPES);
		__atomic_store_n(&torch_with_inputs, cb.needs_inputs, __ATOMIC_RELAXED);
		memset(cb.scopes, 1, sizeof(cb.scopes));
		/* Relaxed: only compared with its own later values. */
		__atomic_store_n(&registered, registered + 1, __ATOMIC_RELAXED);
		handle = torch_api.add_global(cb);
		torch_iterations_last();
		torch_groups_tell();
		__atomic_store_n(&torch_observing, true, __ATOMIC_RELAXED);
	} else if (!torch_wanted() && torch_observing) {
		torch_api.remove(handle);
		__atomic_store_n(&torch_observing, false, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&changing, 0, __ATOMIC_RELEASE);
}
