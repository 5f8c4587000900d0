// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ends QEMU with a chosen exit status, from the guest's user space, by the device isa-debug-exit at
 * port 0xf4: writing N makes the exit status 2N+1. So only odd statuses are possible, and
 * verdict_code gives only these.
 */
#include <stdlib.h>
#include <sys/io.h>

int main(int argc, char **argv)
{
	if (argc < 2 || ioperm(0xf4, 1, 1))
		return 1;
	outb(strtoul(argv[1], NULL, 10) >> 1, 0xf4);
	return 1;
}
