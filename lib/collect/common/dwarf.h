/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Unwind information as the compiler wrote it.
 */
#ifndef XSPROF_COLLECT_DWARF_H
#define XSPROF_COLLECT_DWARF_H

#include "collect/common/elf.h"
#include "collect/common/native.h"

/* The rule at an address. @index: the object's .eh_frame_hdr. */
struct unwind_rule dwarf_rule(const struct elf_object *object, const void *index, uintptr_t at);
/* Where the function with that address begins; 0: there is none. */
uintptr_t dwarf_function(const struct elf_object *object, const void *index, uintptr_t at);

#endif /* XSPROF_COLLECT_DWARF_H */
