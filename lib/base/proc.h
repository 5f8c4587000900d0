/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Facts about a process or the machine from /proc, read without stdio and without allocation. Keeps
 * no state; every answer may be out of date when it is returned.
 */
#ifndef XSP_BASE_PROC_H
#define XSP_BASE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct xsp_proc_stat - fields of /proc/PID/stat
 * @start_time: field 22, clock ticks since boot
 * @state: field 3, a letter
 * @exiting: it has begun to exit, or was killed, and no longer runs its program (field 9)
 * @wstatus: field 52, as from wait(); -1 if we may not see it
 */
struct xsp_proc_stat {
	uint64_t	start_time;
	int		wstatus;
	char		state;
	bool		exiting;
};

/* Return: 0, or -errno; -ENOENT: no such process. */
int xsp_proc_stat(pid_t pid, struct xsp_proc_stat *st);

/*
 * Return: 1 if the user is one of the process' four uids; 0 if not; -errno; -ENOENT: no such
 * process.
 */
int xsp_proc_has_uid(pid_t pid, uid_t uid);

/**
 * xsp_proc_maps_file - is this file mapped by the process?
 * @pid: process
 * @dev: the file's device
 * @ino: the file's inode
 *
 * Return: 1 yes; 0 no; -ESRCH the process has no memory any more (it is exiting); -errno.
 */
int xsp_proc_maps_file(pid_t pid, dev_t dev, ino_t ino);

/* The name of a thread. @comm gets up to 16 bytes, terminated. Return: 0 or -errno. */
int xsp_proc_comm(pid_t pid, pid_t tid, char *comm);

/* Reads the first bytes of a small file, terminated. Return: bytes read, or -errno. */
long xsp_proc_read(const char *path, char *buf, size_t size);

/* Start time of this process, as in struct xsp_proc_stat; 0 if unknown. */
uint64_t xsp_proc_start_time(void);

/* Reads the first line of a file without its newline. Return: its length, or -errno. */
int xsp_proc_line(const char *path, char *buf, size_t size);

/* The target of /proc/PID/exe. Return: its length, or -errno. */
int xsp_proc_exe(pid_t pid, char *buf, size_t size);

/* Inode number of our pid namespace, 0 if unknown. */
uint32_t xsp_proc_pid_ns(void);
/* The same of another process; 0 if we may not see it. */
uint32_t xsp_proc_pid_ns_of(pid_t pid);

/* The 16 bytes of the kernel's boot id, zeros if unknown. Return: 0 or -errno. */
int xsp_proc_boot_id(uint8_t *id);

#endif /* XSP_BASE_PROC_H */
