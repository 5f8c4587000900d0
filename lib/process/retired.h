/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What is left of earlier producers of this process on tmpfs.
 */
#ifndef XSP_PROCESS_RETIRED_H
#define XSP_PROCESS_RETIRED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"

/* Memory of a producer that has ended; it stays mapped. */
void xsp_retired_add(char *base, uint64_t len) XSP_HIDDEN;
/* The memory is about to be unmapped. */
void xsp_retired_drop(const char *base) XSP_HIDDEN;
/* Maps @fd, over the memory of an earlier producer if that fits. Return: as mmap(). */
char *xsp_retired_map(int fd, uint64_t size) XSP_HIDDEN;
/**
 * struct xsp_retired_rings - where the records of a producer are in its file
 * @data: of the first ring
 * @size: of one ring
 * @stride: from one ring to the next
 * @nr: how many rings
 */
struct xsp_retired_rings {
	uint64_t	data;
	uint64_t	size;
	uint64_t	stride;
	uint32_t	nr;
};

/* Keeps its file, which is given up. */
void xsp_retired_keep(int fd, const struct xsp_retired_rings *rings) XSP_HIDDEN;
/* The records of that file are read: it is closed. Those that nobody else can read are freed. */
void xsp_retired_read(void) XSP_HIDDEN;

#endif /* XSP_PROCESS_RETIRED_H */
