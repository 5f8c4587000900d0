/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The name of the time in which a collector of devices was off because recording was: the library
 * writes it, and reports tell it from what was left out to reduce overhead.
 */
#ifndef XSP_RECORDING_OFF_H
#define XSP_RECORDING_OFF_H

#define XSP_RECORDING_OFF	"GPU not recorded: recording was off"

#endif /* XSP_RECORDING_OFF_H */
