// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace with nothing but the C library: no decoder, or too old a one, no GPU, no collector. What
 * is possible works, and the rest returns errors.
 */
#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

#include <xsprof/kineto.h>
#include <xsprof/result.h>

#include "common/tap.h"

static unsigned int asked;
static int older;

/* No other library can be loaded, or only an older one. */
void *dlopen(const char *file, int flags)
{
	bool it = file && strstr(file, "libxsprof-trace");

	(void)flags;
	asked += it;
	return it && older ? &older : NULL;
}

/* Acts like a library that does not know an option that is set. */
static int open_older(const char *path, const struct xsprof_result_options *opts,
		      struct xsprof_result **result)
{
	(void)path;
	(void)opts;
	*result = NULL;
	return -E2BIG;
}

void *dlsym(void *library, const char *name)
{
	return library == &older && !strcmp(name, "xsprof_result_open") ? (void *)open_older : NULL;
}

static void everything(int recorded)
{
	struct xsprof_kineto_cpu_trace *t = xsprof_kineto_cpu_trace_new("alone", 0);
	struct xsprof_kineto_activity a = {
		.size = sizeof(a), .name = "a", .start_ns = 1, .end_ns = 2,
	};

	CHECK_EQ(xsprof_kineto_add_cpu_activity(t, &a), 0);
	CHECK_EQ(xsprof_kineto_add_activity_metadata(t, 0, "k", "v"), 0);
	CHECK_EQ(xsprof_kineto_transfer_cpu_trace(t, 3), recorded ? 0 : -ENOENT);
	xsprof_kineto_cpu_trace_free(t);
	xsprof_kineto_push_correlation_id(1);
	xsprof_kineto_push_user_correlation_id(2);
	xsprof_kineto_pop_user_correlation_id();
	xsprof_kineto_pop_correlation_id();
	CHECK_EQ(xsprof_kineto_record_thread_info(), recorded ? 0 : -ENOENT);
	CHECK_EQ(xsprof_kineto_log_invariant_violation("a", "b", "c", "d"),
		 recorded ? 0 : -ENOENT);
	CHECK_EQ(xsprof_profiler_add_metadata("k", "v"), recorded ? 0 : -ENOENT);
	CHECK_EQ(xsprof_profiler_step(), 0);
}

int main(void)
{
	struct xsprof_result *r = (void *)1;

	everything(0);
	CHECK_EQ(xsprof_kineto_start_trace(), -ENODATA);
	CHECK_EQ(xsprof_kineto_stop_trace(&r), -ENOENT);
	tap_result("nobody records");
	CHECK_EQ(xsprof_kineto_prepare_trace(false, XSPROF_ACTIVITY(CPU) | XSPROF_ACTIVITY(CUDA),
					     NULL), 0);
	CHECK_EQ(xsprof_kineto_start_trace(), 0);
	everything(1);
	CHECK_EQ(xsprof_kineto_stop_trace(&r), -ENOSYS);
	CHECK(!r);
	CHECK_EQ(asked, 1);
	everything(0);
	tap_result("a trace that nobody can read");
	CHECK_EQ(xsprof_kineto_prepare_trace(true, XSPROF_ACTIVITY(CPU), NULL), 0);
	CHECK_EQ(xsprof_kineto_start_trace(), 0);
	CHECK_EQ(xsprof_kineto_stop_trace(NULL), 0);
	CHECK_EQ(asked, 1);
	tap_result("and one that nobody wants to");
	older = 1;
	CHECK_EQ(xsprof_kineto_prepare_trace(true, XSPROF_ACTIVITY(CPU), NULL), 0);
	CHECK_EQ(xsprof_kineto_start_trace(), 0);
	CHECK_EQ(xsprof_kineto_stop_trace(&r), -ENOSYS);
	CHECK(!r);
	tap_result("one that an older library cannot read");
	return tap_done();
}
