// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The ioctls of /dev/xsprof for readers. Keeps no state, which is in the kernel, and does not
 * decide what to read.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/ctl-check.h"
#include "base/hash.h"
#include "base/own-fd.h"
#include "read/ring-device.h"

/* Infos per call: they fit on a thread's stack. */
#define PAGE_OF_INFOS	16u

uint64_t xsp_recording_cookie(const char *path)
{
	const char *end = path + strlen(path), *at;
	uint64_t h;

	while (end > path && end[-1] == '/')
		end--;
	for (at = end; at > path && at[-1] != '/'; at--)
		;
	h = xsp_hash_bytes(XSP_HASH_TEXT, at, end - at);
	return h ? h : 1;
}

/* Retries calls that were interrupted by a signal, which concerns only the caller. */
static int call(int fd, unsigned long cmd, void *arg)
{
	int ret;

	if (!xsp_fd_ours(fd))
		return -EBADF;
	do {
		ret = ioctl(fd, cmd, arg);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : ret;
}

int xsp_device_open(void)
{
	struct xsprof_list probe = { .size = sizeof(probe) };
	int fd, err;

	fd = open(XSPROF_DEVICE_PATH, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	/* Another device may have that name. */
	err = call(fd, XSPROF_IOC_LIST, &probe);
	if (!err)
		return fd;
	close(fd);
	return err;
}

const char *xsp_device_strerror(int err)
{
	switch (err) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		return "does not exist: load the module, 'modprobe xsprof' (or insmod xsprof.ko), "
		       "and in a container allow the device";
	case -EACCES:
	case -EPERM:
		return "cannot be opened: permission denied: 'chmod 666' it, or load the module "
		       "with mode=0666";
	case -ENOTTY:
	case -EPROTONOSUPPORT:
		return "belongs to another version of xsprof: load the module that was built with "
		       "this one";
	default:
		return strerror(-err);
	}
}

const char *xsp_device_ring_strerror(int err)
{
	switch (err) {
	case -EBUSY:
		return "is being read by another recorder, and a producer has one reader at a time";
	case -EPERM:
		return "belongs to another user: with CAP_PERFMON 'xsprof snapshot' reads it; to "
		       "record or change it takes CAP_SYS_ADMIN";
	default:
		return xsp_ctl_strerror(err);
	}
}

/*
 * Reads infos of readable producers above number @after, in rising order. Return: how many, or
 * -errno.
 */
static int list_some(int fd, uint64_t after, struct xsprof_info *infos, uint32_t room)
{
	struct xsprof_list arg = {
		.size = sizeof(arg),
		.after = after,
		.infos = (uintptr_t)infos,
		.info_size = sizeof(*infos),
		.count = room,
	};
	int err;

	err = call(fd, XSPROF_IOC_LIST, &arg);
	if (err < 0)
		return err;
	return arg.count < room ? arg.count : room;
}

int xsp_device_each(int fd, uint64_t after,
		    int (*visit)(void *data, const struct xsprof_info *info), void *data)
{
	struct xsprof_info infos[PAGE_OF_INFOS];
	int i, n, ret;

	do {
		n = list_some(fd, after, infos, PAGE_OF_INFOS);
		if (n < 0)
			return n;
		for (i = 0; i < n; i++) {
			/* Terminate it, in case the source did not. */
			infos[i].comm[sizeof(infos[i].comm) - 1] = '\0';
			infos[i].exe[sizeof(infos[i].exe) - 1] = '\0';
			after = infos[i].id;
			ret = visit(data, &infos[i]);
			if (ret)
				return ret;
		}
	} while (n == PAGE_OF_INFOS);
	return 0;
}

int xsp_device_open_ring(struct xsp_ring_file *rf, int fd, uint64_t id, bool consume)
{
	struct xsprof_open arg = {
		.size = sizeof(arg),
		.flags = consume ? XSPROF_OPEN_CONSUME : 0,
		.id = id,
	};
	struct xsprof_info info;
	int ring, err;

	ring = call(fd, XSPROF_IOC_OPEN, &arg);
	if (ring < 0)
		return ring;
	err = xsp_ring_device_map(rf, ring, consume);
	if (err)
		return err;
	/* The geometry is also in the control page, which only the kernel writes. */
	err = xsp_device_events(rf, &info);
	if (!err && (info.total_size != rf->ctl.total_size || rf->ctl.id != id))
		err = -EINVAL;
	if (err)
		xsp_ring_file_close(rf);
	return err;
}

int xsp_device_events(const struct xsp_ring_file *rf, struct xsprof_info *info)
{
	struct xsprof_events arg = { .size = sizeof(arg) };
	int err;

	err = call(rf->fd, XSPROF_IOC_EVENTS, &arg);
	*info = arg.info;
	return err < 0 ? err : 0;
}

int xsp_device_watch(const struct xsp_ring_file *rf, uint64_t slots, uint64_t period)
{
	struct xsprof_watch arg = { .size = sizeof(arg), .slots = slots, .period = period };

	return call(rf->fd, XSPROF_IOC_WATCH, &arg);
}

int xsp_device_pause(const struct xsp_ring_file *rf, bool pause)
{
	struct xsprof_control arg = {
		.size = sizeof(arg),
		.pause = pause ? XSPROF_PAUSED_RECORDER : 0,
		.resume = pause ? 0 : XSPROF_PAUSED_RECORDER,
	};

	return call(rf->fd, XSPROF_IOC_CONTROL, &arg);
}

/*
 * tmpfs file: the producer stores enabled and then reads paused again; we store paused and then
 * enabled: in every order the last store of enabled is 0.
 */
int xsp_ring_switch_off(const struct xsp_ring_file *rf)
{
	struct xsprof_ctl *ctl = xsp_ring_ctl(rf);
	__u64 runs = XSPROF_PROFILE_RUNS;

	if (rf->device)
		return xsp_device_pause(rf, true);
	/* Relaxed: the word alone is handed over; a profile that ends takes it back likewise. */
	if (__atomic_compare_exchange_n(&ctl->profile, &runs, XSPROF_PROFILE_ALONE, false,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return 1;
	__atomic_or_fetch(&ctl->paused, XSPROF_PAUSED_RECORDER, __ATOMIC_SEQ_CST);
	__atomic_store_n(&ctl->enabled, 0, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&ctl->generation, 1, __ATOMIC_RELEASE);
	return 0;
}

int xsp_device_sched(const struct xsp_ring_file *rf, bool on)
{
	struct xsprof_sched arg = { .size = sizeof(arg), .flags = on ? XSPROF_SCHED_ON : 0 };
	int err;

	err = call(rf->fd, XSPROF_IOC_SCHED, &arg);
	return err < 0 ? err : !!(arg.before & XSPROF_SCHED_ON) == on;
}

int xsp_device_drop(const struct xsp_ring_file *rf, bool at_end)
{
	return call(rf->fd, XSPROF_IOC_DROP,
		    (void *)(uintptr_t)(at_end ? XSPROF_DROP_AT_END : 0));
}

int xsp_device_syncs(int fd, struct xsprof_sync *syncs)
{
	struct xsprof_syncs arg = {
		.size = sizeof(arg),
		.syncs = (uintptr_t)syncs,
		.count = XSP_DEVICE_SYNCS,
	};
	int err;

	err = call(fd, XSPROF_IOC_SYNCS, &arg);
	if (err < 0)
		return err;
	return arg.count < XSP_DEVICE_SYNCS ? arg.count : XSP_DEVICE_SYNCS;
}
