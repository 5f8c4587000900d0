/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Names that the program gives to streams and contexts by their handles.
 */
#ifndef XSPROF_CUPTI_HANDLE_H
#define XSPROF_CUPTI_HANDLE_H

/* Called in cuInit(). */
void cupti_handle_init(void);
/* Of struct xsprof_collector. */
int cupti_handle_named(void *unused, const char *type, const void *handle, const char *name);

#endif /* XSPROF_CUPTI_HANDLE_H */
