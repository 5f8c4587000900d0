/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What of a loaded object can be read: its unwind information may point anywhere, and what is
 * mapped may not be there: the file was cut, or the program has protected it.
 */
#ifndef XSPROF_COLLECT_ELF_H
#define XSPROF_COLLECT_ELF_H

#include "collect/common/bytes.h"

/**
 * struct elf_object - an object that is loaded
 * @start: where it is mapped
 * @end: behind that; there may be holes between
 */
struct elf_object {
	uintptr_t	start;
	uintptr_t	end;
};

/*
 * From an address on to the end of what was mapped of the file there.  Return: none, which is bad,
 * where nothing was.
 */
struct bytes elf_readable(const struct elf_object *object, uintptr_t at);
/*
 * Are the next @size bytes there?  Else they are bad, and none is left. The kernel is asked, which
 * costs a system call for each page that they are on.  Signal-safe.
 */
bool elf_is_there(struct bytes *bytes, uint64_t size);

#endif /* XSPROF_COLLECT_ELF_H */
