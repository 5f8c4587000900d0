// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Takes up a producer of a session or of the device: assigns its number in the capture and finds
 * where to continue in each ring. Reads no record.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/pidfd.h"
#include "base/proc.h"
#include "drain/producer.h"

static int store_found(struct xsp_store *st, struct xsp_producer *p)
{
	struct xsprof_chunk chunk = {
		.type = XSPROF_CHUNK_PRODUCER,
		.producer = p->number,
	};
	struct xsprof_cap_producer *found = st->buf;

	memset(found, 0, sizeof(*found));
	found->pid = p->pid;
	found->found = xsp_ticks(p->rf.ctl.clock.kind);
	found->ctl = p->rf.ctl;
	chunk.first = found->found;
	chunk.last = found->found;
	return xsp_store_chunk(st, &chunk, found, sizeof(*found));
}

/* The process' pid in our namespace, from the lock that it holds. */
static pid_t lock_holder(const struct xsp_producer *p)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	if (!fcntl(p->rf.fd, F_GETLK, &lock) && lock.l_type != F_UNLCK && lock.l_pid > 0)
		return lock.l_pid;
	return 0;
}

static void set_process(struct xsp_producer *p, pid_t pid)
{
	struct xsp_proc_stat st;

	p->pid = pid;
	p->start = xsp_proc_stat(pid, &st) ? p->rf.ctl.start_time : st.start_time;
}

bool xsp_producer_maps(struct xsp_producer *p, pid_t pid)
{
	if (xsp_proc_maps_file(pid, p->dev, p->ino) != 1)
		return false;
	set_process(p, pid);
	if (p->pidfd < 0)
		p->pidfd = xsp_pidfd_open(pid);
	/*
	 * If it still maps the file, the pidfd is of the right process, or of one that has ended.
	 */
	if (xsp_proc_maps_file(pid, p->dev, p->ino) == 1 || p->pidfd < 0)
		return true;
	close(p->pidfd);
	p->pidfd = -1;
	return false;
}

/*
 * The pid may have become another process' before the pidfd was opened: then the lock names another
 * pid, or none. The pid that a process states may be of another namespace: of pids, or of time,
 * which shifts its start.
 */
void xsp_producer_watch(const struct xsp_store *st, struct xsp_producer *p)
{
	pid_t holder = lock_holder(p);
	uint64_t now = xsp_ticks(p->rf.ctl.clock.kind);

	p->pidfd = -1;
	p->pid = 0;
	p->start = p->rf.ctl.start_time;
	p->lived = p->ran = p->rf.ctl.attach.ticks;
	/* It dropped its lock, or the lock is our own: a program that records itself. */
	if (!holder) {
		if (p->rf.ctl.pid_ns == st->pid_ns)
			p->pid = p->rf.ctl.pid;
		if (p->pid && p->pid != getpid() && xsp_producer_maps(p, p->pid))
			p->lived = now;
		return;
	}
	set_process(p, holder);
	p->pidfd = xsp_store_fd(st, xsp_pidfd_open(holder));
	if (lock_holder(p) == holder) {
		p->lived = now;
	} else {
		xsp_fd_close(p->pidfd);
		p->pidfd = -1;
	}
}

/*
 * Files of a program's own processes: do not keep descriptors, as program and library would disturb
 * each other.
 */
static int set_inside(struct xsp_store *st, struct xsp_producer *p)
{
	bool file = !p->rf.device;
	int err;

	if (!xsp_store_inside(st))
		return 0;
	err = xsp_ring_file_inside(&p->rf);
	if (file)
		st->ops->closed(st->data);
	return err;
}

/*
 * A producer may have run long before we came, and other readers may have read it: what they
 * consumed, and what was overwritten, is not a loss of this recording. A peeking reader sees
 * everything that is there.
 */
static void adopt_rings(struct xsp_producer *p)
{
	uint32_t k;

	for (k = 0; k < p->rf.rings; k++) {
		struct xsp_producer_ring *r = &p->rings[k];
		const struct xsprof_ring_reader *reader;
		uint64_t tail;

		if (!xsp_ring_ready(&p->rf, k))
			continue;
		reader = xsp_ring_reader(&p->rf, k);
		if (!p->rf.peek) {
			r->tail = __atomic_load_n(&reader->tail, __ATOMIC_RELAXED);
			r->skipped = __atomic_load_n(&reader->skipped, __ATOMIC_RELAXED);
		}
		if (r->skipped > r->tail)
			r->skipped = r->tail;
		r->unsaved = r->tail - r->skipped;
		tail = r->tail;
		r->tail = xsp_ring_trust(&p->rf, k, xsp_ring_head(&p->rf, k), tail);
		r->skipped += r->tail - tail;
		r->before = r->skipped;
	}
}

static void resume_rings(struct xsp_store *st, struct xsp_producer *p)
{
	uint32_t k;

	for (k = 0; k < p->rf.rings; k++) {
		struct xsprof_ring_reader *reader;

		if (!xsp_ring_ready(&p->rf, k))
			continue;
		reader = xsp_ring_reader(&p->rf, k);
		p->rings[k] = (struct xsp_producer_ring){
			.tail = __atomic_load_n(&reader->tail, __ATOMIC_RELAXED),
			.skipped = __atomic_load_n(&reader->skipped, __ATOMIC_RELAXED),
		};
		st->ops->resume_ring(st->data, p->number, k, &p->rings[k]);
		st->elsewhere_slots += p->rings[k].unsaved;
	}
}

