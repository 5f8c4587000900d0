// SPDX-License-Identifier: GPL-2.0-only
/*
 * Visibility: as an ordinary user with each single capability: own producers, or all; a producer
 * that may not be seen does not exist for the caller.
 */
#include <sys/stat.h>

#include "perm.h"

#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"

/* Return: errno of an open of @arg's producer that consumes, 0 for none. */
static int open_consuming(void *arg)
{
	const uint64_t *id = arg;
	struct dev r;

	return -dev_read_id(&r, dev_open(), *id, XSPROF_OPEN_CONSUME);
}

struct seen {
	uint64_t	id[2];
	unsigned int	mask;	/* out: 1 root's, 2 the other's, 4 own; 8 odd */
};

/* Which of root's, the other's and its own a process can list and open, both or neither. */
static int what_is_seen(void *arg)
{
	struct seen *s = arg;
	uint64_t ids[3] = { s->id[0], s->id[1], 0 };
	struct xsprof_info info;
	int mask = 0, fd;
	struct dev d;

	if (dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1) || dev_ring_open(&d, d.nr))
		return 100;
	ids[2] = d.id;
	fd = dev_open();
	for (int i = 0; i < 3; i++) {
		int listed = dev_info(fd, ids[i], &info);
		struct dev r;
		int opened = dev_read_id(&r, fd, ids[i], 0);

		mask |= !opened << i;
		if (!opened)
			dev_close(&r);
		if (listed != opened || (opened && opened != -ENOENT))
			mask |= 8;
	}
	return mask;
}

/* Few of them on a debug kernel, which is there for what goes wrong in memory and locks. */
static bool is_tried(unsigned int cap)
{
	bool special = cap == CAP_PERFMON || cap == CAP_SYS_ADMIN || cap == CAP_SYS_PTRACE ||
		       cap == CAP_DAC_OVERRIDE;

	return prctl(PR_CAPBSET_READ, cap) == 1 &&
	       (special || !env_debug() || env_full() || cap % 8 == 0);
}

TEST_F(perm, capabilities)
{
	struct seen s = { .id = { self->id[0], self->id[1] } };

	EXPECT_EQ(4, user_as(USER, 0, what_is_seen, &s));
	EXPECT_EQ(6, user_as(OTHER, 0, what_is_seen, &s));
	/* Root without any: its own, and not what root has that may do all. */
	EXPECT_EQ(4, user_as(0, 0, what_is_seen, &s));
	for (unsigned int cap = 0; cap < 64; cap++) {
		bool all = cap == CAP_PERFMON || cap == CAP_SYS_ADMIN;

		if (!is_tried(cap))
			continue;
		EXPECT_EQ(all ? 7 : 4, user_as(USER, 1ull << cap, what_is_seen, &s)) {
			TH_LOG("capability %u", cap);
		}
	}
}

/*
 * What may be done with root's, the other's and its own besides reading: all of it or nothing.
 * Return: a mask as of what_is_seen().
 */
static int what_is_written(void *arg)
{
	struct seen *s = arg;
	uint64_t ids[3] = { s->id[0], s->id[1], 0 };
	int mask = 0, fd;
	struct dev d;

	if (dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1) || dev_ring_open(&d, d.nr))
		return 100;
	ids[2] = d.id;
	fd = dev_open();
	for (int i = 0; i < 3; i++) {
		struct xsprof_control c = { .size = sizeof(c), .set = 1 };
		struct xsprof_sched on = { .size = sizeof(on), .flags = XSPROF_SCHED_ON };
		struct xsprof_sched off = { .size = sizeof(off) };
		struct dev r, w;
		int n = 0;

		if (dev_read_id(&r, fd, ids[i], 0))
			continue;
		/* Of one that lives a drop is refused anyway, but not for want of a right. */
		n += dev_call(r.fd, XSPROF_IOC_DROP, NULL) != -EPERM;
		n += dev_call(r.fd, XSPROF_IOC_CONTROL, &c) != -EPERM;
		n += dev_call(r.fd, XSPROF_IOC_SCHED, &on) != -EPERM;
		n += dev_call(r.fd, XSPROF_IOC_SCHED, &off) != -EPERM;
		if (!dev_read_id(&w, fd, ids[i], XSPROF_OPEN_CONSUME)) {
			n += !dev_tail_open(&w, w.nr);
			dev_close(&w);
		}
		dev_close(&r);
		mask |= n == 5 ? 1 << i : n ? 8 : 0;
	}
	return mask;
}

