// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The producer's memory as a file in the recorder's session directory on tmpfs.  Owns the file,
 * its mapping and the lock that says the producer is alive; never decides when to attach.
 *
 * The directory is the user's own (0700) and is checked before anything is made in it, so that
 * no other user can read the file, cut it, or put another in its place.  A file on tmpfs cannot
 * be sealed as a memfd can; its name is what lets it be found after a crash.
 *
 * Plain system calls only: a forked child attaches at its first marker, which may be in a
 * signal handler.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"
#include "trace/ring-clock.h"

#define XSP_FD_MIN	512	/* out of the way of programs that count on low numbers */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE	23	/* Linux 5.14 */
#endif

static char file_name[96];
static struct stat file_stat;	/* of the producer's file: what its descriptor must still name */

/* Append a number: no stdio in a signal handler. */
static char *put_number(char *p, uint64_t v)
{
	char digits[20];
	int n = 0;

	do {
		digits[n++] = '0' + v % 10;
	} while (v /= 10);
	while (n)
		*p++ = digits[--n];
	return p;
}

static void make_name(char *name, char kind, uint32_t pid, uint64_t start, uint32_t seq)
{
	char *p = name;

	*p++ = kind;
	*p++ = '.';
	p = put_number(p, pid);
	*p++ = '.';
	p = put_number(p, start);
	*p++ = '.';
	p = put_number(p, seq);
	*p = 0;
}

/**
 * open_session() - the session's directory, if it is one of ours with a live recorder
 * @path: absolute path
 *
 * Return: a descriptor; -ENOTCONN no recorder; -EACCES not ours; another negative errno.
 */
static int open_session(const char *path)
{
	int dir, lock, held;
	struct stat st;

	dir = open(path, O_DIRECTORY | O_NOFOLLOW | O_RDONLY | O_CLOEXEC);
	if (dir < 0)
		return errno == ENOENT ? -ENOTCONN : -errno;
	if (fstat(dir, &st) || st.st_uid != geteuid() || (st.st_mode & 077)) {
		close(dir);
		return -EACCES;
	}
	lock = openat(dir, "lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (lock < 0) {
		close(dir);
		return -ENOTCONN;
	}
	/* A recorder holds it for as long as it lives: to get it is to know that none does. */
	held = flock(lock, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	close(lock);
	if (!held) {
		close(dir);
		return -ENOTCONN;
	}
	return dir;
}

/* A lock of this process, not of the descriptor: a forked child does not inherit it. */
static int lock_file(int fd)
{
	struct flock fl = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	return fcntl(fd, F_SETLK, &fl) ? -errno : 0;
}

/**
 * xsp_shm_note() - tell the recorder why this process does not record
 * @session: the session's directory
 * @text: one line
 *
 * Best effort: where not even this can be written there is nobody to tell.
 */
void xsp_shm_note(const char *session, const char *text)
{
	struct rlimit rl;
	char name[96];
	int dir, fd;

	dir = open_session(session);
	if (dir < 0)
		return;
	/* Beyond its limit of file size a write is a signal that ends the program. */
	if (!getrlimit(RLIMIT_FSIZE, &rl) && rl.rlim_cur < strlen(text)) {
		close(dir);
		return;
	}
	make_name(name, 'e', getpid(), xsp_start_time(), 0);
	fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0) {
		if (write(fd, text, strlen(text)) < 0)
			unlinkat(dir, name, 0);
		close(fd);
	}
	close(dir);
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

/* CPUs there may ever be, as the kernel counts them; without allocating. */
static uint32_t possible_cpus(void)
{
	char buf[256];
	uint32_t last = 0, v = 0;
	bool digit = false;

	if (xsp_read_file("/sys/devices/system/cpu/possible", buf, sizeof(buf)) > 0) {
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
	/* No sysfs: what the scheduler lets us use, up to its highest number. */
	unsigned long mask[XSPROF_MAX_RINGS / 64];
	long n = syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask);

	for (long i = 0; i < n * 8; i++)
		if (mask[i / 64] >> (i % 64) & 1)
			last = i;
	return last + 1;
}

static void fill_ctl(struct xsprof_ctl *ctl, const struct xsp_config *cfg, uint32_t clock,
		     uint32_t nr, uint32_t nl, uint64_t start)
{
	uint64_t page = sysconf(_SC_PAGESIZE);

	ctl->abi_major = XSPROF_ABI_MAJOR;
	ctl->abi_minor = XSPROF_ABI_MINOR;
	ctl->page_size = page;
	ctl->mode = cfg->mode;
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
	ctl->pid_ns = xsp_pid_ns();
	ctl->start_time = start;
	xsp_boot_id(ctl->boot_id);
	ctl->state = XSPROF_STATE_LIVE;
	xsp_sync_read(&ctl->attach, clock);
	ctl->clock.kind = clock;
	ctl->clock.base_ticks = ctl->attach.ticks;
	ctl->clock.base_ns = ctl->attach.mono;
	if (clock == XSPROF_CLOCK_MONO_RAW) {
		ctl->clock.mult = 1;
		ctl->clock.freq = 1000000000;
	}
}

/* A descriptor well above the program's own. */
static int move_high(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, XSP_FD_MIN);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

static int create_file(int dir, uint32_t pid, uint64_t start, uint32_t *seq)
{
	int fd;

	for (*seq = 0; *seq < 1000000; (*seq)++) {
		char name[96];

		make_name(name, 'p', pid, start, *seq);
		if (!faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW))
			continue;
		make_name(file_name, 't', pid, start, *seq);
		fd = openat(dir, file_name, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC,
			    0600);
		if (fd >= 0 || errno != EEXIST)
			return fd < 0 ? -errno : fd;
	}
	return -EEXIST;
}

