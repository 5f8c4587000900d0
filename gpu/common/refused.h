/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the user asked for and does not get.
 */
#ifndef XSPROF_GPU_REFUSED_H
#define XSPROF_GPU_REFUSED_H

/*
 * Says why something is not recorded, as xsprof_say() does, and states it as a fact of the process,
 * "gpu.refused.N", so that readers of the capture can tell it from something that did not happen.
 * From any thread. Not signal-safe.
 */
void gpu_refused(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* XSPROF_GPU_REFUSED_H */
