// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The library's constructor and destructor: what it does before main() and at the end of the
 * program. Decides nothing about producers.
 */
#include <dlfcn.h>
#include <errno.h>

#include "base/hash.h"
#include "process/backend.h"
#include "process/life.h"
#include "process/local.h"

/* Weak: missing in static programs, and in another library in old glibc. */
#pragma weak dladdr
#pragma weak dlopen
#pragma weak dlerror

static void (*at_exit)(void);

void xsp_at_exit(void (*end)(void))
{
	__atomic_store_n(&at_exit, end, __ATOMIC_RELEASE);
}

/*
 * Threads' rseq areas point to descriptors in this code, and keys and fork handlers call it, so it
 * must never be unmapped. The shared library is linked that way; the archive may be part of a
 * plug-in that could be unloaded, and pins it.
 */
static void stay_in_memory(void)
{
	Dl_info info;

	if (!dladdr || !dlopen || !dlerror || !dladdr(&at_exit, &info) || !info.dli_fname)
		return;
	/*
	 * Fails for the program itself, which stays anyway; consume the error, so that dlerror()
	 * does not show it.
	 */
	if (!dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE))
		(void)dlerror();
}

static struct xsp_fork_hook producer_hook = { .forget = xsp_producer_forget };
static struct xsp_fork_hook self_record_hook = { .forget = xsp_self_record_forget };

static void attach_again(void)
{
	xsp_set.state = XSP_DETACHED;
	xsp_attach();
}

/* An early constructor, so that markers in constructors of other libraries are recorded. */
__attribute__((constructor(101))) static void library_init(void)
{
	int err = errno;

	xsp_hash_begin();
	stay_in_memory();
	xsp_config_read();
	xsp_hooks.attach = xsp_attach;
	xsp_hooks.settle = xsp_fork_settle;
	xsp_at_fork(&producer_hook);
	xsp_at_fork(&self_record_hook);
	xsp_fork_init();
	xsp_attach();
	if (!xsp_attached() && xsp_config.record) {
		if (!xsp_self_record_start(xsp_config.record)) {
			/* XSPROF_SESSION is set now. */
			xsp_config_read();
			xsp_config.recording = true;
			attach_again();
		} else if (xsp_config.backend == XSP_CHOICE_DEVICE) {
			/* Self-recording failed: continue as if it was not requested. */
			xsp_config.record = NULL;
			attach_again();
		}
	}
	errno = err;
}

/* A late destructor; markers after it are still recorded and read. */
__attribute__((destructor(101))) static void library_exit(void)
{
	int err = errno;

	/* A child by a raw clone() must not end its parent's recording. */
	xsp_fork_check();
	if (at_exit)
		at_exit();
	if (xsp_attached())
		xsp_kept.backend->goodbye();
	xsp_self_record_stop();
	errno = err;
}
