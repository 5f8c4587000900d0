/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Files of Python code objects.
 */
#ifndef XSPROF_COLLECT_PYTHON_FILE_H
#define XSPROF_COLLECT_PYTHON_FILE_H

#include <stdbool.h>

/*
 * The part of the path to show: a file of a package is shown relative to the packages' folder, as
 * PyTorch does.
 */
const char *python_file_shown(const char *file);
/* Is the file part of a package or of Python's standard library? */
bool python_file_is_foreign(const char *file);

#endif /* XSPROF_COLLECT_PYTHON_FILE_H */
