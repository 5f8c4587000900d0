/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A file that a result is written to: whole under its name, or not there.  It may be packed on
 * its way, and may be somebody else's who takes it when it is whole.
 */
#ifndef XSR_FILE_H
#define XSR_FILE_H

#include <stdbool.h>

#include "text/buf.h"

struct xsr_gzip;

/**
 * struct xsr_file - a file that is being written
 * @buf: what is put into it
 * @fd: it
 * @path: the name that it gets
 * @tmp: the name that it has until then; NULL: none, or its own (a device, a FIFO)
 * @gzip: what packs it, NULL for none
 */
struct xsr_file {
	struct xsp_buf	buf;
	int		fd;
	const char	*path;
	char		*tmp;
	struct xsr_gzip	*gzip;
};

/* @path stays the caller's.  Return: 0 or -errno; -EOPNOTSUPP: ".gz", and there is no zlib. */
int xsr_file_open(struct xsr_file *file, const char *path);
/*
 * Writes the rest and gives it its name; throws it away where @err is not 0, or what there is to
 * write cannot be.  Return: @err, or what went wrong.
 */
int xsr_file_close(struct xsr_file *file, int err);

/* gzip.c: what is packed goes to @fd. */
int xsr_gzip_new(int fd, struct xsr_gzip **gzip);
int xsr_gzip_put(void *gzip, const char *s, size_t len);
int xsr_gzip_finish(struct xsr_gzip *gzip);
void xsr_gzip_free(struct xsr_gzip *gzip);

/* All of @len bytes.  Return: 0 or -errno. */
int xsr_write_all(int fd, const void *s, size_t len);

/* scheme.c: of "scheme://..." the bytes of the scheme, else 0. */
size_t xsr_scheme(const char *path);
/* Who saves there.  Return: 0, -EPROTONOSUPPORT. */
int xsr_scheme_find(const char *path, int (**save)(void *data, const char *path, int fd),
		    void **data);

struct xsprof_result;
struct xsprof_trace;
struct xsprof_result_options;

/**
 * xsr_save() - write a file out of a result
 * @result: result
 * @path: file
 * @write: writes all of @trace into @buf; returns 0 or -errno
 * @arg: passed to it
 *
 * Return: 0 or -errno, which is said in the result.
 */
int xsr_save(struct xsprof_result *result, const char *path,
	     int (*write)(struct xsprof_trace *trace, const struct xsprof_result_options *opts,
			  struct xsp_buf *buf, const void *arg), const void *arg);

#endif /* XSR_FILE_H */
