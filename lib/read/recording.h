/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A recording: the folder on tmpfs where its producers put their ring files.  recording.c owns
 * the folder's name, permission, lock and removal; it never looks into ring files.
 *
 *	<base>/xsprof-<euid>/			0700, verified
 *		s.<pid>.<starttime>.<random>/	1733, one recording; flocked as long as its
 *						recorder lives
 *			lock			flocked as well, for those who may not list
 *			p.<pid>.<starttime>.<seq>	a producer
 *			t.<pid>.<starttime>.<seq>	one in the making
 *
 * <base> is $XSPROF_SHM_DIR or /dev/shm.  Where another user has taken that name, ours is
 * <base>/xsprof-<euid>.<random>.
 *
 * No other user can enter the 0700 folder.  A recorded process that gives up its user keeps a
 * descriptor of the recording's folder (process/join.c), and that is all it can do with it: make
 * files there, remove its own, and see whether the recorder lives.  It cannot list the folder, nor
 * open, rename or remove the files of others.
 */
#ifndef XSP_RECORDING_H
#define XSP_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XSP_RECORDING_PATH	3072	/* longer base folders are refused */
#define XSP_RECORDING_MODE	01733u	/* of a folder that other users may join; else 0700 */

/* The fact "command" of those that have no recorder beside the program. */
#define XSP_RECORDS_ITSELF	"(records itself)"
#define XSP_PROFILED		"(a profiling session)"

/**
 * struct xsp_recording - a recording of ours, or one being looked at
 * @path: absolute
 * @dirfd: open folder; locked when it is ours
 * @lockfd: its file "lock", which has the facts; locked when it is ours
 */
struct xsp_recording {
	char	path[XSP_RECORDING_PATH + 256];
	int	dirfd;
	int	lockfd;
};

/**
 * xsp_recording_user_dir - the folder of this user's recordings
 * @path: gets its name, XSP_RECORDING_PATH bytes
 * @create: make it where it is missing
 * @object: set to what an error is about: @path, or the base folder
 *
 * Return: 0; -ENOENT it is missing, or the base is; -ENOTDIR, -EACCES (open to others): not to be
 * trusted; -EINVAL the base is no absolute path; -errno.
 */
int xsp_recording_user_dir(char *path, bool create, const char **object);

/* What such an error says, for people: constant text. */
const char *xsp_recording_strerror(int err);

/**
 * xsp_recording_create - make a folder and take its lock
 * @s: filled in
 * @facts: text for the lock file, lines "key value"
 * @users: processes of other users may join it, such as children that give up root; its recorder
 *	must bear that these cut their files
 * @object: set to what an error is about
 */
int xsp_recording_create(struct xsp_recording *s, const char *facts, bool users,
			 const char **object);

/**
 * xsp_recording_open - open somebody's recording
 * @s: filled in; @s->lockfd is -1 where there is no lock file
 * @path: its folder
 *
 * Return: 0 or -errno, those of xsp_recording_user_dir() among them.
 */
int xsp_recording_open(struct xsp_recording *s, const char *path);

/* Has this recording a living recorder?  Return: 1 yes, 0 no, -errno. */
int xsp_recording_alive(const struct xsp_recording *s);

/* Takes the lock of a dead recorder.  Return: 0; -EWOULDBLOCK it lives; -errno. */
int xsp_recording_adopt(struct xsp_recording *s);


/* A value of a fact is what stands in its line: a line break in it becomes a blank. */
void xsp_recording_one_line(char *value);

/* Names the file that the recording is drained into, where that was not known at its start. */
int xsp_recording_add_output(struct xsp_recording *s, const char *path);

/* Names the capture that the recording is drained into: what tells it from another later. */
int xsp_recording_add_capture(struct xsp_recording *s, const uint8_t uuid[16]);

/* Says that of a dead recorder's what has been read is freed: "freed" of its facts. */
int xsp_recording_add_freed(struct xsp_recording *s);

/* Sets the time of the lock file to now. */
void xsp_recording_touch(const struct xsp_recording *s);

/* The value of a line of the lock file.  Return: its length, or -ENOENT. */
int xsp_recording_fact(const struct xsp_recording *s, const char *key, char *buf, size_t size);

/* Removes the folder with all that is in it.  Return: 0 or -errno. */
int xsp_recording_remove(struct xsp_recording *s);

/* Closes it; one of ours loses its lock. */
void xsp_recording_close(struct xsp_recording *s);

/*
 * Inside a program that may close our descriptors: they are kept (base/own-fd.h).
 * Return: 0 or -errno, nothing being open then.
 */
int xsp_recording_keep_open(struct xsp_recording *s);

#endif /* XSP_RECORDING_H */
