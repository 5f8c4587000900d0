// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Costs of ops by PyTorch's formulas: a multiply-add counts as two FLOPs in matrix products and
 * convolutions; elementwise ops cost one per element. 0 for inputs that were not recorded or are
 * invalid.
 */
#include <string.h>

#include "result/flops.h"
#include "result/handle.h"

#define MOST_INPUTS	7u	/* conv2d: input, weight, bias, stride, padding, dilation, groups */

/* An input as far as costs need it: a tensor's sizes, or integers. */
struct input {
	bool		tensor;
	uint32_t	nr;
	int64_t		number[XSPROF_TENSOR_DIMS];
};

struct inputs {
	struct input	at[MOST_INPUTS];
	uint32_t	nr;
};

static void take(struct input *in, struct xsr_walk *walk, const struct xsprof_trace_arg *arg)
{
	char list[8 * XSPROF_TENSOR_DIMS];
	struct xsprof_trace_tensor t;
	size_t len;

	*in = (struct input){ 0 };
	switch (arg->type) {
	case XSPROF_ARG_TENSOR:
		/* Incomplete sizes are useless. */
		if (!xsprof_trace_tensor(arg, &t) || t.nr_sizes != t.ndim)
			return;
		in->tensor = true;
		in->nr = t.nr_sizes;
		memcpy(in->number, t.sizes, sizeof(in->number));
		break;
	case XSPROF_ARG_I64:
	case XSPROF_ARG_U64:
		in->nr = 1;
		in->number[0] = arg->u.i64;
		break;
	case XSPROF_ARG_I64S:
		len = xsr_walk_bytes(walk, arg, list, sizeof(list));
		in->nr = len < sizeof(list) ? (uint32_t)(len / 8) : 0;
		memcpy(in->number, list, 8 * (size_t)in->nr);
		break;
	}
}

static void read_inputs(struct xsr_walk *walk, struct inputs *ins)
{
	struct xsprof_trace_arg arg;

	memset(ins, 0, sizeof(*ins));
	while (xsr_walk_next(walk, &arg)) {
		uint32_t place = arg.key - XSPROF_KEY_INPUT;

		if (!xsr_key_is_input(arg.key) || place >= MOST_INPUTS ||
		    arg.flags & XSPROF_ARGF_CONT)
			continue;
		take(&ins->at[place], walk, &arg);
		if (place >= ins->nr)
			ins->nr = place + 1;
	}
}

/* ---- products that may be too large: 0 from there on ---------------------------------------- */

static uint64_t times(uint64_t a, int64_t b)
{
	uint64_t product;

	if (b < 0 || __builtin_mul_overflow(a, (uint64_t)b, &product))
		return 0;
	return product;
}

static uint64_t product(uint64_t a, const struct input *in)
{
	for (uint32_t i = 0; i < in->nr; i++)
		a = times(a, in->number[i]);
	return a;
}

/* ---- formulas ------------------------------------------------------------------------------- */

static uint64_t elementwise(const struct inputs *ins)
{
	return ins->nr && ins->at[0].tensor ? product(1, &ins->at[0]) : 0;
}

/* Product of all sizes of both, with the shared dimension once, and the batch dimension once. */
static uint64_t matrices(const struct inputs *ins, uint32_t first, uint32_t ndim)
{
	const struct input *a = &ins->at[first], *b = &ins->at[first + 1];
	struct input rest = { 0 };

	if (ins->nr < first + 2 || !a->tensor || !b->tensor || a->nr != ndim || b->nr != ndim)
		return 0;
	if (a->number[ndim - 1] != b->number[ndim - 2])
		return 0;
	if (ndim == 3 && a->number[0] != b->number[0])
		return 0;
	rest.nr = ndim - 1;
	memcpy(rest.number, a->number, sizeof(rest.number));
	return product(product(2, &rest), &(struct input){
		.nr = 2, .number = { b->number[ndim - 2], b->number[ndim - 1] } });
}

/* One number for both dimensions, or one for each. */
static bool pair(const struct input *in, int64_t least, int64_t of[2])
{
	if (in->tensor || in->nr < 1 || in->nr > 2)
		return false;
	of[0] = in->number[0];
	of[1] = in->number[in->nr - 1];
	return of[0] >= least && of[1] >= least && of[0] <= INT32_MAX && of[1] <= INT32_MAX;
}

/* How often a kernel of size @kernel fits, 0 for never. */
static int64_t fits(int64_t size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation)
{
	int64_t room;

	if (size < 0 || size > INT32_MAX || kernel < 1 || kernel > INT32_MAX)
		return 0;
	room = size + 2 * padding - dilation * (kernel - 1) - 1;
	return room < 0 ? 0 : room / stride + 1;
}

static uint64_t conv2d(const struct inputs *ins)
{
	const struct input *in = &ins->at[0], *weight = &ins->at[1], *groups = &ins->at[6];
	int64_t stride[2], padding[2], dilation[2], all[6];
	uint64_t sum;

	if (ins->nr < 7 || !in->tensor || !weight->tensor || in->nr != 4 || weight->nr != 4)
		return 0;
	if (!pair(&ins->at[3], 1, stride) || !pair(&ins->at[4], 0, padding) ||
	    !pair(&ins->at[5], 1, dilation) || groups->tensor || groups->nr != 1 ||
	    groups->number[0] < 1)
		return 0;
	all[0] = in->number[0];
	all[1] = in->number[1];
	all[2] = weight->number[0];
	all[3] = weight->number[2];
	all[4] = weight->number[3];
	all[5] = fits(in->number[2], weight->number[2], stride[0], padding[0], dilation[0]);
	sum = times(2, fits(in->number[3], weight->number[3], stride[1], padding[1], dilation[1]));
	for (unsigned int i = 0; i < 6; i++)
		sum = times(sum, all[i]);
	return sum / (uint64_t)groups->number[0];
}

static uint64_t mm(const struct inputs *ins)
{
	return matrices(ins, 0, 2);
}

static uint64_t addmm(const struct inputs *ins)
{
	return matrices(ins, 1, 2);
}

static uint64_t bmm(const struct inputs *ins)
{
	return matrices(ins, 0, 3);
}

static uint64_t baddbmm(const struct inputs *ins)
{
	return matrices(ins, 1, 3);
}

static const struct {
	const char	*name;
	uint64_t	(*flops)(const struct inputs *ins);
} ops[] = {
	{ "conv2d", conv2d }, { "mm", mm }, { "addmm", addmm }, { "bmm", bmm },
	{ "baddbmm", baddbmm }, { "mul", elementwise }, { "add", elementwise },
};

uint32_t xsr_flops_formula(const char *name)
{
	size_t len;

	if (!strncmp(name, "aten::", 6))
		name += 6;
	/* The name with its overload: "add.Tensor". */
	len = strcspn(name, ".");
	for (uint32_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (strlen(ops[i].name) == len && !memcmp(ops[i].name, name, len))
			return i + 1;
	return 0;
}

uint64_t xsr_flops_of(uint32_t formula, struct xsr_walk *walk)
{
	struct inputs ins;

	read_inputs(walk, &ins);
	return ops[formula - 1].flops(&ins);
}

uint64_t xsr_flops(const struct xsprof_profiler_event *ev)
{
	uint32_t formula = ev->args ? xsr_flops_formula(ev->name) : 0;
	struct xsr_walk walk;

	if (!formula)
		return 0;
	xsr_walk_pieces(&walk, ev->producer, ev->args);
	return xsr_flops_of(formula, &walk);
}
