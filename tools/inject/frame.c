// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a signal frame with all of a thread's state: rt_sigreturn makes the thread continue from
 * it. So a used thread continues even if xsprof is killed meanwhile.
 */
#ifdef __x86_64__

#include <string.h>
#include <ucontext.h>

#include "inject/local.h"

#define FP_MAGIC1	0x46505853u
#define FP_MAGIC2	0x46505845u
#define FP_WORDS	464u	/* after the registers: words for readers of the frame */

bool frame_write(const struct stopped *s, uint64_t at, uint64_t xstate_at)
{
	const struct user_regs_struct *r = &s->regs;
	int64_t is = (int64_t)r->rax;
	/* A call with a timeout restarts with the full timeout: only the kernel knows the rest. */
	bool again = (int64_t)r->orig_rax >= 0 && is <= -512 && is >= -516;
	struct { uint32_t magic1, len; uint64_t features; uint32_t size; } words;
	const uint32_t magic2 = FP_MAGIC2;
	char xstate[XSTATE_MAX + sizeof(magic2)];
	uint32_t len = (uint32_t)s->xstate_len;
	ucontext_t u;
	greg_t *g = u.uc_mcontext.gregs;

	memset(&u, 0, sizeof(u));
	u.uc_stack.ss_flags = -1;	/* an invalid value: the thread keeps its own */
	g[REG_R8] = (greg_t)r->r8;
	g[REG_R9] = (greg_t)r->r9;
	g[REG_R10] = (greg_t)r->r10;
	g[REG_R11] = (greg_t)r->r11;
	g[REG_R12] = (greg_t)r->r12;
	g[REG_R13] = (greg_t)r->r13;
	g[REG_R14] = (greg_t)r->r14;
	g[REG_R15] = (greg_t)r->r15;
	g[REG_RDI] = (greg_t)r->rdi;
	g[REG_RSI] = (greg_t)r->rsi;
	g[REG_RBP] = (greg_t)r->rbp;
	g[REG_RBX] = (greg_t)r->rbx;
	g[REG_RDX] = (greg_t)r->rdx;
	g[REG_RCX] = (greg_t)r->rcx;
	g[REG_RSP] = (greg_t)r->rsp;
	g[REG_RAX] = (greg_t)(again ? r->orig_rax : r->rax);
	g[REG_RIP] = (greg_t)(again ? r->rip - 2 : r->rip);
	g[REG_EFL] = (greg_t)r->eflags;
	g[REG_CSGSFS] = (greg_t)(r->cs | r->ss << 48);
	u.uc_mcontext.fpregs = (void *)(uintptr_t)xstate_at;
	memcpy(&u.uc_sigmask, &s->mask, sizeof(s->mask));
	memcpy(xstate, s->xstate, len);
	memset(&words, 0, sizeof(words));
	words.magic1 = FP_MAGIC1;
	words.len = len + (uint32_t)sizeof(magic2);
	/* The kernel keeps the mask of the saved parts in the first word of these. */
	memcpy(&words.features, s->xstate + FP_WORDS, sizeof(words.features));
	words.size = len;
	memcpy(xstate + FP_WORDS, &words, sizeof(words));
	memcpy(xstate + len, &magic2, sizeof(magic2));
	return target_write(s->t, at, &u, offsetof(ucontext_t, uc_sigmask) + 8) &&
	       target_write(s->t, xstate_at, xstate, len + sizeof(magic2));
}

#endif /* __x86_64__ */
