/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Demangles C++ names.
 */
#ifndef XSR_DEMANGLE_H
#define XSR_DEMANGLE_H

/* Return: "space::function(int)", to be freed; NULL: not a mangled name, or not possible. */
char *xsr_demangle(const char *symbol);

#endif /* XSR_DEMANGLE_H */
