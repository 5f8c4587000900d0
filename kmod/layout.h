/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layout of a producer's memory: the purpose of each page.
 */
#ifndef XSP_LAYOUT_H
#define XSP_LAYOUT_H

#include "xsprof.h"

enum xsp_area_kind {
	XSP_AREA_CTL,
	XSP_AREA_ARENA,
	XSP_AREA_WRITER,
	XSP_AREA_READER,
	XSP_AREA_DATA,
};

/**
 * struct xsp_area - the area that contains a page
 * @kind: its kind
 * @ring: its ring, for the last three
 * @first: its first page
 * @pages: their number
 */
struct xsp_area {
	enum xsp_area_kind	kind;
	u32			ring;
	unsigned long		first;
	unsigned long		pages;
};

int xsp_layout_make(struct xsp_geometry *geo, struct xsprof_attach *arg, u32 nr_rings);
unsigned long xsp_layout_ring(const struct xsp_geometry *geo, u32 k);
int xsp_layout_cpu(const struct xsp_geometry *geo, u32 k);
bool xsp_layout_find(const struct xsp_geometry *geo, unsigned long index, struct xsp_area *area);

#endif /* XSP_LAYOUT_H */
