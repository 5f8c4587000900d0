/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Readable parts of a loaded object. Its unwind information may point anywhere, and a mapped page
 * may be unreadable: the file was truncated, or the program has protected it.
 */
#ifndef XSPROF_COLLECT_ELF_H
#define XSPROF_COLLECT_ELF_H

#include "collect/common/bytes.h"

/**
 * struct elf_object - a loaded object
 * @start: address of its mapping
 * @end: end of its mapping; there may be holes
 */
struct elf_object {
	uintptr_t	start;
	uintptr_t	end;
};

/*
 * Return: the bytes from @at to the end of the file's mapping there; empty and bad if @at is not
 * mapped.
 */
struct bytes elf_readable(const struct elf_object *object, uintptr_t at);
/*
 * Are the next @size bytes readable? If not, @bytes becomes empty and bad. Costs a system call per
 * page. Signal-safe.
 */
bool elf_is_there(struct bytes *bytes, uint64_t size);

#endif /* XSPROF_COLLECT_ELF_H */
