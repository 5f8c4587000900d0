/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels, 6.1 to the newest: all of them, and nothing else.
 */
#ifndef XSP_COMPAT_H
#define XSP_COMPAT_H

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched/coredump.h>
#include <linux/timekeeping.h>
#include <linux/user_namespace.h>
#include <linux/version.h>

/* Plain fields until 6.3; since then changes go through accessors. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void xsp_vm_flags(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
	vma->vm_flags |= set;
	vma->vm_flags &= ~clear;
}
#else
static inline void xsp_vm_flags(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
	vm_flags_mod(vma, set, clear);
}
#endif

/* The executable of an address space in use, with a reference, or NULL. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
static inline struct file *xsp_exe_file(struct mm_struct *mm)
{
	struct file *file;

	rcu_read_lock();
	file = rcu_dereference(mm->exe_file);
	if (file && !get_file_rcu(file))
		file = NULL;
	rcu_read_unlock();
	return file;
}
#else
static inline struct file *xsp_exe_file(struct mm_struct *mm)
{
	struct file *file;

	rcu_read_lock();
	file = get_file_rcu(&mm->exe_file);
	rcu_read_unlock();
	return file;
}
#endif

/*
 * May processes with the same credentials ptrace the calling process? If not, capabilities over
 * @over are needed. This belongs to the address space, and since 7.2 to the process.
 */
#if __has_include(<linux/sched/exec_state.h>)
#include <linux/sched/exec_state.h>

static inline bool xsp_dumpable(struct user_namespace **over)
{
	const struct task_exec_state *state;
	bool dumpable;

	rcu_read_lock();
	state = rcu_dereference(current->exec_state);
	dumpable = READ_ONCE(state->dumpable) == TASK_DUMPABLE_OWNER;
	*over = get_user_ns(state->user_ns);
	rcu_read_unlock();
	return dumpable;
}
#else
static inline bool xsp_dumpable(struct user_namespace **over)
{
	*over = get_user_ns(current->mm->user_ns);
	return get_dumpable(current->mm) == SUID_DUMP_USER;
}
#endif

/* Reads the kernel's clocksource together with its time. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
static inline u64 xsp_clocksource_cycles(void)
{
	struct system_time_snapshot snap;

	ktime_get_snapshot(&snap);
	return snap.cycles;
}
#else
static inline u64 xsp_clocksource_cycles(void)
{
	struct system_time_snapshot snap;

	ktime_get_snapshot_id(CLOCK_MONOTONIC, &snap);
	return snap.cycles;
}
#endif

/* Assigns an event's string: its source was given twice until 6.10. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define xsp_assign_str(dst, src)	__assign_str(dst, src)
#else
#define xsp_assign_str(dst, src)	__assign_str(dst)
#endif

#endif /* XSP_COMPAT_H */
