// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The producer's memory as a file in the recorder's session directory on tmpfs. Owns the file, its
 * mapping and the lock that marks the producer as alive; attach.c decides when to attach.
 *
 * The directory belongs to the user (0700) and is checked before a file is made in it, so that no
 * other user can read, truncate or replace the file. Unlike a memfd, a file on tmpfs cannot be
 * sealed; its name allows finding it after a crash.
 *
 * Plain system calls only: a forked child attaches at its first marker, which may be in a
 * signal handler.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ctl-word.h"
#include "base/file-name.h"
#include "base/proc.h"
#include "process/backend.h"
#include "process/join.h"
#include "process/retired.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE	23	/* Linux 5.14 */
#endif

static struct xsprof_ctl *ctl_page;	/* xsp_set.ctl, writable: only this file writes to it */
static char file_name[XSP_FILE_NAME];
static struct xsp_fd_id file_id;	/* identity of the producer's file */
static bool populates;		/* madvise() can allocate memory */

/* A POSIX lock belongs to the process, not the descriptor: forked children do not inherit it. */
static int lock_file(int fd)
{
	struct flock fl = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	return fcntl(fd, F_SETLK, &fl) ? -errno : 0;
}

/*
 * close() of any descriptor of this file drops the process' POSIX lock: take it again. Meanwhile
 * the recorder sees from our mapping that the process lives.
 */
void xsp_shm_relock(void)
{
	/*
	 * Acquire: pairs with the release in xsp_layout_set(); a drain of ours may call this early.
	 */
	const struct xsprof_ctl *ctl = __atomic_load_n(&xsp_set.ctl, __ATOMIC_ACQUIRE);

	if (ctl && !ctl->id && xsp_fd_is(&file_id, xsp_kept.fd))
		(void)lock_file(xsp_kept.fd);
}

static uint64_t round_up(uint64_t v, uint64_t to)
{
	return (v + to - 1) / to * to;
}

static uint64_t pow2_up(uint64_t v)
{
	uint64_t p = 1;

	while (p < v)
		p <<= 1;
	return p;
}

/* The number of possible CPUs, as the kernel counts them; without allocating. */
static uint32_t possible_cpus(void)
{
	char buf[256];
	uint32_t last = 0, v = 0;
	bool digit = false;

	if (xsp_proc_read("/sys/devices/system/cpu/possible", buf, sizeof(buf)) > 0) {
		for (const char *p = buf; ; p++) {
			if (*p >= '0' && *p <= '9') {
				v = v * 10 + (*p - '0');
				digit = true;
				continue;
			}
			if (digit && v > last)
				last = v;
			v = 0;
			digit = false;
			if (!*p)
				break;
		}
		return last + 1;
	}
	/* Without sysfs: the highest CPU that the scheduler allows us. */
	unsigned long mask[XSPROF_MAX_RINGS / 64];
	long n = syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask);

	for (long i = 0; i < n * 8; i++)
		if (mask[i / 64] >> (i % 64) & 1)
			last = i;
	return last + 1;
}

static void fill_ctl(struct xsprof_ctl *ctl, const struct xsp_want *want, uint64_t start)
{
	uint32_t clock = want->mono ? XSPROF_CLOCK_MONO_RAW : xsp_clock_kind();
	uint32_t nr = want->rseq && clock != XSPROF_CLOCK_MONO_RAW ? possible_cpus() : 0;
	uint32_t nl = want->lock_rings;
	const struct xsp_config *cfg = want->cfg;
	uint64_t page = sysconf(_SC_PAGESIZE);

	if (nr + nl > XSPROF_MAX_RINGS)
		nr = XSPROF_MAX_RINGS - nl;

	ctl->abi_major = XSPROF_ABI_MAJOR;
	ctl->abi_minor = XSPROF_ABI_MINOR;
	ctl->page_size = page;
	ctl->mode = want->mode;
	ctl->nr_rings = nr;
	ctl->nr_lock_rings = nl;
	ctl->ring_size = pow2_up(cfg->ring_size < XSPROF_MIN_BLOCKS * XSPROF_BLOCK_SIZE ?
				 XSPROF_MIN_BLOCKS * XSPROF_BLOCK_SIZE : cfg->ring_size);
	if (ctl->ring_size < page)
		ctl->ring_size = page;
	ctl->ring_stride = 2 * page + ctl->ring_size;
	ctl->arena_off = page;
	ctl->arena_size = round_up(cfg->arena_size + sizeof(struct xsprof_arena), page);
	ctl->rings_off = ctl->arena_off + ctl->arena_size;
	ctl->total_size = ctl->rings_off + (uint64_t)(nr + nl) * ctl->ring_stride;
	ctl->pid = getpid();
	ctl->ppid = getppid();
	ctl->uid = getuid();
	ctl->pid_ns = xsp_proc_pid_ns();
	ctl->start_time = start;
	(void)xsp_proc_boot_id(ctl->boot_id);
	ctl->state = XSPROF_STATE_LIVE;
	ctl->wanted = want->wanted;
	ctl->enabled = want->wanted;
	ctl->generation = 1;
	xsp_sync_read(&ctl->attach, clock);
	ctl->clock.kind = clock;
	ctl->clock.base_ticks = ctl->attach.ticks;
	ctl->clock.base_ns = ctl->attach.mono;
	if (clock == XSPROF_CLOCK_MONO_RAW) {
		ctl->clock.mult = 1;
		ctl->clock.freq = 1000000000;
	}
}

