/* SPDX-License-Identifier: GPL-2.0-only */
/* Included before all else into a library whose points of injection are a test's. */
#ifndef XSP_TEST_POINTS_H
#define XSP_TEST_POINTS_H

void xsp_test_point(int point);
#define XSP_INJECT(point)	xsp_test_point(point)

#endif /* XSP_TEST_POINTS_H */
