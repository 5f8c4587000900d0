// SPDX-License-Identifier: LGPL-2.1-only
/*
 * SIGBUS handler of tools that map producers' files. Touches no other memory.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "read/ring-guard.h"

/* Per thread: the handler runs on the thread that touched the page, which added the mapping. */
static __thread struct xsp_guarded *guarded;

/*
 * Without the handler no mapping is tracked: programs that record themselves do not install it, and
 * may start a session in one thread and end it in another.
 */
static bool installed;

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	const uint8_t *at = info->si_addr;
	struct xsp_guarded *mem;
	int saved = errno;

	(void)context;
	for (mem = guarded; mem; mem = mem->next) {
		if (at < mem->map || at >= mem->map + mem->size)
			continue;
		if (mmap(mem->map, mem->size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
			 0) == MAP_FAILED)
			break;
		mem->broken = true;
		errno = saved;
		return;
	}
	/* Not our mapping: die at the same instruction. */
	signal(sig, SIG_DFL);
	errno = saved;
}

int xsp_guard_install(void)
{
	struct sigaction sa;

	__atomic_store_n(&installed, true, __ATOMIC_RELAXED);
	memset(&sa, 0, sizeof(sa));
	sa.sa_sigaction = on_sigbus;
	sa.sa_flags = SA_SIGINFO;
	sigemptyset(&sa.sa_mask);
	return sigaction(SIGBUS, &sa, NULL) ? -errno : 0;
}

bool xsp_guard_installed(void)
{
	return __atomic_load_n(&installed, __ATOMIC_RELAXED);
}

void xsp_guard_add(struct xsp_guarded *mem)
{
	if (!xsp_guard_installed())
		return;
	mem->next = guarded;
	guarded = mem;
}

void xsp_guard_remove(struct xsp_guarded *mem)
{
	struct xsp_guarded **at;

	for (at = &guarded; *at; at = &(*at)->next) {
		if (*at != mem)
			continue;
		*at = mem->next;
		return;
	}
}
