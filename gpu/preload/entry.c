// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The OpenCL functions that the collector takes, under their own names, for programs that are
 * linked with a loader; and dlsym(), for programs that look them up.  Each goes on to what opencl.c
 * has chosen, with the program's arguments and return address, and asks it the first time.
 *
 * What the dynamic linker binds to us may be meant for different loaders: a function is passed on
 * without a question where its caller is in preload_caller.  What dlsym() found is of one loader.
 */
#include <dlfcn.h>
#include <string.h>

#include "gpu/preload/local.h"

#define CODE(symbol, code)							\
	".p2align 4\n.type " symbol ", @function\n" symbol ":\n.cfi_startproc\n" \
	code ".cfi_endproc\n.size " symbol ", . - " symbol "\n"

#ifdef __x86_64__

/* A call may clobber r11 and rax. x86 does not reorder loads with loads. */
#define GO(table, number, slow)							\
	"mov " table " + 8 * " number "(%rip), %r11\n"				\
	"test %r11, %r11\n"							\
	"jz 1f\n"								\
	"jmp *%r11\n"								\
	"1: mov $" number ", %eax\n"						\
	"jmp " slow "\n"
#define CHECK									\
	"mov (%rsp), %r11\n"							\
	"sub preload_caller(%rip), %r11\n"					\
	"cmp preload_caller + 8(%rip), %r11\n"					\
	"jae 1f\n"
#define PUSH(r)		"push %" r "\n.cfi_adjust_cfa_offset 8\n"
#define POP(r)		"pop %" r "\n.cfi_adjust_cfa_offset -8\n"
/* No function of OpenCL's has arguments in other registers. */
#define SLOW(choose)								\
	PUSH("rdi") PUSH("rsi") PUSH("rdx") PUSH("rcx") PUSH("r8") PUSH("r9") PUSH("rax") \
	"mov %eax, %edi\n"							\
	"mov 56(%rsp), %rsi\n"							\
	"call " choose "\n"							\
	"mov %rax, %r11\n"							\
	POP("rax") POP("r9") POP("r8") POP("rcx") POP("rdx") POP("rsi") POP("rdi") \
	"jmp *%r11\n"
/* A caller that asks for the next one behind itself must stay the caller. */
#define DLSYM									\
	"cmpb $'c', (%rsi)\n"							\
	"jne 1f\n"								\
	"cmpb $'l', 1(%rsi)\n"							\
	"jne 1f\n"								\
	"lea 1(%rdi), %rax\n"							\
	"cmp $1, %rax\n"							\
	"ja preload_look_up\n"							\
	"1:\n"									\
	PUSH("rdi") PUSH("rsi") PUSH("rax")					\
	"call preload_dlsym\n"							\
	"mov %rax, %r11\n"							\
	POP("rax") POP("rsi") POP("rdi")					\
	"jmp *%r11\n"
#define OLD	"GLIBC_2.2.5"

#else /* aarch64 */

/* A call may clobber x16 and x17.  ldar: pairs with the release in opencl.c. */
#define GO(table, number, slow)							\
	"adrp x16, " table " + 8 * " number "\n"				\
	"add x16, x16, :lo12:" table " + 8 * " number "\n"			\
	"ldar x16, [x16]\n"							\
	"cbz x16, 1f\n"								\
	"br x16\n"								\
	"1: mov w16, " number "\n"						\
	"b " slow "\n"
#define CHECK									\
	"adrp x16, preload_caller\n"						\
	"add x16, x16, :lo12:preload_caller\n"					\
	"ldp x16, x17, [x16]\n"							\
	"sub x16, x30, x16\n"							\
	"cmp x16, x17\n"							\
	"b.hs 1f\n"
