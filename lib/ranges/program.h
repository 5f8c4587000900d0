/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Name of a process, the same in all outputs.
 */
#ifndef XSP_PROGRAM_H
#define XSP_PROGRAM_H

#include <stdint.h>

#include <xsprof/trace.h>

/* Longest file name on Linux. */
#define XSP_PROGRAM_MAX	256u

/**
 * xsp_program - the name of a process' program
 * @trace: trace
 * @producer: its number
 * @text: buffer of XSP_PROGRAM_MAX bytes, terminator included
 *
 * The first word of the command line without folders, as in ps and in traces of PyTorch's profiler:
 * python3 if the executable is python3.11. If that is unknown, or the executable's path contains a
 * blank, the name of the executable.
 *
 * Return: @text; NULL if neither is known.
 */
const char *xsp_program(const struct xsprof_trace *trace, uint32_t producer, char *text);

#endif /* XSP_PROGRAM_H */
