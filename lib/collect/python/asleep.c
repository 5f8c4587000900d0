// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Threads that wait in the kernel: for a time, a message, another thread. Such a thread is not
 * asked, whether or not it holds the GIL, as the signal would end its system call (EINTR). The
 * kernel says whether and where it waits (/proc/PID/task/TID/syscall: its stack pointer and program
 * counter), and the ticking thread reads its frames; native ones from a copy of its stack, which it
 * walks under the linker's lock, so that no code is unloaded meanwhile.
 *
 * What was read is of one moment if the thread's CPU time is still what it was before: then it has
 * not run. As long as that stays so, it waits at the same place, and is not looked at again. One
 * that waits for a CPU does so until it has run.
 *
 * The kernel does not say the frame pointer. Code that keeps its frame by it, below any that has
 * saved the caller's, ends the walk with a note about missing frames.
 */
#include "collect/python/look.h"
#include "collect/python/native.h"

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

/* Has it not run since its CPU time was @cpu? */
static bool still(const struct python_entry *entry, uint64_t cpu)
{
	return python_cpu_of(entry->tid) == cpu;
}

/* Return: false: it has run since its CPU time was @cpu, or its frames cannot be known. */
static bool walk(struct native_stack *stack, const struct python_entry *entry, uint64_t cpu,
		 const struct native_place *from, uint32_t unloads)
{
	static char copy[PAGES * PAGE] __attribute__((aligned(sizeof(uintptr_t))));
	size_t size;

	if (from->cfa % sizeof(uintptr_t))
		return false;
	size = copy_stack(copy, from->cfa);
	return size >= sizeof(uintptr_t) && still(entry, cpu) &&
	       python_native_walk_copy(stack, from, copy, size, unloads);
}

/* Reads a thread that has not run since its CPU time was @cpu. Return: false: it cannot be read. */
static bool read_stack(struct python_entry *entry, uint32_t turn, uint64_t cpu,
		       const struct native_place *place, struct python_reading *reading,
		       xsprof_name_t *name)
{
	static struct native_stack native;
	const void *state = __atomic_load_n(&entry->state, __ATOMIC_RELAXED);
	uint32_t unloads = python_native_unloads();
	bool walked = python_native && walk(&native, entry, cpu, place, unloads);

	/*
	 * No barriers: the CPU time and the frames are read by system calls, one after the other,
	 * and a thread that has not run has changed neither its frames nor its turn.
	 */
	if (!state || !python_read_frames(reading, state) || !still(entry, cpu) ||
	    __atomic_load_n(&entry->turn, __ATOMIC_RELAXED) != turn)
		return false;
	entry->asleep = python_stack_of(reading, walked ? &native : NULL, unloads, name);
	return true;
}

enum python_place python_asleep(struct python_entry *entry, uint32_t turn, uint64_t cpu,
				struct python_reading *reading)
{
	bool holds = turn & 1;
	struct native_place place;
	xsprof_name_t name;

	if (cpu && entry->asleep_ns == cpu)
		return entry->place;
	entry->asleep_ns = cpu;
	entry->asleep = 0;
	entry->place = python_place_of(entry->tid, &place);
	if (entry->place != PYTHON_WAITS || !cpu || !(holds || python_native))
		return entry->place;
	entry->unread = !read_stack(entry, turn, cpu, &place, reading, &name);
	if (holds && entry->asleep) {
		entry->name = name;
		entry->line = reading->line;
	}
	return entry->place;
}
