/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * An output: one large buffer in front of write(2) or of what packs it, and for a dump the file
 * behind it, which gets its name only when it is whole; or a text in memory.  It never formats
 * anything.
 */
#ifndef XSPROF_OUT_BUF_H
#define XSPROF_OUT_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define XSP_BUF_SIZE	(1u << 20)
#define XSP_BUF_ROOM	(64u << 10)	/* the most that xsp_buf_room() can be asked for */

/**
 * struct xsp_buf - an output
 * @p: where the next byte goes
 * @limit: beyond it the buffer is written out before more is put in
 * @base: start of the buffer
 * @fd: where it goes
 * @err: errno of the first write that failed, 0; nothing is written after it
 * @total: bytes written out
 * @path: the name the file gets at the end, NULL for stdout
 * @tmp: the name it has until then, NULL when it is written in place (a device, a FIFO)
 * @put: takes the bytes in place of @fd, returns 0 or -errno; NULL for none
 * @data: passed to it
 * @grows: it is memory that grows, and is never written out
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
 * Makes a new file beside @path, in a name that nobody else has and that @tmp is set to; free() it.
 * Return: a descriptor or -errno, @tmp being NULL.
 */
int xsp_open_beside(const char *path, char **tmp);
/*
 * Opens a device or a pipe, which has readers of its own and keeps its name.  One that another user
 * has put there, itself or by a link, is to be replaced.
 * Return: a descriptor; -ENOENT: @path is none; -EISDIR; -errno.
 */
int xsp_open_in_place(const char *path);
/* In front of @fd, which stays the caller's; for xsp_buf_free().  Return: 0 or -errno. */
int xsp_buf_init(struct xsp_buf *buf, int fd);
/*
 * A text in memory, from @base to @p; set @p back for the next.  Without memory for more, @err is
 * ENOMEM and the text is lost.  For xsp_buf_free().  Return: 0 or -ENOMEM.
 */
int xsp_buf_memory(struct xsp_buf *buf);
void xsp_buf_free(struct xsp_buf *buf);
/* @path "-" is stdout.  Return: 0 or -errno. */
int xsp_buf_open(struct xsp_buf *buf, const char *path);
int xsp_buf_flush(struct xsp_buf *buf);
/* Writes the rest and names the file, or removes it when @keep is 0.  Return: 0 or -errno. */
int xsp_buf_close(struct xsp_buf *buf, int keep);

/* Makes room for @n <= XSP_BUF_ROOM bytes.  Return: where they go; move @p afterwards. */
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
