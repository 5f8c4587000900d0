// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ends QEMU with a chosen exit status, from the guest's user space, by the semihosting call
 * SYS_EXIT_EXTENDED with the reason "application exit". Needs -semihosting-config
 * enable=on,userspace=on; without it the instruction raises SIGILL, and the guest ends without a
 * verdict.
 */
#include <stdint.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	volatile uint64_t block[2] = { 0x20026, argc > 1 ? strtoul(argv[1], NULL, 10) : 0 };
	register uint64_t operation __asm__("x0") = 0x20;
	register volatile uint64_t *argument __asm__("x1") = block;

	__asm__ __volatile__("hlt #0xf000" : "+r"(operation) : "r"(argument) : "memory");
	return 1;
}
