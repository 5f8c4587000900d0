// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Links in a Kineto trace: launches to ops, kernels to annotations, ops to their backwards. The
 * tables have a fixed size; new entries replace old ones, so that in an endless trace old links are
 * forgotten.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "export/kineto/local.h"

#define CALL_BITS	17u
#define OP_BITS		17u
#define FORWARD_BITS	16u
#define NOTES		4096u	/* linked annotations */
#define SPAN_BITS	11u
#define SPANS		(1u << SPAN_BITS)	/* their spans on streams */
#define COLLECTIVE_BITS	10u
#define COLLECTIVES	(1u << COLLECTIVE_BITS)
#define COLLECTIVE_MAX	4096u	/* bytes of text */

/* @key: of producer and correlation, 0 for none. */
struct call {
	uint64_t		key;
	struct xsr_called	called;
};

struct op {
	uint64_t	key;
	uint64_t	tag;
};

struct forward {
	uint64_t	key;
	uint64_t	begin;
	uint64_t	tid;
	int64_t		sequence;
	uint32_t	producer;
	bool		used;
};

/* An annotation: the parts of its name. */
struct note {
	uint64_t	tag;
	uint64_t	step;
	uint64_t	external;
	uint32_t	producer;
	uint32_t	name;
	bool		is_step;
};

/* Activities of a stream that belong to an annotation. */
struct span {
	uint64_t	tag;
	uint64_t	stream;
	uint64_t	begin;
	uint64_t	end;
	uint32_t	device;
};

struct collective {
	uint64_t	key;
	char		*text;
	size_t		len;
};

struct xsr_link {
	struct call	calls[1u << CALL_BITS];
	struct op	ops[1u << OP_BITS];
	struct forward	forwards[1u << FORWARD_BITS];
	struct note	notes[NOTES];
	struct span	spans[SPANS];
	struct collective collectives[COLLECTIVES];
	uint64_t	tags;
	uint64_t	flows;
};

/* calloc(): untouched pages take no memory. */
int xsr_link_new(struct xsr_link **link)
{
	*link = calloc(1, sizeof(**link));
	return *link ? 0 : -ENOMEM;
}

void xsr_link_free(struct xsr_link *link)
{
	uint32_t i;

	for (i = 0; link && i < COLLECTIVES; i++)
		free(link->collectives[i].text);
	free(link);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t h = xsp_hash_pair(a, b);

	return h ? h : 1;
}

/* Assigns a number to an annotation, and remembers its name. */
static uint64_t new_tag(struct xsr_kineto *k, uint32_t producer, uint32_t name,
			const struct xsr_step *step, uint64_t external)
{
	uint64_t tag = ++k->link->tags;

	k->link->notes[tag % NOTES] = (struct note){
		.tag = tag, .producer = producer, .name = name, .external = external,
		.is_step = step != NULL, .step = step ? step->number : 0,
	};
	return tag;
}

uint64_t xsr_link_tag(struct xsr_kineto *k, uint32_t producer, uint32_t name, uint64_t external)
{
	return new_tag(k, producer, name, NULL, external);
}

static uint64_t range_tag(struct xsr_kineto *k, uint32_t producer, struct xsp_range *range)
{
	if (!range->tag)
		range->tag = xsr_link_tag(k, producer, range->name, xsr_kineto_range_id(range));
	return range->tag;
}

uint64_t xsr_link_around(struct xsr_kineto *k, struct xsp_track *thread)
{
	struct xsp_stack *stack = &thread->opens.stack;
	uint64_t tag = xsr_user_tag(k, thread);
	uint32_t i;

	/* An id pushed by the program takes precedence. */
	if (tag)
		return tag;
	for (i = stack->n; i; i--) {
		struct xsp_range *range = &stack->v[i - 1];

		if (range->end == XSP_OPEN && range->kind == XSR_RANGE_ANNOTATION)
			return range_tag(k, thread->producer, range);
	}
	for (i = 0; i < XSR_STEPS; i++) {
		struct xsr_step *step = &k->steps[i];

		if (!step->used || step->producer != thread->producer)
			continue;
		if (!step->tag)
			step->tag = new_tag(k, step->producer, step->name, step,
					    xsr_kineto_id(0, step->index));
		return step->tag;
	}
	return 0;
}

void xsr_link_op(struct xsr_kineto *k, uint32_t producer, uint64_t correlation, uint64_t tag)
{
	uint64_t key = mix(producer, correlation);

	if (tag)
		k->link->ops[xsp_hash_pair_place(key, OP_BITS)] = (struct op){ key, tag };
}

uint64_t xsr_link_op_tag(struct xsr_kineto *k, uint32_t producer, uint64_t correlation)
{
	uint64_t key = mix(producer, correlation);
	const struct op *op = &k->link->ops[xsp_hash_pair_place(key, OP_BITS)];

	return op->key == key ? op->tag : 0;
}

void xsr_link_call(struct xsr_kineto *k, uint32_t producer, uint64_t correlation,
		   const struct xsr_called *called)
{
	uint64_t key = mix(producer, correlation);

	k->link->calls[xsp_hash_pair_place(key, CALL_BITS)] = (struct call){ key, *called };
}

