/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Handlers of "scheme://..." paths, which the program registers.
 */
#ifndef XSR_SCHEME_H
#define XSR_SCHEME_H

#include <stddef.h>

/* Of "scheme://..." the bytes of the scheme, else 0. */
size_t xsr_scheme(const char *path);
/* The handler of the scheme of @path.  Return: 0, -EPROTONOSUPPORT. */
int xsr_scheme_find(const char *path, int (**save)(void *data, const char *path, int fd),
		    void **data);

#endif /* XSR_SCHEME_H */
