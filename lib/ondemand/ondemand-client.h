/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The library's own client, which records with a session.
 */
#ifndef XSP_ONDEMAND_ONDEMAND_CLIENT_H
#define XSP_ONDEMAND_ONDEMAND_CLIENT_H

#include <xsprof/ondemand.h>

#include "base/own.h"

extern const struct xsprof_client xsp_default_client XSP_HIDDEN;

#endif /* XSP_ONDEMAND_ONDEMAND_CLIENT_H */
