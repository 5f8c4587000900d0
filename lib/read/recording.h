/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A recording: the folder on tmpfs in which producers create their ring files. recording.c owns the
 * folder's name, permissions, lock and removal; it never reads ring files.
 *
 *	<base>/xsprof-<euid>/			0700, verified
 *		s.<pid>.<starttime>.<random>/	1733, one recording; flocked as long as its
 *						recorder lives
 *			lock			flocked as well, for those who may not list
 *			p.<pid>.<starttime>.<seq>	a producer
 *			t.<pid>.<starttime>.<seq>	one in the making
 *
 * <base> is $XSPROF_SHM_DIR or /dev/shm. If another user has taken that name, ours is
 * <base>/xsprof-<euid>.<random>.
 *
 * No other user can enter the 0700 folder. A recorded process that changes its user keeps a
 * descriptor of the recording's folder (process/join.c), which allows it only to create files
 * there, to remove its own, and to see whether the recorder lives. It cannot list the folder, nor
 * open, rename or remove files of others.
 */
#ifndef XSP_RECORDING_H
#define XSP_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XSP_RECORDING_PATH	3072	/* longer base paths are refused */
#define XSP_RECORDING_MODE	01733u	/* mode of a folder that other users may join; else 0700 */

/* Value of the fact "command" in recordings without a separate recorder. */
#define XSP_RECORDS_ITSELF	"(records itself)"
#define XSP_PROFILED		"(a profiling session)"

/**
 * struct xsp_recording - a recording, our own or another one being read
 * @path: absolute
 * @dirfd: open folder; locked if it is ours
 * @lockfd: its file "lock", which holds the facts; locked if it is ours
 */
struct xsp_recording {
	char	path[XSP_RECORDING_PATH + 256];
	int	dirfd;
	int	lockfd;
};

/**
 * xsp_recording_user_dir - the folder of all recordings of this user
 * @path: set to its path, XSP_RECORDING_PATH bytes
 * @create: create it if it is missing
 * @object: set to the object of an error: @path, or the base folder
 *
 * Return: 0; -ENOENT the folder or its base is missing; -ENOTDIR, -EACCES (open to others): not
 * trustworthy; -EINVAL the base is not an absolute path; -errno.
 */
int xsp_recording_user_dir(char *path, bool create, const char **object);

/* A message for such an error; constant. */
const char *xsp_recording_strerror(int err);

/**
 * xsp_recording_create - create a folder and take its lock
 * @s: filled in
 * @facts: text of the lock file, lines "key value"
 * @users: processes of other users may join it, such as children that give up root; the recorder
 *	must then tolerate that these truncate their files
 * @object: set to the object of an error
 */
int xsp_recording_create(struct xsp_recording *s, const char *facts, bool users,
			 const char **object);

/**
 * xsp_recording_open - open any recording
 * @s: filled in; @s->lockfd is -1 if there is no lock file
 * @path: its folder
 *
 * Return: 0 or -errno, including those of xsp_recording_user_dir().
 */
int xsp_recording_open(struct xsp_recording *s, const char *path);

/* Does the recording have a living recorder? Return: 1 yes, 0 no, -errno. */
int xsp_recording_alive(const struct xsp_recording *s);

/* Takes the lock of a dead recorder. Return: 0; -EWOULDBLOCK the recorder lives; -errno. */
int xsp_recording_adopt(struct xsp_recording *s);


/* Makes a value fit into a line: replaces line breaks by blanks. */
void xsp_recording_one_line(char *value);

/* Adds the output file of the recording, if it was unknown at the start. */
int xsp_recording_add_output(struct xsp_recording *s, const char *path);

/* Adds the uuid of the capture, which identifies it later. */
int xsp_recording_add_capture(struct xsp_recording *s, const uint8_t uuid[16]);

/* Adds the fact "freed": what was read of a dead recorder's rings has been freed. */
int xsp_recording_add_freed(struct xsp_recording *s);

/* Sets the time of the lock file to now. */
void xsp_recording_touch(const struct xsp_recording *s);

/* Reads the value of a line of the lock file. Return: its length, or -ENOENT. */
int xsp_recording_fact(const struct xsp_recording *s, const char *key, char *buf, size_t size);

/* Removes the folder with its contents. Return: 0 or -errno. */
int xsp_recording_remove(struct xsp_recording *s);

/* Closes it; our own loses its lock. */
void xsp_recording_close(struct xsp_recording *s);

/*
 * Keeps the descriptors (base/own-fd.h), for use inside a program that may close them. Return: 0;
 * -errno, with nothing open.
 */
int xsp_recording_keep_open(struct xsp_recording *s);

#endif /* XSP_RECORDING_H */
