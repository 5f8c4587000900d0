// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Writes ops into the rings. Decides which details of an op are kept, and packs them; allocates
 * nothing and takes no lock, except for a new stack.
 */
#include "profiler/op-mirror.h"
#include "profiler/op-time.h"
#include "profiler/stack.h"
#include "ring/op-wanted.h"
#include "ring/pack.h"

/* Room for numbers of a tensor in a record of its own. */
#define TENSOR_ROOM	(sizeof(((struct xsp_pack *)0)->word) - 16 - \
			 sizeof(struct xsprof_arg) - sizeof(struct xsprof_tensor_arg))
#define MOST_DIMS	24u
/* Nearly all tensors: what put_narrow() handles, and what fits any record. */
#define FEW_DIMS	7u

/* ---- tensors -------------------------------------------------------------------------------- */

static inline bool any_wide(const int64_t *v, uint32_t n)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < n; i++)
		all |= (uint64_t)v[i];
	return all > UINT32_MAX;
}

static inline char *put_numbers(char *at, const int64_t *v, uint32_t n, bool wide)
{
	uint32_t *narrow = (uint32_t *)at;

	if (unlikely(wide)) {
		memcpy(at, v, n * 8ul);
		return at + n * 8ul;
	}
	for (uint32_t i = 0; i < n; i++)
		narrow[i] = (uint32_t)v[i];
	return at + n * 4ul;
}

/* The number of dimensions to store, limited by a record's size. */
static XSP_NOINLINE uint32_t cut_tensor(struct xsprof_tensor_arg *raw, const int64_t **strides,
				     uint32_t room)
{
	uint32_t n = raw->ndim;

	raw->flags |= XSPROF_TENSORF_CUT;
	/* Rather drop strides than sizes, and store the first sizes rather than none. */
	if (*strides && 2 * n > room)
		*strides = NULL;
	return n < room && n < MOST_DIMS ? n : room < MOST_DIMS ? room : MOST_DIMS;
}

/* A tensor with too many dimensions, or too large ones. */
static XSP_NOINLINE bool pack_odd(struct xsp_pack *p, xsprof_name_t key,
			       const struct xsprof_tensor *t)
{
	const int64_t *sizes = t->sizes, *strides = t->strides;
	struct xsprof_tensor_arg raw = {
		.dtype = t->dtype, .device = t->device, .itemsize = t->itemsize,
		.ndim = t->ndim > UINT8_MAX ? UINT8_MAX : (uint8_t)t->ndim,
	};
	struct xsprof_arg arg = { .key = key, .type = XSPROF_ARG_TENSOR, .value = t->id };
	uint32_t n = raw.ndim, fixed = t->storage_id ? 24 : 0, lists = !!sizes + !!strides, width;
	bool wide = (sizes && any_wide(sizes, n)) || (strides && any_wide(strides, n));
	size_t padded;
	char *at;

	width = wide ? 8 : 4;
	if (unlikely(fixed + lists * n * width > TENSOR_ROOM || n > MOST_DIMS)) {
		n = cut_tensor(&raw, &strides, (uint32_t)(TENSOR_ROOM - fixed) / width);
		lists = !!sizes + !!strides;
	}
	arg.len = (uint16_t)(sizeof(raw) + fixed + lists * n * width);
	padded = (arg.len + 15ul) & ~15ul;
	if (xsp_pack_room(p) < sizeof(arg) + padded && !xsp_pack_next(p))
		return false;
	raw.stored = (uint8_t)(lists ? n : 0);
	raw.flags |= (wide ? XSPROF_TENSORF_WIDE : 0) | (sizes ? XSPROF_TENSORF_SIZES : 0) |
		     (strides ? XSPROF_TENSORF_STRIDES : 0) |
		     (fixed ? XSPROF_TENSORF_STORAGE : 0);
	at = (char *)p->word + p->used;
	p->used += sizeof(arg) + padded;
	memcpy(at, &arg, sizeof(arg));
	memcpy(at + sizeof(arg), &raw, sizeof(raw));
	/* Clear the last words, which the numbers may not fill. */
	memset(at + sizeof(arg) + padded - 16, 0, lists || fixed ? 16 : 0);
	at += sizeof(arg) + sizeof(raw);
	if (fixed) {
		memcpy(at, (uint64_t[]){ t->storage_id, t->offset, t->numel }, 24);
		at += 24;
	}
	if (sizes)
		at = put_numbers(at, sizes, n, wide);
	if (strides)
		put_numbers(at, strides, n, wide);
	return true;
}

