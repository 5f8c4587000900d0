// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile mappings: which part of a producer may be mapped how and by whom, that what is mapped
 * read-only never becomes writable, and the life of mappings under everything that mm has.
 * Owns a second, independent statement of the rules (may_map), against which the kernel's
 * answers are held.
 */
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "ring.h"

enum side { CONTROL_FD, PRODUCER_FD, READER_FD, CONSUMER_FD, SIDES };

FIXTURE(map)
{
	struct dev	d;		/* producer */
	struct dev	r;		/* consuming reader */
	int		fd[SIDES];
};

FIXTURE_SETUP(map)
{
	struct xsprof_open o = { .size = sizeof(o) };

	ASSERT_EQ(0, dev_attach(&self->d, XSPROF_MODE_DISCARD, 16 << 10, 2));
	ASSERT_EQ(0, dev_ring_open(&self->d, self->d.nr));
	ASSERT_EQ(0, dev_read_id(&self->r, self->d.fd, self->d.id, XSPROF_OPEN_CONSUME));
	o.id = self->d.id;
	self->fd[CONTROL_FD] = dev_open();
	self->fd[PRODUCER_FD] = self->d.fd;
	self->fd[READER_FD] = dev_call(self->d.fd, XSPROF_IOC_OPEN, &o);
	self->fd[CONSUMER_FD] = self->r.fd;
	for (unsigned int i = 0; i < SIDES; i++)
		ASSERT_GE(self->fd[i], 0);
}

FIXTURE_TEARDOWN(map)
{
	dev_close(&self->r);
	dev_close(&self->d);
	close(self->fd[CONTROL_FD]);
	close(self->fd[READER_FD]);
}

/* ---- who may map what how ------------------------------------------------------------------ */

/* Are all of [@off, @off + @len) in one area that @side writes? */
static bool writable(const struct dev *d, enum side side, uint64_t off, uint64_t len)
{
	uint64_t in;

	if (side == PRODUCER_FD && off >= d->arena_off &&
	    off + len <= d->arena_off + d->arena_size)
		return true;
	if (off < d->rings_off)
		return false;
	/* What the kernel writes is for readers' tails alone. */
	if (off >= d->ctl->kernel_off) {
		in = (off - d->ctl->kernel_off) % (2 * d->page + d->ctl->kernel_size);
		return side == CONSUMER_FD && in == d->page && len == d->page;
	}
	in = (off - d->rings_off) % d->stride;
	if (side == CONSUMER_FD)
		return in == d->page && len == d->page;
	if (side != PRODUCER_FD)
		return false;
	return (!in && len == d->page) || (in >= 2 * d->page && in + len <= d->stride);
}

static int may_map(const struct dev *d, enum side side, uint64_t off, uint64_t len, int prot,
		   int flags)
{
	uint64_t pages = (len + d->page - 1) & ~(d->page - 1);

	if (!len)
		return -EINVAL;
	if (side == CONTROL_FD)
		return -ENODEV;
	if ((flags & MAP_TYPE) == MAP_PRIVATE)
		return -EINVAL;
	if (prot & PROT_EXEC)
		return -EPERM;
	if (off + pages < off || off + pages > d->len)
		return -EINVAL;
	return prot & PROT_WRITE && !writable(d, side, off, pages) ? -EACCES : 0;
}

