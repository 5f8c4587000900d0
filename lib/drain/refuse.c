// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reports files and producers that a drain does not record: each once, with limits per user.
 */
#include <errno.h>

#include "drain/local.h"

_Static_assert(XSPROF_CAP_MAX_PRODUCERS == 65536, "xsp_ctl_strerror() says so");

bool xsp_drain_may_pass(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM || err == -EAGAIN ||
	       err == -EINTR;
}

static void say(struct xsp_drain *d, struct xsp_share *share, const char *name, const char *why)
{
	uint32_t most = share->foreign ? XSP_SHARE_NAMED : XSP_SHARE_NAMED_OWN;

	d->nr_refused++;
	if (share->refused++ < most)
		xsp_store_note(&d->st, "%s: not recorded: %s", name, why);
	else if (share->refused != most + 1)
		return;
	else if (share->foreign)
		xsp_store_note(&d->st, "more than %u files of user %u are not recorded: the "
			       "others are not named", most, (unsigned int)share->uid);
	else
		xsp_store_note(&d->st, "more than %u files are not recorded: the others are not "
			       "named", most);
}

void xsp_drain_refuse(struct xsp_drain *d, struct xsp_share *share, const char *name,
		      const struct xsp_refusal *refusal, const char *why)
{
	struct xsp_refusal *r = xsp_refused_find(&d->refused, refusal->key);
	bool told = r && r->err == refusal->err;

	if (r)
		*r = *refusal;
	else
		xsp_refused_add(&d->refused, refusal);
	if (!told)
		say(d, share, name, why);
}

void xsp_drain_refuse_removed(struct xsp_drain *d, struct xsp_share *share, const char *name,
			      const char *why)
{
	say(d, share, name, why);
}