/* Four numbers as passed, and as stored. */
typedef int64_t four_wide __attribute__((vector_size(32)));
typedef int32_t four __attribute__((vector_size(16)));

/* Stores numbers in 4 bytes each, from the begin of a word. Return: the end of their last word. */
static inline __attribute__((always_inline)) uint64_t *
put_narrow(uint64_t *to, const int64_t *v, uint32_t n, uint64_t *all)
{
	if (n & 4) {
		four_wide wide;
		four narrow;

		memcpy(&wide, v, sizeof(wide));
		narrow = __builtin_convertvector(wide, four);
		memcpy(to, &narrow, sizeof(narrow));
		*all |= (uint64_t)(v[0] | v[1] | v[2] | v[3]);
		v += 4;
		to += 2;
	}
	if (n & 2) {
		*all |= (uint64_t)(v[0] | v[1]);
		*to++ = (uint32_t)v[0] | (uint64_t)v[1] << 32;
		v += 2;
	}
	if (n & 1) {
		*all |= (uint64_t)v[0];
		*to++ = (uint32_t)v[0];
	}
	return to;
}

/* The same after an odd number of 4-byte numbers. */
static inline uint64_t *put_behind(uint64_t *to, const int64_t *v, uint32_t n, uint64_t *all)
{
	*all |= (uint64_t)v[0];
	to[-1] |= (uint64_t)v[0] << 32;
	return put_narrow(to, v + 1, n - 1, all);
}

/*
 * Fast path: packs directly into the record, with numbers of 4 bytes; it determines the cost of an
 * op with inputs. If a number turns out to be larger, what was written is overwritten.
 */
static inline __attribute__((always_inline)) bool
pack_tensor(struct xsp_pack *p, xsprof_name_t key, const struct xsprof_tensor *t)
{
	const int64_t *sizes = t->sizes, *strides = t->strides;
	uint32_t n = t->ndim, len = sizeof(struct xsprof_tensor_arg), flags = n;
	uint64_t *to, *end, all = 0;
	size_t used = p->used, padded;

	if (sizes) {
		len += 4 * n;
		flags = n | n << 8 | XSPROF_TENSORF_SIZES << 16;
	}
	if (strides) {
		len += 4 * n;
		flags |= n << 8 | XSPROF_TENSORF_STRIDES << 16;
	}
	if (t->storage_id) {
		len += 24;
		flags |= XSPROF_TENSORF_STORAGE << 16;
	}
	if (unlikely(n > FEW_DIMS))
		return pack_odd(p, key, t);
	padded = sizeof(struct xsprof_arg) + ((len + 15) & ~15u);
	if (unlikely(used + padded > sizeof(p->word))) {
		if (!xsp_pack_next(p))
			return false;
		used = p->used;
	}
	to = (uint64_t *)((char *)p->word + used);
	end = (uint64_t *)((char *)to + padded);
	to[0] = key | (uint64_t)XSPROF_ARG_TENSOR << 32 | (uint64_t)len << 48;
	to[1] = t->id;
	to[2] = t->dtype | (uint64_t)t->device << 32;
	to[3] = flags | (uint64_t)t->itemsize << 32;
	to += 4;
	if (t->storage_id) {
		to[0] = t->storage_id;
		to[1] = t->offset;
		to[2] = t->numel;
		to += 3;
	}
	if (sizes)
		to = put_narrow(to, sizes, n, &all);
	if (strides)
		to = n & 1 && sizes ? put_behind(to, strides, n, &all) :
				      put_narrow(to, strides, n, &all);
	/* The numbers leave at most one word partly unused. */
	if (to != end)
		*to = 0;
	if (unlikely(all > UINT32_MAX))
		return pack_odd(p, key, t);
	p->used = used + padded;
	return true;
}

