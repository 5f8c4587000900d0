// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a trace whose name comes from outside may be: under one folder, through no link, replacing
 * an existing file and never writing into it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ondemand/kineto-env.h"
#include "ondemand/trace-file.h"
#include "common/tap.h"

static char top[100], root[150];

static const char *in(const char *dir, const char *rest)
{
	static char path[4][600];
	static unsigned int k;

	k = (k + 1) % 4;
	snprintf(path[k], sizeof(path[k]), "%s/%s", dir, rest);
	return path[k];
}

static unsigned int entries(const char *path)
{
	unsigned int n = 0;
	DIR *d = opendir(path);

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n - 2;
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		tap_wrong("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

static bool holds(const char *path, const char *text)
{
	char buf[100] = "";
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)strlen(text) && !strcmp(buf, text);
}

static void test_names(void)
{
	static const char *const pair[][2] = {
		{ "trace.json", "trace_12.json" },
		{ "trace.json.gz", "trace_12.json.gz" },
		{ "TRACE.JSON.GZ", "TRACE_12.JSON.GZ" },
		{ "w0.1234.pt.trace.json", "w0.1234_12.pt.trace.json" },
		{ "w0.1234.pt.trace.json.gz", "w0.1234_12.pt.trace.json.gz" },
		{ "trace", "trace_12" },
		{ "trace.jsonl", "trace.jsonl_12" },
		{ ".json", "_12.json" },
	};
	char to[NAME_MAX + 1], longest[NAME_MAX + 1];

	for (unsigned int i = 0; i < sizeof(pair) / sizeof(pair[0]); i++) {
		CHECK_EQ(xsp_trace_file_name(pair[i][0], 12, to, sizeof(to)), 0);
		if (strcmp(to, pair[i][1]))
			tap_wrong("%s: %s, not %s", pair[i][0], to, pair[i][1]);
	}
	memset(longest, 'x', NAME_MAX);
	longest[NAME_MAX] = '\0';
	CHECK_EQ(xsp_trace_file_name(longest, 12, to, sizeof(to)), -ENAMETOOLONG);
	longest[NAME_MAX - 3] = '\0';
	CHECK_EQ(xsp_trace_file_name(longest, 12, to, sizeof(to)), 0);
	tap_result("the process' number stands before the name's end");
}

static void test_confined(void)
{
	char deep[5000];

	CHECK_EQ(xsp_trace_file_check(in(root, "a.json"), 1), 0);
	CHECK_EQ(xsp_trace_file_check(in(root, "./sub//./a.json"), 1), 0);
	CHECK_EQ(xsp_trace_file_check(in(root, "a..b.json"), 1), 0);
	CHECK_EQ(xsp_trace_file_check(in(root, "../a.json"), 1), -EPERM);
	CHECK_EQ(xsp_trace_file_check(in(root, "sub/../a.json"), 1), -EPERM);
	CHECK_EQ(xsp_trace_file_check(in(root, ".."), 1), -EPERM);
	CHECK_EQ(xsp_trace_file_check(in(top, "a.json"), 1), -EPERM);
	/* A folder whose name only begins like it is another folder. */
	CHECK_EQ(xsp_trace_file_check(in(top, "rootless/a.json"), 1), -EPERM);
	CHECK_EQ(xsp_trace_file_check("/etc/passwd", 1), -EPERM);
	CHECK_EQ(xsp_trace_file_check("a.json", 1), -EPERM);
	CHECK_EQ(xsp_trace_file_check("", 1), -EPERM);
	CHECK_EQ(xsp_trace_file_check(root, 1), -EPERM);
	CHECK_EQ(xsp_trace_file_check(in(root, "sub/"), 1), -EISDIR);
	CHECK_EQ(xsp_trace_file_check(in(root, "sub/."), 1), -EISDIR);
	CHECK_EQ(xsp_trace_file_check(in(root, "none/a.json"), 1), -ENOENT);
	CHECK_EQ(xsp_trace_file_check(in(root, "file/a.json"), 1), -ENOTDIR);
	memset(deep, 'x', sizeof(deep));
	deep[sizeof(deep) - 1] = '\0';
	memcpy(deep, root, strlen(root));
	deep[strlen(root)] = '/';
	CHECK_EQ(xsp_trace_file_check(deep, 1), -ENAMETOOLONG);
	deep[1000] = '/';
	CHECK_EQ(xsp_trace_file_check(deep, 1), -ENAMETOOLONG);
	tap_result("names outside the folder are refused");

	setenv("KINETO_ONDEMAND_TRACE_DIR", "relative", 1);
	xsp_kineto_env_read();
	CHECK_EQ(xsp_trace_file_check("relative/a.json", 1), -EPERM);
	unsetenv("KINETO_ONDEMAND_TRACE_DIR");
	xsp_kineto_env_read();
	CHECK_EQ(xsp_trace_file_check("/tmp/a.json", 1), 0);
	CHECK_EQ(xsp_trace_file_check("/tmpx/a.json", 1), -EPERM);
	CHECK_EQ(xsp_trace_file_check("/var/a.json", 1), -EPERM);
	setenv("KINETO_ONDEMAND_TRACE_DIR", in(root, "/"), 1);
	xsp_kineto_env_read();
	CHECK_EQ(xsp_trace_file_check(in(root, "a.json"), 1), 0);
	setenv("KINETO_ONDEMAND_TRACE_DIR", root, 1);
	xsp_kineto_env_read();
	tap_result("the folder is the environment's to choose, else /tmp");
}

static void test_links(void)
{
	struct xsp_trace_file f;
	struct stat st;

	CHECK_EQ(symlink(top, in(root, "out")), 0);
	CHECK_EQ(symlink("sub", in(root, "in")), 0);
	CHECK_EQ(xsp_trace_file_check(in(root, "out/a.json"), 1), -ENOTDIR);
	CHECK_EQ(xsp_trace_file_check(in(root, "in/a.json"), 1), -ENOTDIR);
	CHECK_EQ(xsp_trace_file_open(&f, in(root, "out/a.json"), 1), -ENOTDIR);
	tap_result("no folder is entered through a link");

	put(in(top, "victim"), "untouched");
	CHECK_EQ(symlink(in(top, "victim"), in(root, "a_7.json")), 0);
	CHECK_EQ(xsp_trace_file_open(&f, in(root, "a.json"), 7), 0);
	put(f.path, "trace");
	CHECK_EQ(xsp_trace_file_keep(&f), 0);
	CHECK(holds(in(top, "victim"), "untouched"));
	CHECK(holds(in(root, "a_7.json"), "trace"));
	CHECK(!lstat(in(root, "a_7.json"), &st) && S_ISREG(st.st_mode));
	unlink(in(root, "a_7.json"));
	tap_result("a link under the file's name is replaced, not followed");

	/* The folder of the temporary file is replaced by a link during the writing. */
	CHECK_EQ(xsp_trace_file_open(&f, in(root, "a.json"), 7), 0);
	CHECK_EQ(rename(in(root, f.own_name), in(root, "moved")), 0);
	CHECK_EQ(symlink(top, in(root, f.own_name)), 0);
	put(f.path, "trace");
	CHECK_EQ(xsp_trace_file_keep(&f), 0);
	CHECK(holds(in(root, "a_7.json"), "trace"));
	CHECK(access(in(top, "a_7.json"), F_OK));
	unlink(in(root, f.own_name));
	rmdir(in(root, "moved"));
	unlink(in(root, "a_7.json"));

	/* A link at the temporary file's place, found or made there, is not taken for the trace. */
	CHECK_EQ(xsp_trace_file_open(&f, in(root, "a.json"), 7), 0);
	CHECK_EQ(symlink(in(top, "victim"), f.path), 0);
	CHECK_EQ(xsp_trace_file_keep(&f), -EINVAL);
	unlink(in(root, "out"));
	unlink(in(root, "in"));
	CHECK_EQ(entries(root), 2);
	tap_result("what is swapped meanwhile leads nowhere");
}

static void test_write(void)
{
	struct xsp_trace_file f;
	char own[100];
	struct stat st;
	unsigned int fds = entries("/proc/self/fd");

	CHECK_EQ(xsp_trace_file_open(&f, in(root, "sub/b.pt.trace.json.gz"), 9), 0);
	CHECK(!strcmp(f.name, "b_9.pt.trace.json.gz"));
	CHECK(!strcmp(f.path + strlen(f.path) - 3, ".gz"));
	snprintf(own, sizeof(own), "sub/%s", f.own_name);
	CHECK(!lstat(in(root, own), &st) && S_ISDIR(st.st_mode) && (st.st_mode & 0777) == 0700);
	put(f.path, "one");
	put(in(root, "sub/b_9.pt.trace.json.gz"), "older and longer");
	CHECK_EQ(xsp_trace_file_keep(&f), 0);
	CHECK(holds(in(root, "sub/b_9.pt.trace.json.gz"), "one"));
	CHECK_EQ(entries(in(root, "sub")), 1);
	tap_result("a file gets its place when it is whole, over an older one");

	CHECK_EQ(xsp_trace_file_open(&f, in(root, "sub/c.json"), 9), 0);
	CHECK_EQ(xsp_trace_file_keep(&f), -ENOENT);
	CHECK_EQ(xsp_trace_file_open(&f, in(root, "sub/c.json"), 9), 0);
	put(f.path, "half");
	xsp_trace_file_drop(&f);
	CHECK_EQ(xsp_trace_file_open(&f, in(root, "sub/c.json"), 9), 0);
	strcat(f.path, ".tmp");
	put(f.path, "left behind");
	f.path[strlen(f.path) - 4] = '\0';
	put(f.path, "whole");
	CHECK_EQ(xsp_trace_file_keep(&f), 0);
	CHECK_EQ(entries(in(root, "sub")), 2);
	CHECK_EQ(mkdir(in(root, "d_9.json"), 0700), 0);
	CHECK_EQ(xsp_trace_file_open(&f, in(root, "d.json"), 9), 0);
	put(f.path, "whole");
	CHECK_EQ(xsp_trace_file_keep(&f), -EISDIR);
	rmdir(in(root, "d_9.json"));
	unlink(in(root, "sub/b_9.pt.trace.json.gz"));
	unlink(in(root, "sub/c_9.json"));
	CHECK_EQ(entries(in(root, "sub")), 0);
	CHECK_EQ(entries(root), 2);
	CHECK_EQ(entries("/proc/self/fd"), fds);
	tap_result("what is not kept leaves nothing, not even a descriptor");
}

int main(void)
{
	snprintf(top, sizeof(top), "%s/xsprof-place.XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(top))
		tap_bail("%s: %s", top, strerror(errno));
	snprintf(root, sizeof(root), "%s/root", top);
	if (mkdir(root, 0700) || mkdir(in(root, "sub"), 0700) || mkdir(in(top, "rootless"), 0700))
		tap_bail("mkdir: %s", strerror(errno));
	put(in(root, "file"), "");
	setenv("KINETO_ONDEMAND_TRACE_DIR", root, 1);
	xsp_kineto_env_read();
	test_names();
	test_confined();
	test_links();
	test_write();
	unlink(in(root, "file"));
	unlink(in(top, "victim"));
	rmdir(in(root, "sub"));
	rmdir(in(top, "rootless"));
	rmdir(root);
	rmdir(top);
	return tap_done();
}