/* ftruncate() beyond RLIMIT_FSIZE is a signal that ends the program. */
static int set_size(int fd, uint64_t size)
{
	struct rlimit rl;

	if (!getrlimit(RLIMIT_FSIZE, &rl) && rl.rlim_cur != RLIM_INFINITY && size > rl.rlim_cur)
		return -EFBIG;
	return ftruncate(fd, (off_t)size) ? -errno : 0;
}

/*
 * The table of rings does not start its page: every head does, and a processor takes a load for
 * one of the store before it whose address has the same low 12 bits, and waits.  CPU 0's markers
 * would pay half a nanosecond for that.
 */
#define TABLE_SKIP	8	/* pointers: a cache line */

static size_t table_bytes(uint32_t nr)
{
	return ((size_t)nr + TABLE_SKIP) * sizeof(struct xsprof_ring_writer *);
}

static struct xsprof_ring_writer **ring_table(uint32_t nr)
{
	struct xsprof_ring_writer **t;

	t = mmap(NULL, table_bytes(nr), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		 -1, 0);
	if (t == MAP_FAILED)
		return NULL;
	t += TABLE_SKIP;
	for (uint32_t i = 0; i < nr; i++)
		t[i] = &xsp_closed_ring;
	return t;
}

static void ring_table_free(struct xsprof_ring_writer **t, uint32_t nr)
{
	if (t)
		munmap(t - TABLE_SKIP, table_bytes(nr));
}

/* What of the file must have memory before the producer is of any use. */
static int back_start(int fd, const struct xsprof_ctl *geo)
{
	return fallocate(fd, 0, 0, (off_t)(geo->arena_off + sizeof(struct xsprof_arena))) ?
	       -errno : 0;
}

/**
 * xsp_shm_attach() - make the producer's file and lay it out
 * @cfg: what is wanted
 * @clock: enum xsprof_clock_kind
 * @rseq: rings by CPU are of use; else all but the lock rings are left out
 *
 * Fills xsp_set, with nr = 0 still: markers do not come in before the caller says so.
 *
 * Return: 0; -ENOTCONN nobody records; -EACCES, -ENOSPC, -ENOMEM, -EFBIG, ...
 */
