// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Who records on demand: the client that the program has registered, or the library's own.  Owns
 * which it is, and that each call of it is known to be one.  When it is called is request.c's to
 * say, which holds its lock over all of this but where something is saved.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ondemand/ondemand.h"

static struct {
	bool			custom;	/* not the library's own */
	bool			inited;	/* init() was called */
	pid_t			caller;	/* thread that is in a call, else 0 */
	struct xsprof_client	client;
} cl;

static const struct xsprof_client *client(void)
{
	return cl.custom ? &cl.client : &xsp_default_client;
}

static void call_begins(void)
{
	__atomic_store_n(&cl.caller, (pid_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
}

static void call_ends(void)
{
	__atomic_store_n(&cl.caller, 0, __ATOMIC_RELAXED);
}

/* Is this a call out of the client's own function?  Without a lock: only we make it true. */
bool xsp_client_calls_us(void)
{
	return __atomic_load_n(&cl.caller, __ATOMIC_RELAXED) == (pid_t)syscall(SYS_gettid);
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

/* Also without a lock. */
bool xsp_client_is_custom(void)
{
	return __atomic_load_n(&cl.custom, __ATOMIC_RELAXED);
}

/* Return: 0; -EINVAL: something is missing; -E2BIG: it wants what this library cannot. */
int xsp_client_check(const struct xsprof_client *c)
{
	for (size_t i = sizeof(*c); i < c->size; i++)
		if (((const char *)c)[i])
			return -E2BIG;
	/* As of now, or of before there were snapshots: no half of a pointer. */
	if (c->size < sizeof(*c) && c->size != offsetof(struct xsprof_client, snapshot))
		return -EINVAL;
	if (!c->start || !c->stop || !c->save)
		return -EINVAL;
	if (!c->start_memory_profile != !c->stop_memory_profile ||
	    !c->start_memory_profile != !c->export_memory_profile)
		return -EINVAL;
	return 0;
}

/* @c: checked, or NULL for the library's own.  While nothing is under way. */
void xsp_client_set(const struct xsprof_client *c)
{
	__atomic_store_n(&cl.custom, c, __ATOMIC_RELAXED);
	cl.client = (struct xsprof_client){ 0 };
	if (c)
		memcpy(&cl.client, c, c->size < sizeof(*c) ? c->size : sizeof(*c));
	cl.inited = false;
}

/* In the child of a fork: whoever was in a call is not here. */
void xsp_client_forget(void)
{
	cl.caller = 0;
}
