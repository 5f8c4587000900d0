/* SPDX-License-Identifier: GPL-2.0-only */
/* Included first into a library whose injection points belong to a test. */
#ifndef XSP_TEST_POINTS_H
#define XSP_TEST_POINTS_H

void xsp_test_point(int point);
#define XSP_INJECT(point)	xsp_test_point(point)

#endif /* XSP_TEST_POINTS_H */
