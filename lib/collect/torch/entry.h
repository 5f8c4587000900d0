/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * How a C function is called as one of C++ that returns no plain struct: the caller has the memory
 * for it. On x86-64 its address is the first argument, as C passes one. On arm64 it is in x8, of
 * which C knows nothing.
 */
#ifndef XSP_TORCH_ENTRY_H
#define XSP_TORCH_ENTRY_H

#ifdef __aarch64__
#define TORCH_ASM(name, code)							\
	asm(".pushsection .text\n\t.balign 4\n\t.type " name ", %function\n"	\
	    name ":\n\t.cfi_startproc\n\thint #34\n" code			\
	    "\t.cfi_endproc\n\t.size " name ", . - " name "\n\t.popsection")

/* An entry of @function, which has two arguments: that address, and what came as the first. */
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
