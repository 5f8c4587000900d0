/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What /proc tells about a process or the machine, read without streams and without memory.  It
 * never holds state; every answer may be out of date when it arrives.
 */
#ifndef XSP_BASE_PROC_H
#define XSP_BASE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct xsp_proc_stat - of /proc/PID/stat
 * @start_time: field 22, clock ticks since boot
 * @state: field 3, a letter
 * @exiting: it has begun to exit, or was killed, and runs its program no more (field 9)
 * @wstatus: field 52, as wait() gives it: -1 where we may not see it
 */
struct xsp_proc_stat {
	uint64_t	start_time;
	int		wstatus;
	char		state;
	bool		exiting;
};

/* Return: 0, or -errno; -ENOENT: no such process. */
int xsp_proc_stat(pid_t pid, struct xsp_proc_stat *st);

/* Return: 1 the user is one of the process' four; 0 it is not; -errno, -ENOENT: no such process. */
int xsp_proc_has_uid(pid_t pid, uid_t uid);

/**
 * xsp_proc_maps_file - is this file mapped by the process?
 * @pid: process
 * @dev: the file's device
 * @ino: and inode
 *
 * Return: 1 yes; 0 no; -ESRCH the process has no memory any more (it is ending); -errno.
 */
int xsp_proc_maps_file(pid_t pid, dev_t dev, ino_t ino);

/* The name of a thread.  @comm gets up to 16 bytes, terminated.  Return: 0 or -errno. */
int xsp_proc_comm(pid_t pid, pid_t tid, char *comm);

/* The first bytes of a small file, terminated.  Return: bytes read, or -errno. */
long xsp_proc_read(const char *path, char *buf, size_t size);

/* When this process started, as in struct xsp_proc_stat; 0 where it is not known. */
uint64_t xsp_proc_start_time(void);

/* The first line of a file, without its end.  Return: its length, or -errno. */
int xsp_proc_line(const char *path, char *buf, size_t size);

/* Where /proc/PID/exe points.  Return: its length, or -errno. */
int xsp_proc_exe(pid_t pid, char *buf, size_t size);

/* Inode number of our own pid namespace, 0 when it is not known. */
uint32_t xsp_proc_pid_ns(void);
/* Of another process': 0 where that may not be known. */
uint32_t xsp_proc_pid_ns_of(pid_t pid);

/* The 16 bytes of the kernel's boot id, zeros where it is not known.  Return: 0 or -errno. */
int xsp_proc_boot_id(uint8_t *id);

#endif /* XSP_BASE_PROC_H */
