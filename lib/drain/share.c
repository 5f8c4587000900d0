// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Accounts of users: see share.h. Refuses nothing itself.
 */
#include <unistd.h>

#include "drain/share.h"

struct xsp_share *xsp_share_of(struct xsp_shares *shares, uid_t uid)
{
	uint32_t i;

	if (uid == geteuid())
		return &shares->own;
	for (i = 0; i < shares->nr; i++)
		if (shares->others[i].uid == uid)
			return &shares->others[i];
	if (shares->nr == XSP_SHARES_MAX)
		return &shares->others[XSP_SHARES_MAX - 1];
	shares->others[shares->nr] = (struct xsp_share){ .uid = uid, .foreign = true };
	return &shares->others[shares->nr++];
}

bool xsp_share_has_room(const struct xsp_shares *shares, const struct xsp_share *share)
{
	return !share->foreign || (share->producers < XSP_SHARE_PRODUCERS &&
				   shares->others_producers < XSP_SHARE_OTHERS);
}

void xsp_share_take(struct xsp_shares *shares, struct xsp_share *share)
{
	share->producers++;
	shares->others_producers += share->foreign;
}