TEST_F(map, matrix)
{
	static const int types[] = { MAP_SHARED, MAP_SHARED_VALIDATE, MAP_PRIVATE,
				     MAP_SHARED | MAP_POPULATE };
	const struct dev *d = &self->d;
	uint64_t ring = dev_ring_off(d, d->nr), last = dev_ring_off(d, d->nr + d->nl - 1);
	uint64_t kernel = d->ctl->kernel_off, stride = 2 * d->page + d->ctl->kernel_size;
	uint64_t offs[] = {
		0, d->page, d->arena_off + d->arena_size - d->page, ring, ring + d->page,
		ring + 2 * d->page, ring + 3 * d->page, ring + d->stride - d->page, last,
		last + d->page, last + d->stride - d->page, kernel, kernel + d->page,
		kernel + 2 * d->page, kernel + stride + d->page, d->len - d->page, d->len,
		d->len + d->page, 1ull << 40, 1ull << 62, -(uint64_t)d->page,
	};
	uint64_t lens[] = {
		0, 1, d->page, 2 * d->page, d->arena_size, d->ring_size, d->ring_size + d->page,
		d->stride, d->len, d->len + d->page,
	};
	unsigned int cases = 0, maps = 0, i = 0, step = env_debug() && !env_full() ? 11 : 1;

	/* On a slow kernel some of them, by a step that no number of values is a multiple of. */
	for (unsigned int side = 0; side < SIDES; side++)
	for (unsigned int o = 0; o < sizeof(offs) / sizeof(offs[0]); o++)
	for (unsigned int l = 0; l < sizeof(lens) / sizeof(lens[0]); l++)
	for (unsigned int prot = 0; prot < 8; prot++)
	for (unsigned int t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
		int want = may_map(d, side, offs[o], lens[l], prot, types[t]), got = 0;
		char *at;

		if (i++ % step)
			continue;
		at = mmap(NULL, lens[l], prot, types[t], self->fd[side], offs[o]);
		if (at == MAP_FAILED)
			got = -errno;
		/* Ends beyond what a file can have: the system's own answer, before ours. */
		if (got == -EOVERFLOW && offs[o] > INT64_MAX - d->len)
			want = got;
		/* A /dev that is mounted noexec refuses first. */
		if (got == -EPERM && prot & PROT_EXEC)
			want = got;
		EXPECT_EQ(want, got) {
			TH_LOG("side %u offset %llx length %llx prot %u type %x", side,
			       (unsigned long long)offs[o], (unsigned long long)lens[l], prot,
			       types[t]);
		}
		if (at != MAP_FAILED) {
			maps++;
			EXPECT_EQ(0, munmap(at, lens[l]));
		}
		cases++;
	}
	EXPECT_GE(cases, step > 1 ? 2400 : 4000);
	EXPECT_GE(maps, 100);
	TH_LOG("%u cases, %u of them mapped", cases, maps);
}

/* ---- read-only stays so -------------------------------------------------------------------- */

static sigjmp_buf env;

static void on_fault(int sig)
{
	siglongjmp(env, sig);
}

static void catch_faults(void)
{
	struct sigaction sa = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
}

/* Return: 0, or the signal that a store to @at raised. */
static int store(volatile uint64_t *at, uint64_t value)
{
	int sig = sigsetjmp(env, 1);

	if (!sig)
		*at = value;
	return sig;
}

static int load(volatile uint64_t *at)
{
	int sig = sigsetjmp(env, 1);

	if (!sig)
		(void)*at;
	return sig;
}

