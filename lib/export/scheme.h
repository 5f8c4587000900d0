/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Handlers of "scheme://..." paths, registered by the program.
 */
#ifndef XSR_SCHEME_H
#define XSR_SCHEME_H

#include <stddef.h>

/* Length of the scheme of "scheme://...", 0 for other paths. */
size_t xsr_scheme(const char *path);
/* Finds the handler for the scheme of @path. Return: 0, -EPROTONOSUPPORT. */
int xsr_scheme_find(const char *path, int (**save)(void *data, const char *path, int fd),
		    void **data);

#endif /* XSR_SCHEME_H */
