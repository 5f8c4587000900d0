// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Detects missing records of a ring before the position is reached. A LOST event comes with the
 * ring's next record, which may be long after: events of other rings in between must be marked as
 * uncertain, since any thread may have been on that ring's CPU meanwhile.
 */
#include "decode/local.h"

static inline void note(struct xst_stream *s, bool hole)
{
	if (xst_unlikely(s->hole != hole)) {
		s->hole = hole;
		s->producer->holes += hole ? 1 : -1;
	}
}

/* Does it count losses that no earlier record counted? */
static inline bool adds_losses(const struct xst_stream *s, const struct xsprof_rec *rec)
{
	return xst_unlikely(rec->type == XSPROF_REC_LOST) && rec->value > s->lost_value;
}

/* A writer puts a LOST before everything that it publishes with it. */
void xst_hole_at_window(struct xst_stream *s)
{
	if (!s->kernel)
		note(s, s->gap || s->drops ||
		     (s->p < s->end && adds_losses(s, (const struct xsprof_rec *)s->p)));
}

/*
 * Does a chunk that is not loaded yet begin with a loss? Checked only if its ring has further
 * drops.
 */
static bool begins_with_loss(struct xsprof_trace *t, const struct xst_stream *s,
			     const struct xsprof_chunk *chunk)
{
	uint64_t at = s->chunks[s->chunk];
	struct xsprof_rec rec;
	const uint8_t *raw;

	if (s->has_ledger && (t->found.has_end || s->producer->has_exit) &&
	    s->ledger.drops + s->ledger.busy <= s->lost_yielded)
		return false;
	/* Errors of the chunk are reported when it is read. */
	if (chunk->raw < sizeof(rec))
		return false;
	if (!chunk->flags)
		return !xst_source_read(&t->file.src, at + sizeof(*chunk), &rec, sizeof(rec)) &&
		       adds_losses(s, &rec);
	return !xst_chunk_load(&t->file, at, chunk, &raw) &&
	       adds_losses(s, (const struct xsprof_rec *)raw);
}

void xst_hole_at_chunk(struct xsprof_trace *t, struct xst_stream *s,
		       const struct xsprof_chunk *chunk)
{
	if (!s->kernel)
		note(s, s->gap || chunk->pos > s->pos || begins_with_loss(t, s, chunk));
}
