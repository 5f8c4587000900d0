// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens a capture's file, and prints errors. And zstd compression: one context, one independent
 * frame per chunk.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <xsprof/trace.h>

#include "base/hash.h"
#include "capture/open.h"
#include "cli/output.h"
#include "cli/tool.h"

/* The file last renamed to FILE.old: it gets its name back if nothing replaces it. */
static char *kept;

#define EMPTY_BYTES	65536	/* a capture without an event is smaller */

/*
 * A recording that ended normally without any process: it should not push the last good one out of
 * FILE.old.
 */
static bool holds_nothing(const char *file, off_t size)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	struct xsprof_trace *trace;
	struct xsprof_event event;
	bool nothing;

	if (size > EMPTY_BYTES || xsprof_trace_open(file, NULL, &trace))
		return false;
	nothing = !xsprof_trace_next_batch(trace, &event, 1) &&
		  !xsprof_trace_get_info(trace, &info) && info.end && !info.producers &&
		  !info.bad_chunks;
	xsprof_trace_close(trace);
	return nothing;
}

static void put_back(const char *path)
{
	char old[PATH_MAX + 8];

	if (!kept || strcmp(kept, path))
		return;
	snprintf(old, sizeof(old), "%s.old", kept);
	if (rename(old, path))
		tool_error("%s: left in %s: %s", path, old, strerror(errno));
	free(kept);
	kept = NULL;
}

static int open_place(struct xsp_cap_place *place)
{
	int fd = xsp_cap_open(place);

	free(kept);
	kept = place->kept ? strdup(place->path) : NULL;
	if (fd < 0)
		put_back(place->path);
	return fd;
}

static int failed(const struct xsp_cap_place *place, int err)
{
	const char *path = place->path;

	if (place->old)
		tool_error("%s.old: %s: cannot keep the existing %s there: move it away, or name "
			   "another file with -o", path, place->why, path);
	else if (place->why)
		tool_error("%s: %s: name another file with -o", path, place->why);
	else
		tool_error("%s: cannot be written: %s: name another file with -o", path,
			   strerror(-err));
	return err;
}

int output_open(const char *path)
{
	struct xsp_cap_place place = { .path = path, .worthless = holds_nothing };
	int fd = open_place(&place);

	return fd < 0 ? failed(&place, fd) : fd;
}

/* Number of names tried: the given one, two with a suffix, and an unpredictable one. */
#define NAMES	4u

int output_open_beside(char *path, size_t size)
{
	struct xsp_cap_place first = { .path = path, .worthless = holds_nothing };
	struct xsp_cap_place place;
	char name[PATH_MAX];
	struct stat st;
	uint32_t i;
	int err, fd;

	err = open_place(&first);
	for (i = 2, fd = err; fd < 0 && i <= NAMES; i++) {
		/* If the folder is the cause, no other name helps. */
		if (i == 2 && !first.why && err != -EACCES && lstat(path, &st))
			break;
		if (snprintf(name, sizeof(name), "%s.%llx", path, i < NAMES ? i :
			     (unsigned long long)xsp_hash_seed(name)) >= (int)size)
			break;
		place = (struct xsp_cap_place){ .path = name, .worthless = holds_nothing };
		fd = open_place(&place);
	}
	if (fd < 0)
		return failed(&first, err);
	if (err >= 0)
		return fd;
	tool_note("%s%s: %s: written to %s", path, first.old ? ".old" : "",
		  first.why ? first.why : strerror(-err), name);
	strcpy(path, name);
	return fd;
}

int output_name(const char *verb, const char *path)
{
	const char *end = strrchr(path, '.');

	if (end && (!strcasecmp(end, ".json") || !strcasecmp(end, ".pftrace")))
		return tool_usage(verb, "--output: %s: a capture is not a %s file ('xsprof dump -f "
				  "%s -o %s' converts it): use a name without that "
				  "extension", path, end,
				  strcasecmp(end, ".json") ? "perfetto" : "chrome", path);
	if (!end || (strcasecmp(end, ".gz") && strcasecmp(end, ".zst")))
		return -1;
	return tool_usage(verb, "--output: %s: a capture is not a %s file: %s", path, end,
			  strcmp(verb, "recover") ? "-z compresses it: use a name without that "
			  "extension" :
			  "use a name without that extension");
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
	struct stat st, there;

	/* Only if the path is the file itself: a link such as /dev/stdout belongs to another. */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !lstat(path, &there) &&
	    there.st_dev == st.st_dev && there.st_ino == st.st_ino)
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
	/* The chunk has its own checksum and states its size. */
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

	/* "-z 9": optarg is optional for getopt_long(), and "9" is not a command. */
	if (!text && argv[optind] && !tool_parse_u64(argv[optind], &value))
		text = argv[optind++];
	if (text && (tool_parse_u64(text, &value) || !value || value > COMPRESS_LEVEL_MAX))
		return tool_usage(verb, "--compress: '%s' is not a level: 1 to %d", text,
				  COMPRESS_LEVEL_MAX);
	*level = value;
	return -1;
}
