/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the library that is preloaded calls in the collector.
 */
#ifndef XSPROF_ROCM_ROCTX_H
#define XSPROF_ROCM_ROCTX_H

#include <stdint.h>

/**
 * struct rocm_roctx - records of what a program tells roctx
 * @enter: the calling thread is about to call roctx's own function: what rocprofiler-sdk tells of
 *	that call is told by one of the others, which follows
 * @mark: an instant
 * @push: a range of the thread begins
 * @pop: the thread's innermost ends
 * @start: a range begins that any thread may end
 * @stop: it ends
 */
struct rocm_roctx {
	void	(*enter)(void);
	void	(*mark)(const char *text);
	void	(*push)(const char *text);
	void	(*pop)(void);
	void	(*start)(uint64_t id, const char *text);
	void	(*stop)(uint64_t id);
};

/* The collector's entry for it.  Return: NULL: this process is not recorded. */
#define ROCM_ROCTX_ENTRY	"xsprof_rocm_roctx"
typedef const struct rocm_roctx *(*rocm_roctx_entry)(void);

#endif /* XSPROF_ROCM_ROCTX_H */
