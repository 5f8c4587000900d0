// SPDX-License-Identifier: GPL-2.0-only
/*
 * No old contents of memory reach a mapping or a result: new pages from the kernel are zero except
 * the few words defined by abi.h, and results have no unset byte. Memory is first filled with a
 * pattern and freed, so that leaks are recognized.
 */
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#include "ring.h"

#define PATTERN	0xa7

/* A descriptor to drop with what a test is done with. */
static int control_fd(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = dev_open();
	return fd;
}

/*
 * A child fills a part of what is free, with its stack and the page tables it takes.  The kernel
 * gives out first what was freed last: several times what a test takes is enough.
 */
static void dirty_memory(void)
{
	struct sysinfo si;
	size_t size;
	char *at;
	pid_t pid;

	sysinfo(&si);
	size = (si.freeram * si.mem_unit / (env_full() ? 2 : 12)) & ~0xffful;
	pid = fork();
	if (!pid) {
		at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (at != MAP_FAILED)
			memset(at, PATTERN, size);
		_exit(at == MAP_FAILED);
	}
	waitpid(pid, NULL, 0);
}

/* Return: the first byte of [@from, @to) that is not zero, or -1. */
static long first_dirty(const void *base, size_t from, size_t to)
{
	const unsigned char *at = base;

	for (size_t i = from; i < to; i++)
		if (at[i])
			return (long)i;
	return -1;
}

TEST(fresh_pages)
{
	uint64_t pages = env_figure(20000, 1000), seen = 0;
	struct dev d, r;

	dirty_memory();
	while (seen < pages) {
		ASSERT_EQ(0, dev_attach(&d, XSPROF_MODE_DISCARD, 1 << 20, 8));
		ASSERT_EQ(0, dev_arena_open(&d));
		ASSERT_EQ(0, dev_read_id(&r, d.fd, d.id, 0));
		EXPECT_EQ(-1, first_dirty((void *)d.ctl->reserved0, 0, sizeof(d.ctl->reserved0)));
		EXPECT_EQ(-1, first_dirty((void *)d.ctl->reserved, 0, sizeof(d.ctl->reserved)));
		EXPECT_EQ(-1, first_dirty(d.base, sizeof(struct xsprof_ctl), d.page));
		/* By a store, page after page, and by POPULATE. */
		for (uint64_t off = 0; off < d.arena_size; off += d.page)
			EXPECT_EQ(-1, first_dirty(d.base + d.arena_off, off, off + d.page));
		for (uint32_t k = d.nr; k < d.nr + d.nl; k++) {
			struct xsprof_ring_writer want = { .kind = XSPROF_RING_LOCK,
							   .cpu = UINT32_MAX };
			uint64_t off = dev_ring_off(&d, k);

			if (k & 1) {
				ASSERT_EQ(0, dev_ring_open(&d, k));
			} else {
				ASSERT_EQ(0, dev_overlay(&d, off, d.page));
				ASSERT_EQ(0, dev_overlay(&d, off + 2 * d.page, d.ring_size));
			}
			/* Touch, so that the page is there, with nothing. */
			*(volatile uint64_t *)&dev_writer(&d, k)->head = 0;
			EXPECT_EQ(0, memcmp(dev_writer(&d, k), &want, sizeof(want)));
			EXPECT_EQ(-1, first_dirty(dev_writer(&d, k), sizeof(want), d.page));
			EXPECT_EQ(-1, first_dirty(dev_reader(&r, k), 0, d.page));
			EXPECT_EQ(-1, first_dirty(dev_data(&d, k), 0, d.ring_size));
			memset(dev_data(&d, k), PATTERN, d.ring_size);
			seen += 2 + d.ring_size / d.page;
		}
		dev_close(&r);
		dev_close(&d);
		ASSERT_GE(dev_drop_ended(control_fd()), 0);
	}
	TH_LOG("%llu pages looked at", (unsigned long long)seen);
}

/* Records that were written leave all that is unused at zero. */
TEST(unused_bytes)
{
	uint64_t records = env_figure(100000, 5000), n = 0;
	uint64_t size, slot;
	struct dev d;

	dirty_memory();
	while (n < records) {
		ASSERT_EQ(0, dev_attach(&d, XSPROF_MODE_DISCARD, 256 << 10, 1));
		ASSERT_EQ(0, dev_ring_open(&d, d.nr));
		for (size = 0; ring_put(&d, d.nr, 0, size, 3); size++)
			;
		n += size;
		/* 42 records a block, then two slots of padding of which one is written. */
		for (slot = 127; slot < dev_writer(&d, d.nr)->head; slot += 128)
			EXPECT_EQ(-1, first_dirty(ring_slot(&d, d.nr, slot), 0,
						  XSPROF_SLOT_SIZE));
		dev_close(&d);
		ASSERT_GE(dev_drop_ended(control_fd()), 0);
	}
}

