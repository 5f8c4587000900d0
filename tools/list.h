/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Printing sessions, for `xsprof list` and `xsprof recover --list`.
 */
#ifndef XSPROF_LIST_H
#define XSPROF_LIST_H

#include <stdbool.h>

/**
 * struct list_options - which sessions
 * @dead_only: only those whose recorder is dead
 * @shown: out: how many were printed
 */
struct list_options {
	bool		dead_only;
	unsigned int	shown;
};

/* Return: 0, or an exit status with the error reported. */
int list_sessions(struct list_options *opts);

#endif /* XSPROF_LIST_H */
