/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Ranges for other tools: sends them to a tool that listens to NVTX (Nsight Systems, CUPTI) or ITT
 * (VTune).
 *
 * A tool is found as in programs that use NVTX or ITT directly: NVTX_INJECTION64_PATH and
 * INTEL_LIBITTNOTIFY64 name its library, which is loaded at the first call of one of these
 * functions. A program with more rights than its caller does not load it. xsprof does not record
 * these ranges, and does not send them to its own collectors, since a recorded program also has its
 * markers (<xsprof/xsprof.h>) and ops.
 *
 * Ranges nest per thread, in a domain "xsprof". Names are UTF-8 and only used during the call; each
 * of the first thousands of names is registered with the tool once, and later uses pass its handle.
 *
 * The functions may be called from any thread, are not async-signal-safe, and never change errno.
 * Without a tool, all calls after the first cost a load and a compare.
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
 * Return: true if it is loaded and has reported that it is ready.
 */
XSPROF_API bool xsprof_nvtx_available(void);

/**
 * xsprof_nvtx_range_push() - a range begins in this thread
 * @name: what it is
 *
 * Return: its nesting level as counted by the tool, 0 for the outermost; -ENOTCONN: no tool;
 * -EOPNOTSUPP: the tool does not take ranges, or does not count levels; -EINVAL: @name is NULL.
 */
XSPROF_API int xsprof_nvtx_range_push(const char *name);

/**
 * xsprof_nvtx_range_pop() - the innermost range of this thread ends
 *
 * Return: the level of that range; -ENOTCONN, -EOPNOTSUPP as above; the latter also if no range is
 * open.
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
 * Return: true if it is loaded and has registered its functions for tasks.
 */
XSPROF_API bool xsprof_itt_is_available(void);

/**
 * xsprof_itt_range_push() - a range (an ITT task) begins in this thread
 * @name: what it is
 *
 * Return: 0, even if the tool has disabled the domain; -ENOTCONN: no tool; -EINVAL: @name is NULL.
 */
XSPROF_API int xsprof_itt_range_push(const char *name);

/**
 * xsprof_itt_range_pop() - the innermost range of this thread ends
 *
 * Return: 0; -ENOTCONN: no tool.
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
