/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Collectors that are plug-ins: listed in XSPROF_COLLECTORS, and those in the folder beside the
 * library.
 */
#ifndef XSP_ACTIVITY_PLUGIN_H
#define XSP_ACTIVITY_PLUGIN_H

#include "base/own.h"

/**
 * xsp_plugins_open() - open the plug-ins, once, if this process is recorded
 *
 * Called before main(), or in a thread of the program that starts to record: takes the loader's
 * lock. Never called from a marker.
 */
void xsp_plugins_open(void) XSP_HIDDEN;

#endif /* XSP_ACTIVITY_PLUGIN_H */