#define FILES_MAX	1000000u	/* per process */

static int create_file(int dir, uint32_t pid, uint64_t start, uint32_t *seq)
{
	int fd;

	for (*seq = 0; *seq < FILES_MAX; (*seq)++) {
		char name[XSP_FILE_NAME];

		xsp_file_name(name, 'p', pid, start, *seq);
		if (!faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW))
			continue;
		xsp_file_name(file_name, 't', pid, start, *seq);
		fd = openat(dir, file_name, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC,
			    0600);
		if (fd >= 0 || errno != EEXIST)
			return fd < 0 ? -errno : fd;
	}
	return -EEXIST;
}

/* ftruncate() beyond RLIMIT_FSIZE raises a signal that kills the program. */
static int set_size(int fd, uint64_t size)
{
	struct rlimit rl;

	if (!getrlimit(RLIMIT_FSIZE, &rl) && rl.rlim_cur != RLIM_INFINITY && size > rl.rlim_cur)
		return -EFBIG;
	return ftruncate(fd, (off_t)size) ? -errno : 0;
}

/* Allocates the parts of the file that the producer needs from the start. */
static int back_start(int fd, const struct xsprof_ctl *geo)
{
	return fallocate(fd, 0, 0, (off_t)(geo->arena_off + sizeof(struct xsprof_arena))) ?
	       -errno : 0;
}

/* qemu-user reports success for any advice: test with one that does not exist. */
static bool can_populate(char *base)
{
	uint64_t page = sysconf(_SC_PAGESIZE);

	return madvise(base, page, INT_MAX) && errno == EINVAL &&
	       !madvise(base, page, MADV_POPULATE_WRITE);
}

/* ---- what a backend does ------------------------------------------------------------------- */

/*
 * Allocates through the mapping: this needs no descriptor, which the program may have closed, and
 * the only system call that a marker makes for its ring is then madvise(), which every allocator
 * makes, so sandboxes permit it. A full tmpfs gives EFAULT here instead of SIGBUS later.
 */
static int shm_grow(uint64_t offset, uint64_t bytes)
{
	uint64_t page = sysconf(_SC_PAGESIZE), from = offset / page * page;

	if (populates) {
		if (!madvise(xsp_set.base + from, round_up(offset + bytes, page) - from,
			     MADV_POPULATE_WRITE))
			return 0;
		return errno == EFAULT ? -ENOSPC : -errno;
	}
	if (!xsp_fd_is(&file_id, xsp_kept.fd))
		return -EBADF;
	return fallocate(xsp_kept.fd, 0, (off_t)offset, (off_t)bytes) ? -errno : 0;
}

/* Nothing to do: the whole file is mapped read-write. */
static int shm_ring_map(struct xsprof_ring_writer *w)
{
	(void)w;
	return 0;
}

static void shm_ring_ready(struct xsprof_ring_writer *w, uint32_t k)
{
	bool lock = k >= xsp_set.nr_rings;

	__atomic_store_n(&w->cpu, lock ? UINT32_MAX : k, __ATOMIC_RELAXED);
	__atomic_store_n(&w->kind, lock ? XSPROF_RING_LOCK : XSPROF_RING_RSEQ, __ATOMIC_RELEASE);
	/* The reader may read from here on: it acquires the bit. */
	__atomic_or_fetch(&ctl_page->ready[k / 64], 1ull << (k % 64), __ATOMIC_RELEASE);
}

static int shm_control(uint64_t set, uint64_t clear, uint32_t pause, uint32_t resume)
{
	struct xsprof_ctl *ctl = ctl_page;

	if (clear)
		__atomic_and_fetch(&ctl->wanted, ~clear, __ATOMIC_SEQ_CST);
	if (set)
		__atomic_or_fetch(&ctl->wanted, set, __ATOMIC_SEQ_CST);
	if (resume)
		__atomic_and_fetch(&ctl->paused, ~resume, __ATOMIC_SEQ_CST);
	if (pause)
		__atomic_or_fetch(&ctl->paused, pause, __ATOMIC_SEQ_CST);
	xsp_ctl_settle(ctl);
	return 0;
}

/* The recorder polls; raising this makes it read earlier. */
static int shm_kick(bool flush)
{
	if (flush)
		__atomic_add_fetch(&ctl_page->flush, 1, __ATOMIC_RELEASE);
	return 1;
}

static void shm_goodbye(void)
{
	/* A program that paused itself may have disabled its clock (PR_SET_TSC). */
	if (!(__atomic_load_n(&ctl_page->paused, __ATOMIC_RELAXED) & XSPROF_PAUSED_PROGRAM))
		ctl_page->exit_ticks = xsp_ticks(xsp_kept.clock);
	__atomic_store_n(&ctl_page->state, XSPROF_STATE_EXITED, __ATOMIC_RELEASE);
}

