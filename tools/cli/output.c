// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening a capture's file, as perf does: what is overwritten is kept once, as FILE.old.  It is
 * locked for as long as it is open, so that two recorders never write to one file.  And zstd for
 * what is written to it: one context, one frame a chunk, each to be read without the others.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <xsprof/trace.h>

#include "cli/output.h"
#include "cli/tool.h"

/* What was moved aside last, and to where: it gets its name back when nothing takes its place. */
static char *kept, *kept_as;

static int keep_old(const char *path)
{
	int err;

	free(kept);
	free(kept_as);
	kept_as = NULL;
	kept = strdup(path);
	if (!kept || asprintf(&kept_as, "%s.old", path) < 0) {
		kept_as = NULL;
		return -ENOMEM;
	}
	if (!rename(path, kept_as))
		return 0;
	err = -errno;
	tool_error("%s: cannot be renamed to %s: %s", path, kept_as, strerror(-err));
	free(kept_as);
	kept_as = NULL;
	return err;
}

/* Where a file system has no locks nobody is kept out. */
static int lock(const char *path, int fd)
{
	if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
		return 0;
	tool_error("%s: is being written by another recorder: name another file with -o", path);
	return -EBUSY;
}

#define EMPTY_BYTES	65536	/* a capture without an event is smaller */

/*
 * A recording that ended in order and met no process: it would push the last good one out of
 * FILE.old.
 */
static bool holds_nothing(const char *path, off_t size)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	struct xsprof_trace *trace;
	struct xsprof_event event;
	bool nothing;

	if (size > EMPTY_BYTES || xsprof_trace_open(path, NULL, &trace))
		return false;
	nothing = !xsprof_trace_next_batch(trace, &event, 1) &&
		  !xsprof_trace_get_info(trace, &info) && info.end && !info.producers &&
		  !info.bad_chunks;
	xsprof_trace_close(trace);
	return nothing;
}

/* The file that has the name now: nobody's who still writes it. */
static int move_aside(const char *path, off_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err;

	if (fd < 0) {
		err = -errno;
		tool_error("%s: %s: name another file with -o", path, strerror(-err));
		return err;
	}
	err = lock(path, fd);
	if (!err && !holds_nothing(path, size))
		err = keep_old(path);
	close(fd);
	return err;
}

/* Emptied only when it is ours. */
static int take_over(const char *path, int fd)
{
	struct stat st;
	int err;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	err = lock(path, fd);
	if (err || !ftruncate(fd, 0))
		return err;
	err = -errno;
	tool_error("%s: cannot be written: %s", path, strerror(-err));
	return err;
}

static void put_back(const char *path)
{
	if (!kept_as || strcmp(kept, path))
		return;
	if (rename(kept_as, path))
		tool_error("%s: left in %s: %s", path, kept_as, strerror(errno));
	free(kept_as);
	kept_as = NULL;
}

/*
 * A link that somebody else has put there would have us overwrite any file of ours.  One of our
 * own, or root's (/dev/stdout), is meant to be followed.  Return: what open() is not to follow, or
 * -EACCES.
 */
static int check_link(const char *path)
{
	struct stat st;

	if (lstat(path, &st) || !S_ISLNK(st.st_mode))
		return O_NOFOLLOW;
	if (st.st_uid == geteuid() || !st.st_uid)
		return 0;
	tool_error("%s: is a symbolic link of another user: name another file with -o", path);
	return -EACCES;
}

int output_open(const char *path)
{
	int fd, err, nofollow = check_link(path);
	struct stat st;

	if (nofollow < 0)
		return nofollow;
	/* A pipe or a device is written to as it is. */
	if (!stat(path, &st)) {
		if (S_ISDIR(st.st_mode)) {
			tool_error("%s: is a directory: name a file with -o", path);
			return -EISDIR;
		}
		err = S_ISREG(st.st_mode) && st.st_size ? move_aside(path, st.st_size) : 0;
		if (err)
			return err;
	}
	/* What a program did is its user's business. */
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | nofollow, 0600);
	if (fd < 0) {
		err = -errno;
		tool_error("%s: cannot be written: %s: name another file with -o", path,
			   strerror(-err));
		put_back(path);
		return err;
	}
	err = take_over(path, fd);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int output_check(const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX] = ".";
	struct stat st;
	int err;

	if (slash)
		snprintf(dir, sizeof(dir), "%.*s", slash == path ? 1 : (int)(slash - path), path);
	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		tool_error("%s: is a directory: name a file with -o", path);
		return -EISDIR;
	}
	if (!faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS))
		return 0;
	err = -errno;
	tool_error("%s: cannot be written: %s: name another file with -o", path, strerror(-err));
	return err;
}

void output_drop(const char *path, int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		unlink(path);
	close(fd);
	put_back(path);
}

/* ---- zstd ---------------------------------------------------------------------------------- */

static int compress(void *data, void *dst, size_t room, const void *src, size_t len, size_t *out)
{
	size_t n = ZSTD_compress2(data, dst, room, src, len);

	if (ZSTD_isError(n))
		return -ENOBUFS;
	*out = n;
	return 0;
}

int compress_open(struct xsp_cap_compressor *compressor, int level)
{
	ZSTD_CCtx *ctx = ZSTD_createCCtx();

	if (!ctx)
		return -ENOMEM;
	/* The chunk has a checksum of its own, and says its size. */
	if (ZSTD_isError(ZSTD_CCtx_setParameter(ctx, ZSTD_c_compressionLevel, level)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, 0))) {
		ZSTD_freeCCtx(ctx);
		return -EINVAL;
	}
	compressor->compress = compress;
	compressor->data = ctx;
	return 0;
}

void compress_close(struct xsp_cap_compressor *compressor)
{
	ZSTD_freeCCtx(compressor->data);
	compressor->data = NULL;
}

int compress_level(const char *verb, char **argv, int *level)
{
	uint64_t value = COMPRESS_LEVEL_DEFAULT;
	const char *text = optarg;

	/* "-z 9", which is no option with a value for getopt_long(), and no command for anybody. */
	if (!text && argv[optind] && !tool_parse_u64(argv[optind], &value))
		text = argv[optind++];
	if (text && (tool_parse_u64(text, &value) || !value || value > COMPRESS_LEVEL_MAX))
		return tool_usage(verb, "--compress: '%s' is not a level: 1 to %d", text,
				  COMPRESS_LEVEL_MAX);
	*level = value;
	return -1;
}
