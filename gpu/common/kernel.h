/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Names of kernels, as the source code has them.
 */
#ifndef XSPROF_GPU_KERNEL_H
#define XSPROF_GPU_KERNEL_H

#include <xsprof/xsprof.h>

/*
 * The name of a kernel in @category, demangled if a C++ library can be had. Called by one thread at
 * a time. Not signal-safe.
 */
xsprof_name_t gpu_kernel_name(int category, const char *text);

#endif /* XSPROF_GPU_KERNEL_H */
