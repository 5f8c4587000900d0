/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the libraries that go into programs are.
 */
#ifndef XSPROF_CLI_LIBRARY_H
#define XSPROF_CLI_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include <xsprof/xsprof.h>

#define LIBRARY_TEXT_(x)	#x
#define LIBRARY_TEXT(x)		LIBRARY_TEXT_(x)

/* The name that is there for programs to run with. */
#define LIBRARY_USER	"libxsprof-user.so." LIBRARY_TEXT(XSPROF_VERSION_MAJOR)
#define LIBRARY_ITT	"libxsprof-itt.so"
#define LIBRARY_NVTX	"libxsprof-nvtx.so"
#define LIBRARY_CUPTI	"libxsprof-cupti.so"
#define LIBRARY_OPENCL	"libxsprof-opencl.so"
/* What says where libxsprof-vulkan.so is, in a folder of its own. */
#define LIBRARY_VULKAN	"xsprof-vulkan/layer.json"
#define LIBRARY_LEVELZERO "libxsprof-levelzero.so"
#define LIBRARY_ZEINIT	"libxsprof-zeinit.so"
/* It finds libxsprof-rocm.so beside itself. */
#define LIBRARY_ROCMINIT "libxsprof-rocminit.so"
#define LIBRARY_TORCH	"libxsprof-torch.so"
#define LIBRARY_PYTHON	"libxsprof-python.so"

/**
 * library_find - the path of one of our libraries
 * @name: its name
 * @path: set to it, of @size bytes
 *
 * Return: it is there, and may be read.
 */
bool library_find(const char *name, char *path, size_t size);

#endif /* XSPROF_CLI_LIBRARY_H */
