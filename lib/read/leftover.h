/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Data on tmpfs left by killed programs that recorded themselves or were profiled.
 */
#ifndef XSP_LEFTOVER_H
#define XSP_LEFTOVER_H

#include <stdbool.h>

/**
 * xsp_leftover_free - free data of this user's killed programs that is already saved elsewhere
 * @recorded: also programs that recorded themselves: `xsprof recover` cannot complete their files
 *	any more
 *
 * Frees ring memory whose records are in the programs' files. Removes recordings with nothing else
 * in them, and those of profiled programs outside of a session whose last session ended some
 * minutes ago, as the program has got all of its records. What is not saved stays for `xsprof
 * recover`. Never touches data of a living process or of a recorder.
 */
void xsp_leftover_free(bool recorded);

#endif /* XSP_LEFTOVER_H */
