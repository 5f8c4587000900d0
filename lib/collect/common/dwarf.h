/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Reads unwind information (.eh_frame).
 */
#ifndef XSPROF_COLLECT_DWARF_H
#define XSPROF_COLLECT_DWARF_H

#include "collect/common/elf.h"
#include "collect/common/native.h"

/* Return: the rule at address @at. @index: the object's .eh_frame_hdr. */
struct unwind_rule dwarf_rule(const struct elf_object *object, const void *index, uintptr_t at);
/* Return: the begin of the function that contains @at; 0: none. */
uintptr_t dwarf_function(const struct elf_object *object, const void *index, uintptr_t at);

#endif /* XSPROF_COLLECT_DWARF_H */
