// SPDX-License-Identifier: GPL-2.0-only
/*
 * A C library that reports one CPU: musl does so for a process that may use only one, and glibc
 * before 2.34 did not count CPUs that may be added. The kernel's tracer has a buffer for each
 * possible CPU.
 */
#include <dlfcn.h>
#include <unistd.h>

long sysconf(int name)
{
	static long (*real)(int name);

	if (name == _SC_NPROCESSORS_CONF)
		return 1;
	if (!real)
		real = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
	return real ? real(name) : -1;
}
