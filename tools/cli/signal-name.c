// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of signals, as in kill(1): glibc has sigabbrev_np() only since 2.32.
 */
#include <signal.h>
#include <stddef.h>

#include "cli/signal-name.h"

#define NAME(name)	[SIG##name] = #name

static const char *const names[] = {
	NAME(HUP), NAME(INT), NAME(QUIT), NAME(ILL), NAME(TRAP), NAME(ABRT), NAME(BUS), NAME(FPE),
	NAME(KILL), NAME(USR1), NAME(SEGV), NAME(USR2), NAME(PIPE), NAME(ALRM), NAME(TERM),
	NAME(CHLD), NAME(CONT), NAME(STOP), NAME(TSTP), NAME(TTIN), NAME(TTOU), NAME(URG),
	NAME(XCPU), NAME(XFSZ), NAME(VTALRM), NAME(PROF), NAME(WINCH), NAME(POLL), NAME(PWR),
	NAME(SYS),
#ifdef SIGSTKFLT
	NAME(STKFLT),
#endif
};

const char *signal_name(int signal)
{
	if (signal < 0 || (size_t)signal >= sizeof(names) / sizeof(names[0]))
		return NULL;
	return names[signal];
}
