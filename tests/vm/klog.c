// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guest's log writer: copies /dev/kmsg, record by record, to standard output, up to the record
 * that ends with the given mark. It writes each record before it reads the next, so a crash loses
 * one at most. If the kernel overwrote records before they were read, it writes a record that says
 * so. While there is nothing to read it writes an empty line every 10 s: a guest in which timers
 * still fire is never silent for longer (lockup.sh).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put(const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(STDOUT_FILENO, data, size);

		if (n < 0 && errno != EINTR)
			exit(1);
		if (n > 0) {
			data += n;
			size -= (size_t)n;
		}
	}
}

int main(int argc, char **argv)
{
	static const char lost[] =
		"4,0,0,-;klog: the kernel overwrote messages before they were read\n";
	static char record[16384];
	struct pollfd log = { .fd = open("/dev/kmsg", O_RDONLY), .events = POLLIN };
	int fd = log.fd;
	ssize_t n;

	if (argc != 2 || fd < 0)
		return 2;
	for (;;) {
		if (!poll(&log, 1, 10 * 1000)) {
			put("\n", 1);
			continue;
		}
		n = read(fd, record, sizeof(record) - 1);
		if (n < 0 && errno == EPIPE) {
			put(lost, sizeof(lost) - 1);
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 1;
		put(record, (size_t)n);
		record[n] = 0;
		record[strcspn(record, "\n")] = 0;
		if (strlen(record) >= strlen(argv[1]) &&
		    !strcmp(record + strlen(record) - strlen(argv[1]), argv[1]))
			return 0;
	}
}
