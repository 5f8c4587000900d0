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
 * Where PyTorch is loaded already, calls that the loader has bound to its functions are bound to
 * the collector's anew, in all that is loaded.  Sessions may record lines and modules, whatever
 * XSPROF_TORCH says for recorders.  Further calls bind what has been loaded since.
 *
 * The caller holds Python's lock, where there is an interpreter, and no other thread makes this
 * call.  Not signal-safe.
 *
 * Return: 0; -ENOENT: PyTorch is not loaded: its ops are recorded once it is, if that comes after
 * this call; -EPERM: recording it is switched off (XSPROF_TORCH=off); -ENOSYS: this version, or how
 * it is linked, is not known, as a line on standard error says; another negative errno if memory
 * that the loader protects cannot be changed.
 */
int xsprof_torch_attach(void);

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_TORCH_H */
