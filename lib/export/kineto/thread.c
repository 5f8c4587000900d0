// SPDX-License-Identifier: LGPL-2.1-only
/*
 * State that the Kineto format keeps of a thread beside its stack: allocated at its first use and
 * freed when the thread is forgotten.
 */
#include <stdlib.h>

#include "export/kineto/local.h"

struct xsr_host *xsr_kineto_state(struct xsp_track *thread)
{
	/* A stand-in for threads without memory keeps no state. */
	if (!thread->priv && thread->opens.stack.floor != UINT64_MAX)
		thread->priv = calloc(1, sizeof(struct xsr_host));
	return thread->priv;
}

void xsr_host_free(struct xsr_kineto *k, struct xsp_track *thread)
{
	struct xsr_host *host = thread->priv;

	thread->priv = NULL;
	if (!host)
		return;
	xsp_past_free(host->past, &k->past);
	for (uint32_t i = 0; i < 2; i++) {
		k->pushed -= host->pushes[i].room;
		free(host->pushes[i].v);
	}
	free(host);
}
