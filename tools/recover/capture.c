// SPDX-License-Identifier: GPL-2.0-only
/*
 * The output file of a recovery: the incomplete capture of the killed recorder, or a new file.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular.h"
#include "base/write-all.h"
#include "capture/host.h"
#include "cli/filter.h"
#include "cli/output.h"
#include "cli/tool.h"
#include "recover/local.h"

#define BATCH	256u

/* Is this the capture into which the session was drained? */
static bool belongs(const struct session_seen *seen, const struct scan *scan)
{
	char want[64], have[33];
	int i;

	for (i = 0; i < 16; i++)
		snprintf(have + 2 * i, 3, "%02x", scan->uuid[i]);
	return xsp_recording_fact(&seen->s, "capture", want, sizeof(want)) > 0 &&
	       !strcmp(want, have);
}

/* Return: a descriptor of the capture to continue, scanned; -ENOENT: there is none. */
static int open_capture(struct scan *scan, const struct session_seen *seen, const char *path)
{
	struct stat st;
	int fd, err;

	/* Its directory may be another user's: the name may now be any file. */
	fd = xsp_regular_pin(AT_FDCWD, path, &st);
	if (fd >= 0)
		fd = xsp_regular_open(fd, O_RDWR);
	if (fd < 0)
		return fd;
	err = scan_capture(fd, scan);
	if (!err && !belongs(seen, scan))
		err = -ENOENT;
	if (err) {
		/* The scanned contents belong to another recording, above all its end. */
		scan_free(scan);
		close(fd);
		return err == -ENOEXEC || err == -EPROTONOSUPPORT ? -ENOENT : err;
	}
	return fd;
}

static int copy_file(int from, int to, uint64_t size)
{
	static char buf[1 << 20];
	uint64_t at = 0;

	while (at < size) {
		size_t want = size - at < sizeof(buf) ? size - at : sizeof(buf);
		ssize_t n = pread(from, buf, want, at);

		int err = n > 0 ? xsp_write_all(to, buf, n) : n ? -errno : -ENODATA;

		if (err)
			return err;
		at += n;
	}
	return 0;
}

/*
 * Without a known capture an existing file is never overwritten: several sessions may be recovered
 * at once, including profiling sessions, which have no file.
 */
static void new_name(char *path, size_t size, const char *old)
{
	int len = snprintf(path, size, "%.*s.recovered", (int)size - 32,
			   *old ? old : "xsprof.data");
	unsigned int n = 1;

	while (!access(path, F_OK) && n < 1000000)
		snprintf(path + len, size - len, ".%u", ++n);
}

/*
 * Opens the capture that the session names, or FILE.old, if a later recording to the same FILE has
 * renamed it. @path: set to its path. Return: as open_capture().
 */
static int find_capture(struct scan *scan, const struct session_seen *seen, char *path,
			size_t size)
{
	char named[PATH_MAX] = "";
	int fd;

	if (xsp_recording_fact(&seen->s, "output", named, sizeof(named)) <= 0)
		return -ENOENT;
	snprintf(path, size, "%s", named);
	fd = open_capture(scan, seen, path);
	if (fd != -ENOENT)
		return fd;
	if (snprintf(path, size, "%s.old", named) < (int)size)
		fd = open_capture(scan, seen, path);
	if (fd == -ENOENT)
		snprintf(path, size, "%s", named);
	return fd;
}

/*
 * Creates a new file, with the contents of @capture, if there is one. Return: 0, or an exit status.
 */
static int fill_output(struct scan *scan, struct xsp_cap *cap, int capture, const char *path,
		       int fd)
{
	int err;

	memset(cap, 0, sizeof(*cap));
	if (capture < 0) {
		err = xsp_cap_create(cap, fd, NULL);
		if (!err)
			err = xsp_host_store(cap, NULL);
	} else {
		err = copy_file(capture, fd, scan->size);
		if (!err)
			err = xsp_cap_continue(cap, fd, scan->size, NULL);
	}
	if (!err)
		return 0;
	tool_error("%s: cannot be written: %s: free some space and try again, or name another file "
		   "with -o", path, strerror(-err));
	/* Nothing was removed from memory yet, so a partial file is useless. */
	xsp_cap_free(cap);
	output_drop(path, fd);
	return TOOL_FAILED;
}

/* Events of a capture. Return: 0, or -errno. */
static int count_events(int fd, uint64_t *events)
{
	static struct xsprof_event evs[BATCH];
	struct xsprof_trace *trace;
	char path[32];
	int n, err;

	*events = 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = xsprof_trace_open(path, NULL, &trace);
	if (err < 0)
		return err;
	while ((n = xsprof_trace_next_batch(trace, evs, BATCH)) > 0)
		for (int i = 0; i < n; i++)
			*events += xsp_event_counts(&evs[i]);
	xsprof_trace_close(trace);
	return n;
}

/* The summary at the end counts only what was still in memory. */
static void say_copied(const char *path, const char *from, int capture)
{
	uint64_t events;
	int err = count_events(capture, &events);

	if (err)
		tool_note("%s: copied from %s, whose events cannot be counted: %s", path, from,
			  strerror(-err));
	else
		tool_note("%s: %" PRIu64 " event%s copied from %s; the new ones follow", path,
			  events, events == 1 ? "" : "s", from);
}

int recover_open_output(struct scan *scan, const char *output, const struct session_seen *seen,
			struct xsp_cap *cap, char *path, size_t size, int *fd)
{
	char old[PATH_MAX] = "";
	int capture, err;

	memset(scan, 0, sizeof(*scan));
	capture = find_capture(scan, seen, old, sizeof(old));
	if (capture < 0 && capture != -ENOENT && !output)
		return tool_error("%s: %s: name another file with -o", old, strerror(-capture));
	if (output)
		snprintf(path, size, "%s", output);
	else if (capture >= 0)
		snprintf(path, size, "%s", old);
	else
		new_name(path, size, old);
	if (capture >= 0 && !output) {
		*fd = capture;
		if (ftruncate(*fd, scan->size) || lseek(*fd, 0, SEEK_END) < 0)
			return tool_error("%s: %s", path, strerror(errno));
		err = xsp_cap_continue(cap, *fd, scan->size, NULL);
		return err ? tool_error("%s: %s", path, strerror(-err)) : 0;
	}
	*fd = output_open(path);
	err = *fd < 0 ? TOOL_FAILED : fill_output(scan, cap, capture, path, *fd);
	if (!err && capture >= 0)
		say_copied(path, old, capture);
	if (capture >= 0)
		close(capture);
	return err;
}
