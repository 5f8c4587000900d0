/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Traces of a running program, requested from outside: by `xsprof ctl` or through dynolog's daemon.
 *
 * With XSPROF_ONDEMAND=1 in the environment a thread of the library, "xsprof-daemon", sleeps until
 * a request of `xsprof ctl`. With KINETO_USE_DAEMON it also polls the daemon every few seconds for
 * a request (`dyno gputrace`). It serves requests: warm-up, recording and saving, by time or by the
 * program's iterations (xsprof_profiler_step(), or what a collector takes for them).
 * Documentation/ondemand.rst describes requests and the reasons to refuse them.
 *
 * By default a trace contains the ops of the program. A program with a profiler of its own
 * registers it as the client, whose functions are called to prepare, start, stop and save.
 *
 * Functions return 0 or a negative errno, may be called from any thread, are not
 * async-signal-safe, and never change errno.
 */
#ifndef XSPROF_ONDEMAND_H
#define XSPROF_ONDEMAND_H

#include <stdbool.h>
#include <stddef.h>

#include <xsprof/xsprof.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct xsprof_client - functions that serve a request
 * @size: sizeof(struct xsprof_client)
 * @init: called once, before all others; may be NULL
 * @prepare: a trace with these options will start soon; may be NULL
 * @start: start recording
 * @stop: stop recording
 * @save: write the recorded trace to @path, or discard it if @path is NULL. It must leave no other
 *	file in that folder; the suffix (".json.gz") selects the format. When it returns 0, the
 *	library moves the file to its final place
 * @start_memory_profile: start to record memory; NULL: such requests are refused
 * @stop_memory_profile: stop to record memory
 * @export_memory_profile: write the memory records so far, as @save does
 * @data: passed to all functions
 * @snapshot: write the records so far to @path, as @save does, and continue to record; NULL:
 *	`xsprof ctl snapshot` is refused
 *
 * One function is called at a time. For requests by iterations, the thread that makes the step
 * calls @prepare, @start and @stop between two iterations; in all other cases, and for all other
 * functions, the library's own thread calls them, with all signals blocked but those that a thread
 * raises itself (SIGSEGV, SIGSYS and such). They return 0 or a
 * negative errno, which ends the request. They must not call xsprof_register_client() or
 * xsprof_ondemand_cancel().
 */
struct xsprof_client {
	size_t	size;
	void	(*init)(void *data);
	int	(*prepare)(void *data, bool report_input_shapes, bool profile_memory,
			   bool with_stack, bool with_flops, bool with_modules);
	int	(*start)(void *data);
	int	(*stop)(void *data);
	int	(*save)(void *data, const char *path);
	int	(*start_memory_profile)(void *data);
	int	(*stop_memory_profile)(void *data);
	int	(*export_memory_profile)(void *data, const char *path);
	void	*data;
	int	(*snapshot)(void *data, const char *path);
};

/**
 * xsprof_register_client() - set the functions that serve requests
 * @client: copied; NULL for the library's own, which records the program's ops
 *
 * A library that can be unloaded must pass NULL before. If the program ends while a request is
 * recording, the library's own client saves the trace; any other client is not called and the trace
 * is dropped, because its data may already be freed.
 *
 * Return: 0; -EINVAL: @start, @stop or @save is NULL, or only some of the three memory functions
 * are set; -E2BIG: a client of a later version with functions unknown to this library; -EBUSY: a
 * request is being served.
 */
XSPROF_API int xsprof_register_client(const struct xsprof_client *client);

/**
 * xsprof_ondemand_init() - start to listen to `xsprof ctl` and to poll the daemon
 *
 * KINETO_USE_DAEMON in the environment does the same before main(), unless PyTorch's own profiler,
 * which also polls, is in the process. A forked child does neither until it makes this call. After
 * this call `xsprof ctl` finds a program that has closed all descriptors again.
 *
 * Return: 0, also if it is already started; -EAGAIN, -ENOMEM: the thread could not be created.
 */
XSPROF_API int xsprof_ondemand_init(void);

/**
 * xsprof_ondemand_cancel() - drop the request that is being served
 *
 * For a program whose own sessions have priority. A trace that is already being saved is still
 * saved.
 *
 * Return: 0; -ENOENT: there is no request; -EDEADLK: called by the client.
 */
XSPROF_API int xsprof_ondemand_cancel(void);

/**
 * xsprof_ondemand_iteration() - the program's next iteration begins
 *
 * For collectors of frameworks, which see the steps of a program that does not make any itself: it
 * advances requests by iterations, and records nothing. Once the program has called
 * xsprof_profiler_step() it does nothing.
 */
XSPROF_API void xsprof_ondemand_iteration(void);

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_ONDEMAND_H */
