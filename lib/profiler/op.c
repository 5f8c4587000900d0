// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Ops on their way into the rings.  It decides what of an op is kept and packs it; nothing is
 * allocated, and no lock taken, but for a stack that is new.
 */
#include "device.h"
#include "pack.h"

/* Bytes of numbers behind a tensor that has a record for itself; and how many are read back. */
#define TENSOR_ROOM	(sizeof(((struct xsp_pack *)0)->word) - 16 - \
			 sizeof(struct xsprof_arg) - sizeof(struct xsprof_tensor_arg))
#define MOST_DIMS	24u

struct xsp_ops xsp_ops;

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

/* How much of it there is room for, at most what a record of its own has. */
static XSP_ASIDE uint32_t cut_tensor(struct xsprof_tensor_arg *raw, const int64_t **strides,
				     uint32_t room)
{
	uint32_t n = raw->ndim;

	raw->flags |= XSPROF_TENSORF_CUT;
	/* Without strides rather than without sizes; and the first sizes rather than none. */
	if (*strides && 2 * n > room)
		*strides = NULL;
	return n < room && n < MOST_DIMS ? n : room < MOST_DIMS ? room : MOST_DIMS;
}

/* One that has too many dimensions, or too large ones. */
static XSP_ASIDE bool pack_odd(struct xsp_pack *p, xsprof_name_t key,
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
	/* The last words, which the numbers may not fill. */
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

/*
 * Straight into the record, with numbers of 4 bytes: this is what an op with inputs costs.  What
 * was written of one that turns out to have larger ones is written over.
 */
static inline bool pack_tensor(struct xsp_pack *p, xsprof_name_t key,
			       const struct xsprof_tensor *t)
{
	uint32_t n = t->ndim, fixed = t->storage_id ? 24 : 0, lists = !!t->sizes + !!t->strides;
	uint32_t len = (uint32_t)sizeof(struct xsprof_tensor_arg) + fixed + lists * n * 4, *to;
	size_t padded = (len + 15ul) & ~15ul;
	struct xsprof_tensor_arg *raw;
	struct xsprof_arg *arg;
	uint64_t all = 0;

	if (unlikely(n > MOST_DIMS || len > sizeof(*raw) + TENSOR_ROOM))
		return pack_odd(p, key, t);
	if (xsp_pack_room(p) < sizeof(*arg) + padded && !xsp_pack_next(p))
		return false;
	arg = (struct xsprof_arg *)((char *)p->word + p->used);
	raw = (struct xsprof_tensor_arg *)(arg + 1);
	/* The last words, which the numbers may not fill. */
	memset((char *)raw + padded - 16, 0, 16);
	*arg = (struct xsprof_arg){ .key = key, .type = XSPROF_ARG_TENSOR, .len = (uint16_t)len,
				    .value = t->id };
	*raw = (struct xsprof_tensor_arg){
		.dtype = t->dtype, .device = t->device, .itemsize = t->itemsize,
		.ndim = (uint8_t)n, .stored = (uint8_t)(lists ? n : 0),
		.flags = (t->sizes ? XSPROF_TENSORF_SIZES : 0) |
			 (t->strides ? XSPROF_TENSORF_STRIDES : 0) |
			 (fixed ? XSPROF_TENSORF_STORAGE : 0),
	};
	to = (uint32_t *)(raw + 1);
	if (fixed) {
		memcpy(to, (uint64_t[]){ t->storage_id, t->offset, t->numel }, 24);
		to += 6;
	}
	for (uint32_t i = 0; t->sizes && i < n; i++) {
		all |= (uint64_t)t->sizes[i];
		*to++ = (uint32_t)t->sizes[i];
	}
	for (uint32_t i = 0; t->strides && i < n; i++) {
		all |= (uint64_t)t->strides[i];
		*to++ = (uint32_t)t->strides[i];
	}
	if (unlikely(all > UINT32_MAX))
		return pack_odd(p, key, t);
	p->used += sizeof(*arg) + padded;
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

/* Return: false where there is no more room. */
static bool pack_input(struct xsp_pack *p, xsprof_name_t key, const struct xsprof_input *in)
{
	uint64_t bits;

	switch (in->kind) {
	case XSPROF_INPUT_TENSOR:
		return pack_tensor(p, key, in->u.tensor);
	case XSPROF_INPUT_TENSORS:
		return pack_tensors(p, key, in);
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

/* ---- the op --------------------------------------------------------------------------------- */

static void put_op(const struct xsprof_op *op, uint32_t flags, uint32_t stack, uint32_t device)
{
	struct xsp_pack p;
	bool room = true;

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
	if (flags & XSP_OPS_INPUTS) {
		for (uint32_t i = 0; i < op->nr_inputs && room; i++)
			room = pack_input(&p, XSPROF_KEY_INPUT +
					  (i < XSPROF_KEY_PLACES ? i : XSPROF_KEY_PLACES - 1),
					  &op->inputs[i]);
	}
	for (uint32_t i = 0; i < op->nr_kwargs && room; i++)
		room = xsp_pack_kv(&p, &op->kwargs[i]);
	if (op->module && flags & XSP_OPS_MODULES && room)
		xsp_pack_pieces(&p, XSPROF_KEY_MODULE, XSPROF_ARG_STR, op->module,
				strlen(op->module), 1);
	xsp_pack_write(&p, false);
}

void xsprof_emit_op_begin(const struct xsprof_op *op)
{
	uint32_t wanted = __atomic_load_n(&xsprof_op_wanted, __ATOMIC_RELAXED), flags, stack = 0;
	uint64_t on = xsprof_enabled();
	uint32_t device = 0;
	bool keep;

	if (unlikely(wanted & XSP_OP_MIRROR))
		xsp_ops_mirror(op);
	keep = on >> (op->name >> XSPROF_NAME_SHIFT) & 1 && op->scope < XSPROF_OP_SCOPES &&
	       wanted >> op->scope & 1 && !(wanted & XSP_OP_JOINED && !xsp_op_joined());
	if (unlikely(wanted & XSP_OP_DEVICE))
		device = xsp_device_op_begins(keep && xsp_ops_sessions_own(op));
	if (unlikely(!keep)) {
		if (on)
			xsprof_emit_skip();
		return;
	}
	flags = __atomic_load_n(&xsp_ops.flags, __ATOMIC_RELAXED);
	if (unlikely(flags & XSP_OPS_STACK))
		stack = xsp_stack_here(__builtin_frame_address(0), __builtin_return_address(0));
	if (likely(!stack && !device && op->sequence < 0 && !op->forward_thread && !op->nr_kwargs &&
		   !(op->nr_inputs && flags & XSP_OPS_INPUTS) &&
		   !(op->module && flags & XSP_OPS_MODULES)))
		xsp_emit_op(op->name, op->scope, op->record_function_id);
	else
		put_op(op, flags, stack, device);
	if (unlikely(device))
		xsp_device_op_began();
}

void xsprof_emit_op_end(void)
{
	uint32_t wanted = __atomic_load_n(&xsprof_op_wanted, __ATOMIC_RELAXED);

	if (unlikely(wanted & XSP_OP_MIRROR))
		xsp_ops_unmirror();
	if (xsprof_enabled())
		xsprof_emit_end();
	if (unlikely(wanted & XSP_OP_DEVICE))
		xsp_device_op_ends();
}
