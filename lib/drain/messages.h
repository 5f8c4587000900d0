/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What processes say of why they are not recorded: by files in the recording's folder, and by
 * notices (base/notice.h).  Each is told once, of each user and process so many.
 */
#ifndef XSP_DRAIN_MESSAGES_H
#define XSP_DRAIN_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/notice.h"
#include "drain/refused.h"
#include "drain/share.h"

#define XSP_MESSAGE	400u	/* bytes of a line, and some */

/**
 * struct xsp_messages - those of one recording; all zeros: none yet
 * @nr: how many there were, as far as they are believed
 * @told: what was told, and how often of each process
 */
struct xsp_messages {
	uint32_t		nr;
	struct xsp_refused	told;
};

/**
 * xsp_messages_take - read and remove the file of a message
 * @m: messages
 * @share: of the user whose file it is
 * @dirfd: folder
 * @name: e.PID.START.SEQ
 * @line: set to what is to be told of it
 *
 * A process that is recorded all the same, in part, has a colon before what it says.
 *
 * Return: is there anything to be told?
 */
bool xsp_messages_take(struct xsp_messages *m, struct xsp_share *share, int dirfd,
		       const char *name, char line[static XSP_MESSAGE]);

/* The same of a notice. */
bool xsp_messages_hear(struct xsp_messages *m, struct xsp_share *share,
		       const struct xsp_notice *notice, char line[static XSP_MESSAGE]);

/* A file of another user that has the name of a message, and is none that would be told. */
bool xsp_message_is_junk(const struct xsp_share *share, const struct stat *st);
void xsp_messages_free(struct xsp_messages *m);

#endif /* XSP_DRAIN_MESSAGES_H */
