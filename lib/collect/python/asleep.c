// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Native frames of threads that wait: for a time, a message, another thread. Such a thread is not
 * asked, as the signal would end its system call (EINTR). The kernel says where it waits
 * (/proc/PID/task/TID/syscall: its stack pointer and program counter), its stack is copied, and the
 * ticking thread walks the copy, under the linker's lock, so that no code is unloaded meanwhile.
 *
 * The copy is of one moment if the thread's CPU time is still what it was before: then it has not
 * run. As long as that stays so, it waits at the same place, and is not looked at again.
 *
 * The kernel does not say the frame pointer. Code that keeps its frame by it, below any that has
 * saved the caller's, ends the walk with a note about missing frames.
 */
#include "collect/python/native.h"
#include "collect/python/sample.h"

#define PAGE	4096u
#define PAGES	16u	/* copied at most */

/* In parts of a page: the stack ends somewhere, and so does what can be read. */
static size_t copy_stack(char *copy, uintptr_t from)
{
	struct iovec to[PAGES], part[PAGES];
	size_t done = 0, len;

	for (uint32_t i = 0; i < PAGES; i++, done += len) {
		len = PAGE - (from + done) % PAGE;
		part[i] = (struct iovec){ (void *)(from + done), len };
		to[i] = (struct iovec){ copy + done, len };
	}
	return sample_peek_some(to, part, PAGES);
}

/* Return: false: it has run since its CPU time was @cpu, or its frames cannot be known. */
static bool walk(struct native_stack *stack, uint32_t tid, uint64_t cpu, uint32_t unloads)
{
	static char copy[PAGES * PAGE] __attribute__((aligned(sizeof(uintptr_t))));
	struct native_place from;
	size_t size;

	if (!python_place_of(tid, &from) || from.cfa % sizeof(uintptr_t))
		return false;
	size = copy_stack(copy, from.cfa);
	return size >= sizeof(uintptr_t) && python_cpu_of(tid) == cpu &&
	       python_native_walk_copy(stack, &from, copy, size, unloads);
}

uint32_t python_asleep_stack(struct python_entry *entry, uint32_t turn, uint64_t cpu,
			     struct python_reading *reading)
{
	static struct native_stack native;
	uint32_t unloads, stack;
	xsprof_name_t name;

	if (!cpu)
		return entry->stack;
	if (entry->asleep_ns == cpu)
		return entry->asleep;
	unloads = python_native_unloads();
	if (!walk(&native, entry->tid, cpu, unloads) ||
	    !python_entry_read(entry, turn, reading, &native, unloads, &name, &stack) || !stack)
		stack = entry->stack;
	/* Unknown ones are not looked for again either, until it has run. */
	entry->asleep_ns = cpu;
	entry->asleep = stack;
	return stack;
}
