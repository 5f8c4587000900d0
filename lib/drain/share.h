/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What a recording has taken of each user, so that no user but the recorder's own can take all
 * that there is: numbers of producers in the capture, and lines of text.
 */
#ifndef XSP_DRAIN_SHARE_H
#define XSP_DRAIN_SHARE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <xsprof/capture.h>

/* Users that have an account of their own; all further ones have one together. */
#define XSP_SHARES_MAX		64u

/* Producers of one other user, and of all other users together, in one capture. */
#define XSP_SHARE_PRODUCERS	(XSPROF_CAP_MAX_PRODUCERS / 16)
#define XSP_SHARE_OTHERS	(XSPROF_CAP_MAX_PRODUCERS / 2)

/* Files that are named in messages, of the recorder's user and of each other one. */
#define XSP_SHARE_NAMED_OWN	256u
#define XSP_SHARE_NAMED		16u

/**
 * struct xsp_share - what one user has taken
 * @uid: the user
 * @foreign: not the recorder's own
 * @producers: numbers of the capture
 * @refused: files that could not be recorded
 * @messages: processes that said why they are not
 * @forged: of other users' processes: messages that were not believed
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
 * @own: of the recorder's user
 * @others: of other users, in the order in which they came
 * @nr: how many
 * @others_producers: sum of their @producers
 */
struct xsp_shares {
	struct xsp_share	own;
	struct xsp_share	others[XSP_SHARES_MAX];
	uint32_t		nr;
	uint32_t		others_producers;
};

/* The account of a user; it is made where there is none. */
struct xsp_share *xsp_share_of(struct xsp_shares *shares, uid_t uid);

/* May this user have one producer more? */
bool xsp_share_has_room(const struct xsp_shares *shares, const struct xsp_share *share);

/* It has one more. */
void xsp_share_take(struct xsp_shares *shares, struct xsp_share *share);

#endif /* XSP_DRAIN_SHARE_H */