/* ---- inputs --------------------------------------------------------------------------------- */

static bool pack_value(struct xsp_pack *p, xsprof_name_t key, uint8_t type, uint64_t value)
{
	struct xsprof_arg arg = { .key = key, .type = type, .value = value };

	return xsp_pack_whole(p, &arg, "");
}

static bool pack_tensors(struct xsp_pack *p, xsprof_name_t key, const struct xsprof_input *in)
{
	if (!pack_value(p, key, XSPROF_ARG_LIST, in->n))
		return false;
	for (uint32_t i = 0; i < in->n; i++) {
		uint32_t place = i < XSPROF_KEY_PLACES ? i : XSPROF_KEY_PLACES - 1;

		if (!pack_tensor(p, XSPROF_KEY_ITEM + place, &in->u.tensor[i]))
			return false;
	}
	return true;
}

static bool pack_bools(struct xsp_pack *p, xsprof_name_t key, const struct xsprof_input *in)
{
	if (!pack_value(p, key, XSPROF_ARG_LIST, in->n))
		return false;
	for (uint32_t i = 0; i < in->n; i++) {
		uint32_t place = i < XSPROF_KEY_PLACES ? i : XSPROF_KEY_PLACES - 1;

		if (!pack_value(p, XSPROF_KEY_ITEM + place, XSPROF_ARG_BOOL, in->u.bools[i]))
			return false;
	}
	return true;
}

/* Is it longer than what is stored of an input? */
static bool too_long(const struct xsprof_input *in)
{
	switch (in->kind) {
	case XSPROF_INPUT_STR:
		return in->u.str && strnlen(in->u.str, XSPROF_TEXT_MAX + 1) > XSPROF_TEXT_MAX;
	case XSPROF_INPUT_I64S:
	case XSPROF_INPUT_F64S:
		return in->n > XSPROF_TEXT_MAX / 8;
	default:
		return false;
	}
}

/*
 * Packs an input other than a tensor. @cut: incremented if it is cut. Return: false without room.
 */
static XSP_NOINLINE bool pack_input(struct xsp_pack *p, xsprof_name_t key,
				 const struct xsprof_input *in, uint32_t *cut)
{
	uint64_t bits;

	*cut += too_long(in);
	switch (in->kind) {
	case XSPROF_INPUT_TENSORS:
		return pack_tensors(p, key, in);
	case XSPROF_INPUT_BOOLS:
		return pack_bools(p, key, in);
	case XSPROF_INPUT_I64:
		return pack_value(p, key, XSPROF_ARG_I64, (uint64_t)in->u.i64);
	case XSPROF_INPUT_F64:
		memcpy(&bits, &in->u.f64, sizeof(bits));
		return pack_value(p, key, XSPROF_ARG_F64, bits);
	case XSPROF_INPUT_BOOL:
		return pack_value(p, key, XSPROF_ARG_BOOL, in->u.i64 != 0);
	case XSPROF_INPUT_STR:
		return xsp_pack_pieces(p, key, XSPROF_ARG_STR, in->u.str ? in->u.str : "",
				       in->u.str ? strlen(in->u.str) : 0, 1);
	case XSPROF_INPUT_I64S:
		return xsp_pack_pieces(p, key, XSPROF_ARG_I64S, in->u.i64s, in->n * 8ul, 8);
	case XSPROF_INPUT_F64S:
		return xsp_pack_pieces(p, key, XSPROF_ARG_F64S, in->u.f64s, in->n * 8ul, 8);
	default:
		return pack_value(p, key, XSPROF_ARG_NONE, in->u.type);
	}
}

