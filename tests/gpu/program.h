/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of the program that uses CUDA.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>

/* program-clock.c: times that bound the error of a device's clock.  Return: @what is of these. */
bool program_clock(const char *what, long n);

/* program-own.c: what is the driver's or CUPTI's. */

/* Makes overheads with details to be freed, waits for that, and prints how many were. */
void overheads(void);
/* For two seconds, most of them spent in the driver, then a launch. */
void driver_works(void);
/* A copy between devices in a context that nothing else tells of, and a wait there. */
void peer(void);
/* Moves and faults of unified memory, at once or a moment after cuInit(), with "-late". */
void unified(const char *what);
/* @n recordings of an event, each with a wait for it, and later the same again. */
void recordings(long n);
/* Allocations and frees of which some are missing or late; each has another number of bytes. */
void memory(void);
/* @n allocations of 512 bytes, none of which is freed. */
void memory_many(long n);
/* Pauses and resumes, and prints CUPTI's settings in the pause and after it. */
void given_back(void);
void paused_late(void);
/* @n queries of work that is not over, then a wait. */
void queries(long n);
/* Has ranges until it is not recorded any more, and goes on for a moment. */
void program_goes_on(void);


/* program-names.c: names streams and contexts. */
void named(void);

#endif /* PROGRAM_H */
