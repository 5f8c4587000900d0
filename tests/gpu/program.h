/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What program.c does for own.py, in a file of its own.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

/* Overheads whose details the collector has to free: waits for that, and prints their number. */
void overheads(void);
/* For two seconds, most of them spent in the driver, then a launch. */
void driver_works(void);
/* @n queries of work that is not over, then a wait. */
void queries(long n);

#endif /* PROGRAM_H */
