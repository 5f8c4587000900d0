/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of the program that uses CUDA.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>

/* program-clock.c: times that bound the error of a device's clock.  Return: @what is of these. */
bool program_clock(const char *what, long n);

#endif /* PROGRAM_H */
