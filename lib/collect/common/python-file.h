/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The files of Python's codes.
 */
#ifndef XSPROF_COLLECT_PYTHON_FILE_H
#define XSPROF_COLLECT_PYTHON_FILE_H

#include <stdbool.h>

/* What of its path is shown: below a folder of packages that of the package, as PyTorch does. */
const char *python_file_shown(const char *file);
/* Is it of a package, or of Python's own library? */
bool python_file_is_foreign(const char *file);

#endif /* XSPROF_COLLECT_PYTHON_FILE_H */