static bool text_is_clean(const char *text, size_t size)
{
	size_t n = strnlen(text, size);

	return n < size && first_dirty(text, n, size) == -1;
}

/* LIST and EVENTS: every byte is one that was set. */
TEST(answers)
{
	struct xsprof_events e;
	struct xsprof_info info;
	struct dev d, r;

	dirty_memory();
	ASSERT_EQ(0, dev_attach(&d, XSPROF_MODE_DISCARD, 64 << 10, 1));
	ASSERT_EQ(0, dev_ring_open(&d, d.nr));
	ASSERT_EQ(0, dev_read_id(&r, d.fd, d.id, 0));
	memset(&info, PATTERN, sizeof(info));
	ASSERT_EQ(0, dev_info(d.fd, d.id, &info));
	memset(&e, PATTERN, sizeof(e));
	e.size = sizeof(e);
	e.flags = 0;
	ASSERT_EQ(0, dev_call(r.fd, XSPROF_IOC_EVENTS, &e));
	EXPECT_EQ(0, memcmp(&e.info, &info, sizeof(info)));
	EXPECT_TRUE(text_is_clean(info.comm, sizeof(info.comm)));
	EXPECT_TRUE(text_is_clean(info.exe, sizeof(info.exe)));
	EXPECT_EQ(0, strcmp(info.comm, "leak"));
	EXPECT_EQ('/', info.exe[0]);
	EXPECT_EQ((uint32_t)getpid(), info.pid);
	EXPECT_EQ((uint32_t)getpid(), info.own_pid);
	EXPECT_EQ((uint32_t)getppid(), info.ppid);
	EXPECT_EQ(0, info.uid);
	EXPECT_EQ(0, info.ended);
	EXPECT_EQ(0, info.flags);
	EXPECT_EQ(-1, info.status);
	EXPECT_EQ(d.len, info.total_size);
	EXPECT_EQ(d.clock, info.clock);
	/* Nothing looks like an address of the kernel. */
	info.status = 0;
	for (size_t i = 0; i + 8 <= sizeof(info); i += 8)
		EXPECT_NE(0xffff, *(uint64_t *)((char *)&info + i) >> 48);
	for (size_t i = 0; i + 8 <= 1024; i += 8)
		if (i != 0 && i != 16 && i != 64) {	/* enabled, wanted, magic */
			EXPECT_NE(0xffff, *(uint64_t *)(d.base + i) >> 48);
		}
	dev_close(&r);
	dev_close(&d);
}

/* What was never touched reads as zeros, as far as the producer goes and no byte beyond. */
TEST(reads)
{
	unsigned char *buf = malloc(8 << 20);
	struct dev d, r;
	void *hole;
	ssize_t n;

	dirty_memory();
	ASSERT_NE(NULL, buf);
	ASSERT_EQ(0, dev_attach(&d, XSPROF_MODE_DISCARD, 256 << 10, 4));
	ASSERT_EQ(0, dev_read_id(&r, d.fd, d.id, 0));
	memset(buf, PATTERN, 8 << 20);
	hole = mmap(NULL, d.page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	n = pread(r.fd, buf, 8 << 20, 0);
	EXPECT_EQ((ssize_t)d.len, n);
	EXPECT_EQ(-1, first_dirty(buf, d.arena_off, d.len));
	EXPECT_EQ(PATTERN, buf[d.len]);
	EXPECT_EQ(0, memcmp(buf + 64, d.base + 64, 128));
	EXPECT_EQ(0, pread(r.fd, buf, 8, d.len));
	EXPECT_EQ(0, pread(r.fd, buf, 8, d.len + 4096));
	EXPECT_EQ(3, pread(r.fd, buf, 8, d.len - 3));
	EXPECT_EQ(-1, pread(r.fd, buf, 8, -1));
	munmap(hole, d.page);
	EXPECT_EQ(-1, pread(r.fd, hole, 8, 0));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, pread(d.fd, buf, 8, 0));
	EXPECT_EQ(-1, pwrite(r.fd, buf, 8, 0));
	dev_close(&r);
	dev_close(&d);
	free(buf);
}

/* ---- core files ------------------------------------------------------------------------------ */

#define PROC_KERNEL	"/proc/sys/kernel/"
#define CORE		"/xsprof-core"
#define SECRET_WORDS	4
#define RING_SEED	1
#define OWN_SEED	2