/* Return: number of inputs left out or cut. */
static inline uint32_t pack_inputs(struct xsp_pack *p, const struct xsprof_input *in, uint32_t nr)
{
	/* Without inputs the pointer may be NULL. */
	const struct xsprof_input *end = nr ? in + nr : in;
	xsprof_name_t key = XSPROF_KEY_INPUT;
	uint32_t cut = 0;

	for (; in != end; in++) {
		if (unlikely(!(in->kind == XSPROF_INPUT_TENSOR ?
			       pack_tensor(p, key, in->u.tensor) : pack_input(p, key, in, &cut))))
			break;
		key += key < XSPROF_KEY_INPUT + XSPROF_KEY_PLACES - 1;
	}
	/* Each counts once. */
	if (unlikely(in != end && too_long(in)))
		cut--;
	return cut + (uint32_t)(end - in);
}

/* The same for keyword arguments and metadata. */
static uint32_t pack_others(struct xsp_pack *p, const struct xsprof_op *op, uint32_t flags)
{
	uint32_t lost = 0, i;
	bool room = true;

	for (i = 0; i < op->nr_kwargs && room; i++) {
		room = xsp_pack_kv(p, &op->kwargs[i]);
		lost += !room || (op->kwargs[i].type == XSPROF_ARG_STR &&
				  op->kwargs[i].len > XSPROF_TEXT_MAX);
	}
	lost += op->nr_kwargs - i;
	if (op->module && flags & XSP_OPS_MODULES) {
		room = room && xsp_pack_pieces(p, XSPROF_KEY_MODULE, XSPROF_ARG_STR, op->module,
					       strlen(op->module), 1);
		lost += !room || strnlen(op->module, XSPROF_TEXT_MAX + 1) > XSPROF_TEXT_MAX;
	} else if (op->module_name && flags & XSP_OPS_MODULES) {
		lost += !room || !pack_value(p, XSPROF_KEY_MODULE, XSPROF_ARG_NAME,
					     op->module_name);
	}
	if (op->line && flags & (XSP_OPS_MODULES | XSP_OPS_STACK))
		lost += !room || !pack_value(p, XSPROF_KEY_LINE, XSPROF_ARG_NAME, op->line);
	return lost;
}

/* ---- the op --------------------------------------------------------------------------------- */

/* Does it have a stack, line or module that is kept? */
static inline bool has_place(const struct xsprof_op *op, uint32_t flags)
{
	return (flags & XSP_OPS_MODULES && (op->module || op->module_name)) ||
	       (op->line && flags & (XSP_OPS_MODULES | XSP_OPS_STACK));
}

static void put_op(const struct xsprof_op *op, uint32_t flags, uint32_t stack, uint32_t device)
{
	struct xsprof_arg left_out = { .key = XSPROF_KEY_LEFT_OUT, .type = XSPROF_ARG_U64 };
	struct xsp_pack p;

	if (unlikely(xsp_thread.skips) && !xsp_range_begins())
		return;
	p.records = 0;
	xsp_pack_start(&p, xsp_hdr(xsp_this_tid(), XSPROF_REC_OP, 0),
		       op->name | (uint64_t)op->scope << 32, op->record_function_id);
	p.word[2] = (uint64_t)op->sequence;
	p.word[3] = op->forward_thread;
	p.word[4] = device;
	p.word[5] = stack;
	p.used = 48;
	if (flags & XSP_OPS_INPUTS)
		left_out.value = pack_inputs(&p, op->inputs, op->nr_inputs);
	if (op->nr_kwargs || has_place(op, flags))
		left_out.value += pack_others(&p, op, flags);
	if (unlikely(left_out.value))
		xsp_pack_last(&p, &left_out);
	xsp_pack_write(&p, false);
}

/*
 * A recorder has switched its rings off that this session reads too, and the session has none of
 * its own yet, or cannot have: an op is lost, and counts as one record.
 */
