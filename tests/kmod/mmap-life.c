// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of mappings of a producer under everything that mm has.
 */
#include <linux/userfaultfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "mmap.h"

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
