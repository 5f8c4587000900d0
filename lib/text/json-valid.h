/* SPDX-License-Identifier: LGPL-2.1-only */
#ifndef XSPROF_OUT_JSON_VALID_H
#define XSPROF_OUT_JSON_VALID_H

#include <stdbool.h>

/* One value of JSON in UTF-8, with nothing but blanks around it, not too deep inside itself. */
bool xsp_json_valid(const char *json);

#endif /* XSPROF_OUT_JSON_VALID_H */
