// SPDX-License-Identifier: GPL-2.0-only
/*
 * Saves results as files, from a program.
 *
 *	save kineto|timeline|snapshot|execution|stacks CAPTURE FILE [FROM TO]	writes FILE
 *	save host-timeline CAPTURE FILE				the timeline of the host's memory
 *	save test CAPTURE DIR						tests the calls, TAP
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xsprof/result.h>

static int tests, failed;

static void is(bool good, const char *what)
{
	printf("%s %d %s\n", good ? "ok" : "not ok", ++tests, what);
	failed |= !good;
}

static struct xsprof_result *must_open(const char *path, const struct xsprof_result_options *opts)
{
	struct xsprof_result *result;
	int ret = xsprof_result_open(path, opts, &result);

	if (ret) {
		fprintf(stderr, "save: %s: %s\n", path, strerror(-ret));
		exit(1);
	}
	return result;
}

static int write_one(int argc, char **argv)
{
	static const char *const keys[] = { "job", "traceEvents", "bad" };
	static const char *const values[] = { "{\"id\": [1, 2.5e3, null]}", "[]", "{oops" };
	struct xsprof_result_options opts = {
		.size = sizeof(opts), .keys = keys, .values = values, .nr_metadata = 3,
	};
	struct xsprof_result *result;
	int ret;

	if (argc > 5) {
		opts.from_ns = strtoull(argv[4], NULL, 10);
		opts.to_ns = strtoull(argv[5], NULL, 10);
	}
	result = must_open(argv[2], &opts);
	if (!strcmp(argv[1], "kineto"))
		ret = xsprof_result_save(result, argv[3]);
	else if (!strcmp(argv[1], "timeline"))
		ret = xsprof_result_save_memory_timeline(result, argv[3],
							 XSPROF_DEVICE(XSPROF_DEVICE_CUDA, 1));
	else if (!strcmp(argv[1], "host-timeline"))
		ret = xsprof_result_save_memory_timeline(result, argv[3],
							 XSPROF_DEVICE(XSPROF_DEVICE_CPU, 0));
	else if (!strcmp(argv[1], "snapshot"))
		ret = xsprof_result_save_memory_snapshot(result, argv[3]);
	else if (!strcmp(argv[1], "stacks"))
		ret = xsprof_result_save_stacks(result, argv[3], XSPROF_STACKS_CPU);
	else
		ret = xsprof_result_save_execution_trace(result, argv[3]);
	if (ret)
		fprintf(stderr, "save: %s (%s)\n", xsprof_result_error(result), strerror(-ret));
	xsprof_result_free(result);
	return ret ? 1 : 0;
}

/* ---- what the calls do ---------------------------------------------------------------------- */

struct taken {
	char	path[256];
	char	head[16];
	off_t	size;
	int	calls;
	int	ret;
};

static int take(void *data, const char *path, int fd)
{
	struct taken *taken = data;
	struct stat st;

	taken->calls++;
	snprintf(taken->path, sizeof(taken->path), "%s", path);
	if (fstat(fd, &st) < 0 || read(fd, taken->head, sizeof(taken->head)) < 0)
		return -errno;
	taken->size = st.st_size;
	return taken->ret;
}

static void schemes(const char *capture)
{
	struct taken taken = { .ret = -EHOSTDOWN };
	struct xsprof_result *result = must_open(capture, NULL);

	is(xsprof_result_save(result, "s3://bucket/t.json") == -EPROTONOSUPPORT &&
	   strstr(xsprof_result_error(result), "s3"), "a scheme that nobody knows");
	is(xsprof_result_register_handler("s3", take, &taken) == 0 &&
	   xsprof_result_register_handler("s3", take, &taken) == -EEXIST &&
	   xsprof_result_register_handler("", take, &taken) == -EINVAL &&
	   xsprof_result_register_handler(NULL, take, &taken) == -EINVAL &&
	   xsprof_result_register_handler("a/b", take, &taken) == -EINVAL, "who saves there");
	is(xsprof_result_save(result, "s3://bucket/t.json") == -EHOSTDOWN && taken.calls == 1,
	   "what the handler says is the answer");
	taken.ret = 0;
	is(xsprof_result_save(result, "s3://bucket/t.json") == 0 && taken.calls == 2 &&
	   !strcmp(taken.path, "s3://bucket/t.json") && taken.head[0] == '{' && taken.size > 1000,
	   "the handler gets the path and the whole trace, from its begin");
	is(xsprof_result_save(result, "s3://bucket/t.json") == -EALREADY && taken.calls == 2,
	   "the second save is refused");
	xsprof_result_free(result);
	result = must_open(capture, NULL);
	is(xsprof_result_save(result, "s3://t.json.gz") == 0 && taken.head[0] == 0x1f &&
	   (unsigned char)taken.head[1] == 0x8b, "packed for a handler, too");
	xsprof_result_free(result);
	result = must_open(capture, NULL);
	is(xsprof_result_register_handler("s3", NULL, NULL) == 0 &&
	   xsprof_result_register_handler("s3", NULL, NULL) == 0 &&
	   xsprof_result_save(result, "s3://t.json") == -EPROTONOSUPPORT, "taken back");
	xsprof_result_free(result);
}

static void *register_many(void *data)
{
	const char *scheme = data;
	long good = 0;

	for (int i = 0; i < 20000; i++) {
		good += xsprof_result_register_handler(scheme, take, data) == 0;
		good -= xsprof_result_register_handler(scheme, NULL, NULL) != 0;
	}
	return (void *)good;
}

