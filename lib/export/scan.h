/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A walk over the records of a trace, as far as a result is of them, with what is open in each
 * thread.  For exports that take several: it starts at the beginning each time.
 */
#ifndef XSR_SCAN_H
#define XSR_SCAN_H

#include <xsprof/result.h>

#include "ranges/keep.h"
#include "text/buf.h"

#define XSR_SCOPE_NONE	255u	/* kind of a range that is no op */

/**
 * struct xsr_scan - who walks
 * @event: an event of the window; a BEGIN is open already, an END still.  NULL for none
 * @closed: a range came to its end, by itself or by the trace's.  NULL for none
 * @data: passed to both
 * @keep: what ops say of themselves is kept with them
 *
 * Of a range @kind is the scope of the op, @index its number, @tag the sequence number + 1.
 */
struct xsr_scan {
	void	(*event)(void *data, const struct xsprof_event *ev, const struct xsp_view *view);
	void	(*closed)(void *data, struct xsp_track *thread, struct xsp_range *range,
			  uint64_t ns);
	void	*data;
	bool	keep;
	const struct xsprof_result_options *opts;
	struct xsp_tracks *tracks;
	uint64_t ranges;
	uint64_t last;
};

/* Return: 0 or -errno.  It ends early once @buf has an error. */
int xsr_scan(struct xsprof_trace *trace, const struct xsprof_result_options *opts,
	     const struct xsp_buf *buf, struct xsr_scan *scan);

/* A block that was allocated or freed. */
struct xsr_mem {
	uint64_t	ns;
	uint64_t	address;
	int64_t		bytes;		/* negative: freed */
	uint64_t	allocated;
	uint64_t	reserved;
	uint32_t	device;
	bool		failed;		/* there was no memory for it */
};

/* Return: false when the event is of no memory. */
bool xsr_mem_event(const struct xsprof_trace *trace, const struct xsprof_event *ev,
		   struct xsr_mem *mem);

/**
 * struct xsr_block - a block that is in use
 * @address: of it
 * @bytes: size
 * @ns: when it was allocated
 * @number: which of the allocations it was
 * @outer: number + 1 of the outermost range around that, 0 for none
 * @device: where
 */
struct xsr_block {
	uint64_t	address;
	uint64_t	bytes;
	uint64_t	ns;
	uint64_t	number;
	uint64_t	outer;
	uint32_t	device;
	bool		used;
};

#define XSR_BLOCKS_MAX	(1u << 20)	/* in use at once; more are counted */

struct xsr_blocks {
	struct xsr_block	*list;
	size_t			room;
	size_t			nr;
	uint64_t		seed;
	uint64_t		left_out;
};

struct xsr_block *xsr_block_find(const struct xsr_blocks *blocks, uint32_t device,
				 uint64_t address);
/* Return: false when there are too many. */
bool xsr_block_add(struct xsr_blocks *blocks, const struct xsr_block *block);
void xsr_block_remove(struct xsr_blocks *blocks, struct xsr_block *block);
void xsr_blocks_free(struct xsr_blocks *blocks);

#endif /* XSR_SCAN_H */
