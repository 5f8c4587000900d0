/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Ranges for other tools: for whoever listens to NVTX (Nsight Systems, CUPTI) or to ITT (VTune).
 *
 * A tool is found as it is by programs that carry NVTX or ITT themselves: NVTX_INJECTION64_PATH
 * and INTEL_LIBITTNOTIFY64 name its library, which is loaded when one of these functions is first
 * called.  A program with more rights than its caller has loads none.  Of this, nothing is
 * recorded by xsprof: a program that is recorded has its markers (<xsprof/xsprof.h>) and its ops
 * for that, and xsprof's own collectors are told nothing here, or it would all be there twice.
 *
 * Ranges nest by thread, in a domain "xsprof".  Names are UTF-8 and are not kept; a tool is told
 * each of the first thousands of names once, and from then on gets its handle.
 *
 * The functions may be called from any thread, are not async-signal-safe, and never change errno.
 * Where there is no tool, all but the first call cost a load and a compare.
 */
#ifndef XSPROF_MIRROR_H
#define XSPROF_MIRROR_H

#include <stdbool.h>

#include <xsprof/xsprof.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * xsprof_nvtx_available() - does a tool listen to NVTX?
 *
 * Return: true once it is loaded and has said that it is ready.
 */
XSPROF_API bool xsprof_nvtx_available(void);

/**
 * xsprof_nvtx_range_push() - a range begins in this thread
 * @name: what it is
 *
 * Return: its level, 0 for one that is in no other, as the tool counts; -ENOTCONN: nobody
 * listens; -EOPNOTSUPP: the tool has no use for ranges, or counts no levels; -EINVAL: no name.
 */
XSPROF_API int xsprof_nvtx_range_push(const char *name);

/**
 * xsprof_nvtx_range_pop() - the innermost range of this thread ends
 *
 * Return: the level of that range; -ENOTCONN, -EOPNOTSUPP as above; the latter also where no
 * range is open.
 */
XSPROF_API int xsprof_nvtx_range_pop(void);

/**
 * xsprof_nvtx_mark() - something happens
 * @name: what; NULL: nothing is done
 */
XSPROF_API void xsprof_nvtx_mark(const char *name);

/**
 * xsprof_itt_is_available() - does a tool listen to ITT?
 *
 * Return: true once it is loaded and has taken the functions for tasks.
 */
XSPROF_API bool xsprof_itt_is_available(void);

/**
 * xsprof_itt_range_push() - a range begins in this thread: a task, as ITT has it
 * @name: what it is
 *
 * Return: 0, also while the tool has the domain switched off; -ENOTCONN: nobody listens; -EINVAL:
 * no name.
 */
XSPROF_API int xsprof_itt_range_push(const char *name);

/**
 * xsprof_itt_range_pop() - the innermost range of this thread ends
 *
 * Return: 0; -ENOTCONN: nobody listens.
 */
XSPROF_API int xsprof_itt_range_pop(void);

/**
 * xsprof_itt_mark() - something happens
 * @name: what; NULL: nothing is done
 */
XSPROF_API void xsprof_itt_mark(const char *name);

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_MIRROR_H */
