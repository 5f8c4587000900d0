// SPDX-License-Identifier: GPL-2.0-only
/*
 * The process that formats events by libtraceevent may be subverted by its input: then it may write
 * anything to the memory that it shares with dump. Dump must still stay within its limits.
 */
#include <unistd.h>

#include <xsprof/trace.h>

#include "common/tap.h"
#include "format/common/apart-local.h"
#include "format/common/kernel.h"

#define EVENTS	2u

static struct xsprof_kernel_event known = { .id = 7 };

/* Reports progress for ever, with no work done. */
void apart_serve(const struct xsprof_trace *trace, struct apart_shared *shared, int fd,
		 pid_t parent)
{
	(void)trace;
	(void)fd;
	(void)parent;
	for (uint32_t i = 0;; i++)
		atomic_store_explicit(&shared->done, i / 1024 % EVENTS,
				      memory_order_release);
}

int main(void)
{
	struct xsp_kernel_kind kind = { .kind = &known, .name = "event" };
	struct xsprof_event ev[EVENTS] = { 0 };
	static char rec[EVENTS][16];
	struct xsp_apart *a;
	const char *name;
	size_t len;

	if (xsp_apart_new(NULL, &a))
		tap_bail("no memory");
	xsp_apart_begin(a);
	for (uint32_t i = 0; i < EVENTS; i++) {
		ev[i].rec = (const void *)rec[i];
		ev[i].rec_size = sizeof(rec[i]);
		xsp_apart_add(a, &kind, &ev[i]);
	}
	for (uint32_t i = 0; i < EVENTS; i++)
		CHECK(!xsp_apart_text(a, &kind, &ev[i], &len));
	CHECK(xsp_apart_refused(a, &name) >= 1);
	CHECK(name && !strcmp(name, "event"));
	tap_result("a process that only says that it gets on is ended, and its kind refused");
	xsp_apart_free(a);
	return tap_done();
}
