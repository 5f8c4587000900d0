/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Output buffer: one large buffer in front of write(2) or of a compressor; for a dump also the file
 * behind it, which is renamed to its name when it is complete; or a text in memory. Does no
 * formatting.
 */
#ifndef XSPROF_OUT_BUF_H
#define XSPROF_OUT_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define XSP_BUF_SIZE	(1u << 20)
#define XSP_BUF_ROOM	(64u << 10)	/* limit of a request to xsp_buf_room() */

/**
 * struct xsp_buf - an output buffer
 * @p: position of the next byte
 * @limit: beyond it the buffer is flushed before more is added
 * @base: start of the buffer
 * @fd: file
 * @err: errno of the first failed write, 0; nothing is written after it
 * @total: bytes flushed
 * @path: final name of the file, NULL for stdout
 * @tmp: temporary name, NULL if it is written in place (a device, a fifo)
 * @put: receives flushed bytes instead of @fd, returns 0 or -errno; NULL for none
 * @data: passed to it
 * @grows: a growing text in memory, never flushed
 */
struct xsp_buf {
	char		*p;
	char		*limit;
	char		*base;
	int		fd;
	int		err;
	uint64_t	total;
	const char	*path;
	char		*tmp;
	int		(*put)(void *data, const char *s, size_t len);
	void		*data;
	bool		grows;
};

/*
 * Creates a new file beside @path, with a unique name that @tmp is set to, to be freed. Return: a
 * descriptor or -errno, with @tmp NULL.
 */
int xsp_open_beside(const char *path, char **tmp);
/*
 * Opens a device or a fifo, which is written in place. One that another user has put there, itself
 * or by a link, is not opened, and will be replaced. Return: a descriptor; -ENOENT: @path is
 * neither; -EISDIR; -errno.
 */
int xsp_open_in_place(const char *path);
/*
 * Initialises a buffer for @fd, which stays the caller's; free it with xsp_buf_free(). Return: 0 or
 * -errno.
 */
int xsp_buf_init(struct xsp_buf *buf, int fd);
/*
 * Initialises a text in memory, from @base to @p; reset @p for the next text. If memory runs out,
 * @err becomes ENOMEM and the text is lost. Free it with xsp_buf_free(). Return: 0 or -ENOMEM.
 */
int xsp_buf_memory(struct xsp_buf *buf);
void xsp_buf_free(struct xsp_buf *buf);
/* @path "-" is stdout. Return: 0 or -errno. */
int xsp_buf_open(struct xsp_buf *buf, const char *path);
int xsp_buf_flush(struct xsp_buf *buf);
/* Flushes the rest and renames the file, or removes it if @keep is 0. Return: 0 or -errno. */
int xsp_buf_close(struct xsp_buf *buf, int keep);

/* Makes room for @n <= XSP_BUF_ROOM bytes. Return: their position; advance @p afterwards. */
static inline char *xsp_buf_room(struct xsp_buf *buf, size_t n)
{
	(void)n;
	if (__builtin_expect(buf->p > buf->limit, 0))
		xsp_buf_flush(buf);
	return buf->p;
}

static inline void xsp_buf_put(struct xsp_buf *buf, const char *s, size_t len)
{
	while (len) {
		size_t n = len < XSP_BUF_ROOM ? len : XSP_BUF_ROOM;

		memcpy(xsp_buf_room(buf, n), s, n);
		buf->p += n;
		s += n;
		len -= n;
	}
}

static inline void xsp_buf_puts(struct xsp_buf *buf, const char *s)
{
	xsp_buf_put(buf, s, strlen(s));
}

#endif /* XSPROF_OUT_BUF_H */
