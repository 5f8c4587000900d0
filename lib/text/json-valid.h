/* SPDX-License-Identifier: LGPL-2.1-only */
#ifndef XSPROF_OUT_JSON_VALID_H
#define XSPROF_OUT_JSON_VALID_H

#include <stdbool.h>

/* Is it one JSON value in UTF-8, optionally surrounded by blanks, with limited nesting? */
bool xsp_json_valid(const char *json);

#endif /* XSPROF_OUT_JSON_VALID_H */
