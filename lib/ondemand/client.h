/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The client that records on demand: registered by the program, or the library's own.
 */
#ifndef XSP_ONDEMAND_CLIENT_H
#define XSP_ONDEMAND_CLIENT_H

#include <xsprof/ondemand.h>

#include "base/demand-page.h"
#include "ondemand/kineto-config.h"

#define XSP_WHY_SESSION \
	"a session of the program itself is running: try again when it has ended"

/* @own: the library's own client; called before its thread exists. */
void xsp_client_begin(const struct xsprof_client *own) XSP_HIDDEN;
bool xsp_client_calls_us(void) XSP_HIDDEN;
int xsp_client_prepare(const struct xsp_kineto_config *c) XSP_HIDDEN;
int xsp_client_start(void) XSP_HIDDEN;
int xsp_client_stop(void) XSP_HIDDEN;
int xsp_client_save(const char *path) XSP_HIDDEN;
bool xsp_client_has_snapshot(void) XSP_HIDDEN;
int xsp_client_snapshot(const char *path) XSP_HIDDEN;
bool xsp_client_has_memory(void) XSP_HIDDEN;
int xsp_client_start_memory(void) XSP_HIDDEN;
int xsp_client_stop_memory(void) XSP_HIDDEN;
int xsp_client_export_memory(const char *path) XSP_HIDDEN;
bool xsp_client_is_custom(void) XSP_HIDDEN;
/* The number of records that the last written file lacks. */
void xsp_client_lost(struct xsp_demand_lost *lost) XSP_HIDDEN;
/* The meaning of an error of the library's own client; of another client: its errno. */
const char *xsp_client_meaning(int err, char *room, size_t size) XSP_HIDDEN;
int xsp_client_check(const struct xsprof_client *c) XSP_HIDDEN;
void xsp_client_set(const struct xsprof_client *c) XSP_HIDDEN;
void xsp_client_forget(void) XSP_HIDDEN;

#endif /* XSP_ONDEMAND_CLIENT_H */
