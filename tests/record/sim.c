// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hand-made producer. One thread writes; it need not be fast.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <xsprof/ioctl.h>

#include "sim.h"

#define PAGE		4096ull
#define ARENA_SIZE	(64 * PAGE)

static void die(const char *what)
{
	fprintf(stderr, "sim: %s: %s\n", what, strerror(errno));
	exit(90);
}

static uint64_t ticks(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + ts.tv_nsec;
}

static uint64_t start_time(void)
{
	unsigned long long start = 0;
	char buf[1024], *at;
	FILE *f = fopen("/proc/self/stat", "r");
	int i;

	if (!f || !fgets(buf, sizeof(buf), f))
		die("/proc/self/stat");
	fclose(f);
	at = strrchr(buf, ')') + 2;
	for (i = 3; i < 22; i++)
		at = strchr(at, ' ') + 1;
	start = strtoull(at, NULL, 10);
	return start;
}

static void fill(struct sim *s, uint32_t rings, uint64_t ring_size, uint32_t mode, uint32_t seq)
{
	struct xsprof_ctl *ctl = s->ctl;
	struct timespec ts;
	struct stat st;

	ctl->abi_major = XSPROF_ABI_MAJOR;
	ctl->abi_minor = XSPROF_ABI_MINOR;
	ctl->page_size = PAGE;
	ctl->mode = mode;
	ctl->nr_lock_rings = 1;
	ctl->nr_rings = rings - 1;
	ctl->ring_size = ring_size;
	ctl->ring_stride = 2 * PAGE + ring_size;
	ctl->arena_off = PAGE;
	ctl->arena_size = ARENA_SIZE;
	ctl->rings_off = PAGE + ARENA_SIZE;
	ctl->total_size = ctl->rings_off + rings * ctl->ring_stride;
	ctl->pid = getpid();
	ctl->ppid = getppid();
	ctl->uid = getuid();
	ctl->seq = seq;
	if (stat("/proc/self/ns/pid", &st))
		die("/proc/self/ns/pid");
	ctl->pid_ns = st.st_ino;
	ctl->start_time = start_time();
	ctl->state = XSPROF_STATE_LIVE;
	ctl->enabled = ~0ull;
	ctl->wanted = ~0ull;
	ctl->clock.kind = XSPROF_CLOCK_MONO_RAW;
	ctl->attach.kind = XSPROF_CLOCK_MONO_RAW;
	ctl->attach.ticks = ticks();
	clock_gettime(CLOCK_MONOTONIC, &ts);
	ctl->attach.mono = (uint64_t)ts.tv_sec * 1000000000u + ts.tv_nsec;
	ctl->attach.mono_raw = ctl->attach.ticks;
}

static uint64_t cookie(const char *session)
{
	const char *name = strrchr(session, '/') + 1;
	uint64_t h = 0xcbf29ce484222325u;

	while (*name)
		h = (h ^ (uint8_t)*name++) * 0x100000001b3u;
	return h;
}

static void map_over(struct sim *s, uint64_t off, uint64_t len)
{
	if (mmap(s->base + off, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, s->fd,
		 off) == MAP_FAILED)
		die("mmap over");
}