#define SLOW(choose)								\
	"stp x29, x30, [sp, -96]!\n"						\
	".cfi_adjust_cfa_offset 96\n"						\
	".cfi_rel_offset x29, 0\n"						\
	".cfi_rel_offset x30, 8\n"						\
	"mov x29, sp\n"								\
	"stp x0, x1, [sp, 16]\n"						\
	"stp x2, x3, [sp, 32]\n"						\
	"stp x4, x5, [sp, 48]\n"						\
	"stp x6, x7, [sp, 64]\n"						\
	"mov w0, w16\n"								\
	"mov x1, x30\n"								\
	"bl " choose "\n"							\
	"mov x16, x0\n"								\
	"ldp x0, x1, [sp, 16]\n"						\
	"ldp x2, x3, [sp, 32]\n"						\
	"ldp x4, x5, [sp, 48]\n"						\
	"ldp x6, x7, [sp, 64]\n"						\
	"ldp x29, x30, [sp], 96\n"						\
	".cfi_adjust_cfa_offset -96\n"						\
	".cfi_restore x29\n"							\
	".cfi_restore x30\n"							\
	"br x16\n"
#define DLSYM									\
	"ldrb w16, [x1]\n"							\
	"cmp w16, 'c'\n"							\
	"b.ne 1f\n"								\
	"ldrb w16, [x1, 1]\n"							\
	"cmp w16, 'l'\n"							\
	"b.ne 1f\n"								\
	"add x16, x0, 1\n"							\
	"cmp x16, 1\n"								\
	"b.hi preload_look_up\n"						\
	"1:\n"									\
	"stp x29, x30, [sp, -32]!\n"						\
	".cfi_adjust_cfa_offset 32\n"						\
	".cfi_rel_offset x29, 0\n"						\
	".cfi_rel_offset x30, 8\n"						\
	"mov x29, sp\n"								\
	"stp x0, x1, [sp, 16]\n"						\
	"bl preload_dlsym\n"							\
	"mov x16, x0\n"								\
	"ldp x0, x1, [sp, 16]\n"						\
	"ldp x29, x30, [sp], 32\n"						\
	".cfi_adjust_cfa_offset -32\n"						\
	".cfi_restore x29\n"							\
	".cfi_restore x30\n"							\
	"br x16\n"
#define OLD	"GLIBC_2.17"

#endif

#define LINKED(name, number)							\
	".globl cl" #name "\n"							\
	CODE("cl" #name, CHECK GO("preload_linked", #number, "slow_linked"))
#define FOUND(name, number)							\
	".globl preload_found_cl" #name "\n.hidden preload_found_cl" #name "\n" \
	CODE("preload_found_cl" #name, GO("preload_found", #number, "slow_found"))

__asm__(".pushsection .text\n"
	CODE("slow_linked", SLOW("preload_choose_linked"))
	CODE("slow_found", SLOW("preload_choose_found"))
	CL_TAKEN(LINKED)
	CL_TAKEN(FOUND)
	/* In the versions of the C library's: programs that were linked with either. */
	".globl preload_dlsym_new, preload_dlsym_old\n"
	CODE("preload_dlsym_new", DLSYM)
	CODE("preload_dlsym_old", DLSYM)
	".symver preload_dlsym_new, dlsym@GLIBC_2.34\n"
	".symver preload_dlsym_old, dlsym@" OLD "\n"
	".popsection\n");

#define DECLARE(name, number)	extern const char preload_found_cl##name[];
CL_TAKEN(DECLARE)

static const void *entry(const char *name)
{
	static const struct {
		const char	*name;
		const void	*entry;
	} entries[] = {
#define ENTRY(name, number)	{ "cl" #name, preload_found_cl##name },
		CL_TAKEN(ENTRY)
	};

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (!strcmp(name, entries[i].name))
			return entries[i].entry;
	return NULL;
}

void *preload_look_up(void *handle, const char *name)
{
	void *real = preload_dlsym()(handle, name);
	const void *ours = real ? entry(name) : NULL;
	Dl_info of, us;

	/* Loaders look this one up in the runtimes that they load. */
	if (!strcmp(name, "clGetExtensionFunctionAddress"))
		return real;
	/* The handle of the program itself finds ours, which asks who calls it. */
	if (!ours || !dladdr(real, &of) || !dladdr(ours, &us) || of.dli_fbase == us.dli_fbase)
		return real;
	return preload_found_in(real) ? (void *)(uintptr_t)ours : real;
}
