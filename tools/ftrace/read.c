// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies the tracer's sub-buffers, unchanged, from trace_pipe_raw into the capture.
 *
 * Full sub-buffers are moved by splice(): the kernel passes the page itself, and only the checksum
 * or the compressor reads its contents. splice() leaves partial sub-buffers in place; they are read
 * once a second, and at the end.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ftrace/local.h"

#define SLOT	XSPROF_SLOT_SIZE

static int is_cpu(const struct dirent *entry)
{
	return !strncmp(entry->d_name, "cpu", 3) && isdigit((unsigned char)entry->d_name[3]);
}

static int open_cpu(struct ftrace *ft, const char *cpu)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "per_cpu/%.32s/trace_pipe_raw", cpu);
	fd = tracefs_instance_file_open(ft->instance, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ft->cpus[ft->nr_cpus++] = (struct ftrace_cpu){ .cpu = atoi(cpu + 3), .fd = fd };
	return 0;
}

/*
 * The tracer's CPUs, in ascending order. The C library's CPU count may differ: it may be that of
 * CPUs that this process may use, or of online ones.
 */
static int open_buffers(struct ftrace *ft)
{
	char *path = tracefs_instance_get_file(ft->instance, "per_cpu");
	struct dirent **list;
	int nr, err = 0;

	if (!path)
		return -ENOMEM;
	nr = scandir(path, &list, is_cpu, versionsort);
	if (nr < 0)
		err = -errno;
	tracefs_put_tracing_file(path);
	if (nr < 0)
		return err;
	ft->cpus = calloc((size_t)nr + 1, sizeof(*ft->cpus));
	if (!ft->cpus)
		err = -ENOMEM;
	for (int i = 0; i < nr; i++) {
		if (!err)
			err = open_cpu(ft, list[i]->d_name);
		free(list[i]);
	}
	free(list);
	return err ? err : ft->nr_cpus ? 0 : -ENOENT;
}

