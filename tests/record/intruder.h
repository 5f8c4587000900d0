/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a child that became another user does to the recorder and its session.
 */
#ifndef TESTS_RECORD_INTRUDER_H
#define TESTS_RECORD_INTRUDER_H

#include <stdbool.h>
#include <sys/types.h>

#define NOBODY	65534
#define FLOOD	50

/* Connects to the socket of the recorder whose process is @pid, until that is gone. */
void flood(const char *pid);
/* @theirs: the ring file of the parent, whose user was another one */
void probe(const char *theirs);
/* A file of our own that says that it is our parent's, which is of another user. */
void impersonate(const char *theirs);
/* In the session. */
void make_folders(void);
void make_crowd(void);
void slander(void);
/* Locks what it can there for good, in a process whose id is in @file. */
void grab(const char *file);

/* identity.c */
extern pid_t recorder;
extern bool orphaned;
/* Ends the process. */
void must(int failed, const char *what);
void write_file(const char *path, const char *text);

#endif /* TESTS_RECORD_INTRUDER_H */
