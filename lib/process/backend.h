/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The two backends: a file on tmpfs, written by the library (backend-shm.c), or the device, written
 * by the kernel (backend-device.c).
 */
#ifndef XSP_PROCESS_BACKEND_H
#define XSP_PROCESS_BACKEND_H

#include "ring/backend.h"
#include "ring/config.h"

/**
 * struct xsp_want - the request to a backend
 * @cfg: sizes and other configuration
 * @mode: enum xsprof_mode
 * @mono: timestamps must be CLOCK_MONOTONIC_RAW
 * @rseq: make per-CPU rings; else only the lock rings
 * @lock_rings: number of lock rings
 * @session: directory of the recorder's session, NULL for none
 * @wanted: categories that are enabled from the start
 */
struct xsp_want {
	const struct xsp_config	*cfg;
	uint32_t		mode;
	bool			mono;
	bool			rseq;
	uint32_t		lock_rings;
	const char		*session;
	uint64_t		wanted;
};

/* ---- backend-shm.c ---- */
int xsp_shm_attach(const struct xsp_want *want) XSP_HIDDEN;
void xsp_shm_relock(void) XSP_HIDDEN;
/*
 * Ends the producer, and keeps its memory for markers in progress. @keep: its file is kept until
 * xsp_retired_read().
 */
void xsp_shm_retire(bool keep) XSP_HIDDEN;
/*
 * A profile of the program begins to read the rings, or ends to. Return: true: their recorder has
 * ended meanwhile and left them to the profile.
 */
bool xsp_shm_profile(bool runs) XSP_HIDDEN;

/* ---- backend-device.c ---- */
int xsp_device_attach(const struct xsp_want *want) XSP_HIDDEN;
const char *xsp_device_reason(int err) XSP_HIDDEN;

#endif /* XSP_PROCESS_BACKEND_H */
