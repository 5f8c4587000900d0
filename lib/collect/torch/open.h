/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The open ops of each thread: see open.c.
 */
#ifndef XSP_TORCH_OPEN_H
#define XSP_TORCH_OPEN_H

#include "collect/torch/local.h"

struct torch_open_op {
	uint64_t	id;
	xsprof_name_t	name;
	uint32_t	scope;
};

/**
 * struct torch_open - the open ops of a thread
 * @depth: number of open ops
 * @room: size of @op
 * @op: the open ops, except those deeper than @room
 */
struct torch_open {
	uint32_t		depth;
	uint32_t		room;
	struct torch_open_op	*op;
};

/* A pointer, as static TLS is scarce for libraries that are loaded late. */
extern __thread struct torch_open *torch_open __attribute__((tls_model("initial-exec")));
/* An op has ended in another thread than it began in. */
extern bool torch_open_elsewhere;

void torch_open_init(void);
void torch_open_begin_slow(const struct xsprof_op *op);
void torch_open_end_slow(uint64_t id, bool wanted);

/* To be called before an op of this thread begins in the trace. */
static inline void torch_open_begin(const struct xsprof_op *op)
{
	struct torch_open *o = torch_open;

	/* Relaxed: see open.c. */
	if (__builtin_expect(!o || o->depth >= o->room ||
			     __atomic_load_n(&torch_open_elsewhere, __ATOMIC_RELAXED), 0)) {
		torch_open_begin_slow(op);
		return;
	}
	o->op[o->depth++] = (struct torch_open_op){
		.id = op->record_function_id, .name = op->name, .scope = op->scope,
	};
}

/* The op with record function id @id ends. @wanted: ops are recorded. */
static inline void torch_open_end(uint64_t id, bool wanted)
{
	struct torch_open *o = torch_open;
	/* UINT32_MAX: no op is open; it is beyond any @room. */
	uint32_t top = o ? o->depth - 1 : UINT32_MAX;

	if (__builtin_expect(!o || top >= o->room || o->op[top].id != id, 0)) {
		torch_open_end_slow(id, wanted);
		return;
	}
	o->depth = top;
	if (wanted)
		torch_user.end();
}

#endif /* XSP_TORCH_OPEN_H */
