/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paths of the libraries that are loaded into programs.
 */
#ifndef XSPROF_CLI_LIBRARY_H
#define XSPROF_CLI_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include <xsprof/xsprof.h>

#define LIBRARY_TEXT_(x)	#x
#define LIBRARY_TEXT(x)		LIBRARY_TEXT_(x)

/* Soname of the library for programs. */
#define LIBRARY_USER	"libxsprof-user.so." LIBRARY_TEXT(XSPROF_VERSION_MAJOR)
#define LIBRARY_ITT	"libxsprof-itt.so"
#define LIBRARY_NVTX	"libxsprof-nvtx.so"
#define LIBRARY_CUPTI	"libxsprof-cupti.so"
#define LIBRARY_OPENCL	"libxsprof-opencl.so"
/* Manifest of libxsprof-vulkan.so, in its own directory. */
#define LIBRARY_VULKAN	"xsprof-vulkan/layer.json"
#define LIBRARY_LEVELZERO "libxsprof-levelzero.so"
#define LIBRARY_PRELOAD	"libxsprof-preload.so"
/* It finds libxsprof-rocm.so beside itself. */
#define LIBRARY_ROCMINIT "libxsprof-rocminit.so"
#define LIBRARY_TORCH	"libxsprof-torch.so"
#define LIBRARY_PYTHON	"libxsprof-python.so"

/**
 * library_find - the path of one of our libraries
 * @name: its name
 * @path: set to it, of @size bytes
 *
 * Return: true if it exists and is readable.
 */
bool library_find(const char *name, char *path, size_t size);

#endif /* XSPROF_CLI_LIBRARY_H */
