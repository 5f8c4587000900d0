// SPDX-License-Identifier: GPL-2.0-only
/*
 * The code that a thread of another program is made to execute: its code, data and stack are in
 * separate memory; the thread's own memory is not touched.
 *
 * The code loads the library and calls the function in it. It ends with a system call, which tells
 * xsprof that it is done. If xsprof is killed meanwhile, the code continues with rt_sigreturn, from
 * a signal frame with all of the thread's state: the program continues unchanged, except that an
 * interrupted sleep starts again.
 */
#ifdef __x86_64__

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "inject/local.h"

/* The layout of the memory. */
#define CODE		0x4000u
#define FRAME		0x5000u	/* a ucontext_t; also in the code */
#define XSTATE		0x5400u
#define STACK_END	0x60000u
#define SIZE		STACK_END

#define LIMIT_NS	10000000000u	/* a library on a slow disk */
#define LATER_LIMIT_NS	1000000000u

enum { NEW, BUSY, DONE, CANCELLED };

/* The code uses these offsets. */
struct plan {
	uint64_t	dlopen;
	uint64_t	dlsym;
	uint64_t	dlerror;
	uint64_t	add_pending;
	uint32_t	state;
	int32_t		result;
	int64_t		refused;	/* result of Py_AddPendingCall() */
	uint64_t	error;		/* message of dlerror() */
	uint64_t	errno_at;	/* __errno_location() */
	char		symbol[64];
	uint64_t	initialized;	/* Py_IsInitialized() */
	char		pad[376];
	char		library[0xe00];
	char		options[0x2c00];
};

_Static_assert(offsetof(struct plan, symbol) == 64 && offsetof(struct plan, initialized) == 128 &&
	       offsetof(struct plan, library) == 512 && offsetof(struct plan, options) == 0x1000 &&
	       sizeof(struct plan) <= CODE && ENXIO == 6,
	       "as the code has it");

__asm__(
".pushsection .rodata\n"
".globl inject_code, inject_now, inject_later, inject_done, inject_end\n"
".hidden inject_code, inject_now, inject_later, inject_done, inject_end\n"
"inject_code:\n"
/* rbx: the plan; the stack is aligned. Preserves the thread's errno. */
"inject_now:\n"
"	call	*56(%rbx)\n"
"	mov	%rax, %r12\n"
"	mov	(%rax), %r13d\n"
"	call	*128(%rbx)\n"
"	test	%eax, %eax\n"
"	je	4f\n"
"	mov	%rbx, %rdi\n"
"	call	5f\n"
"	jmp	0f\n"
/* Python is not initialized: there is no main thread for a pending call. */
"4:	movl	$-6, 36(%rbx)\n"
"	movl	$2, 32(%rbx)\n"
"	jmp	0f\n"
"inject_later:\n"
"	call	*56(%rbx)\n"
"	mov	%rax, %r12\n"
"	mov	(%rax), %r13d\n"
"	call	*128(%rbx)\n"
"	test	%eax, %eax\n"
"	je	4b\n"
"	lea	5f(%rip), %rdi\n"
"	mov	%rbx, %rsi\n"
"	call	*24(%rbx)\n"
"	movslq	%eax, %rax\n"
"	mov	%rax, 40(%rbx)\n"
"0:	mov	%r13d, (%r12)\n"
"	mov	$39, %eax\n"		/* getpid() */
"inject_done:\n"
"	syscall\n"
"	lea	0x5000(%rbx), %rsp\n"
"	mov	$15, %eax\n"		/* rt_sigreturn() */
"	syscall\n"
"	ud2\n"
/* int (*)(plan), also called by Python. */
"5:	endbr64\n"
"	push	%rbx\n"
"	mov	%rdi, %rbx\n"
"	xor	%eax, %eax\n"
"	mov	$1, %ecx\n"
"	lock cmpxchg %ecx, 32(%rbx)\n"
"	jne	3f\n"
"	lea	512(%rbx), %rdi\n"
"	mov	$2, %esi\n"		/* RTLD_NOW */
"	call	*(%rbx)\n"
"	test	%rax, %rax\n"
"	je	1f\n"
"	mov	%rax, %rdi\n"
"	lea	64(%rbx), %rsi\n"
"	call	*8(%rbx)\n"
"	test	%rax, %rax\n"
"	je	1f\n"
"	lea	0x1000(%rbx), %rdi\n"
"	call	*%rax\n"
"	jmp	2f\n"
"1:	call	*16(%rbx)\n"
"	mov	%rax, 48(%rbx)\n"
"	mov	$0x80000000, %eax\n"
"2:	mov	%eax, 36(%rbx)\n"
"	movl	$2, 32(%rbx)\n"
"3:	xor	%eax, %eax\n"
"	pop	%rbx\n"
"	ret\n"
"inject_end:\n"
".popsection\n");

