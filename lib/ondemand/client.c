// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Calls the client that records on demand: the one registered by the program, or the library's own.
 * Owns the choice, and marks each call in the calling thread. request.c decides when to call, and
 * holds its lock during all calls except those that save.
 */
#include <errno.h>
#include <string.h>

#include "ondemand/client.h"
#include "profiler/session.h"

static struct {
	bool			custom;	/* registered by the program */
	bool			inited;	/* init() was called */
	const struct xsprof_client *own;	/* the library's */
	struct xsprof_client	client;
} cl;

static const struct xsprof_client *client(void)
{
	return cl.custom ? &cl.client : cl.own;
}

void xsp_client_begin(const struct xsprof_client *own)
{
	cl.own = own;
}

static void call_begins(void)
{
	xsp_session_caller = cl.custom ? XSP_CALLER_CLIENT : XSP_CALLER_LIBRARY;
}

static void call_ends(void)
{
	xsp_session_caller = XSP_CALLER_PROGRAM;
}

/* Does this thread run a function of the client? */
bool xsp_client_calls_us(void)
{
	return xsp_session_caller != XSP_CALLER_PROGRAM;
}

static int call(int (*function)(void *data))
{
	int err;

	call_begins();
	err = function(client()->data);
	call_ends();
	return err;
}

int xsp_client_prepare(const struct xsp_kineto_config *c)
{
	int err = 0;

	call_begins();
	if (!cl.inited && client()->init)
		client()->init(client()->data);
	cl.inited = true;
	if (client()->prepare)
		err = client()->prepare(client()->data, c->shapes, c->memory, c->stack, c->flops,
					c->modules);
	call_ends();
	return err;
}

int xsp_client_start(void)
{
	return call(client()->start);
}

int xsp_client_stop(void)
{
	return call(client()->stop);
}

static int call_with(int (*function)(void *data, const char *path), const char *path)
{
	int err;

	call_begins();
	err = function(client()->data, path);
	call_ends();
	return err;
}

int xsp_client_save(const char *path)
{
	return call_with(client()->save, path);
}

bool xsp_client_has_snapshot(void)
{
	return client()->snapshot;
}

int xsp_client_snapshot(const char *path)
{
	return call_with(client()->snapshot, path);
}

bool xsp_client_has_memory(void)
{
	return client()->start_memory_profile;
}

int xsp_client_start_memory(void)
{
	return call(client()->start_memory_profile);
}

int xsp_client_stop_memory(void)
{
	return call(client()->stop_memory_profile);
}

int xsp_client_export_memory(const char *path)
{
	return call_with(client()->export_memory_profile, path);
}

/* ---- which ---- */

/* Callable without the lock too. */
bool xsp_client_is_custom(void)
{
	return __atomic_load_n(&cl.custom, __ATOMIC_RELAXED);
}

/* Losses are unknown for a client of the program. */
void xsp_client_lost(struct xsp_demand_lost *lost)
{
	struct xsp_recorder_lost of = { 0 };
	bool known = !xsp_client_is_custom();

	if (known)
		xsp_session_lost(&of);
	*lost = (struct xsp_demand_lost){
		.known = known, .records = of.records, .slots = of.slots,
		.bad_slots = of.bad_slots,
	};
}

const char *xsp_client_meaning(int err, char *room, size_t size)
{
	if (!xsp_client_is_custom() && err == -EBUSY)
		return XSP_WHY_SESSION;
	if (!xsp_client_is_custom() && err == -ENOSYS)
		return "libxsprof-trace.so, which writes traces, was not found, or is older than "
		       "libxsprof-user.so: add its directory to the program's LD_LIBRARY_PATH";
	if (!xsp_client_is_custom() && err == -ENODATA)
		return "the trace is empty: the program recorded no op: trace longer while it is "
		       "busy, or mark its ops (xsprof_op_begin(), or a framework that does); no "
		       "file is written";
	return strerror_r(-err, room, size);
}

/* Return: 0; -EINVAL: a function is missing; -E2BIG: it needs a newer library. */
int xsp_client_check(const struct xsprof_client *c)
{
	for (size_t i = sizeof(*c); i < c->size; i++)
		if (((const char *)c)[i])
			return -E2BIG;
	/* Accept the sizes of released versions only: no partial pointer. */
	if (c->size < sizeof(*c) && c->size != offsetof(struct xsprof_client, snapshot))
		return -EINVAL;
	if (!c->start || !c->stop || !c->save)
		return -EINVAL;
	if (!c->start_memory_profile != !c->stop_memory_profile ||
	    !c->start_memory_profile != !c->export_memory_profile)
		return -EINVAL;
	return 0;
}

/* @c: checked, or NULL for the library's own. Called while no request is in progress. */
void xsp_client_set(const struct xsprof_client *c)
{
	__atomic_store_n(&cl.custom, c, __ATOMIC_RELAXED);
	cl.client = (struct xsprof_client){ 0 };
	if (c)
		memcpy(&cl.client, c, c->size < sizeof(*c) ? c->size : sizeof(*c));
	cl.inited = false;
}

/* In a forked child: forgets a call that its parent may be in. */
void xsp_client_forget(void)
{
	call_ends();
}
