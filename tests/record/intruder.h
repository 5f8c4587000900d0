/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attacks on the recorder and its session by a child that became another user.
 */
#ifndef TESTS_RECORD_INTRUDER_H
#define TESTS_RECORD_INTRUDER_H

#include <stdbool.h>
#include <sys/types.h>

#define NOBODY	65534
#define FLOOD	50

/* Connects to the socket of the recorder with process id @pid, until the recorder ends. */
void flood(const char *pid);
/* @theirs: the ring file of the parent, which runs as another user */
void probe(const char *theirs);
/* Makes a file of our own that claims to be our parent's, who is another user. */
void impersonate(const char *theirs);
/* These make folders and files in the session. */
void make_folders(void);
void make_crowd(void);
void slander(void);
/* Locks what it can there for good, in a process whose id it writes to @file. */
void grab(const char *file);

/* identity.c */
extern pid_t recorder;
extern bool orphaned;
/* Ends the process. */
void must(int failed, const char *what);
void write_file(const char *path, const char *text);

#endif /* TESTS_RECORD_INTRUDER_H */
