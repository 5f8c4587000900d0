// SPDX-License-Identifier: LGPL-2.1-only
/*
 * File names that TensorBoard's plugin expects in its log directory: DIR/WORKER.TIME.pt.trace.json.
 * Creates the directory, but no file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <xsprof/result.h>

/* Another process may create it at the same time. */
static int make_one(const char *path)
{
	struct stat st;
	int err;

	if (mkdir(path, 0777) == 0)
		return 0;
	err = errno;
	if (stat(path, &st) == 0)
		return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
	return -err;
}

/* Creates the directory of the first @len bytes of @path and its parents; @path is restored. */
static int make_directory(char *path, size_t len)
{
	char c = 0;
	int ret = 0;

	for (size_t i = 1; i <= len && !ret; i++) {
		if (i < len && (path[i] != '/' || path[i - 1] == '/'))
			continue;
		c = path[i];
		path[i] = '\0';
		ret = make_one(path);
		path[i] = c;
	}
	return ret;
}

/* A worker is a single name on one line: other characters are replaced. */
static int put_worker(char *name, size_t size, const char *worker)
{
	char host[65] = "";
	int n;

	if (worker && *worker) {
		n = snprintf(name, size, "%s", worker);
	} else {
		if (gethostname(host, sizeof(host) - 1) < 0 || !host[0])
			snprintf(host, sizeof(host), "worker");
		n = snprintf(name, size, "%s_%d", host, (int)getpid());
	}
	if (n < 0 || (size_t)n >= size)
		return -ENAMETOOLONG;
	for (; *name; name++)
		if (*name == '/' || (unsigned char)*name < 0x20)
			*name = '_';
	return n;
}

int xsprof_result_tensorboard_path(const char *dir, const char *worker, bool gzip, char *path,
				   size_t size)
{
	int before = errno, n, ret;
	struct timespec now;
	char name[256];	/* of a file name */

	if (!dir || !*dir || !path || !size)
		return -EINVAL;
	path[0] = '\0';
	n = put_worker(name, sizeof(name), worker);
	if (n < 0)
		return n;
	clock_gettime(CLOCK_REALTIME, &now);
	ret = snprintf(name + n, sizeof(name) - (size_t)n, ".%" PRIu64 ".pt.trace.json%s",
		       (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
		       gzip ? ".gz" : "");
	if (ret < 0 || (size_t)(n + ret) >= sizeof(name))
		return -ENAMETOOLONG;
	ret = snprintf(path, size, "%s/%s", dir, name);
	ret = ret < 0 || (size_t)ret >= size ? -ENAMETOOLONG : make_directory(path, strlen(dir));
	if (ret)
		path[0] = '\0';
	errno = before;
	return ret;
}
