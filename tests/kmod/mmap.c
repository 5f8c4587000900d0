// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile mappings: which parts of a producer may be mapped, how and by which process, and that
 * read-only mappings never become writable. may_map() is a second, independent implementation of
 * the rules, compared with the kernel's results.
 */
#include <linux/userfaultfd.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "mmap.h"

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

TEST_HARNESS_MAIN
