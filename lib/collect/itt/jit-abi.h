/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The part of Intel's interface for compilers of code at run time that the collector reads, in
 * words of our own.  A program's static part loads the library that INTEL_JIT_PROFILER64 names,
 * and calls its Initialize() and NotifyEvent().
 */
#ifndef XSPROF_ITT_JIT_ABI_H
#define XSPROF_ITT_JIT_ABI_H

#include <stdint.h>

/* The return value of Initialize(). */
#define JIT_OFF			0u
#define JIT_ON			1u

/* Events of NotifyEvent(); the data of each. */
#define JIT_END			2u	/* none */
#define JIT_LOAD		13u	/* struct jit_method, with a number of the class */
#define JIT_UNLOAD		14u	/* the same, of which the id counts */
#define JIT_UPDATE		15u	/* the same */
#define JIT_INLINE		16u	/* struct jit_inlined */
#define JIT_UPDATE_2		17u	/* struct jit_update */
#define JIT_LOAD_2		21u	/* struct jit_method */
#define JIT_LOAD_3		22u	/* the same, and more behind it */

/* Before the number of the class all versions of it are the same. */
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
