/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Iterates over the records of a trace that belong to a result, with the open ranges of each
 * thread. For exports that need several passes: each starts at the beginning.
 */
#ifndef XSR_SCAN_H
#define XSR_SCAN_H

#include <xsprof/result.h>

#include "ranges/keep.h"
#include "text/buf.h"

#define XSR_SCOPE_NONE	255u	/* kind of a range that is not an op */

/**
 * struct xsr_scan - callbacks of an iteration
 * @event: an event in the result's window; a BEGIN is open already, an END still open. NULL for
 *	none
 * @closed: a range ended, by its end or that of the trace. NULL for none
 * @data: passed to both
 * @keep: keep arguments of ops with their ranges
 *
 * Of a range, @kind is the op's scope, @index its number, @tag the sequence number + 1.
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

/* Return: 0 or -errno. Stops early if @buf has an error. */
int xsr_scan(struct xsprof_trace *trace, const struct xsprof_result_options *opts,
	     const struct xsp_buf *buf, struct xsr_scan *scan);

/* An allocation or free. */
struct xsr_mem {
	uint64_t	ns;
	uint64_t	address;
	int64_t		bytes;		/* negative: freed */
	uint64_t	allocated;
	uint64_t	reserved;
	uint32_t	device;
	bool		failed;		/* the allocation failed */
};

/* Return: false if the event is not about memory. */
bool xsr_mem_event(const struct xsprof_trace *trace, const struct xsprof_event *ev,
		   struct xsr_mem *mem);

/**
 * struct xsr_block - a block in use
 * @address: its address
 * @bytes: size
 * @ns: time of its allocation
 * @number: number of its allocation
 * @outer: number + 1 of the outermost range around the allocation, 0 for none
 * @device: its device
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

#define XSR_BLOCKS_MAX	(1u << 20)	/* in use at once; further ones are counted */

struct xsr_blocks {
	struct xsr_block	*list;
	size_t			room;
	size_t			nr;
	uint64_t		seed;
	uint64_t		left_out;
};

struct xsr_block *xsr_block_find(const struct xsr_blocks *blocks, uint32_t device,
				 uint64_t address);
/* Return: false if there are too many. */
bool xsr_block_add(struct xsr_blocks *blocks, const struct xsr_block *block);
void xsr_block_remove(struct xsr_blocks *blocks, struct xsr_block *block);
void xsr_blocks_free(struct xsr_blocks *blocks);

#endif /* XSR_SCAN_H */