/* Opens rings of one kind only, so that there are as many as asked for. */
static void open_device(struct sim *s, uint32_t rings, uint64_t ring_size, uint32_t mode)
{
	const char *session = getenv("XSPROF_SESSION");
	struct xsprof_attach attach = {
		.size = sizeof(attach),
		.flags = XSPROF_ATTACH_MONO | XSPROF_ATTACH_NO_RSEQ,
		.abi_major = XSPROF_ABI_MAJOR,
		.abi_minor = XSPROF_ABI_MINOR,
		.mode = mode,
		.nr_lock_rings = rings,
		.ring_size = ring_size,
		.arena_size = ARENA_SIZE,
		.session = session ? cookie(session) : 0,
		.wanted = ~0ull,
	};
	uint32_t k;

	s->device = true;
	s->fd = open(XSPROF_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (s->fd < 0 || ioctl(s->fd, XSPROF_IOC_ATTACH, &attach))
		die(XSPROF_DEVICE_PATH);
	s->base = mmap(NULL, attach.total_size, PROT_READ, MAP_SHARED, s->fd, 0);
	if (s->base == MAP_FAILED)
		die("mmap");
	s->ctl = (struct xsprof_ctl *)s->base;
	s->rings = rings;
	s->slots = attach.ring_size / XSPROF_SLOT_SIZE;
	map_over(s, s->ctl->arena_off, s->ctl->arena_size);
	for (k = 0; k < rings; k++) {
		struct xsprof_populate populate = {
			.size = sizeof(populate),
			.offset = s->ctl->rings_off + k * s->ctl->ring_stride,
			.bytes = s->ctl->ring_stride,
		};

		if (ioctl(s->fd, XSPROF_IOC_POPULATE, &populate))
			die("populate");
		map_over(s, populate.offset, s->ctl->page_size);
		map_over(s, populate.offset + 2 * s->ctl->page_size, s->ctl->ring_size);
	}
}

void sim_open(struct sim *s, uint32_t rings, uint64_t ring_size, uint32_t mode, uint32_t seq)
{
	uint64_t size = PAGE + ARENA_SIZE + rings * (2 * PAGE + ring_size);
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	const char *session = getenv("XSPROF_SESSION");
	char making[64];
	uint32_t k;
	int dir;

	memset(s, 0, sizeof(*s));
	if (getenv("SIM_DEVICE")) {
		open_device(s, rings, ring_size, mode);
		return;
	}
	if (!session)
		die("XSPROF_SESSION");
	dir = open(session, O_RDONLY | O_DIRECTORY);
	if (dir < 0)
		die(session);
	snprintf(s->name, sizeof(s->name), "p.%d.%llu.%u", (int)getpid(),
		 (unsigned long long)start_time(), seq);
	snprintf(making, sizeof(making), "t%s", s->name + 1);
	s->fd = openat(dir, making, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (s->fd < 0 || ftruncate(s->fd, size))
		die(making);
	s->base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (s->base == MAP_FAILED)
		die("mmap");
	s->ctl = (struct xsprof_ctl *)s->base;
	s->rings = rings;
	s->slots = ring_size / XSPROF_SLOT_SIZE;
	fill(s, rings, ring_size, mode, seq);
	for (k = 0; k < rings; k++) {
		sim_writer(s, k)->kind = k + 1 == rings ? XSPROF_RING_LOCK : XSPROF_RING_RSEQ;
		sim_writer(s, k)->cpu = k;
		s->ctl->ready[k / 64] |= 1ull << (k % 64);
	}
	if (fcntl(s->fd, F_SETLK, &lock))
		die("lock");
	__atomic_store_n(&s->ctl->magic, XSPROF_MAGIC, __ATOMIC_RELEASE);
	if (renameat(dir, making, dir, s->name))
		die(s->name);
	close(dir);
}

struct xsprof_ring_writer *sim_writer(const struct sim *s, uint32_t k)
{
	return (void *)(s->base + s->ctl->rings_off + k * s->ctl->ring_stride);
}

struct xsprof_ring_reader *sim_reader(const struct sim *s, uint32_t k)
{
	return (void *)((uint8_t *)sim_writer(s, k) + s->ctl->page_size);
}

struct xsprof_rec *sim_slot(const struct sim *s, uint32_t k, uint64_t pos)
{
	return (struct xsprof_rec *)((uint8_t *)sim_writer(s, k) + 2 * s->ctl->page_size) +
	       (pos & (s->slots - 1));
}

uint32_t sim_name(struct sim *s, const char *text)
{
	struct xsprof_arena *arena = (void *)(s->base + s->ctl->arena_off);
	static uint32_t last;
	uint32_t len = strlen(text), size = (sizeof(struct xsprof_entry) + len + 7) & ~7u;
	struct xsprof_entry *entry = (void *)((uint8_t *)(arena + 1) + arena->used);

	entry->size = size;
	entry->type = XSPROF_ENTRY_NAME;
	entry->text_len = len;
	entry->id = ++last;
	memcpy(entry + 1, text, len);
	__atomic_store_n(&arena->used, arena->used + size, __ATOMIC_RELEASE);
	return last;
}

static void put_record(struct sim *s, uint32_t k, uint64_t pos, uint8_t type, uint32_t size,
		       uint32_t name, uint64_t value)
{
	struct xsprof_rec *rec = sim_slot(s, k, pos);
	uint64_t *words = (uint64_t *)rec;
	uint32_t i;

	for (i = 3; i < size * 4; i++)
		words[i] = value;
	rec->tid = type == XSPROF_REC_LOST || type == XSPROF_REC_PAD ? 0 : gettid();
	rec->type = type;
	rec->size = size;
	rec->cpu = 0;
	rec->ts = ticks();
	rec->name = name;
	rec->aux = 0;
	rec->value = value;
}

bool sim_put(struct sim *s, uint32_t k, uint32_t name, uint32_t size, uint64_t value, bool wait)
{
	struct xsprof_ring_writer *w = sim_writer(s, k);
	uint64_t head = w->head, at = head, lost = w->mark == head + 1;
	bool discard = s->ctl->mode == XSPROF_MODE_DISCARD;

	at += discard && lost;
	if ((at & (XSPROF_BLOCK_SLOTS - 1)) + size > XSPROF_BLOCK_SLOTS)
		at = (at | (XSPROF_BLOCK_SLOTS - 1)) + 1;
	while (discard && at + size - __atomic_load_n(&sim_reader(s, k)->tail, __ATOMIC_ACQUIRE) >
	       s->slots) {
		if (wait) {
			sched_yield();
			continue;
		}
		w->mark = head + 1;
		__atomic_store_n(&w->drops, w->drops + 1, __ATOMIC_RELEASE);
		return false;
	}
	if (discard && lost)
		put_record(s, k, head++, XSPROF_REC_LOST, 1, 0, w->drops);
	if (at != head)
		put_record(s, k, head, XSPROF_REC_PAD, at - head, 0, 0);
	put_record(s, k, at, XSPROF_REC_INSTANT, size, name, value);
	__atomic_store_n(&w->head, at + size, __ATOMIC_RELEASE);
	return true;
}

void sim_goodbye(struct sim *s)
{
	/* The kernel sees the exit itself. */
	if (s->device)
		return;
	s->ctl->exit_ticks = ticks();
	__atomic_store_n(&s->ctl->state, XSPROF_STATE_EXITED, __ATOMIC_RELEASE);
}
