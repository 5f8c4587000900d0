/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The part of Intel's JIT profiling API that the collector uses, written independently. A program's
 * static part loads the library named by INTEL_JIT_PROFILER64 and calls its Initialize() and
 * NotifyEvent().
 */
#ifndef XSPROF_ITT_JIT_ABI_H
#define XSPROF_ITT_JIT_ABI_H

#include <stdint.h>

/* The return value of Initialize(). */
#define JIT_OFF			0u
#define JIT_ON			1u

/* Events of NotifyEvent(); the data of each. */
#define JIT_END			2u	/* none */
#define JIT_LOAD		13u	/* struct jit_method, with a class id */
#define JIT_UNLOAD		14u	/* the same; only the method id is used */
#define JIT_UPDATE		15u	/* the same */
#define JIT_INLINE		16u	/* struct jit_inlined */
#define JIT_UPDATE_2		17u	/* struct jit_update */
#define JIT_LOAD_2		21u	/* struct jit_method */
#define JIT_LOAD_3		22u	/* the same, with more fields after it */

/* Fields before the class id are the same in all versions. */
struct jit_code {
	uint32_t	id;
	const char	*name;
	void		*start;
	uint32_t	size;
	uint32_t	nr_lines;
	const void	*lines;
};

struct jit_method_1 {
	struct jit_code	code;
	uint32_t	class_id;
	const char	*class;
	const char	*file;
};

struct jit_method {
	struct jit_code	code;
	const char	*class;
	const char	*file;
	const char	*module;
};

struct jit_inlined {
	uint32_t	id;
	uint32_t	parent;
	const char	*name;
	void		*start;
	uint32_t	size;
	uint32_t	nr_lines;
	const void	*lines;
	const char	*class;
	const char	*file;
};

struct jit_update {
	uint32_t	id;
	void		*start;
	uint32_t	size;
	uint32_t	kind;
	const char	*format;
};

#endif /* XSPROF_ITT_JIT_ABI_H */