/* Made where it is kept, so that there is no other copy of it. */
static void put_secret(volatile uint64_t *at, uint64_t seed)
{
	for (unsigned int i = 0; i < SECRET_WORDS; i++)
		at[i] = env_random(&seed);
}

static void __attribute__((noreturn)) dump_core(void)
{
	const struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	struct dev d, r;
	void *own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	/* All that a process can ask to have in it. */
	if (setrlimit(RLIMIT_CORE, &limit) || own == MAP_FAILED ||
	    env_file_put("/proc/self/coredump_filter", "0x1ff") ||
	    dev_attach(&d, XSPROF_MODE_DISCARD, 64 << 10, 1) || dev_ring_open(&d, d.nr) ||
	    dev_arena_open(&d) || dev_read_id(&r, d.fd, d.id, XSPROF_OPEN_CONSUME) ||
	    dev_tail_open(&r, r.nr))
		_exit(1);
	put_secret(dev_data(&d, d.nr), RING_SEED);
	put_secret((uint64_t *)(d.base + d.arena_off + 1024), RING_SEED);
	put_secret((uint64_t *)dev_reader(&r, r.nr), RING_SEED);
	put_secret(own, OWN_SEED);
	abort();
}

/* Return: how often the secret is there, or -errno. */
static int in_core(uint64_t seed)
{
	uint64_t secret[SECRET_WORDS], size;
	int fd = open(CORE, O_RDONLY | O_CLOEXEC), n = 0;
	const char *base, *at;

	if (fd < 0)
		return -errno;
	put_secret(secret, seed);
	size = (uint64_t)lseek(fd, 0, SEEK_END);
	base = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (base == MAP_FAILED)
		return -errno;
	for (at = base; (at = memmem(at, size - (uint64_t)(at - base), secret, sizeof(secret)));
	     at++)
		n++;
	munmap((void *)base, size);
	return n;
}

TEST(core_file)
{
	static const char *const names[] = { PROC_KERNEL "core_pattern",
					     PROC_KERNEL "core_uses_pid" };
	static const char *const values[] = { CORE, "0" };
	char was[2][256] = { "", "" };
	int status;
	pid_t pid;

	if (access("/proc/self/coredump_filter", F_OK))
		SKIP(return, "this kernel writes no core files (CONFIG_ELF_CORE)");
	for (unsigned int i = 0; i < 2; i++) {
		env_file_get(names[i], was[i], sizeof(was[i]));
		ASSERT_EQ(0, env_file_put(names[i], values[i]));
	}
	fflush(stdout);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid)
		dump_core();
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFSIGNALED(status) && WCOREDUMP(status)) {
		TH_LOG("status %x", status);
	}
	EXPECT_EQ(1, in_core(OWN_SEED));
	EXPECT_EQ(0, in_core(RING_SEED));
	unlink(CORE);
	for (unsigned int i = 0; i < 2; i++)
		EXPECT_EQ(0, env_file_put(names[i], was[i]));
}

/* Each mapping says so itself ("dd"), and cannot be made to say otherwise. */
TEST(not_dumped)
{
	unsigned int maps = 0, marked = 0;
	bool ours = false;
	char line[512];
	struct dev d, r;
	FILE *f;

	ASSERT_EQ(0, dev_attach(&d, XSPROF_MODE_DISCARD, 64 << 10, 1));
	ASSERT_EQ(0, dev_ring_open(&d, d.nr));
	ASSERT_EQ(0, dev_arena_open(&d));
	ASSERT_EQ(0, dev_read_id(&r, d.fd, d.id, XSPROF_OPEN_CONSUME));
	ASSERT_EQ(0, dev_tail_open(&r, r.nr));
	EXPECT_EQ(-1, madvise(dev_data(&d, d.nr), d.ring_size, MADV_DODUMP));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, madvise(r.base, d.page, MADV_DODUMP));
	EXPECT_EQ(EINVAL, errno);
	f = fopen("/proc/self/smaps", "re");
	ASSERT_NE(NULL, f);
	while (fgets(line, sizeof(line), f)) {
		if (strstr(line, XSPROF_DEVICE_PATH) || strstr(line, "[xsprof]")) {
			ours = true;
			maps++;
		} else if (ours && !strncmp(line, "VmFlags:", 8)) {
			marked += !!strstr(line, " dd");
			ours = false;
		}
	}
	fclose(f);
	/* The whole, split by what is writable: header, data and arena; a tail. */
	EXPECT_LE(8, maps);
	EXPECT_EQ(maps, marked);
	dev_close(&r);
	dev_close(&d);
}

TEST_HARNESS_MAIN