const struct xsr_called *xsr_link_find(const struct xsr_kineto *k, uint32_t producer,
				       uint64_t correlation)
{
	uint64_t key = mix(producer, correlation);
	const struct call *call = &k->link->calls[xsp_hash_pair_place(key, CALL_BITS)];

	return call->key == key ? &call->called : NULL;
}

void xsr_link_set_collective(struct xsr_kineto *k, uint32_t producer, uint64_t correlation,
			     const char *text, size_t len)
{
	uint64_t key = mix(producer, correlation);
	struct collective *c = &k->link->collectives[xsp_hash_pair_place(key, COLLECTIVE_BITS)];
	char *copy = len && len <= COLLECTIVE_MAX ? malloc(len) : NULL;

	if (!copy)
		return;
	memcpy(copy, text, len);
	free(c->text);
	*c = (struct collective){ key, copy, len };
}

const char *xsr_link_collective(const struct xsr_kineto *k, uint32_t producer,
				uint64_t correlation, size_t *len)
{
	uint64_t key = mix(producer, correlation);
	uint32_t place = xsp_hash_pair_place(key, COLLECTIVE_BITS);
	const struct collective *c = &k->link->collectives[place];

	*len = c->len;
	return c->key == key ? c->text : NULL;
}

static void put_span(struct xsr_kineto *k, struct span *span)
{
	const struct note *note = &k->link->notes[span->tag % NOTES];

	if (!span->tag || note->tag != span->tag)
		return;
	xsr_kineto_gpu_note(k, &(struct xsr_gpu_note){
		.external = note->external, .step = note->step, .stream = span->stream,
		.begin = span->begin, .end = span->end, .producer = note->producer,
		.name = note->name, .device = span->device, .is_step = note->is_step,
	});
	span->tag = 0;
}

void xsr_link_gpu(struct xsr_kineto *k, uint64_t tag, uint32_t device, uint64_t stream,
		  uint64_t begin, uint64_t end)
{
	uint64_t key = mix(tag, (uint64_t)device << 32 | (uint32_t)stream);
	struct span *span = &k->link->spans[xsp_hash_pair_place(key, SPAN_BITS)];

	if (!tag || xsr_user_gpu(k, tag, device, stream, begin, end))
		return;
	if (span->tag == tag && span->device == device && span->stream == stream) {
		if (begin < span->begin)
			span->begin = begin;
		if (end > span->end)
			span->end = end;
		return;
	}
	put_span(k, span);
	*span = (struct span){ tag, stream, begin, end, device };
}

void xsr_link_finish(struct xsr_kineto *k)
{
	uint32_t i;

	for (i = 0; i < SPANS; i++)
		put_span(k, &k->link->spans[i]);
	xsr_user_finish(k);
}

/* ---- forward and backward ------------------------------------------------------------------- */

static struct forward *forward_of(struct xsr_kineto *k, uint32_t producer, uint64_t tid,
				  int64_t sequence, uint64_t *key)
{
	uint64_t thread = mix(producer, tid);

	*key = mix(thread, (uint64_t)sequence);
	/* Consecutive numbers have consecutive slots, several per cache line. */
	return &k->link->forwards[(xsp_hash_pair_place(thread, FORWARD_BITS) + (uint64_t)sequence) &
				  ((1u << FORWARD_BITS) - 1)];
}

void xsr_link_forward(struct xsr_kineto *k, const struct xsp_track *thread, int64_t sequence,
		      uint64_t begin)
{
	struct forward *forward;
	uint64_t key;

	forward = forward_of(k, thread->producer, thread->tid, sequence, &key);
	/* Of several ops with one number the innermost, begun last, caused the backward. */
	if (forward->used && forward->key == key && forward->begin > begin)
		return;
	*forward = (struct forward){
		.key = key, .begin = begin, .tid = thread->tid, .sequence = sequence,
		.producer = thread->producer, .used = true,
	};
}

static void put_flow(struct xsr_kineto *k, struct xsp_track *thread, bool start, uint64_t id,
		     uint64_t ns)
{
	char *p = xsr_writer_open(&k->w);

	p = start ? put_lit(p, "{\"ph\":\"s\",\"id\":") : put_lit(p, "{\"ph\":\"f\",\"id\":");
	p = put_u64(p, id);
	*p++ = ',';
	p = xsr_kineto_ts(k, xsr_kineto_track(k, thread, p), ns);
	p = put_lit(p, ",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\"");
	k->w.buf->p = start ? put_lit(p, "}") : put_lit(p, ",\"bp\":\"e\"}");
}

void xsr_link_backward(struct xsr_kineto *k, struct xsp_track *thread, uint64_t forward_thread,
		       int64_t sequence, uint64_t begin)
{
	const struct forward *forward;
	struct xsp_track *from;
	uint64_t key, id;

	forward = forward_of(k, thread->producer, forward_thread, sequence, &key);
	if (!forward->used || forward->key != key || forward->begin < k->from ||
	    begin < k->from || begin > k->to)
		return;
	from = xsp_tracks_get(k->tracks, forward->producer, thread->pid, XSR_THREAD, forward->tid,
			      begin);
	if (!from)
		return;
	id = ++k->link->flows;
	put_flow(k, from, true, id, forward->begin);
	put_flow(k, thread, false, id, begin);
}