/* Each way to write to memory of one's own that does not go through the mapping's own bits. */
static void try_back_doors(struct __test_metadata *_metadata, char *at, size_t page,
			   uint64_t off)
{
	uint64_t before = *(volatile uint64_t *)at, other = ~before;
	struct iovec from = { &other, sizeof(other) }, to = { at, sizeof(other) };
	int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC), zero = open("/dev/zero", O_RDONLY);
	char *elsewhere;

	ASSERT_GE(mem, 0);
	ASSERT_GE(zero, 0);
	EXPECT_EQ(-1, mprotect(at, page, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect(at, page, PROT_WRITE));
	EXPECT_EQ(-1, mprotect(at, page, PROT_READ | PROT_EXEC));
	EXPECT_EQ(-1, syscall(SYS_pkey_mprotect, at, page, PROT_READ | PROT_WRITE, -1));
	EXPECT_EQ(-1, pwrite(mem, &other, sizeof(other), (uintptr_t)at));
	EXPECT_EQ(-1, process_vm_writev(getpid(), &from, 1, &to, 1, 0));
	EXPECT_EQ(-1, read(zero, at, sizeof(other)));
	EXPECT_EQ(EFAULT, errno);
	syscall(SYS_remap_file_pages, at, page, 0, off / page, 0);
	EXPECT_EQ(-1, mprotect(at, page, PROT_READ | PROT_WRITE));
	/* Elsewhere it is what it was; and it does not grow over its neighbour. */
	EXPECT_EQ(MAP_FAILED, mremap(at, page, 2 * page, MREMAP_MAYMOVE));
	elsewhere = mremap(at, page, page, MREMAP_MAYMOVE | MREMAP_FIXED,
			   mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	ASSERT_NE(MAP_FAILED, elsewhere);
	EXPECT_EQ(-1, mprotect(elsewhere, page, PROT_READ | PROT_WRITE));
	EXPECT_EQ(SIGSEGV, store((uint64_t *)elsewhere, other));
	EXPECT_EQ(before, *(volatile uint64_t *)elsewhere);
	munmap(elsewhere, page);
	close(mem);
	close(zero);
}

TEST_F(map, readonly_for_good)
{
	struct dev *d = &self->d;
	uint64_t ring = dev_ring_off(d, d->nr);
	struct { enum side side; uint64_t off; } areas[] = {
		{ PRODUCER_FD, 0 }, { PRODUCER_FD, ring + d->page },
		{ PRODUCER_FD, d->arena_off }, { PRODUCER_FD, ring },
		{ READER_FD, 0 }, { READER_FD, d->arena_off }, { READER_FD, ring },
		{ READER_FD, ring + d->page }, { READER_FD, ring + 2 * d->page },
		{ CONSUMER_FD, 0 }, { CONSUMER_FD, d->arena_off }, { CONSUMER_FD, ring },
		{ CONSUMER_FD, ring + d->page }, { CONSUMER_FD, ring + 2 * d->page },
	};

	catch_faults();
	for (unsigned int i = 0; i < sizeof(areas) / sizeof(areas[0]); i++) {
		int fd = self->fd[areas[i].side];
		char *at = mmap(NULL, d->page, PROT_READ, MAP_SHARED, fd, areas[i].off);

		ASSERT_NE(MAP_FAILED, at);
		EXPECT_EQ(SIGSEGV, store((uint64_t *)at, 1));
		try_back_doors(_metadata, at, d->page, areas[i].off);
		/* PROT_NONE first is no way round. */
		at = mmap(NULL, d->page, PROT_NONE, MAP_SHARED, fd, areas[i].off);
		ASSERT_NE(MAP_FAILED, at);
		EXPECT_EQ(-1, mprotect(at, d->page, PROT_READ | PROT_WRITE));
		munmap(at, d->page);
	}
}

/* A debugger, which may write to anything else that is mapped private. */
TEST_F(map, readonly_for_debuggers)
{
	struct dev *d = &self->d;
	uint64_t ring = dev_ring_off(d, d->nr), before;
	int status;
	pid_t pid;

	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		struct dev r;

		/* Readers: a producer's mappings do not survive the fork. */
		if (dev_read_id(&r, self->fd[CONTROL_FD], d->id, 0) ||
		    mmap(d->base, d->len, PROT_READ, MAP_SHARED | MAP_FIXED, r.fd, 0) != d->base ||
		    ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFSTOPPED(status));
	before = *(uint64_t *)(d->base + 64);
	for (unsigned int i = 0; i < 4; i++) {
		uint64_t off = i == 0 ? 64 : i == 1 ? ring : i == 2 ? ring + d->page : d->arena_off;

		EXPECT_EQ(-1, ptrace(PTRACE_POKEDATA, pid, d->base + off, 0x1234));
	}
	EXPECT_EQ(before, *(uint64_t *)(d->base + 64));
	EXPECT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
}

/* A hole is filled by the producer's own store and by nothing else. */
TEST_F(map, holes)
{
	struct dev *d = &self->d;
	uint32_t k = d->nr + 1;
	uint64_t ring = dev_ring_off(d, k), zero = 1;
	struct xsprof_info before, after;

	catch_faults();
	ASSERT_EQ(0, dev_info(d->fd, d->id, &before));
	EXPECT_FALSE(dev_ready(d, k));
	EXPECT_EQ(SIGBUS, load((uint64_t *)(d->base + ring)));
	EXPECT_EQ(SIGBUS, load((uint64_t *)(d->base + ring + 2 * d->page)));
	EXPECT_EQ(SIGBUS, load((uint64_t *)(self->r.base + ring)));
	ASSERT_EQ(0, dev_overlay(&self->r, ring + d->page, d->page));
	EXPECT_EQ(SIGBUS, store((uint64_t *)(self->r.base + ring + d->page), 1));
	EXPECT_EQ(sizeof(zero), pread(self->r.fd, &zero, sizeof(zero), ring));
	EXPECT_EQ(0, zero);
	ASSERT_EQ(0, dev_info(d->fd, d->id, &after));
	EXPECT_EQ(before.bytes, after.bytes);

	/* The last page of data: one page more, and no ring yet. */
	ASSERT_EQ(0, dev_overlay(d, ring + 2 * d->page, d->ring_size));
	EXPECT_EQ(0, store((uint64_t *)(d->base + ring + d->stride - d->page), 7));
	ASSERT_EQ(0, dev_info(d->fd, d->id, &after));
	EXPECT_EQ(before.bytes + d->page, after.bytes);
	EXPECT_FALSE(dev_ready(d, k));
	/* The writer's page: both heads, and the ring is ready. */
	ASSERT_EQ(0, dev_overlay(d, ring, d->page));
	EXPECT_EQ(0, store((uint64_t *)(d->base + ring + 128), 7));
	ASSERT_EQ(0, dev_info(d->fd, d->id, &after));
	EXPECT_EQ(before.bytes + 3 * d->page, after.bytes);
	EXPECT_TRUE(dev_ready(d, k));
	EXPECT_EQ(XSPROF_RING_LOCK, dev_writer(d, k)->kind);
	EXPECT_EQ(UINT32_MAX, dev_writer(d, k)->cpu);
	EXPECT_EQ(0, store((uint64_t *)(self->r.base + ring + d->page), 1));
}

/* A read-write mapping of the arena cannot be stretched over the ring behind it. */
TEST_F(map, growing)
{
	struct dev *d = &self->d;
	char *at = mmap(NULL, d->arena_size, PROT_READ | PROT_WRITE, MAP_SHARED, d->fd,
			d->arena_off);

	ASSERT_NE(MAP_FAILED, at);
	EXPECT_EQ(MAP_FAILED, mremap(at, d->arena_size, d->arena_size + d->page, 0));
	EXPECT_EQ(MAP_FAILED, mremap(at, d->arena_size, d->arena_size + d->page, MREMAP_MAYMOVE));
	/* Length 0 duplicates a shared mapping: of the same area, no more. */
	EXPECT_EQ(MAP_FAILED, mremap(at, 0, d->arena_size + d->page, MREMAP_MAYMOVE));
	EXPECT_EQ(0, munmap(at, d->arena_size));
}

/* ---- the life of mappings ------------------------------------------------------------------ */

#define MAPS	24

struct piece {
	char		*at;
	uint64_t	len;
};

static void one_step(struct piece *m, const struct dev *d, const int *fds, uint64_t r,
		     uint64_t *x, int uffd)
{
	static const int advice[] = { MADV_DOFORK, MADV_DONTFORK, MADV_DONTNEED, MADV_REMOVE,
				      MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_WILLNEED, MADV_MERGEABLE,
				      MADV_FREE, MADV_COLD, MADV_PAGEOUT, MADV_POPULATE_READ,
				      MADV_POPULATE_WRITE, MADV_DODUMP, MADV_WIPEONFORK };
	uint64_t pages = m->len / d->page, skip, some;
	struct uffdio_register reg;
	char *new, *to;

	if (!m->at) {
		uint64_t off = env_random(x) % (d->len / d->page) * d->page;

		m->len = (1 + env_random(x) % 4) * d->page;
		new = mmap(NULL, m->len, r & 16 ? PROT_READ | PROT_WRITE : PROT_READ,
			   MAP_SHARED | (r & 32 ? MAP_POPULATE : 0), fds[1 + (r >> 6) % 3], off);
		m->at = new == MAP_FAILED ? NULL : new;
		return;
	}
	skip = (r >> 8) % pages * d->page;
	some = (1 + (r >> 16) % (pages - skip / d->page)) * d->page;
	switch ((r >> 24) % 12) {
	case 0:	/* all of it, or a part: the rest is found by its length and unmapped later */
		munmap(m->at, m->len);
		m->at = NULL;
		break;
	case 1:
		munmap(m->at + skip, some);
		break;
	case 2:
		to = mmap(NULL, m->len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		new = mremap(m->at, m->len, m->len, MREMAP_MAYMOVE | MREMAP_FIXED, to);
		if (new != MAP_FAILED)
			m->at = new;
		else
			munmap(to, m->len);
		break;
	case 3:
		new = mremap(m->at, m->len, some, 0);
		if (new != MAP_FAILED)
			m->len = some;
		break;
	case 4:
		mprotect(m->at + skip, some, r >> 32 & 7);
		break;
	case 5:
	case 6:
		madvise(m->at + skip, some, advice[(r >> 32) % (sizeof(advice) / sizeof(int))]);
		break;
	case 7:
		if (r >> 32 & 1)
			mlock(m->at + skip, some);
		else
			munlock(m->at + skip, some);
		break;
	case 8:
		store((uint64_t *)(m->at + skip), r);
		break;
	case 9:
		load((uint64_t *)(m->at + skip));
		msync(m->at, m->len, MS_SYNC);
		break;
	case 10:
		reg = (struct uffdio_register){ .range = { (uintptr_t)m->at, m->len },
						.mode = UFFDIO_REGISTER_MODE_MISSING };
		if (uffd >= 0)
			ioctl(uffd, UFFDIO_REGISTER, &reg);
		break;
	case 11:
		new = mremap(m->at, 0, some, MREMAP_MAYMOVE);
		if (new != MAP_FAILED)
			munmap(new, some);
		break;
	}
}

/* A child with what it inherited, which it touches and unmaps; every other one executes. */
static int one_child(struct piece *maps, const struct dev *d, uint64_t r)
{
	int status;
	pid_t pid;

	pid = r & 1 ? fork() : vfork();
	if (!pid) {
		if (r & 1) {
			for (unsigned int i = 0; i < MAPS; i++) {
				if (!maps[i].at)
					continue;
				load((uint64_t *)maps[i].at);
				store((uint64_t *)maps[i].at, r);
				munmap(maps[i].at, d->page);
			}
		}
		if (r & 2)
			execl("/bin/busybox", "true", NULL);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

TEST_F(map, life)
{
	uint64_t steps = env_figure(2000, 200), x = env_seed(), word;
	int uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_SIGBUS };
	struct piece maps[MAPS] = { 0 };
	struct dev again;

	if (uffd >= 0 && ioctl(uffd, UFFDIO_API, &api)) {
		close(uffd);
		uffd = -1;
	}
	catch_faults();
	for (uint64_t i = 0; i < steps; i++) {
		uint64_t r = env_random(&x);

		if (i % 100 == 99) {
			EXPECT_EQ(0, one_child(maps, &self->d, r));
			continue;
		}
		one_step(&maps[r % MAPS], &self->d, self->fd, r, &x, uffd);
	}
	for (unsigned int i = 0; i < MAPS; i++)
		if (maps[i].at)
			munmap(maps[i].at, maps[i].len);
	if (uffd >= 0)
		close(uffd);
	/* Both sides still see the same pages, and the control page is what it was. */
	EXPECT_EQ(XSPROF_MAGIC, self->d.ctl->magic);
	EXPECT_EQ(self->d.len, self->d.ctl->total_size);
	for (unsigned int i = 1; i < self->d.ring_size / 8; i += 97) {
		dev_data(&self->d, self->d.nr)[i] = env_mix(i);
		EXPECT_EQ(env_mix(i), dev_data(&self->r, self->d.nr)[i]);
		EXPECT_EQ(8, pread(self->r.fd, &word, 8, dev_ring_off(&self->d, self->d.nr) +
				   2 * self->d.page + 8 * i));
		EXPECT_EQ(env_mix(i), word);
	}
	ASSERT_EQ(0, dev_attach(&again, XSPROF_MODE_DISCARD, 16 << 10, 1));
	EXPECT_EQ(0, dev_ring_open(&again, again.nr));
	dev_close(&again);
}

TEST_HARNESS_MAIN
