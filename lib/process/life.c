// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The library in the life of the program: what it does before main() and at the end.  It decides
 * nothing about producers.
 */
#include <dlfcn.h>
#include <errno.h>

#include "process/backend.h"
#include "process/life.h"
#include "process/local.h"

/* A program linked statically has no loader, and an old C library has it elsewhere. */
#pragma weak dladdr
#pragma weak dlopen
#pragma weak dlerror

static void (*at_exit)(void);

void xsp_at_exit(void (*end)(void))
{
	__atomic_store_n(&at_exit, end, __ATOMIC_RELEASE);
}

/*
 * Threads' rseq areas point to descriptors in this code, and keys and fork handlers call it. The
 * shared library is linked so that it is never unmapped; the archive may be in a plug-in that is
 * unloaded, and keeps that one in memory.
 */
static void stay_in_memory(void)
{
	Dl_info info;

	if (!dladdr || !dlopen || !dlerror || !dladdr(&at_exit, &info) || !info.dli_fname)
		return;
	/* Fails for the program itself, which stays anyway; the error is not for its eyes. */
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

/* Early among constructors: markers of other libraries' constructors are to be seen. */
__attribute__((constructor(101))) static void library_init(void)
{
	int err = errno;

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
			/* The session's directory is in the environment now. */
			xsp_config_read();
			xsp_config.recording = true;
			attach_again();
		} else if (xsp_config.backend == XSP_CHOICE_DEVICE) {
			/* It does not record itself, as one that was never asked to. */
			xsp_config.record = NULL;
			attach_again();
		}
	}
	errno = err;
}

/* Late among destructors; markers still go in, and are still read, after it. */
__attribute__((destructor(101))) static void library_exit(void)
{
	int err = errno;

	/* A child by a raw clone() has nothing of its parent's to end. */
	xsp_fork_check();
	if (at_exit)
		at_exit();
	if (xsp_attached())
		xsp_kept.backend->goodbye();
	xsp_self_record_stop();
	errno = err;
}
