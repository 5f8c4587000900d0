/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Between a request's text (request-read.c), the request that is under way (request.c), and what
 * is asked of that one (request-ctl.c).
 */
#ifndef XSP_REQUEST_H
#define XSP_REQUEST_H

#include <limits.h>
#include <pthread.h>

#include "base/demand-page.h"
#include "ondemand/kineto-config.h"


/**
 * struct xsp_request_plan - what a text asks for
 * @config: all that it says
 * @from: enum xsp_demand_from: where the text came from
 * @by_iteration: it begins and ends between the program's iterations
 * @start: ms since 1970, where it does not
 * @pid: for the file's name: 0: it is one process' alone
 * @path: the file
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
	PENDING,	/* it is to begin, and has not */
	WARMUP,		/* the client is prepared */
	COLLECT,
	SNAPSHOT,
	PROCESS,
};

_Static_assert((int)SNAPSHOT == XSP_DEMAND_MEMORY && (int)PROCESS == XSP_DEMAND_SAVE,
	       "the control page tells them as they are");

/**
 * struct xsp_request - the request that is under way, or the last one
 */
struct xsp_request {
	pthread_mutex_t		lock;
	uint32_t		state;	/* read without the lock by xsp_request_idle() */
	bool			writing; /* what there is so far; no step calls the client */
	bool			cancelled; /* meanwhile */
	pid_t			owner;	/* process that took the request */
	int64_t			until;	/* ms of CLOCK_MONOTONIC: of COLLECT or SNAPSHOT */
	int64_t			begun;	/* the same: when it was taken */
	int64_t			first;	/* iteration that is the first to be recorded */
	int64_t			last;	/* the first that is not any more */
	uint32_t		number;	/* of the request, or of the last one */
	uint32_t		changes; /* of what xsp_request_tell() tells */
	int			err;	/* what it ended with */
	char			why[XSP_DEMAND_WHY];
	struct xsp_demand_lost	lost;	/* by its file */
	const char		*file;	/* being written; the library's thread's alone */
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
 * All that the request asks for; for the library's own client, in its functions alone: nowhere
 * else does it stay the same.
 */
const struct xsp_kineto_config *xsp_request_config(void) XSP_HIDDEN;
/* The name that the file will have which it is writing; in its functions that write alone. */
const char *xsp_request_file_name(void) XSP_HIDDEN;

/* With the lock. */
void xsp_request_enter(uint32_t state) XSP_HIDDEN;
void xsp_request_end_collect(void) XSP_HIDDEN;
/* Return: 0; -ENOENT: nothing is under way, or it is being saved. */
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
