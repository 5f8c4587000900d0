/* SPDX-License-Identifier: LGPL-2.1-only */
/* Into a PyTorch that was loaded first: see late.c. */
#ifndef XSP_TORCH_LATE_H
#define XSP_TORCH_LATE_H

#include "collect/torch/local.h"

/*
 * Binds the calls of all that is loaded to this library.  Return: 0, also where they were already;
 * -ENOSYS: nothing calls what every op calls; or why memory could not be changed.
 */
int torch_late_bind(void);

#endif /* XSP_TORCH_LATE_H */
