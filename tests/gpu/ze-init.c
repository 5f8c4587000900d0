// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that is linked with Level Zero's real loader, and initialises it.
 */
#include <stdint.h>
#include <stdio.h>

int zeInit(uint32_t flags);

int main(void)
{
	printf("zeInit: %#x\n", (unsigned int)zeInit(0));
	return 0;
}