/* A forked child has inherited the mapping and the descriptor. */
static void shm_let_go(bool own)
{
	(void)own;
	xsp_retired_drop(xsp_kept.base);
	munmap(xsp_kept.base, xsp_kept.len);
	if (xsp_fd_is(&file_id, xsp_kept.fd))
		close(xsp_kept.fd);
}

void xsp_shm_retire(bool keep)
{
	struct xsp_retired_rings rings = {
		.data = xsp_set.rings_off + xsp_set.data_off,
		.size = xsp_set.size << XSPROF_SLOT_SHIFT,
		.stride = xsp_set.stride,
		.nr = xsp_set.nr_rings + xsp_set.nl,
	};

	xsp_retired_add(xsp_kept.base, xsp_kept.len);
	if (!xsp_fd_is(&file_id, xsp_kept.fd))
		return;
	xsp_retired_keep(xsp_kept.fd, &rings);
	xsp_kept.fd = -1;
	if (!keep)
		xsp_retired_read();
}

bool xsp_shm_profile(bool runs)
{
	uint64_t to = runs ? XSPROF_PROFILE_RUNS : XSPROF_PROFILE_NONE;

	if (!xsp_attached() || xsp_kept.backend->kind != XSPROF_BACKEND_TMPFS)
		return false;
	/* Relaxed: the word alone is handed over; what else the recorder does is in its folder. */
	return __atomic_exchange_n(&ctl_page->profile, to, __ATOMIC_RELAXED) ==
	       XSPROF_PROFILE_ALONE;
}

static const struct xsp_backend shm = {
	.kind = XSPROF_BACKEND_TMPFS,
	.grow = shm_grow,
	.ring_map = shm_ring_map,
	.ring_ready = shm_ring_ready,
	.control = shm_control,
	.kick = shm_kick,
	.goodbye = shm_goodbye,
	.let_go = shm_let_go,
};

/* ---- attach -------------------------------------------------------------------------------- */

/*
 * Another copy of the library in this process may have taken the name after it was found free: do
 * not replace its file.
 */
static int rename_new(int dir, const char *name)
{
	enum { NOREPLACE = 1 };	/* RENAME_NOREPLACE */

	if (!syscall(SYS_renameat2, dir, file_name, dir, name, NOREPLACE))
		return 0;
	if (errno != ENOSYS && errno != EINVAL)
		return -errno;
	return renameat(dir, file_name, dir, name) ? -errno : 0;
}

/* Rename to the final name last, after the lock: an unlocked file belongs to a dead process. */
static int publish(int dir, int fd, struct xsprof_ctl *ctl)
{
	char name[XSP_FILE_NAME];
	int err = lock_file(fd);

	if (err < 0)
		return err;
	__atomic_store_n(&ctl->magic, XSPROF_MAGIC, __ATOMIC_RELEASE);
	do {
		xsp_file_name(name, 'p', ctl->pid, ctl->start_time, ctl->seq);
		err = rename_new(dir, name);
	} while (err == -EEXIST && ++ctl->seq < FILES_MAX);
	return err;
}

/**
 * xsp_shm_attach() - create the producer's file and lay it out
 * @want: the request
 *
 * Fills xsp_set, with nr = 0: no marker can enter until the caller sets it.
 *
 * Return: 0; -ENOTCONN no recorder; -EACCES, -ENOSPC, -ENOMEM, -EFBIG, ...
 */
int xsp_shm_attach(const struct xsp_want *want)
{
	/*
	 * Static: one thread attaches at a time, and the stack may be a small one of a signal
	 * handler.
	 */
	static struct xsprof_ctl geo;
	uint64_t start = xsp_proc_start_time();
	uint32_t pid = getpid(), seq;
	int dir, fd, err;
	char *base;

	memset(&geo, 0, sizeof(geo));
	fill_ctl(&geo, want, start);
	dir = xsp_recording_join(want->cfg->session);
	if (dir < 0)
		return dir;
	xsp_recording_keep(want->cfg->session, dir);
	fd = create_file(dir, pid, start, &seq);
	if (fd < 0) {
		err = fd;
		goto err_dir;
	}
	fd = xsp_fd_high(fd);
	geo.seq = seq;
	err = set_size(fd, geo.total_size);
	if (!err)
		err = back_start(fd, &geo);
	if (!err)
		err = xsp_fd_note(&file_id, fd);
	if (err < 0)
		goto err_file;
	base = xsp_retired_map(fd, geo.total_size);
	if (base == MAP_FAILED) {
		err = -errno;
		goto err_file;
	}
	ctl_page = (struct xsprof_ctl *)base;
	*ctl_page = geo;
	populates = can_populate(base);
	err = xsp_layout_set(&geo, base, fd, &shm);
	if (err < 0)
		goto err_map;
	err = publish(dir, fd, ctl_page);
	if (err < 0)
		goto err_layout;
	close(dir);
	return 0;

err_layout:
	xsp_layout_clear();
err_map:
	munmap(base, geo.total_size);
err_file:
	unlinkat(dir, file_name, 0);
	close(fd);
err_dir:
	close(dir);
	return err;
}
