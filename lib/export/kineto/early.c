// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Marks activities that began before their call in a Kineto trace: the clocks of device and host
 * differ. Such an activity has no flow arrow, which viewers would draw from it to the call.
 */
#include "export/kineto/local.h"

char *xsr_early_put(const struct xsr_kineto *k, const struct xsprof_event *ev, char *p)
{
	uint64_t ns = xsp_early_ns(&k->early, ev);

	if (!ns)
		return p;
	return put_u64(put_lit(stpcpy(put_lit(p, ",\""), xsp_early_key(ev)), "\":"), ns);
}
