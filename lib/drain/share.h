/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What each user has taken of a recording, so that no user but the recorder's own can exhaust it:
 * numbers of producers in the capture, and lines of messages.
 */
#ifndef XSP_DRAIN_SHARE_H
#define XSP_DRAIN_SHARE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <xsprof/capture.h>

/* Users with an account of their own; all further users share one. */
#define XSP_SHARES_MAX		64u

/* Limit of producers in a capture for one other user, and for all other users together. */
#define XSP_SHARE_PRODUCERS	(XSPROF_CAP_MAX_PRODUCERS / 16)
#define XSP_SHARE_OTHERS	(XSPROF_CAP_MAX_PRODUCERS / 2)

/* Limit of files named in messages, for the recorder's user and for each other user. */
#define XSP_SHARE_NAMED_OWN	256u
#define XSP_SHARE_NAMED		16u

/**
 * struct xsp_share - what a user has taken
 * @uid: the user
 * @foreign: not the recorder's user
 * @producers: numbers of producers
 * @refused: files that could not be recorded
 * @messages: processes that gave a reason
 * @forged: messages about other users' processes that were not believed
 */
struct xsp_share {
	uid_t		uid;
	bool		foreign;
	uint32_t	producers;
	uint32_t	refused;
	uint32_t	messages;
	uint32_t	forged;
};

/**
 * struct xsp_shares - of all users; all zeros is empty
 * @own: the recorder's user
 * @others: other users, in order of appearance
 * @nr: number of @others
 * @others_producers: sum of their @producers
 */
struct xsp_shares {
	struct xsp_share	own;
	struct xsp_share	others[XSP_SHARES_MAX];
	uint32_t		nr;
	uint32_t		others_producers;
};

/* The account of a user, created if needed. */
struct xsp_share *xsp_share_of(struct xsp_shares *shares, uid_t uid);

/* May this user have one more producer? */
bool xsp_share_has_room(const struct xsp_shares *shares, const struct xsp_share *share);

/* Counts one more producer. */
void xsp_share_take(struct xsp_shares *shares, struct xsp_share *share);

#endif /* XSP_DRAIN_SHARE_H */
