// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Frees what killed programs left: self-recordings and profiling sessions. Reads their files with
 * pread(), because it runs in programs that record themselves, which have no handler for a
 * truncated mapping.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/ctl-check.h"
#include "base/file-name.h"
#include "base/pread.h"
#include "base/proc.h"
#include "read/leftover.h"
#include "read/recording.h"

/* A program killed while saving its last trace had that trace in memory only. */
#define SAVING_SECONDS	600

/* A living process may have closed its descriptors, and with them its lock. */
static bool may_live(int fd, const struct xsprof_ctl *ctl, const struct stat *st)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	int mapped;

	if (fcntl(fd, F_GETLK, &lock) || lock.l_type != F_UNLCK ||
	    ctl->pid_ns != xsp_proc_pid_ns())
		return true;
	mapped = xsp_proc_maps_file(ctl->pid, st->st_dev, st->st_ino);
	return mapped && mapped != -ESRCH;
}

/* Punches out the whole pages of [from, to). */
static void punch(int fd, uint64_t page, uint64_t from, uint64_t to)
{
	from = (from + page - 1) / page * page;
	to = to / page * page;
	if (from < to)
		/* On failure the memory stays until the recording is removed. */
		(void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, to - from);
}

/*
 * Frees what was read of a ring. Return: true if the ring holds nothing else, and nothing was lost.
 */
static bool free_ring(int fd, const struct xsprof_ctl *ctl, uint32_t k)
{
	uint64_t at = ctl->rings_off + k * ctl->ring_stride, data = at + 2ull * ctl->page_size;
	struct xsprof_ring_reader reader;
	struct xsprof_ring_writer writer;
	uint64_t from, to, unread;

	if (xsp_pread(fd, &writer, sizeof(writer), at) ||
	    xsp_pread(fd, &reader, sizeof(reader), at + ctl->page_size))
		return false;
	unread = (writer.head - reader.tail) << XSPROF_SLOT_SHIFT;
	if (writer.head < reader.tail || unread > ctl->ring_size)
		return false;
	from = (reader.tail << XSPROF_SLOT_SHIFT) & (ctl->ring_size - 1);
	to = (writer.head << XSPROF_SLOT_SHIFT) & (ctl->ring_size - 1);
	if (!unread) {
		punch(fd, ctl->page_size, data, data + ctl->ring_size);
	} else if (from < to) {
		punch(fd, ctl->page_size, data, data + from);
		punch(fd, ctl->page_size, data + to, data + ctl->ring_size);
	} else {
		punch(fd, ctl->page_size, data + to, data + from);
	}
	return !unread && !writer.drops && !writer.busy;
}

/* Contents of a file of a recording. */
enum left {
	NOTHING,	/* all of it is saved */
	UNREAD,		/* unread records; what was read has been freed */
	UNKNOWN,	/* its process may live, or it is not a ring file of ours */
};

/* A program that recorded itself: what was read of its rings is in its file. */
static enum left free_recorded(int fd, const struct xsprof_ctl *ctl)
{
	struct xsprof_arena arena;
	bool saved;
	uint32_t k;

	if (ctl->mode != XSPROF_MODE_DISCARD ||
	    xsp_pread(fd, &arena, sizeof(arena), ctl->arena_off))
		return UNKNOWN;
	saved = !arena.nomem && !arena.late && !arena.missed;
	for (k = 0; k < ctl->nr_rings + ctl->nr_lock_rings; k++)
		if (ctl->ready[k / 64] >> (k % 64) & 1)
			saved &= free_ring(fd, ctl, k);
	return saved ? NOTHING : UNREAD;
}

/* A profiled program: it is paused at the end of a session, after everything was read. */
static enum left left_profiled(const struct xsprof_ctl *ctl)
{
	return ctl->paused & XSPROF_PAUSED_RECORDER ? NOTHING : UNKNOWN;
}

static enum left free_file(int dirfd, const char *name, bool profiled)
{
	int fd = openat(dirfd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	enum left left = UNKNOWN;
	struct xsprof_ctl ctl;
	struct stat st;

	if (fd < 0)
		return UNKNOWN;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    !xsp_pread(fd, &ctl, sizeof(ctl), 0) && !xsp_ctl_check(&ctl, st.st_size) &&
	    !may_live(fd, &ctl, &st))
		left = profiled ? left_profiled(&ctl) : free_recorded(fd, &ctl);
	close(fd);
	return left;
}

/* The same over all files of the recording. */
static enum left free_files(const struct xsp_recording *s, bool profiled)
{
	int fd = openat(s->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	enum left most = NOTHING, left;
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return UNKNOWN;
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "lock"))
			continue;
		left = xsp_file_is(entry->d_name, 'p') ?
				free_file(s->dirfd, entry->d_name, profiled) : UNKNOWN;
		if (left > most)
			most = left;
	}
	closedir(dir);
	return most;
}

/* Its last session began or ended a moment ago, or in the future (the clock was set). */
static bool may_be_saving(const struct xsp_recording *s)
{
	struct stat st;
	time_t now = time(NULL);

	return fstat(s->lockfd, &st) || now < st.st_mtime || now - st.st_mtime < SAVING_SECONDS;
}

/* Each self-recording program calls this at its start: freeing each session once is enough. */
static void free_session(struct xsp_recording *s, bool recorded)
{
	char command[32], freed[8];
	enum left left;
	bool profiled;

	if (xsp_recording_fact(s, "command", command, sizeof(command)) < 0)
		return;
	profiled = !strcmp(command, XSP_PROFILED);
	if ((profiled ? may_be_saving(s) : !recorded || strcmp(command, XSP_RECORDS_ITSELF)) ||
	    xsp_recording_fact(s, "freed", freed, sizeof(freed)) >= 0 || xsp_recording_adopt(s))
		return;
	left = free_files(s, profiled);
	if (left == NOTHING)
		xsp_recording_remove(s);
	else if (left == UNREAD)
		/* On failure the next call checks again. */
		(void)xsp_recording_add_freed(s);
}

void xsp_leftover_free(bool recorded)
{
	char user[XSP_RECORDING_PATH], path[XSP_RECORDING_PATH + 256];
	struct xsp_recording s;
	struct dirent *entry;
	const char *object;
	DIR *dir;

	if (xsp_recording_user_dir(user, false, &object))
		return;
	dir = opendir(user);
	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, "s.", 2))
			continue;
		snprintf(path, sizeof(path), "%s/%.200s", user, entry->d_name);
		if (!xsp_recording_open(&s, path))
			free_session(&s, recorded);
		xsp_recording_close(&s);
	}
	if (dir)
		closedir(dir);
}
