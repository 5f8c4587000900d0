/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Messages of processes with the reason why they are not recorded: files in the recording's folder,
 * and notices (base/notice.h). Each is reported once, with limits per user and process.
 */
#ifndef XSP_DRAIN_MESSAGES_H
#define XSP_DRAIN_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/notice.h"
#include "drain/refused.h"
#include "drain/share.h"

#define XSP_MESSAGE	400u	/* more than the longest line */

/**
 * struct xsp_messages - messages of a recording; all zeros: none yet
 * @nr: number of believed messages
 * @told: reported messages, and number of messages by process
 */
struct xsp_messages {
	uint32_t		nr;
	struct xsp_refused	told;
};

/**
 * xsp_messages_take - read and remove a message file
 * @m: messages
 * @share: account of the file's owner
 * @dirfd: folder
 * @name: e.PID.START.SEQ
 * @line: set to the line to report
 *
 * A process that is nevertheless recorded in part has a colon before its text.
 *
 * Return: true if there is a line to report.
 */
bool xsp_messages_take(struct xsp_messages *m, struct xsp_share *share, int dirfd,
		       const char *name, char line[static XSP_MESSAGE]);

/* The same for a notice. */
bool xsp_messages_hear(struct xsp_messages *m, struct xsp_share *share,
		       const struct xsp_notice *notice, char line[static XSP_MESSAGE]);

/* Is it a file of another user with a message's name that would not be reported? */
bool xsp_message_is_junk(const struct xsp_share *share, const struct stat *st);
void xsp_messages_free(struct xsp_messages *m);

#endif /* XSP_DRAIN_MESSAGES_H */
