/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Updates the word of a tmpfs file's control page that every marker tests. The program, its
 * recorder and `xsprof ctl` may change it at the same time. The device's page is changed by the
 * kernel only.
 */
#ifndef XSP_CTL_WORD_H
#define XSP_CTL_WORD_H

#include <stdint.h>

#include <xsprof/abi.h>

/*
 * Sets enabled to the wanted categories, or to 0 while paused. Others may change both words at any
 * time, so this checks again after its store; whatever the order, the last store is correct.
 *
 * Return: the previous value of enabled.
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
