/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wrappers of the device for its tests: producers, readers and their mappings. Owns descriptors and
 * mappings, and returns the kernel's -errno; it does not judge, and never accesses ring contents
 * (ring.h).
 */
#ifndef KMOD_DEV_H
#define KMOD_DEV_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xsprof/ioctl.h>

/**
 * struct dev - a producer or a reader of one, mapped
 * @fd: its descriptor
 * @base: where all of it is mapped, read-only but for the overlays
 * @len: bytes of that
 * @id: the producer's number
 * @ctl: the control page in @base
 *
 * The rest is the geometry, as the control page has it.
 */
struct dev {
	int				fd;
	char				*base;
	uint64_t			len;
	uint64_t			id;
	volatile struct xsprof_ctl	*ctl;
	uint64_t			page;
	uint64_t			ring_size;
	uint64_t			stride;
	uint64_t			rings_off;
	uint64_t			arena_off;
	uint64_t			arena_size;
	uint32_t			nr;
	uint32_t			nl;
	uint32_t			mode;
	uint32_t			clock;
};

static inline int dev_open(void)
{
	int fd = open(XSPROF_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static inline int dev_call(int fd, unsigned long cmd, void *arg)
{
	int ret = ioctl(fd, cmd, arg);

	return ret < 0 ? -errno : ret;
}

static inline struct xsprof_attach dev_attach_defaults(void)
{
	return (struct xsprof_attach){
		.size = sizeof(struct xsprof_attach),
		.abi_major = XSPROF_ABI_MAJOR,
		.abi_minor = XSPROF_ABI_MINOR,
		.nr_lock_rings = 4,
		.ring_size = 64 << 10,
		.arena_size = 16 << 10,
		.wanted = ~0ull,
	};
}

/* Map all of @d->fd read-only and read the geometry.  Return: 0 or -errno. */
__attribute__((unused)) static int dev_map(struct dev *d, uint64_t len)
{
	volatile struct xsprof_ctl *c;

	d->len = len;
	d->base = mmap(NULL, len, PROT_READ, MAP_SHARED, d->fd, 0);
	if (d->base == MAP_FAILED)
		return -errno;
	d->ctl = c = (volatile struct xsprof_ctl *)d->base;
	d->page = c->page_size;
	d->ring_size = c->ring_size;
	d->stride = c->ring_stride;
	d->rings_off = c->rings_off;
	d->arena_off = c->arena_off;
	d->arena_size = c->arena_size;
	d->nr = c->nr_rings;
	d->nl = c->nr_lock_rings;
	d->mode = c->mode;
	d->clock = c->clock.kind;
	return c->magic == XSPROF_MAGIC && c->total_size == len ? 0 : -EBADMSG;
}

__attribute__((unused)) static void dev_close(struct dev *d)
{
	if (d->base && d->base != MAP_FAILED)
		munmap(d->base, d->len);
	if (d->fd >= 0)
		close(d->fd);
	memset(d, 0, sizeof(*d));
	d->fd = -1;
}

/* A new producer.  Return: 0 or -errno. */
__attribute__((unused)) static int dev_attach_as(struct dev *d, struct xsprof_attach *a)
{
	int err;

	memset(d, 0, sizeof(*d));
	d->fd = dev_open();
	if (d->fd < 0)
		return d->fd;
	err = dev_call(d->fd, XSPROF_IOC_ATTACH, a);
	if (!err) {
		d->id = a->id;
		err = dev_map(d, a->total_size);
	}
	if (err)
		dev_close(d);
	return err;
}

__attribute__((unused)) static int dev_attach(struct dev *d, uint32_t mode, uint64_t ring_size,
					      uint32_t lock_rings)
{
	struct xsprof_attach a = dev_attach_defaults();

	a.mode = mode;
	a.ring_size = ring_size;
	a.nr_lock_rings = lock_rings;
	return dev_attach_as(d, &a);
}

static inline uint64_t dev_ring_off(const struct dev *d, uint32_t k)
{
	return d->rings_off + k * d->stride;
}

static inline struct xsprof_ring_writer *dev_writer(const struct dev *d, uint32_t k)
{
	return (struct xsprof_ring_writer *)(d->base + dev_ring_off(d, k));
}

static inline struct xsprof_ring_reader *dev_reader(const struct dev *d, uint32_t k)
{
	return (struct xsprof_ring_reader *)(d->base + dev_ring_off(d, k) + d->page);
}

static inline uint64_t *dev_data(const struct dev *d, uint32_t k)
{
	return (uint64_t *)(d->base + dev_ring_off(d, k) + 2 * d->page);
}

static inline bool dev_ready(const struct dev *d, uint32_t k)
{
	return __atomic_load_n(&d->ctl->ready[k / 64], __ATOMIC_ACQUIRE) >> (k % 64) & 1;
}

__attribute__((unused)) static int dev_populate(int fd, uint64_t offset, uint64_t bytes)
{
	struct xsprof_populate p = { .size = sizeof(p), .offset = offset, .bytes = bytes };

	return dev_call(fd, XSPROF_IOC_POPULATE, &p);
}

/* Lay a read-write mapping over a part of @d's.  Return: 0 or -errno. */
__attribute__((unused)) static int dev_overlay(struct dev *d, uint64_t off, uint64_t len)
{
	void *at = mmap(d->base + off, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, d->fd,
			off);

	return at == MAP_FAILED ? -errno : 0;
}

/* Memory behind all of ring @k, and a producer's mappings of it. */
__attribute__((unused)) static int dev_ring_open(struct dev *d, uint32_t k)
{
	uint64_t off = dev_ring_off(d, k);
	int err = dev_populate(d->fd, off, d->stride);

	if (!err)
		err = dev_overlay(d, off, d->page);
	return err ? err : dev_overlay(d, off + 2 * d->page, d->ring_size);
}

__attribute__((unused)) static int dev_arena_open(struct dev *d)
{
	return dev_overlay(d, d->arena_off, d->arena_size);
}

/* A reader of producer @id.  Return: 0 or -errno. */
__attribute__((unused)) static int dev_read_id(struct dev *d, int fd, uint64_t id, uint32_t flags)
{
	struct xsprof_open o = { .size = sizeof(o), .flags = flags, .id = id };
	struct xsprof_events e = { .size = sizeof(e) };
	int err;

	memset(d, 0, sizeof(*d));
	d->fd = dev_call(fd, XSPROF_IOC_OPEN, &o);
	if (d->fd < 0)
		return d->fd;
	d->id = id;
	err = dev_call(d->fd, XSPROF_IOC_EVENTS, &e);
	if (!err)
		err = dev_map(d, e.info.total_size);
	if (err)
		dev_close(d);
	return err;
}

/* A consuming reader's mapping of ring @k's reader page. */
__attribute__((unused)) static int dev_tail_open(struct dev *d, uint32_t k)
{
	return dev_overlay(d, dev_ring_off(d, k) + d->page, d->page);
}

/* Return: how many producers above @after are in @infos now, or -errno. */
__attribute__((unused)) static int dev_list(int fd, struct xsprof_info *infos, uint32_t max,
					    uint64_t after, uint64_t *events)
{
	struct xsprof_list l = {
		.size = sizeof(l),
		.after = after,
		.infos = (uintptr_t)infos,
		.info_size = sizeof(*infos),
		.count = max,
	};
	int err = dev_call(fd, XSPROF_IOC_LIST, &l);

	if (events)
		*events = l.events;
	return err < 0 ? err : (int)l.count;
}

/* What LIST says of producer @id.  Return: 0, -ENOENT, or what LIST answers. */
__attribute__((unused)) static int dev_info(int fd, uint64_t id, struct xsprof_info *info)
{
	int n = dev_list(fd, info, 1, id - 1, NULL);

	if (n < 0)
		return n;
	return n == 1 && info->id == id ? 0 : -ENOENT;
}

/* The last descriptor of an ended producer gives its memory back.  Return: 0 or -errno. */
__attribute__((unused)) static int dev_drop_id(int fd, uint64_t id)
{
	struct xsprof_open o = { .size = sizeof(o), .flags = XSPROF_OPEN_CONSUME, .id = id };
	int reader = dev_call(fd, XSPROF_IOC_OPEN, &o), err;

	if (reader < 0)
		return reader;
	err = dev_call(reader, XSPROF_IOC_DROP, NULL);
	close(reader);
	return err;
}

/* Drop all that ended.  Return: how many, or -errno. */
__attribute__((unused)) static int dev_drop_ended(int fd)
{
	struct xsprof_info info;
	uint64_t after = 0;
	int n, dropped = 0;

	while ((n = dev_list(fd, &info, 1, after, NULL)) == 1) {
		after = info.id;
		if (info.state != XSPROF_STATE_LIVE && !dev_drop_id(fd, info.id))
			dropped++;
	}
	return n < 0 ? n : dropped;
}

#endif /* KMOD_DEV_H */
