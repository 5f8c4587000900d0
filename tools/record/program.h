/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Determines whether our libraries are loaded into an executable.
 */
#ifndef XSPROF_RECORD_PROGRAM_H
#define XSPROF_RECORD_PROGRAM_H

/**
 * program_refusal - why our libraries are not loaded into a program
 * @name: the command, as in argv[0]; for a script its interpreter is checked
 *
 * Return: a text that follows "PROGRAM is "; NULL: they are, or the file cannot be read.
 */
const char *program_refusal(const char *name);

#endif /* XSPROF_RECORD_PROGRAM_H */
