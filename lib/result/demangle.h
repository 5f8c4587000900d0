/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Names of C++ as people write them.
 */
#ifndef XSR_DEMANGLE_H
#define XSR_DEMANGLE_H

/* Return: "space::function(int)", to be freed; NULL: it is no such name, or it cannot be done. */
char *xsr_demangle(const char *symbol);

#endif /* XSR_DEMANGLE_H */
