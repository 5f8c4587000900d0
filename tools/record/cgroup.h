/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory cgroup limit of this process, which also applies to the rings of its children.
 */
#ifndef XSPROF_RECORD_CGROUP_H
#define XSPROF_RECORD_CGROUP_H

#include <stdint.h>

/* Bytes; UINT64_MAX without a limit, or if unknown. */
uint64_t cgroup_memory_limit(void);

#endif /* XSPROF_RECORD_CGROUP_H */
