/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The name of a process, the same in every output.
 */
#ifndef XSP_PROGRAM_H
#define XSP_PROGRAM_H

#include <stdint.h>

#include <xsprof/trace.h>

/* Room for a name of a file, the longest that Linux has. */
#define XSP_PROGRAM_MAX	256u

/**
 * xsp_program - what the program of a process is called
 * @trace: trace
 * @producer: its number
 * @text: where the name goes, XSP_PROGRAM_MAX bytes with the zero at its end
 *
 * It is the first word of the command line, without folders, as in ps and in the traces of
 * PyTorch's profiler: python3 where the file is called python3.11.  Where that is not known, or
 * where the file has a blank in its path, it is the name of the file.
 *
 * Return: @text; NULL where neither is known.
 */
const char *xsp_program(const struct xsprof_trace *trace, uint32_t producer, char *text);

#endif /* XSP_PROGRAM_H */
