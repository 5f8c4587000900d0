/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Between the library's thread (ondemand.c), the control page that it listens to (listen.c), the
 * one request there can be (request.c), who records (client.c), and who does where nobody else is
 * registered (ondemand-client.c).
 */
#ifndef XSP_ONDEMAND_H
#define XSP_ONDEMAND_H

#include <xsprof/ondemand.h>

#include "base/demand-page.h"
#include "ondemand/kineto-config.h"

/* ---- ondemand.c ---- */
extern uint32_t xsp_ondemand_orphan XSP_HIDDEN;	/* a forked child that is to listen again */
void xsp_ondemand_again(void) XSP_HIDDEN;

/* ---- listen.c ---- */
int xsp_listen_open(void) XSP_HIDDEN;
void xsp_listen_check(void) XSP_HIDDEN;
void xsp_listen_run(void) XSP_HIDDEN;
void xsp_listen_tell(void) XSP_HIDDEN;
void xsp_listen_close(void) XSP_HIDDEN;
void xsp_listen_forget(void) XSP_HIDDEN;
/* What the library's thread waits by: the page's bell, or where there is no page one of its own. */
uint32_t xsp_listen_bell(void) XSP_HIDDEN;
void xsp_listen_wait(uint32_t seen, int64_t ms) XSP_HIDDEN;
/* Something is to be done before the thread would look. */
void xsp_ondemand_wake(void) XSP_HIDDEN;

/* ---- request.c ---- */
void xsp_ondemand_step(void) XSP_HIDDEN;
int xsp_request_take(const char *text, size_t len, uint32_t from, char *why) XSP_HIDDEN;
int xsp_request_stop(void) XSP_HIDDEN;
int xsp_request_snapshot(const char *text, size_t len, char *path, char *why) XSP_HIDDEN;
uint32_t xsp_request_tell(struct xsp_demand_now *now) XSP_HIDDEN;
int64_t xsp_request_run(void) XSP_HIDDEN;
bool xsp_request_idle(void) XSP_HIDDEN;
void xsp_request_end(void) XSP_HIDDEN;
void xsp_request_forget(void) XSP_HIDDEN;

/* ---- client.c ---- */
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
int xsp_client_check(const struct xsprof_client *c) XSP_HIDDEN;
void xsp_client_set(const struct xsprof_client *c) XSP_HIDDEN;
void xsp_client_forget(void) XSP_HIDDEN;

/* ---- ondemand-client.c ---- */
extern const struct xsprof_client xsp_default_client XSP_HIDDEN;

/*
 * All that the request asks for; for the library's own client, in its functions alone: nowhere
 * else does it stay the same.
 */
const struct xsp_kineto_config *xsp_request_config(void) XSP_HIDDEN;

#endif /* XSP_ONDEMAND_H */
