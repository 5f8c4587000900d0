/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the files of the library that is preloaded share.  In a process that calls none of the
 * functions that it defines, nothing of it runs.
 */
#ifndef XSPROF_ROCM_PRELOAD_LOCAL_H
#define XSPROF_ROCM_PRELOAD_LOCAL_H

#include <stddef.h>
#include <string.h>

#define EXPORT		__attribute__((visibility("default")))
#define COLLECTOR	"libxsprof-rocm.so"

/* The function that a program would have called without us.  @part: of its library's name. */
void *rocm_next(const char *name, const char *part);

/* Relaxed: all threads find the same. */
#define ROCM_NEXT(function, name, part) do {					\
	static void *symbol_;							\
	void *found_ = __atomic_load_n(&symbol_, __ATOMIC_RELAXED);		\
										\
	if (!found_) {								\
		found_ = rocm_next(name, part);					\
		__atomic_store_n(&symbol_, found_, __ATOMIC_RELAXED);		\
	}									\
	memcpy(&(function), &found_, sizeof(function));				\
} while (0)

/* The path of @file in the folder that has the library with @address.  Return: @path, or NULL. */
char *rocm_beside(const void *address, const char *file, char *path, size_t size);

#endif /* XSPROF_ROCM_PRELOAD_LOCAL_H */
