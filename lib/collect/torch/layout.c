// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finds offsets in a RecordFunction. They differ between versions of PyTorch and of the C++
 * library, and no header defines them: two ops of our own are begun with distinctive values, and
 * their memory is searched for these. Version numbers are not used.
 */
#include "collect/torch/entry.h"
#include "collect/torch/local.h"

#define MAGIC		0x5eed0123456789abll
#define SPAN		512	/* a RecordFunction has 264 to 344 bytes */
#define PROBE		"xsprof-probe"

/* With spare room, in case a later version is larger: its constructor must not write elsewhere. */
struct trial {
	_Alignas(16) char	bytes[4 * SPAN];
};

struct torch_layout torch_layout;

static struct {
	const void	*seen;		/* the op that our observer got */
	uint16_t	sequence;
	uint16_t	fn;
	bool		own_text;	/* the text of its name is inside the op */
	unsigned int	ends;
} probe;

static __attribute__((used)) void *probe_starts(void **ret, const void *fn)
{
	const char *name = torch_api.fn_name(fn);

	*ret = NULL;
	probe.seen = fn;
	probe.sequence = probe.fn = 0;
	for (uint16_t i = 8; i < SPAN; i += 8) {
		if (!probe.sequence && torch_u64(fn, i) == (uint64_t)MAGIC)
			probe.sequence = i;
		if (!probe.fn && torch_ptr(fn, i) == name)
			probe.fn = i;
	}
	probe.own_text = name >= (const char *)fn && name < (const char *)fn + SPAN;
	if (!name || strcmp(name, PROBE))
		probe.fn = 0;
	return ret;
}

TORCH_X8(probe_starts);

static void probe_ends(const void *fn, void *context)
{
	(void)fn;
	(void)context;
	probe.ends++;
}

/*
 * Constructs an op and begins it. Return: false: our observer was not called, or not with this op.
 */
static bool begin(struct trial *trial, uint8_t scope)
{
	struct torch_name name = { sizeof(PROBE) - 1, PROBE, 0 };

	memset(trial, 0, sizeof(*trial));
	probe.seen = NULL;
	torch_api.fn_new(trial->bytes, scope);
	if (torch_api.before_text)
		torch_api.before_text(trial->bytes, PROBE, MAGIC);
	else
		torch_api.before_name(trial->bytes, name, MAGIC);
	return probe.seen == trial->bytes && probe.sequence && probe.fn;
}

/*
 * Is there an empty std::unordered_map of libstdc++? Its bucket pointer points to its own single
 * bucket.
 */
static bool is_empty_map(const struct trial *trial, uint16_t at)
{
	const char *map = trial->bytes + at;
	float factor;

	memcpy(&factor, map + TORCH_MAP_FACTOR, sizeof(factor));
	return torch_ptr(map, 0) == map + TORCH_MAP_BUCKET && torch_u64(map, 8) == 1 &&
	       !torch_u64(map, TORCH_MAP_FIRST) && !torch_u64(map, TORCH_MAP_NR) && factor == 1 &&
	       !torch_u64(map, TORCH_MAP_BUCKET);
}

/*
 * Finds values that both ops have at one offset: the thread and the scope; numbers that count up.
 */
static const char *compare(const struct trial *a, const struct trial *b, uint8_t scope_a,
			   uint8_t scope_b)
{
	uint64_t thread = torch_api.thread_id(), number;
	struct torch_layout *l = &torch_layout;

	for (uint16_t i = 8; i < SPAN - 8; i += 8) {
		if (!l->scope && torch_u64(a, i) == thread && torch_u64(b, i) == thread &&
		    torch_u8(a, i + 8) == scope_a && torch_u8(b, i + 8) == scope_b)
			l->scope = i + 8;
		number = torch_u64(a, i);
		/* The word before the number is the forward thread, 0 here. */
		if (i > l->sequence && !l->handle && number && torch_u64(b, i) == number + 1 &&
		    !torch_u64(a, i - 8)) {
			l->handle = i;
			l->forward = i - 8;
		}
	}
	if (!l->scope)
		return "the scope of an op";
	if (!l->handle)
		return "the number of an op";
	/* After a std::string, or after a single pointer. */
	l->fn_index = l->fn + (probe.own_text ? 32 : 8);
	if (torch_u8(a, l->fn_index) || torch_u8(b, l->fn_index))
		return "what an op's name is of";
	l->inputs = l->sequence + 8;
	if (torch_u64(a, l->inputs) || torch_u64(a, l->inputs + 8))
		return "the inputs of an op";
	/* The keyword values follow the inputs; up to 1.13 there are none. */
	if (is_empty_map(a, l->inputs + 16) && is_empty_map(b, l->inputs + 16) &&
	    l->inputs + 16 + TORCH_MAP_BUCKET + 8 < l->forward)
		l->keywords = l->inputs + 16;
	return NULL;
}

static const char *try_two(struct trial *a, struct trial *b)
{
	/* Two scopes that all versions have: TORCHSCRIPT_FUNCTION and USER_SCOPE. */
	enum { FIRST = 2, SECOND = 7 };
	struct torch_layout *l = &torch_layout;
	const char *wrong = "the begin of an op";

	if (begin(a, FIRST)) {
		l->sequence = probe.sequence;
		l->fn = probe.fn;
		if (begin(b, SECOND) && probe.sequence == l->sequence && probe.fn == l->fn)
			wrong = compare(a, b, FIRST, SECOND);
		torch_api.fn_delete(b->bytes);
	}
	torch_api.fn_delete(a->bytes);
	return wrong;
}

const char *torch_layout_find(void)
{
	static struct trial a, b;
	struct torch_callback cb = { .start = TORCH_ENTRY(probe_starts), .end = probe_ends,
		.probability = 1, .needs_inputs = true, .needs_ids = true };
	const char *wrong = NULL;
	uint64_t handle;

	memset(cb.scopes, 1, sizeof(cb.scopes));
	handle = torch_api.add_local(cb);
	/* An op of another thread may take a number between ours: try again. */
	for (int i = 0; i < 4; i++) {
		memset(&torch_layout, 0, sizeof(torch_layout));
		probe.ends = 0;
		wrong = try_two(&a, &b);
		if (!wrong)
			break;
	}
	torch_api.remove(handle);
	if (!wrong && probe.ends != 2)
		wrong = "the end of an op";
	return wrong;
}
