// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Operations on the current request: stop, snapshot, status. Called by the library's thread only,
 * for `xsprof ctl` (listen.c).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ondemand/client.h"
#include "ondemand/request.h"
#include "ondemand/trace-file.h"

/**
 * xsp_request_stop() - end the request now
 *
 * If it is recording, the next xsp_request_run() saves it.
 *
 * Return: 0; -ENOENT: no request; -ECANCELED: it had not started, and is dropped.
 */
int xsp_request_stop(void)
{
	int err = 0;

	pthread_mutex_lock(&xsp_rq.lock);
	switch (xsp_rq.state) {
	case IDLE:
		err = -ENOENT;
		break;
	case COLLECT:
		xsp_request_end_collect();
		break;
	case SNAPSHOT:
		xsp_request_enter(PROCESS);
		break;
	case PROCESS:
		break;
	default:
		err = xsp_request_cancel() ? -ENOENT : -ECANCELED;
	}
	pthread_mutex_unlock(&xsp_rq.lock);
	return err;
}

/* Without the lock: others see that @writing is set. */
static int write_so_far(const struct xsp_request_plan *to, bool memory)
{
	struct xsp_trace_file f;
	int err = xsp_trace_file_open(&f, to->config.file, to->pid);

	if (err)
		return err;
	xsp_rq.file = to->path;
	err = memory ? xsp_client_export_memory(f.path) : xsp_client_snapshot(f.path);
	if (!err)
		return xsp_trace_file_keep(&f);
	xsp_trace_file_drop(&f);
	return err;
}

/**
 * xsp_request_snapshot() - write the records so far into a file, and continue
 * @text: names the file
 * @len: its length
 * @reply: why: the reason of an error; or file: its path, and lost: its losses
 *
 * Return: 0; -ENOENT: nothing is being recorded; -EOPNOTSUPP: not supported by the client; another
 * error.
 */
int xsp_request_snapshot(const char *text, size_t len, struct xsp_demand_now *reply)
{
	static struct xsp_request_plan to;	/* static, as in take() */
	char room[80], *why = reply->why;
	uint32_t state;
	int err;

	to.from = XSP_DEMAND_BY_CTL;
	err = xsp_request_file(&to, text, len, why);
	if (err)
		return err;
	pthread_mutex_lock(&xsp_rq.lock);
	state = xsp_rq.state;
	if (state != COLLECT && state != SNAPSHOT)
		err = -ENOENT;
	else if (state == COLLECT && !xsp_client_has_snapshot())
		err = -EOPNOTSUPP;
	xsp_rq.writing = !err;
	pthread_mutex_unlock(&xsp_rq.lock);
	if (err) {
		snprintf(why, XSP_DEMAND_WHY, "%s", err == -ENOENT ? "nothing is being recorded" :
			 "the program's own client writes no snapshots");
		return err;
	}
	err = write_so_far(&to, state == SNAPSHOT);
	pthread_mutex_lock(&xsp_rq.lock);
	xsp_rq.writing = false;
	if (xsp_rq.cancelled)
		xsp_request_cancel();
	xsp_rq.cancelled = false;
	pthread_mutex_unlock(&xsp_rq.lock);
	if (err) {
		snprintf(why, XSP_DEMAND_WHY, "%.300s: %s", to.path,
			 xsp_client_meaning(err, room, sizeof(room)));
		return err;
	}
	strcpy(reply->file, to.path);
	xsp_client_lost(&reply->lost);
	return 0;
}

/**
 * xsp_request_tell() - report the state
 * @now: filled in, except gen
 *
 * Return: a number that differs after each change.
 */
uint32_t xsp_request_tell(struct xsp_demand_now *now)
{
	uint32_t changes;

	pthread_mutex_lock(&xsp_rq.lock);
	now->state = xsp_rq.state;
	now->from = xsp_rq.plan.from;
	now->number = xsp_rq.number;
	now->err = xsp_rq.state == IDLE ? xsp_rq.err : 0;
	strcpy(now->why, xsp_rq.state == IDLE ? xsp_rq.why : "");
	strcpy(now->file, xsp_rq.number ? xsp_rq.plan.path : "");
	now->lost = xsp_rq.lost;
	changes = xsp_rq.changes;
	pthread_mutex_unlock(&xsp_rq.lock);
	return changes;
}
