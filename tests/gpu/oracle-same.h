/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares a field of our declarations with that of CUPTI's headers; CUPTI's result without a
 * driver.
 */
#ifndef ORACLE_SAME_H
#define ORACLE_SAME_H

#include <stddef.h>

#define SAME(ours, field, theirs, their_field) \
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs, their_field) && \
		       sizeof(((struct ours *)0)->field) == sizeof(((theirs *)0)->their_field), \
		       #ours "." #field)

#define NO_DRIVER	999

#endif /* ORACLE_SAME_H */
