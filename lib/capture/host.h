/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The HOST chunk: the machine and the recorder of a capture.
 */
#ifndef XSP_CAP_HOST_H
#define XSP_CAP_HOST_H

#include "capture/writer.h"

/**
 * xsp_host_store - write the HOST chunk
 * @cap: capture
 * @more: further lines "key=value
 * ", or NULL
 *
 * Return: 0 or -errno.
 */
int xsp_host_store(struct xsp_cap *cap, const char *more);

/* Adds lines that became known later. Return: 0 or -errno. */
int xsp_host_add(struct xsp_cap *cap, const char *lines);

#endif /* XSP_CAP_HOST_H */
