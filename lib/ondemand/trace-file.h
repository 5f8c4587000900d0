/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The file of a requested trace: where it may be, and how it is written there.
 */
#ifndef XSP_TRACE_FILE_H
#define XSP_TRACE_FILE_H

#include <limits.h>
#include <sys/types.h>

#include "base/own.h"

/**
 * struct xsp_trace_file - a file being written
 * @dir: its final folder
 * @own: a folder of our own in @dir that no other user can enter
 * @own_name: its name
 * @name: the file's name, including the pid
 * @path: path to write to; through @own's descriptor, so that it cannot be replaced
 */
struct xsp_trace_file {
	int	dir;
	int	own;
	char	own_name[48];
	char	name[NAME_MAX + 1];
	char	path[NAME_MAX + 48];
};

int xsp_trace_file_name(const char *name, pid_t pid, char *to, size_t room) XSP_HIDDEN;
int xsp_trace_file_path(const char *file, pid_t pid, char *to, size_t room) XSP_HIDDEN;
int xsp_trace_file_check(const char *file, pid_t pid) XSP_HIDDEN;
int xsp_trace_file_open(struct xsp_trace_file *f, const char *file, pid_t pid) XSP_HIDDEN;
int xsp_trace_file_keep(struct xsp_trace_file *f) XSP_HIDDEN;
void xsp_trace_file_drop(struct xsp_trace_file *f) XSP_HIDDEN;

#endif /* XSP_TRACE_FILE_H */
