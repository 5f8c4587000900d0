/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The word of a tmpfs file's control page that every marker tests, for all who may change it at
 * the same time: the program, its recorder and who switches categories.  The device's page is
 * the kernel's alone.
 */
#ifndef XSP_CTL_WORD_H
#define XSP_CTL_WORD_H

#include <stdint.h>

#include <xsprof/abi.h>

/*
 * Enabled is what is wanted, but nothing while anybody pauses.  Others may change both at any
 * time: look again after; the last store of any order is the right one.
 *
 * Return: what was enabled before.
 */
static inline uint64_t xsp_ctl_settle(struct xsprof_ctl *ctl)
{
	uint64_t before = __atomic_load_n(&ctl->enabled, __ATOMIC_SEQ_CST);
	uint64_t wanted;
	uint32_t paused;

	do {
		paused = __atomic_load_n(&ctl->paused, __ATOMIC_SEQ_CST);
		wanted = __atomic_load_n(&ctl->wanted, __ATOMIC_SEQ_CST);
		__atomic_store_n(&ctl->enabled, paused ? 0 : wanted, __ATOMIC_SEQ_CST);
	} while (paused != __atomic_load_n(&ctl->paused, __ATOMIC_SEQ_CST) ||
		 wanted != __atomic_load_n(&ctl->wanted, __ATOMIC_SEQ_CST));
	__atomic_fetch_add(&ctl->generation, 1, __ATOMIC_RELEASE);
	return before;
}

#endif /* XSP_CTL_WORD_H */
