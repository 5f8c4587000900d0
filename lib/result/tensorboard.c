// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The names under which TensorBoard's plugin looks for traces: DIR/WORKER.TIME.pt.trace.json.  It
 * makes names only: neither the directory nor the file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "result/file.h"

int xsprof_result_tensorboard_path(const char *dir, const char *worker, bool gzip, char *path,
				   size_t size)
{
	char host[65] = "", own[96];
	struct timespec now;
	char *p, *end;
	int n;

	if (!dir || !*dir || !path || !size)
		return -EINVAL;
	path[0] = '\0';
	if (!worker || !*worker) {
		if (gethostname(host, sizeof(host) - 1) < 0 || !host[0])
			snprintf(host, sizeof(host), "worker");
		snprintf(own, sizeof(own), "%s_%d", host, (int)getpid());
		worker = own;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	n = snprintf(path, size, "%s/%s.%" PRIu64 ".pt.trace.json%s", dir, worker,
		     (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
		     gzip ? ".gz" : "");
	if (n < 0 || (size_t)n >= size) {
		path[0] = '\0';
		return -ENAMETOOLONG;
	}
	/* A worker is one name, not a path. */
	p = path + strlen(dir) + 1;
	for (end = p + strlen(worker); p < end; p++)
		if (*p == '/')
			*p = '_';
	return 0;
}
