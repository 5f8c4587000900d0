/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Interface of the backends: where a producer's memory comes from and who writes its control page.
 * Layout and marker path are the same for all; xsp_layout_set() fills xsp_set.
 */
#ifndef XSP_RING_BACKEND_H
#define XSP_RING_BACKEND_H

#include <xsprof/ioctl.h>

#include "ring/state.h"

/**
 * struct xsp_backend - operations that differ once the producer is attached
 * @kind: enum xsprof_backend
 * @grow: allocate memory for a range; signal-safe; 0 or a negative errno
 * @ring_map: make a ring that has its first memory writable for this process; signal-safe, may run
 *	twice; 0 or a negative errno
 * @ring_ready: publish the ring to readers, unless the kernel does; signal-safe, may run twice
 * @control: remove @clear from the wanted categories, then add @set; remove the pausers @resume,
 *	then add @pause; signal-safe; 0 or a negative errno
 * @kick: wake the reader; @flush: it must read everything; signal-safe; 1, 0 without a reader, or a
 *	negative errno
 * @emit: send a marker to the kernel's tracers; NULL if not supported; signal-safe; 1, 0 if none
 *	listens, or a negative errno
 * @goodbye: the program is about to end
 * @let_go: release everything in this process; @own: the process was the producer, else it is a
 *	forked child
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
