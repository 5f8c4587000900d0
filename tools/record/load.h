/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * -p without the module: loads our library into processes.
 */
#ifndef XSPROF_RECORD_LOAD_H
#define XSPROF_RECORD_LOAD_H

#include "record/local.h"

/* Is that what -p needs: there is no module, or an option requires the library? */
bool load_wanted(const struct record_options *opts);

/* Loads it into all of them. Return: 0, or an exit status after a message. */
int load_all(struct recording *r);

/* After the recording: waits until none of our code runs in them. */
void load_end(const struct recording *r);

#endif /* XSPROF_RECORD_LOAD_H */
