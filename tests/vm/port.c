// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies standard input to an x86 I/O port: the output of a guest whose kernel has no PCI and so no
 * virtio. The device behind the port is isa-debugcon.
 */
#include <stdlib.h>
#include <sys/io.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char buffer[65536];
	unsigned short port;
	ssize_t n;

	if (argc != 2)
		return 2;
	port = (unsigned short)strtoul(argv[1], NULL, 0);
	if (ioperm(port, 1, 1))
		return 1;
	while ((n = read(STDIN_FILENO, buffer, sizeof(buffer))) > 0)
		outsb(port, buffer, (unsigned long)n);
	return n < 0;
}
