/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Where a producer's memory comes from and who writes its control page.  The layout is the same
 * for all, and so is the way of a marker; xsp_layout_set() fills in xsp_set.
 */
#ifndef XSP_RING_BACKEND_H
#define XSP_RING_BACKEND_H

#include <xsprof/ioctl.h>

#include "ring/state.h"

/**
 * struct xsp_backend - what differs once the producer is attached
 * @kind: enum xsprof_backend
 * @grow: put memory behind a part of it; signal-safe; 0 or a negative errno
 * @ring_map: let this process write to a ring that has its first memory; signal-safe, may be
 *	done twice; 0 or a negative errno
 * @ring_ready: let readers know of it, if that is not the kernel's to do; signal-safe, may be
 *	done twice
 * @control: take @clear from the wanted categories, then add @set; take @resume from who pauses,
 *	then add @pause; signal-safe; 0 or a negative errno
 * @kick: wake the reader; @flush: it is to read all there is; signal-safe; 1, 0 when nobody
 *	reads, or a negative errno
 * @emit: send a marker to whoever traces it in the kernel; NULL where there is none; signal-safe;
 *	1, 0 when nobody does, or a negative errno
 * @goodbye: the program is about to end
 * @let_go: nothing of it is to stay in this process; @own: the process was the producer, else
 *	it is a forked child
 */
struct xsp_backend {
	uint32_t	kind;
	int		(*grow)(uint64_t offset, uint64_t bytes);
	int		(*ring_map)(struct xsprof_ring_writer *w);
	void		(*ring_ready)(struct xsprof_ring_writer *w, uint32_t k);
	int		(*control)(uint64_t set, uint64_t clear, uint32_t pause, uint32_t resume);
	int		(*kick)(bool flush);
	int		(*emit)(struct xsprof_emit *emit);
	void		(*goodbye)(void);
	void		(*let_go)(bool own);
};

int xsp_layout_set(const struct xsprof_ctl *geo, char *base, int fd,
		   const struct xsp_backend *backend) XSP_HIDDEN;
void xsp_layout_clear(void) XSP_HIDDEN;

#endif /* XSP_RING_BACKEND_H */
