/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Unwind information as the compiler wrote it.
 */
#ifndef XSP_TORCH_DWARF_H
#define XSP_TORCH_DWARF_H

#include "collect/torch/elf.h"
#include "collect/torch/native.h"

/* The rule at an address. @index: the object's .eh_frame_hdr. */
struct unwind_rule dwarf_rule(const struct elf_object *object, const void *index, uintptr_t at);

#endif /* XSP_TORCH_DWARF_H */
