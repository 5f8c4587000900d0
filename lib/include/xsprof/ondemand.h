/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Traces that are asked for from outside, of a program that runs: by `xsprof ctl`, or through
 * dynolog's daemon.
 *
 * With XSPROF_ONDEMAND=1 in the environment a thread of the library's own, "xsprof-daemon", sleeps
 * until `xsprof ctl` asks for something.  With KINETO_USE_DAEMON it also asks the daemon every few
 * seconds whether a trace is wanted (`dyno gputrace`).  It sees to what is asked for: warm-up,
 * recording and saving, by time or by the program's iterations (xsprof_profiler_step()).
 * Documentation/ondemand.rst has what can be asked for, and what is refused.
 *
 * A program that does nothing about it gets a trace of its ops.  One that has a profiler of its
 * own registers it as the client, and is told when to prepare, begin, end and save.
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
 * struct xsprof_client - who does what a request asks for
 * @size: sizeof(struct xsprof_client)
 * @init: called once, before anything else; NULL: nothing to do
 * @prepare: a trace will begin soon: these are its options.  NULL: nothing to do
 * @start: it begins
 * @stop: it ends
 * @save: write what was recorded to @path, or throw it away where that is NULL.  Nothing but the
 *	file of this name may be left in its folder; its end (".json.gz") says its form.  It gets
 *	its real place when 0 is returned
 * @start_memory_profile: memory is recorded from here on; NULL: requests for it are refused
 * @stop_memory_profile: and until here
 * @export_memory_profile: write what was recorded so far, as @save
 * @data: passed to all of them
 * @snapshot: write what was recorded so far to @path, as @save, and go on recording; NULL:
 *	`xsprof ctl snapshot` is refused
 *
 * One function is called at a time.  By iterations @prepare, @start and @stop are called by the
 * thread that makes the step, between two iterations; else, and for all others, by the library's
 * own thread, which has all signals blocked.  They return 0 or a negative errno: then the request
 * is over.  None may call xsprof_register_client() or xsprof_ondemand_cancel().
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
 * xsprof_register_client() - do it by oneself
 * @client: copied; NULL: the library's own again, which records the program's ops
 *
 * A library that may be unloaded goes back to NULL before.  When the program ends a request that
 * is recording is ended too: it is saved by the library's own client, and by any other it is
 * dropped, without a call, because what it needs may be gone already.
 *
 * Return: 0; -EINVAL: @start, @stop or @save are missing, or only some of the three for memory
 * are there; -E2BIG: a client of a later version, that wants what this library cannot; -EBUSY: a
 * request is under way.
 */
XSPROF_API int xsprof_register_client(const struct xsprof_client *client);

/**
 * xsprof_ondemand_init() - listen to `xsprof ctl`, and ask the daemon, from here on
 *
 * What KINETO_USE_DAEMON in the environment does before main(), where PyTorch's own profiler,
 * which asks too, is not in the process.  A forked child does neither: it may begin to, by this
 * call.  A program that has closed all descriptors is found again by `xsprof ctl` after it.
 *
 * Return: 0, also when it does so already; -EAGAIN, -ENOMEM: there can be no thread for it.
 */
XSPROF_API int xsprof_ondemand_init(void);

/**
 * xsprof_ondemand_cancel() - drop the request that is under way
 *
 * For a program whose own session goes first.  A trace that is being saved already is saved.
 *
 * Return: 0; -ENOENT: there is none; -EDEADLK: called by the client.
 */
XSPROF_API int xsprof_ondemand_cancel(void);

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_ONDEMAND_H */
