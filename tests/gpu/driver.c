// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stand-in for the libcuda of a program: it tells the version of the driver, and that all streams
 * but one are of context 3.
 */
#include <stdint.h>

__attribute__((visibility("default"))) int cuDriverGetVersion(int *version);

int cuDriverGetVersion(int *version)
{
	*version = 13010;
	return 0;
}

__attribute__((visibility("default"))) int cuStreamGetCtx(uintptr_t stream, uintptr_t *context);

int cuStreamGetCtx(uintptr_t stream, uintptr_t *context)
{
	*context = 3;
	return stream == 0xbad ? 400 : 0;
}
