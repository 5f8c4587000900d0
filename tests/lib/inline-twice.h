/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the two files of inline-twice.cc. */
#ifndef XSP_TEST_INLINE_TWICE_H
#define XSP_TEST_INLINE_TWICE_H

#define XSPROF_INLINE
#include <xsprof/xsprof.h>

template <typename T> __attribute__((noinline)) void twice(T value)
{
	XSPROF_SCOPE("twice");

	if (value < 0)
		xsprof_counter(XSPROF_NAME("negative"), value);
}

void twice_elsewhere(int i);

#endif
