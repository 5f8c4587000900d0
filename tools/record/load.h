/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * -p without the module: processes that our library is loaded into.
 */
#ifndef XSPROF_RECORD_LOAD_H
#define XSPROF_RECORD_LOAD_H

#include "record/local.h"

/* Is that what -p means: there is no module, or it is asked for what needs the library? */
bool load_wanted(const struct record_options *opts);

/* Into all of them.  Return: 0, or an exit status after a message. */
int load_all(struct recording *r);

/* The recording has ended: waits until nothing of ours runs in them. */
void load_end(const struct recording *r);

#endif /* XSPROF_RECORD_LOAD_H */