extern const char inject_code[], inject_now[], inject_later[], inject_done[], inject_end[];

/* ---- the memory ------------------------------------------------------------------------------ */

static int prepare(struct stopped *s, const struct inject *what, struct call *call)
{
	static struct plan plan;
	const struct target *t = s->t;
	int64_t got;
	int n;

	memset(&plan, 0, sizeof(plan));
	plan.dlopen = t->dlopen;
	plan.dlsym = t->dlsym;
	plan.dlerror = t->dlerror;
	plan.add_pending = t->add_pending;
	plan.initialized = t->initialized;
	plan.errno_at = t->errno_at;
	if (strlen(what->symbol) >= sizeof(plan.symbol) ||
	    strlen(what->library) >= sizeof(plan.library))
		return -ENAMETOOLONG;
	strcpy(plan.symbol, what->symbol);
	strcpy(plan.library, what->library);
	n = snprintf(plan.options, sizeof(plan.options), "%llx %s",
		     (unsigned long long)t->add_pending, what->options);
	if (n < 0 || (size_t)n >= sizeof(plan.options))
		return -ENAMETOOLONG;
	got = thread_system_call(s, SYS_mmap, 0, SIZE, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS);
	if (got < 0 && got > -4096)
		return (int)got;
	call->base = (uint64_t)got;
	if (!target_write(t, call->base, &plan, sizeof(plan)) ||
	    !target_write(t, call->base + CODE, inject_code,
			  (size_t)(inject_end - inject_code)) ||
	    !frame_write(s, call->base + FRAME, call->base + XSTATE))
		return -EIO;
	return (int)thread_system_call(s, SYS_mprotect, call->base + CODE, 0x1000,
				       PROT_READ | PROT_EXEC, 0);
}

void call_free(struct stopped *s, struct call *call)
{
	if (call->base)
		(void)thread_system_call(s, SYS_munmap, call->base, SIZE, 0, 0);
	call->base = 0;
}

static int run(struct stopped *s, struct call *call, const char *entry, uint64_t limit_ns)
{
	struct user_regs_struct regs = s->regs;

	regs.rip = call->base + CODE + (uint64_t)(entry - inject_code);
	regs.rbx = call->base;
	regs.rsp = call->base + STACK_END;
	regs.rbp = 0;
	regs.orig_rax = UINT64_MAX;
	regs.eflags &= ~0x400ull;	/* strings go upwards */
	return thread_run(s, &regs, call->base + CODE + (uint64_t)(inject_done - inject_code),
			  limit_ns);
}

/* ---- calls ----------------------------------------------------------------------------------- */

int call_done(const struct target *t, struct call *call)
{
	struct { uint64_t skip[4]; uint32_t state; int32_t result; int64_t refused;
		 uint64_t error; } head;

	if (!target_read(t, call->base, &head, sizeof(head)) || head.state != DONE)
		return 0;
	call->result = head.result;
	call->text[0] = '\0';
	for (size_t i = 0; head.error && i < sizeof(call->text) - 1; i++) {
		call->text[i + 1] = '\0';
		if (!target_read(t, head.error + i, &call->text[i], 1) || !call->text[i])
			break;
	}
	call->text[sizeof(call->text) - 1] = '\0';
	return 1;
}

int call_now(struct stopped *s, const struct inject *what, struct call *call)
{
	int err = prepare(s, what, call);

	if (!err)
		err = run(s, call, inject_now, LIMIT_NS);
	if (!err && !call_done(s->t, call))
		err = -EIO;
	/* A call that has not returned may still use its memory. */
	if (err != -ETIMEDOUT)
		call_free(s, call);
	return err;
}

int call_later(struct stopped *s, const struct inject *what, struct call *call)
{
	int64_t refused = -1;
	int err = prepare(s, what, call);

	if (!err)
		err = run(s, call, inject_later, LATER_LIMIT_NS);
	if (!err && (!target_read(s->t, call->base + offsetof(struct plan, refused), &refused,
				  sizeof(refused)) || refused))
		err = -EAGAIN;
	if (err && err != -ETIMEDOUT)
		call_free(s, call);
	return err;
}

bool call_cancel(struct stopped *s, struct call *call)
{
	uint32_t state = NEW, cancelled = CANCELLED;
	uint64_t at = call->base + offsetof(struct plan, state);

	(void)s;
	/* Only the main thread could change it, and is stopped. */
	return target_read(s->t, at, &state, sizeof(state)) && state == NEW &&
	       target_write(s->t, at, &cancelled, sizeof(cancelled));
}

#endif /* __x86_64__ */
