/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Validates a producer's control page: the first check of every reader, for a file, a mapping or a
 * snapshot.
 */
#ifndef XSP_BASE_CTL_CHECK_H
#define XSP_BASE_CTL_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/abi.h>

/**
 * xsp_ctl_check - is this a valid control page?
 * @ctl: a private copy, which the producer cannot change after the check
 * @size: size of the file in bytes
 *
 * Return: 0; -EAGAIN not complete yet; -ENOEXEC not a producer; -EPROTONOSUPPORT another ABI;
 * -EINVAL contradictory numbers; -ERANGE the file is shorter than stated.
 */
int xsp_ctl_check(const struct xsprof_ctl *ctl, uint64_t size);

/* A message for such an error; the text is constant. */
const char *xsp_ctl_strerror(int err);

#endif /* XSP_BASE_CTL_CHECK_H */
