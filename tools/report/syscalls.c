// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of system calls, of the machine that this was built for.  The list is made by the build
 * from its <asm/unistd.h>.
 */
#include <asm/unistd.h>
#include <stddef.h>

#include "report/why-local.h"

static const char *const names[] = {
#include "syscalls.inc"
};

const char *syscall_name(int32_t nr)
{
	return nr >= 0 && (size_t)nr < sizeof(names) / sizeof(names[0]) ? names[nr] : NULL;
}