/* The right to read all is none to pause, drop or consume what is another's. */
TEST_F(perm, write_capabilities)
{
	struct seen s = { .id = { self->id[0], self->id[1] } };

	EXPECT_EQ(4, user_as(USER, 0, what_is_written, &s));
	EXPECT_EQ(6, user_as(OTHER, 0, what_is_written, &s));
	EXPECT_EQ(4, user_as(0, 0, what_is_written, &s));
	for (unsigned int cap = 0; cap < 64; cap++) {
		int all = cap == CAP_SYS_ADMIN ? 7 : 4;

		if (!is_tried(cap))
			continue;
		EXPECT_EQ(all, user_as(USER, 1ull << cap, what_is_written, &s)) {
			TH_LOG("capability %u", cap);
		}
	}
	/* Refused, and not hidden: it is there for whoever may read it. */
	EXPECT_EQ(EPERM, user_as(USER, 1ull << CAP_PERFMON, open_consuming, &self->id[1]));
}

/* A ring holds what the program wrote, and when it ran: perf's level is about other data. */
TEST_F(perm, perf_event_paranoid)
{
	static const char *const levels[] = { "4", "2", "-1" };
	struct seen s = { .id = { self->id[0], self->id[1] } };
	char was[32];

	ASSERT_EQ(0, env_file_get(PARANOID, was, sizeof(was)));
	for (unsigned int i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		ASSERT_EQ(0, env_file_put(PARANOID, levels[i]));
		/* Its own, and nothing more where the kernel hides nothing. */
		EXPECT_EQ(4, user_as(USER, 0, what_is_seen, &s)) {
			TH_LOG("perf_event_paranoid=%s", levels[i]);
		}
		EXPECT_EQ(4, user_as(USER, 0, what_is_written, &s)) {
			TH_LOG("perf_event_paranoid=%s", levels[i]);
		}
	}
	EXPECT_EQ(0, env_file_put(PARANOID, was));
}

/* A program that was set-user-id is not its caller's to read. */
static int half_own(void *arg)
{
	uint64_t *id = arg;
	struct dev r;
	int fd = dev_open();

	return dev_read_id(&r, fd, *id, 0) == -ENOENT ? 0 : 1;
}

TEST_F(perm, set_user_id)
{
	uint64_t id;
	int p[2];
	pid_t pid;

	ASSERT_EQ(0, pipe(p));
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		struct dev d;

		/* Real id the user's, effective and saved another's. */
		if (setresuid(USER, OTHER, OTHER) ||
		    dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1) || dev_ring_open(&d, d.nr) ||
		    write(p[1], &d.id, 8) != 8)
			_exit(1);
		for (;;)
			pause();
	}
	close(p[1]);
	ASSERT_EQ(8, read(p[0], &id, 8));
	close(p[0]);
	EXPECT_EQ(0, user_as(USER, 0, half_own, &id));
	EXPECT_EQ(0, user_as(OTHER, 0, half_own, &id));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST_F(perm, node)
{
	long long mode = env_parameter("mode");
	struct stat st;

	ASSERT_EQ(0, stat(XSPROF_DEVICE_PATH, &st));
	EXPECT_EQ(mode & 0777, st.st_mode & 0777);
}

TEST_HARNESS_MAIN
