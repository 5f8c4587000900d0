// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ends QEMU with a chosen exit status, from the guest's user space: the device
 * isa-debug-exit at port 0xf4, which makes an exit status of 2N+1 from the N that is
 * written to it. Only odd statuses can be had; verdict_code gives only such.
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
