/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the memory cgroup of this process may have: the rings of what it starts count there.
 */
#ifndef XSPROF_RECORD_CGROUP_H
#define XSPROF_RECORD_CGROUP_H

#include <stdint.h>

/* Bytes; UINT64_MAX where there is no limit, or none is known. */
uint64_t cgroup_memory_limit(void);

#endif /* XSPROF_RECORD_CGROUP_H */