/* Assigns its number in the capture and where to continue its rings. */
static int take_up(struct xsp_store *st, struct xsp_producer *p, uint32_t *number)
{
	bool resumed = false;

	p->rings = calloc(p->rf.rings, sizeof(*p->rings));
	if (!p->rings)
		return -ENOMEM;
	if (p->rf.device || p->rf.peek)
		adopt_rings(p);
	if (st->ops && st->ops->resume)
		resumed = st->ops->resume(st->data, &p->rf.ctl, &p->number, &p->arena_pos,
					  &p->lived);
	if (resumed)
		p->wrote = p->lived;
	else
		p->number = (*number)++;
	if (st->ops && st->ops->resume_ring)
		resume_rings(st, p);
	if (!resumed)
		store_found(st, p);
	st->kinds |= 1u << (p->rf.ctl.clock.kind & 31);
	return 0;
}

/*
 * Another user may write any pid into its file. A claim is rejected if that process lives, belongs
 * to a different user and does not hold the file's lock.
 */
static bool is_forged(const struct xsp_producer *p, uid_t owner)
{
	struct xsp_proc_stat stat;
	pid_t pid = p->rf.ctl.pid;

	return owner != geteuid() && !lock_holder(p) && p->pid == pid &&
	       !xsp_proc_stat(pid, &stat) && stat.start_time == p->rf.ctl.start_time &&
	       !xsp_proc_has_uid(pid, owner);
}

static int open_file(struct xsp_store *st, int dirfd, const char *name, bool peek,
		     uint32_t *number, struct xsp_producer **out)
{
	struct xsp_producer *p;
	struct stat sb;
	int err;

	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->pidfd = -1;
	err = xsp_ring_file_open(&p->rf, dirfd, name);
	if (err)
		goto err_free;
	p->rf.peek = peek;
	if (fstat(p->rf.fd, &sb)) {
		err = -errno;
		goto err_close;
	}
	p->owner = sb.st_uid;
	p->foreign = sb.st_uid != geteuid();
	p->dev = sb.st_dev;
	p->ino = sb.st_ino;
	strncpy(p->name, name, sizeof(p->name) - 1);
	xsp_producer_watch(st, p);
	if (is_forged(p, sb.st_uid)) {
		err = -EPERM;
		/* Or it would be taken for that process after that one has ended. */
		if (!peek)
			unlinkat(dirfd, name, 0);
		goto err_close;
	}
	err = set_inside(st, p);
	if (!err)
		err = take_up(st, p, number);
	if (err)
		goto err_close;
	*out = p;
	return 0;

err_close:
	xsp_fd_close(p->pidfd);
	xsp_ring_file_close(&p->rf);
err_free:
	free(p->rings);
	free(p);
	return err;
}

int xsp_producer_open(struct xsp_store *st, int dirfd, const char *name, uint32_t *number,
		      struct xsp_producer **out)
{
	return open_file(st, dirfd, name, false, number, out);
}

int xsp_producer_peek(struct xsp_store *st, int dirfd, const char *name, uint32_t *number,
		      struct xsp_producer **out)
{
	return open_file(st, dirfd, name, true, number, out);
}

/* For an ended process only the kernel still has the name. */
static void store_comm(struct xsp_store *st, const struct xsp_producer *p)
{
	struct xsprof_cap_thread thread = { .tid = p->info.own_pid };
	struct xsprof_chunk chunk = {
		.type = XSPROF_CHUNK_THREADS,
		.producer = p->number,
	};

	memcpy(thread.comm, p->info.comm, sizeof(thread.comm));
	xsp_store_chunk(st, &chunk, &thread, sizeof(thread));
}

int xsp_producer_open_device(struct xsp_store *st, int fd, uint64_t id, bool consume,
			     uint32_t *number, struct xsp_producer **out)
{
	struct xsp_producer *p;
	int err;

	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->pidfd = -1;
	err = xsp_device_open_ring(&p->rf, fd, id, consume);
	if (err)
		goto err_free;
	p->id = id;
	snprintf(p->name, sizeof(p->name), "device producer %llu", (unsigned long long)id);
	xsp_producer_ask(p);
	p->pid = p->info.pid;
	p->start = p->rf.ctl.start_time;
	err = set_inside(st, p);
	if (!err)
		err = take_up(st, p, number);
	if (err)
		goto err_close;
	if (p->info.state != XSPROF_STATE_LIVE)
		store_comm(st, p);
	*out = p;
	return 0;

err_close:
	xsp_ring_file_close(&p->rf);
err_free:
	free(p->rings);
	free(p);
	return err;
}

void xsp_producer_ask(struct xsp_producer *p)
{
	struct xsprof_info info;

	p->told = false;
	p->quiet = false;
	/* It cannot fail on a descriptor on which it succeeded before; if so there is no news. */
	if (!xsp_device_events(&p->rf, &info))
		p->info = info;
}

void xsp_producer_free(struct xsp_producer *p)
{
	xsp_fd_close(p->pidfd);
	xsp_ring_file_close(&p->rf);
	xsp_tids_free(&p->tids);
	free(p->rings);
	free(p);
}
