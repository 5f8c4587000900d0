/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What of an executable file decides whether libraries of ours get into it. It starts nothing.
 */
#ifndef XSPROF_RECORD_PROGRAM_H
#define XSPROF_RECORD_PROGRAM_H

/**
 * program_refusal - why no library of ours is loaded into a program
 * @name: the command, as in argv[0]; of a script its interpreter is looked at
 *
 * Return: a text that follows "PROGRAM is "; NULL: it takes them, or what it is cannot be read.
 */
const char *program_refusal(const char *name);

#endif /* XSPROF_RECORD_PROGRAM_H */
