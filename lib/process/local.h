/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Private header of process/.
 */
#ifndef XSP_PROCESS_LOCAL_H
#define XSP_PROCESS_LOCAL_H

#include "ring/state.h"

/* ---- attach.c ---- */
int xsp_attach(void) XSP_HIDDEN;
void xsp_producer_forget(void) XSP_HIDDEN;
/* Switches all markers off. */
void xsp_map_dormant_page(void) XSP_HIDDEN;
/* One thread at a time attaches, or changes what the process is attached to. */
bool xsp_attach_lock(void) XSP_HIDDEN;
void xsp_attach_unlock(void) XSP_HIDDEN;
/* Allocates and maps the memory of all rings. */
void xsp_prefault(void) XSP_HIDDEN;
/* Why this process has no rings although there is a recorder, as text; NULL: no reason. */
const char *xsp_attach_refusal(void) XSP_HIDDEN;

/* ---- fork.c ---- */
void xsp_fork_init(void) XSP_HIDDEN;
void xsp_fork_arm(void) XSP_HIDDEN;
int xsp_fork_settle(void) XSP_HIDDEN;

/* ---- facts.c ---- */
void xsp_facts_add(void) XSP_HIDDEN;

/* ---- self-record.c ---- */
int xsp_self_record_start(const char *file) XSP_HIDDEN;
void xsp_self_record_stop(void) XSP_HIDDEN;
void xsp_self_record_forget(void) XSP_HIDDEN;

#endif /* XSP_PROCESS_LOCAL_H */