int ftrace_open_cpus(struct ftrace *ft)
{
	ft->buf_size = ft->subbuf > XSPROF_FTRACE_CHUNK_MAX ? ft->subbuf : XSPROF_FTRACE_CHUNK_MAX;
	ft->buf = malloc(ft->buf_size);
	if (!ft->buf)
		return -ENOMEM;
	if (pipe2(ft->pipe, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	/* The pages of a chunk, or the user's limit. */
	(void)fcntl(ft->pipe[1], F_SETPIPE_SZ, (int)ft->buf_size);
	return open_buffers(ft);
}

void ftrace_close_cpus(struct ftrace *ft)
{
	for (uint32_t i = 0; i < ft->nr_cpus; i++)
		close(ft->cpus[i].fd);
	if (ft->pipe[0] >= 0)
		close(ft->pipe[0]);
	if (ft->pipe[1] >= 0)
		close(ft->pipe[1]);
	free(ft->cpus);
	free(ft->buf);
}

/* Reads the pipe's contents. Return: bytes, or -errno. */
static ssize_t empty_pipe(struct ftrace *ft, size_t want)
{
	size_t have = 0;

	while (have < want) {
		ssize_t n = read(ft->pipe[0], ft->buf + have, want - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		have += n;
	}
	return have;
}

static bool is_empty(int err)
{
	return err == EAGAIN || err == EWOULDBLOCK;
}

/* Reads full sub-buffers, up to a chunk of them. Return: bytes in @buf, 0: none, or -errno. */
static ssize_t take_full(struct ftrace *ft, struct ftrace_cpu *c)
{
	size_t have = 0;
	ssize_t got;

	while (have < ft->buf_size) {
		ssize_t n = splice(c->fd, NULL, ft->pipe[1], NULL, ft->buf_size - have,
				   SPLICE_F_NONBLOCK | SPLICE_F_MOVE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && !is_empty(errno) && !have)
			return -errno;
		if (n <= 0)
			break;
		have += n;
	}
	got = have ? empty_pipe(ft, have) : 0;
	/* They have left the tracer's buffer: they are lost, and counted. */
	if (got < 0) {
		c->pos += have / SLOT;
		c->unsaved += have / SLOT;
	}
	return got;
}

/* Reads the used part of one sub-buffer. */
static ssize_t take_rest(struct ftrace *ft, struct ftrace_cpu *c)
{
	ssize_t n;

	do {
		n = read(c->fd, ft->buf, ft->subbuf);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n && !is_empty(errno) ? -errno : 0;
	/* Older kernels return only the used part. */
	if (n < (ssize_t)ft->subbuf)
		memset(ft->buf + n, 0, ft->subbuf - n);
	return ft->subbuf;
}

static void store(struct ftrace *ft, struct xsp_cap *cap, struct ftrace_cpu *c, size_t len)
{
	struct xsprof_chunk chunk = {
		.type = XSPROF_CHUNK_FTRACE,
		.producer = XSPROF_NO_PRODUCER,
		.ring = c->cpu,
		.pos = c->pos,
	};
	uint64_t ts;

	memcpy(&ts, ft->buf, sizeof(ts));
	chunk.first = ts;
	memcpy(&ts, ft->buf + len - ft->subbuf, sizeof(ts));
	chunk.last = ts;
	if (xsp_cap_chunk(cap, &chunk, ft->buf, len))
		c->unsaved += len / SLOT;
	c->pos += len / SLOT;
}

/* Bounded, so that a CPU that fills its buffer as fast as this reads cannot starve the others. */
static uint64_t read_cpu(struct ftrace *ft, struct xsp_cap *cap, struct ftrace_cpu *c, bool rest)
{
	uint64_t total = 0;
	ssize_t n, left = 0;

	do {
		n = take_full(ft, c);
		if (n <= 0)
			break;
		store(ft, cap, c, n);
		total += n;
	} while (n == (ssize_t)ft->buf_size && total < 2 * ft->buffer);
	/* At the end the tracer is stopped: read everything. */
	while (rest && (left = take_rest(ft, c)) > 0) {
		store(ft, cap, c, left);
		total += left;
		if (total > 2 * ft->buffer)
			break;
	}
	if (!c->err)
		c->err = n < 0 ? n : left < 0 ? left : 0;
	/* Sub-buffers that did not fit into the file are a gap in it, and counted. */
	if (left || n < 0)
		ft->behind = true;
	return total;
}

uint64_t ftrace_read_cpus(struct ftrace *ft, struct xsp_cap *cap, bool rest)
{
	uint64_t most = 0;

	ft->behind = false;
	for (uint32_t i = 0; i < ft->nr_cpus; i++) {
		uint64_t n = read_cpu(ft, cap, &ft->cpus[i], rest);

		if (n > most)
			most = n;
	}
	return most;
}

/* ---- the account --------------------------------------------------------------------------- */

static uint64_t stat_of(const char *text, const char *key)
{
	size_t len = strlen(key);
	const char *at;

	/* At the start of a line: "overrun" is also the end of "commit overrun". */
	for (at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		if (!strncmp(at, key, len) && at[len] == ':')
			return strtoull(at + len + 1, NULL, 10);
	return 0;
}

void ftrace_write_ledgers(struct ftrace *ft, struct xsp_cap *cap, struct ftrace_stats *stats)
{
	struct xsprof_chunk chunk = {
		.type = XSPROF_CHUNK_LEDGER,
		.producer = XSPROF_NO_PRODUCER,
	};

	memset(stats, 0, sizeof(*stats));
	stats->cpus = ft->nr_cpus;
	for (uint32_t i = 0; i < ft->nr_cpus; i++) {
		const struct ftrace_cpu *c = &ft->cpus[i];
		struct xsprof_cap_ledger ledger = {
			.ring = c->cpu,
			.head = c->pos,
			.read = c->pos - c->unsaved,
			.unsaved = c->unsaved,
		};
		char name[64], *text;

		snprintf(name, sizeof(name), "per_cpu/cpu%u/stats", c->cpu);
		text = tracefs_instance_file_read(ft->instance, name, NULL);
		if (text) {
			ledger.drops = stat_of(text, "overrun") + stat_of(text, "commit overrun");
			ledger.busy = stat_of(text, "dropped events");
			stats->events += stat_of(text, "read events");
		}
		free(text);
		stats->lost += ledger.drops + ledger.busy;
		stats->bytes += ledger.read * SLOT;
		stats->unsaved += ledger.unsaved * SLOT;
		/* Try to write the counts even if the data did not fit. */
		xsp_cap_retry(cap);
		(void)xsp_cap_chunk(cap, &chunk, &ledger, sizeof(ledger));
	}
}
