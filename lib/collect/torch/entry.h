/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Calls of C functions as C++ functions that return a non-trivial class: the caller passes the
 * memory for the result. On x86-64 its address is the first argument, as in C. On arm64 it is in
 * x8, which C cannot access.
 */
#ifndef XSP_TORCH_ENTRY_H
#define XSP_TORCH_ENTRY_H

#ifdef __aarch64__
#define TORCH_ASM(name, code)							\
	asm(".pushsection .text\n\t.balign 4\n\t.type " name ", %function\n"	\
	    name ":\n\t.cfi_startproc\n\thint #34\n" code			\
	    "\t.cfi_endproc\n\t.size " name ", . - " name "\n\t.popsection")

/*
 * An entry that calls @function with two arguments: the address of the result, and the first
 * argument.
 */
#define TORCH_X8(function)							\
	void *function##_x8(void **ret, const void *fn)				\
		__attribute__((visibility("hidden")));				\
	TORCH_ASM(#function "_x8", "\tmov x1, x0\n\tmov x0, x8\n\tb " #function "\n")
#define TORCH_ENTRY(function)	function##_x8
#else
#define TORCH_X8(function)	_Static_assert(sizeof(void *) == 8, "x86-64")
#define TORCH_ENTRY(function)	function
#endif

#endif /* XSP_TORCH_ENTRY_H */
