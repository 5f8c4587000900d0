/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The collector of PyTorch's ops, libxsprof-torch.so, for programs that load it themselves.
 *
 * Preloaded, as `xsprof record` does it, it needs no call.  A program that has sessions of its own
 * (<xsprof/profiler.h>) loads it with dlopen() and RTLD_GLOBAL, takes the function below by dlsym()
 * and calls it before its first session; it stays loaded.
 */
#ifndef XSPROF_TORCH_H
#define XSPROF_TORCH_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * xsprof_torch_attach() - record the ops of this process's PyTorch in its sessions
 *
 * If PyTorch is already loaded, this rebinds calls of its functions to the collector's, in all
 * loaded objects.  Sessions can then record lines and modules, whatever XSPROF_TORCH says for
 * recorders.  Call it again to rebind objects that were loaded later.
 *
 * The caller holds the GIL, if there is an interpreter, and no other thread makes this call.  Not
 * signal-safe.
 *
 * Return: 0; -ENOENT: PyTorch is not loaded: its ops are recorded once it is loaded; -EPERM:
 * recording it is switched off (XSPROF_TORCH=off); -ENOSYS: this version of PyTorch, or how it is
 * linked, is not supported, as a line on standard error says; another negative errno if memory that
 * the loader protects cannot be changed.
 */
int xsprof_torch_attach(void);

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_TORCH_H */
