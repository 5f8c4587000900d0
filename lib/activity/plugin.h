/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Collectors that are files: those that XSPROF_COLLECTORS names, and those in the folder beside the
 * library.
 */
#ifndef XSP_ACTIVITY_PLUGIN_H
#define XSP_ACTIVITY_PLUGIN_H

#include "base/own.h"

/**
 * xsp_plugins_open() - open them, once, where this process is recorded
 *
 * Before main(), or in a thread of the program that begins to record: it takes the loader's lock.
 * Never from a marker.
 */
void xsp_plugins_open(void) XSP_HIDDEN;

#endif /* XSP_ACTIVITY_PLUGIN_H */