int xsp_shm_attach(const struct xsp_config *cfg, uint32_t clock, bool rseq)
{
	uint32_t pid = getpid(), seq, nr, nl = cfg->lock_rings;
	struct xsprof_ring_writer **table = NULL;
	struct xsprof_ctl geo = { 0 }, *ctl;
	uint64_t start = xsp_start_time();
	int dir, fd, err;
	char name[96];
	char *base;

	if (!nl)
		nl = rseq ? 1 : 4;
	nr = rseq ? possible_cpus() : 0;
	if (nr + nl > XSPROF_MAX_RINGS)
		nr = XSPROF_MAX_RINGS - nl;
	fill_ctl(&geo, cfg, clock, nr, nl, start);
	dir = open_session(cfg->session);
	if (dir < 0)
		return dir;
	fd = create_file(dir, pid, start, &seq);
	if (fd < 0) {
		err = fd;
		goto err_dir;
	}
	fd = move_high(fd);
	geo.seq = seq;
	err = set_size(fd, geo.total_size);
	if (!err)
		err = back_start(fd, &geo);
	if (err < 0)
		goto err_file;
	base = mmap(NULL, geo.total_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
		    fd, 0);
	if (base == MAP_FAILED) {
		err = -errno;
		goto err_file;
	}
	if (nr) {
		table = ring_table(nr);
		if (!table) {
			err = -ENOMEM;
			goto err_map;
		}
	}
	ctl = (struct xsprof_ctl *)base;
	*ctl = geo;
	xsp_set.base = base;
	xsp_set.ctl = ctl;
	xsp_set.arena = (struct xsprof_arena *)(base + geo.arena_off);
	xsp_set.len = geo.total_size;
	xsp_set.rings_off = geo.rings_off;
	xsp_set.stride = geo.ring_stride;
	xsp_set.arena_room = geo.arena_size - sizeof(*xsp_set.arena);
	xsp_set.fd = fd;
	xsp_set.ring = table;
	xsp_set.nr_rings = nr;
	xsp_set.nl = nl;
	xsp_set.size = geo.ring_size >> XSPROF_SLOT_SHIFT;
	xsp_set.mask = xsp_set.size - 1;
	xsp_set.overwrite = geo.mode == XSPROF_MODE_OVERWRITE;
	xsp_set.data_off = 2 * geo.page_size;
	xsp_set.tail_off = geo.page_size;
	xsp_set.clock = clock;
	if (fstat(fd, &file_stat)) {
		err = -errno;
		goto err_set;
	}
	/* Locked before it can be found: a file nobody has locked is a dead process'. */
	err = lock_file(fd);
	if (err < 0)
		goto err_set;
	__atomic_store_n(&ctl->magic, XSPROF_MAGIC, __ATOMIC_RELEASE);
	make_name(name, 'p', pid, start, seq);
	if (renameat(dir, file_name, dir, name)) {
		err = -errno;
		goto err_set;
	}
	close(dir);
	return 0;

err_set:
	xsp_set.base = NULL;
	xsp_set.ctl = NULL;
	xsp_set.arena = NULL;
	ring_table_free(table, nr);
err_map:
	munmap(base, geo.total_size);
err_file:
	unlinkat(dir, file_name, 0);
	close(fd);
err_dir:
	close(dir);
	return err;
}

/*
 * Programs close descriptors that they do not know, and the number then is of another file: one
 * that must not be grown, nor closed.
 */
static bool fd_is_ours(void)
{
	struct stat st;

	return !fstat(xsp_set.fd, &st) && st.st_dev == file_stat.st_dev &&
	       st.st_ino == file_stat.st_ino;
}

/**
 * xsp_shm_grow() - put memory behind a part of the file
 * @offset: first byte
 * @bytes: how many
 *
 * Signal-safe.
 *
 * Return: 0, -ENOSPC and the like.
 */
int xsp_shm_grow(uint64_t offset, uint64_t bytes)
{
	uint64_t page = sysconf(_SC_PAGESIZE), from = offset / page * page;

	if (fd_is_ours())
		return fallocate(xsp_set.fd, 0, (off_t)offset, (off_t)bytes) ? -errno : 0;
	/* Through the mapping; a full tmpfs is EFAULT here, and not yet SIGBUS. */
	if (!madvise(xsp_set.base + from, round_up(offset + bytes, page) - from,
		     MADV_POPULATE_WRITE))
		return 0;
	return errno == EFAULT ? -ENOSPC : -errno;
}

/* The child of a fork lets go of its parent's producer. */
void xsp_shm_detach(void)
{
	if (!xsp_set.base)
		return;
	ring_table_free(xsp_set.ring, xsp_set.nr_rings);
	munmap(xsp_set.base, xsp_set.len);
	if (fd_is_ours())
		close(xsp_set.fd);
	xsp_set.base = NULL;
	xsp_set.ctl = NULL;
	xsp_set.arena = NULL;
	xsp_set.ring = NULL;
}