static XSP_COLD void count_missed(const struct xsprof_op *op)
{
	const struct xsprof_ctl *ctl = &xsprof_ctl_page.ctl;
	uint64_t wanted = __atomic_load_n(&ctl->wanted, __ATOMIC_RELAXED);

	if (__atomic_load_n(&ctl->paused, __ATOMIC_RELAXED) == XSPROF_PAUSED_RECORDER &&
	    wanted >> (op->name >> XSPROF_NAME_SHIFT) & 1 &&
	    !__atomic_load_n(&xsp_ops.mirror, __ATOMIC_RELAXED) && xsp_ops_sessions_own(op))
		xsp_count_late();
}

void xsprof_emit_op_begin(const struct xsprof_op *op)
{
	uint32_t wanted = __atomic_load_n(&xsprof_op_wanted, __ATOMIC_RELAXED), flags, stack;
	uint64_t on = xsprof_enabled();
	uint32_t device = 0;
	bool keep;

	if (unlikely(wanted & XSP_OP_MIRROR))
		xsp_ops_mirror(op);
	keep = on >> (op->name >> XSPROF_NAME_SHIFT) & 1 && op->scope < XSPROF_OP_SCOPES &&
	       wanted >> op->scope & 1 && !(wanted & XSP_OP_JOINED && !xsp_op_joined());
	if (unlikely(wanted & XSP_OP_DEVICE))
		device = xsp_op_time_begins(keep && xsp_ops_sessions_own(op));
	if (unlikely(!keep)) {
		if (on)
			xsprof_emit_skip();
		else
			count_missed(op);
		return;
	}
	flags = __atomic_load_n(&xsp_ops.flags, __ATOMIC_RELAXED);
	stack = op->stack;
	if (unlikely(!stack && flags & XSP_OPS_STACK))
		stack = xsp_stack_here(__builtin_frame_address(0), __builtin_return_address(0));
	if (unlikely(stack == XSPROF_STACK_MISSED))
		__atomic_add_fetch(&xsp_stacks_missed, 1, __ATOMIC_RELAXED);
	if (likely(!stack && !device && op->sequence < 0 && !op->forward_thread && !op->nr_kwargs &&
		   !(op->nr_inputs && flags & XSP_OPS_INPUTS) &&
		   !has_place(op, flags)))
		xsp_emit_op(op->name, op->scope, op->record_function_id);
	else
		put_op(op, flags, stack, device);
	if (unlikely(device))
		xsp_op_time_began();
}

void xsprof_emit_op_end(void)
{
	uint32_t wanted = __atomic_load_n(&xsprof_op_wanted, __ATOMIC_RELAXED);

	if (unlikely(wanted & XSP_OP_MIRROR))
		xsp_ops_unmirror();
	if (xsprof_enabled())
		xsprof_emit_end();
	if (unlikely(wanted & XSP_OP_DEVICE))
		xsp_op_time_ends(true);
}

void xsprof_emit_op_end_earlier(xsprof_name_t name)
{
	uint32_t wanted = __atomic_load_n(&xsprof_op_wanted, __ATOMIC_RELAXED);

	if (wanted & XSP_OP_MIRROR)
		xsp_ops_unmirror();
	if (xsprof_enabled())
		xsp_emit_end_aux(name, XSPROF_END_EARLIER);
	if (wanted & XSP_OP_DEVICE)
		xsp_op_time_ends(false);
}

void xsprof_emit_op_end_continued(void)
{
	uint32_t wanted = __atomic_load_n(&xsprof_op_wanted, __ATOMIC_RELAXED);

	if (wanted & XSP_OP_MIRROR)
		xsp_ops_unmirror();
	if (xsprof_enabled())
		xsp_emit_end_aux(0, XSPROF_END_CONTINUED);
	if (wanted & XSP_OP_DEVICE)
		xsp_op_time_ends(true);
}