/* Threads that start and end, each with its own scheme, and two with the same. */
static void at_once(void)
{
	static const char *const names[] = { "a", "b", "b" };
	long good[3];
	pthread_t threads[3];
	void *ret;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, register_many, (void *)names[i]);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], &ret);
		good[i] = (long)ret;
	}
	is(good[0] == 20000 && good[1] + good[2] >= 20000, "handlers of several threads");
}

/* Whether @dir has a name of the plugin's pattern; @worker: the plugin's name of the worker. */
static bool for_plugin(const char *path, const char *dir, char *worker, size_t size)
{
	size_t len = strlen(dir);
	regmatch_t match[3];
	regex_t re;
	bool good;

	if (strncmp(path, dir, len) || path[len] != '/' || strchr(path + len + 1, '/'))
		return false;
	if (regcomp(&re, "^(.*)(\\.[0-9]+)\\.pt\\.trace\\.json(\\.gz)?$",
		    REG_EXTENDED | REG_NEWLINE))
		return false;
	good = regexec(&re, path + len + 1, 3, match, 0) == 0 &&
	       strtoull(path + len + 2 + match[2].rm_so, NULL, 10) > 1700000000000000000u;
	if (good)
		snprintf(worker, size, "%.*s", (int)match[1].rm_eo, path + len + 1);
	regfree(&re);
	return good;
}

static void names(const char *top)
{
	char dir[256], path[512], worker[128], own[96], host[65] = "", small[20], wide[300];
	struct stat st;
	FILE *file;

	snprintf(dir, sizeof(dir), "%s/runs/of today/", top);
	is(xsprof_result_tensorboard_path(dir, "a/b\n.7", false, path, sizeof(path)) == 0 &&
	   for_plugin(path, dir, worker, sizeof(worker)) && !strcmp(worker, "a_b_.7"),
	   "a name for TensorBoard");
	is(stat(dir, &st) == 0 && S_ISDIR(st.st_mode) && stat(path, &st) < 0,
	   "in a directory that was not there");
	gethostname(host, sizeof(host) - 1);
	snprintf(own, sizeof(own), "%s_%d", host, (int)getpid());
	is(xsprof_result_tensorboard_path(dir, NULL, true, path, sizeof(path)) == 0 &&
	   for_plugin(path, dir, worker, sizeof(worker)) && !strcmp(worker, own) &&
	   !strcmp(path + strlen(path) - 3, ".gz"), "of host and process");
	memset(wide, 'w', sizeof(wide) - 1);
	wide[sizeof(wide) - 1] = '\0';
	is(xsprof_result_tensorboard_path(dir, "a", false, small, sizeof(small)) ==
	   -ENAMETOOLONG && !small[0] &&
	   xsprof_result_tensorboard_path(dir, wide, false, path, sizeof(path)) ==
	   -ENAMETOOLONG && !path[0] &&
	   xsprof_result_tensorboard_path("", "a", false, path, sizeof(path)) == -EINVAL &&
	   xsprof_result_tensorboard_path(NULL, "a", false, path, sizeof(path)) == -EINVAL,
	   "that has no room");
	snprintf(dir, sizeof(dir), "%s/a file", top);
	file = fopen(dir, "w");
	if (file)
		fclose(file);
	snprintf(wide, sizeof(wide), "%s/below", dir);
	is(xsprof_result_tensorboard_path(dir, "a", false, path, sizeof(path)) == -ENOTDIR &&
	   xsprof_result_tensorboard_path(wide, "a", false, path, sizeof(path)) == -ENOTDIR &&
	   xsprof_result_tensorboard_path("/proc/nothing", "a", false, path, sizeof(path)) ==
	   -ENOENT && !path[0], "where no directory can be");
}

static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? -1 : st.st_size;
}

static void files(const char *capture, const char *dir)
{
	struct xsprof_result_options none = { .size = sizeof(none), .pid = 4000000 };
	struct xsprof_result *result = must_open(capture, NULL);
	char path[512], other[512];
	int fd;

	snprintf(path, sizeof(path), "%s/none/t.json", dir);
	errno = 99;
	is(xsprof_result_save(result, path) == -ENOENT && errno == 99 &&
	   strstr(xsprof_result_error(result), path), "no such directory");
	is(xsprof_result_save(result, dir) == -EISDIR, "a directory");
	is(xsprof_result_save(result, "") == -EINVAL, "no name");
	is(xsprof_result_save(result, "/dev/full") == -ENOSPC &&
	   strstr(xsprof_result_error(result), "space"), "a full device, and what to do");
	snprintf(path, sizeof(path), "%s/t.json", dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, "old", 3) != 3)
		exit(1);
	is(xsprof_result_save(result, path) == 0 && size_of(path) > 1000 &&
	   pread(fd, other, 4, 0) == 3 && !memcmp(other, "old", 3),
	   "a new file takes the name: the old one is not written");
	is(xsprof_result_save(result, path) == -EALREADY, "once");
	close(fd);
	fd = open(path, O_RDONLY);
	is(pread(fd, other, 1, 0) == 1 && other[0] == '{', "and is whole");
	close(fd);
	xsprof_result_free(result);
	result = must_open(capture, NULL);
	is(xsprof_result_save(result, "/dev/null") == 0, "a device is written in place");
	xsprof_result_free(result);
	result = must_open(capture, &none);
	snprintf(path, sizeof(path), "%s/none.json", dir);
	is(xsprof_result_save(result, path) == 0, "a trace of a process that is not there");
	xsprof_result_free(result);
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: save KIND CAPTURE FILE [FROM TO]\n"
			"       save test CAPTURE DIR\n");
		return 2;
	}
	if (strcmp(argv[1], "test"))
		return write_one(argc, argv);
	files(argv[2], argv[3]);
	schemes(argv[2]);
	at_once();
	names(argv[3]);
	printf("1..%d\n", tests);
	return failed;
}
