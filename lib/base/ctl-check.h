/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Whether a producer's control page can be worked with: what every reader asks first, of a file,
 * of a mapping and of a snapshot.
 */
#ifndef XSP_BASE_CTL_CHECK_H
#define XSP_BASE_CTL_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/abi.h>

/**
 * xsp_ctl_check - is this a control page that can be worked with?
 * @ctl: a private copy: one that the producer could still change proves nothing
 * @size: bytes of the file
 *
 * Return: 0; -EAGAIN not complete yet; -ENOEXEC no producer at all; -EPROTONOSUPPORT another
 * ABI; -EINVAL numbers that do not fit each other; -ERANGE the file is shorter than it says.
 */
int xsp_ctl_check(const struct xsprof_ctl *ctl, uint64_t size);

/* What such an error says of the file, for people; the text is constant. */
const char *xsp_ctl_strerror(int err);

#endif /* XSP_BASE_CTL_CHECK_H */
