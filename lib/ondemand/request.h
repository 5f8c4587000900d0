/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Declarations shared by request-read.c (interprets a request's text), request.c (the current
 * request), and request-ctl.c (operations on it).
 */
#ifndef XSP_REQUEST_H
#define XSP_REQUEST_H

#include <limits.h>
#include <pthread.h>

#include "base/demand-page.h"
#include "ondemand/kineto-config.h"


/**
 * struct xsp_request_plan - an interpreted request
 * @config: its keys
 * @from: enum xsp_demand_from: source of the text
 * @by_iteration: it begins and ends between the program's iterations
 * @start: ms since 1970, if not @by_iteration
 * @pid: pid for the file's name; 0: the request is for one process only
 * @path: path of the file
 */
struct xsp_request_plan {
	struct xsp_kineto_config	config;
	uint32_t			from;
	bool				by_iteration;
	int64_t				start;
	pid_t				pid;
	char				path[PATH_MAX];
};

enum xsp_request_state {
	IDLE = 0,
	PENDING,	/* accepted, not started */
	WARMUP,		/* the client is prepared */
	COLLECT,
	SNAPSHOT,
	PROCESS,
};

_Static_assert((int)SNAPSHOT == XSP_DEMAND_MEMORY && (int)PROCESS == XSP_DEMAND_SAVE,
	       "the control page tells them as they are");

/**
 * struct xsp_request - the current request, or the last one
 */
struct xsp_request {
	pthread_mutex_t		lock;
	uint32_t		state;	/* read without the lock by xsp_request_idle() */
	bool			writing; /* a snapshot: steps do not call the client */
	bool			cancelled; /* cancelled meanwhile */
	pid_t			owner;	/* process that accepted the request */
	int64_t			until;	/* end of COLLECT or SNAPSHOT, ms of CLOCK_MONOTONIC */
	int64_t			begun;	/* time of acceptance, likewise */
	int64_t			first;	/* first iteration to record */
	int64_t			last;	/* first iteration not to record any more */
	uint32_t		number;	/* number of the request */
	uint32_t		changes; /* number of changes for xsp_request_tell() */
	int			err;	/* its result */
	char			why[XSP_DEMAND_WHY];
	struct xsp_demand_lost	lost;	/* by its file */
	const char		*file;	/* being written; used by the library's thread only */
	struct xsp_request_plan	plan;
};

extern struct xsp_request xsp_rq XSP_HIDDEN;

/* ---- request.c ---- */
int xsp_request_take(const char *text, size_t len, uint32_t from, char *why) XSP_HIDDEN;
void xsp_request_step(void) XSP_HIDDEN;
int64_t xsp_request_run(void) XSP_HIDDEN;
bool xsp_request_idle(void) XSP_HIDDEN;
void xsp_request_end(void) XSP_HIDDEN;
void xsp_request_forget(void) XSP_HIDDEN;
/*
 * The request's keys; for the library's own client, valid within its functions only.
 */
const struct xsp_kineto_config *xsp_request_config(void) XSP_HIDDEN;
/* The final name of the file being written; valid within the client's writing functions only. */
const char *xsp_request_file_name(void) XSP_HIDDEN;

/* Called with the lock. */
void xsp_request_enter(uint32_t state) XSP_HIDDEN;
void xsp_request_end_collect(void) XSP_HIDDEN;
/* Return: 0; -ENOENT: no request, or it is being saved. */
int xsp_request_cancel(void) XSP_HIDDEN;

/* ---- request-ctl.c ---- */
int xsp_request_stop(void) XSP_HIDDEN;
int xsp_request_snapshot(const char *text, size_t len, struct xsp_demand_now *reply) XSP_HIDDEN;
uint32_t xsp_request_tell(struct xsp_demand_now *now) XSP_HIDDEN;

/* ---- request-read.c ---- */
int xsp_request_read(struct xsp_request_plan *p, const char *text, size_t len, int64_t iteration,
		     char *why) XSP_HIDDEN;
int xsp_request_file(struct xsp_request_plan *p, const char *text, size_t len, char *why)
	XSP_HIDDEN;

#endif /* XSP_REQUEST_H */
