/* SPDX-License-Identifier: LGPL-2.1-only */
/* Into a PyTorch that was loaded first: see late.c. */
#ifndef XSP_TORCH_LATE_H
#define XSP_TORCH_LATE_H

#include "collect/torch/local.h"

/*
 * Binds the calls of all loaded objects to this library. Return: 0, also if they were bound before;
 * -ENOSYS: no object calls the function that every op calls; or an error of mprotect().
 */
int torch_late_bind(void);

#endif /* XSP_TORCH_LATE_H */
