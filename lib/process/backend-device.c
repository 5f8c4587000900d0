// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The producer's memory as the module provides it, through /dev/xsprof. Owns the descriptor and the
 * mappings; never writes the control page, which only the kernel writes, and sends no goodbye: the
 * kernel sees how the process ends.
 *
 * Everything is mapped read-only, once; what this side may write is mapped over it when needed: the
 * arena at attach, a ring's writer page and data when the ring gets its first memory. Forked
 * children inherit no mapping except that of the control page.
 *
 * Plain system calls only: a forked child attaches at its first marker, which may be in a
 * signal handler.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process/backend.h"
#include "process/join.h"
#include "read/ring-device.h"

static struct xsp_fd_id device_id;

static int open_device(struct xsprof_attach *arg)
{
	int fd = xsp_fd_high(open(XSPROF_DEVICE_PATH, O_RDWR | O_CLOEXEC)), err;

	if (fd < 0)
		return -errno;
	if (!ioctl(fd, XSPROF_IOC_ATTACH, arg))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/*
 * A program that closes all descriptors closes ours, while the mappings stay: a new descriptor
 * makes the producer complete again.
 */
static int rejoin(void)
{
	struct xsprof_attach arg = {
		.size = sizeof(arg),
		.flags = XSPROF_ATTACH_REJOIN,
		.abi_major = XSPROF_ABI_MAJOR,
		.abi_minor = XSPROF_ABI_MINOR,
		.id = xsp_set.ctl->id,
	};
	int lost = __atomic_load_n(&xsp_kept.fd, __ATOMIC_ACQUIRE), fd;

	if (xsp_fd_is(&device_id, lost))
		return 0;
	fd = open_device(&arg);
	if (fd < 0)
		return fd;
	/*
	 * Only through the same device node: in a chroot another one would not be recognised later.
	 */
	if (!xsp_fd_is(&device_id, fd)) {
		close(fd);
		return -EBADF;
	}
	/* Another thread, or a handler, may have been faster. */
	if (!__atomic_compare_exchange_n(&xsp_kept.fd, &lost, fd, false, __ATOMIC_RELEASE,
					 __ATOMIC_RELAXED))
		close(fd);
	return 0;
}

/* Return: the device's result, 0 or more, or a negative errno. */
static int call(unsigned long request, void *arg)
{
	int ret = rejoin();

	if (ret < 0)
		return ret;
	ret = ioctl(xsp_kept.fd, request, arg);
	return ret < 0 ? -errno : ret;
}

static int device_grow(uint64_t offset, uint64_t bytes)
{
	struct xsprof_populate populate = {
		.size = sizeof(populate), .offset = offset, .bytes = bytes,
	};
	int err = call(XSPROF_IOC_POPULATE, &populate);

	return err < 0 ? err : 0;
}

static int map_over(uint64_t offset, uint64_t bytes)
{
	return mmap(xsp_kept.base + offset, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		    xsp_kept.fd, (off_t)offset) == MAP_FAILED ? -errno : 0;
}

/*
 * If two threads map it, it is the same memory, and a thread that stores meanwhile waits for the
 * fault.
 */
static int device_ring_map(struct xsprof_ring_writer *w)
{
	uint64_t offset = (char *)w - xsp_kept.base;
	int err;

	err = rejoin();
	if (!err)
		err = map_over(offset, xsp_set.tail_off);
	return err ? err : map_over(offset + xsp_set.data_off,
				    xsp_set.size << XSPROF_SLOT_SHIFT);
}

/* Nothing to do: the kernel marked the ring ready when it allocated its header. */
static void device_ring_ready(struct xsprof_ring_writer *w, uint32_t k)
{
	(void)w, (void)k;
}

static int device_control(uint64_t set, uint64_t clear, uint32_t pause, uint32_t resume)
{
	struct xsprof_control control = {
		.size = sizeof(control), .set = set, .clear = clear, .pause = pause,
		.resume = resume,
	};
	int err = call(XSPROF_IOC_CONTROL, &control);

	return err < 0 ? err : 0;
}

static int device_kick(bool flush)
{
	int ret = call(XSPROF_IOC_KICK, (void *)(uintptr_t)(flush ? XSPROF_KICK_FLUSH : 0));

	/* If it belongs to a recorder's session, the recorder may be about to open us. */
	return ret || !xsp_set.ctl->session ? ret : 1;
}

static int device_emit(struct xsprof_emit *emit)
{
	return call(XSPROF_IOC_EMIT, emit);
}

static void device_goodbye(void)
{
}

static void device_let_go(bool own)
{
	/* In a child something else may be mapped at these addresses. */
	if (own)
		munmap(xsp_kept.base, xsp_kept.len);
	if (xsp_fd_is(&device_id, xsp_kept.fd))
		close(xsp_kept.fd);
}

static const struct xsp_backend device = {
	.kind = XSPROF_BACKEND_DEVICE,
	.grow = device_grow,
	.ring_map = device_ring_map,
	.ring_ready = device_ring_ready,
	.control = device_control,
	.kick = device_kick,
	.emit = device_emit,
	.goodbye = device_goodbye,
	.let_go = device_let_go,
};

/* The layout comes from the kernel, but the sequences have parts of it as constants. */
static bool layout_fits(const struct xsprof_ctl *ctl, const struct xsprof_attach *arg)
{
	uint64_t page = sysconf(_SC_PAGESIZE);

	return ctl->magic == XSPROF_MAGIC && ctl->abi_major == XSPROF_ABI_MAJOR &&
	       ctl->page_size == page && ctl->total_size == arg->total_size &&
	       ctl->ring_size >= page && !(ctl->ring_size & (ctl->ring_size - 1)) &&
	       ctl->ring_stride == 2 * page + ctl->ring_size &&
	       ctl->arena_size > sizeof(struct xsprof_arena) && ctl->nr_lock_rings;
}

/* Maps the producer, and the arena writable. Return: 0 or a negative errno. */
static int map_all(int fd, const struct xsprof_attach *arg)
{
	const struct xsprof_ctl *ctl;
	char *base;
	int err;

	base = mmap(NULL, arg->total_size, PROT_READ, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return -errno;
	ctl = (const struct xsprof_ctl *)base;
	err = layout_fits(ctl, arg) ? xsp_layout_set(ctl, base, fd, &device) : -EPROTONOSUPPORT;
	if (err)
		goto err_map;
	err = map_over(ctl->arena_off, ctl->arena_size);
	if (err)
		goto err_layout;
	return 0;

err_layout:
	xsp_layout_clear();
err_map:
	munmap(base, arg->total_size);
	return err;
}

/* Why the scheduler's events are not available, as text. */
static const char *sched_reason(int err)
{
	switch (err) {
	case -ENOTTY:
		return "the xsprof module is too old for scheduler events: they are not recorded";
	case -EPERM:
	case -ENOMEM:
		return XSPROF_DEVICE_PATH " has no memory for scheduler events (ulimit -l, or the "
		       "module's limits): they are not recorded";
	case -EOPNOTSUPP:
		return "this kernel has no scheduler events for the xsprof module: they are not "
		       "recorded";
	case -EBUSY:
		return "scheduler events are in another producer of this process";
	default:
		return "scheduler events could not be enabled: they are not recorded";
	}
}

/* Optional: without them everything else is recorded. */
static void begin_sched(const struct xsp_want *want, int fd)
{
	struct xsprof_sched sched = { .size = sizeof(sched), .flags = XSPROF_SCHED_ON };

	if (ioctl(fd, XSPROF_IOC_SCHED, &sched) && want->session)
		xsp_recording_note(want->session, sched_reason(-errno));
}

/**
 * xsp_device_attach() - become a producer of the device
 * @want: the request
 *
 * Fills xsp_set, with nr = 0: no marker can enter until the caller sets it.
 *
 * Return: 0; -ENOENT, -EACCES: no usable device; -EPROTONOSUPPORT: another ABI; -ENOMEM, -EPERM,
 * -EUSERS, ...
 */
int xsp_device_attach(const struct xsp_want *want)
{
	struct xsprof_attach arg = {
		.size = sizeof(arg),
		.flags = (want->mono ? XSPROF_ATTACH_MONO : 0) |
			 (want->rseq ? 0 : XSPROF_ATTACH_NO_RSEQ),
		.abi_major = XSPROF_ABI_MAJOR,
		.abi_minor = XSPROF_ABI_MINOR,
		.mode = want->mode,
		.nr_lock_rings = want->lock_rings,
		.ring_size = want->cfg->ring_size,
		.arena_size = want->cfg->arena_size,
		.session = want->session ? xsp_recording_cookie(want->session) : 0,
		.wanted = want->wanted,
	};
	int fd, err;

	fd = open_device(&arg);
	if (fd < 0)
		return fd == -EBUSY ? -EIO : fd;	/* -EBUSY means the names' lock */
	err = xsp_fd_note(&device_id, fd);
	if (!err)
		err = map_all(fd, &arg);
	if (err)
		close(fd);
	else if (want->cfg->sched)
		begin_sched(want, fd);
	return err;
}

/**
 * xsp_device_reason() - why XSPROF_BACKEND=device is not available, as text
 * @err: what xsp_device_attach() returned
 *
 * Return: constant text.
 */
const char *xsp_device_reason(int err)
{
	switch (err) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		return "there is no " XSPROF_DEVICE_PATH " (XSPROF_BACKEND=device): load the "
		       "xsprof module, or use XSPROF_BACKEND=auto";
	case -EACCES:
		return XSPROF_DEVICE_PATH " may not be opened (XSPROF_BACKEND=device): check its "
		       "mode, or this container's device policy";
	case -EPERM:
	case -ENOMEM:
		return XSPROF_DEVICE_PATH " has no memory for it: ulimit -l, or the module's "
		       "limits";
	case -EPROTONOSUPPORT:
		return "the versions of the xsprof module and library differ";
	case -EUSERS:
		return "this user has reached the module's limit of producers";
	default:
		return XSPROF_DEVICE_PATH " could not be used (XSPROF_BACKEND=device)";
	}
}
