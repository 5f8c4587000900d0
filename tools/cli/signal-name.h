/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XSPROF_CLI_SIGNAL_NAME_H
#define XSPROF_CLI_SIGNAL_NAME_H

/* Return: the signal's name without "SIG"; NULL: unknown. */
const char *signal_name(int signal);

#endif /* XSPROF_CLI_SIGNAL_NAME_H */
