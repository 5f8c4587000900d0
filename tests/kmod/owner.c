// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ownership of a producer, by the rules of ptrace. Two processes of one user may not always read
 * each other: in user and pid namespaces, with capabilities, under other ids, not dumpable. A
 * caller without permission finds no producer; the result is the same after the end of the process.
 */
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "ring.h"

#define USER	1000
#define OTHER	1001
#define SUB	100000		/* the first of a user's subordinate ids */

enum { PID_NS = 1, USER_NS = 2, SUB_NS = 4, TIME_NS = 8, HIDDEN = 16 };

/**
 * struct who - what a process is
 * @uid: its user, outside of any namespace
 * @in: namespaces of its own: USER_NS has its user alone in it, SUB_NS maps its user to root and
 *	others to subordinate ids, of which the process is the first; HIDDEN: it is not dumpable
 * @caps: its capabilities outside of a user namespace; in one of its own it has all
 */
struct who {
	uid_t		uid;
	unsigned int	in;
	uint64_t	caps;
};

#define ONLY(cap)	(1ull << (cap))
#define ALL_CAPS	(~0ull)

static int set_caps(uint64_t caps)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (caps == ALL_CAPS)
		return 0;
	memset(data, 0, sizeof(data));
	data[0].effective = data[0].permitted = (uint32_t)caps;
	data[1].effective = data[1].permitted = caps >> 32;
	return syscall(SYS_capset, &h, data);
}

static int put_map(pid_t pid, const char *name, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return env_file_put(path, text);
}

static int map_sub(pid_t pid, uid_t uid)
{
	char text[64];

	snprintf(text, sizeof(text), "0 %u 1\n1 %u 10\n", uid, SUB);
	return put_map(pid, "uid_map", text) ?: put_map(pid, "gid_map", text);
}

/* Root, who alone may give subordinate ids, waits for a word and says one. */
static pid_t start_mapper(pid_t of, uid_t uid, int to[2], int from[2])
{
	pid_t pid = fork();
	char c = 0;

	if (pid)
		return pid;
	if (read(to[0], &c, 1) != 1 || map_sub(of, uid) || write(from[1], "x", 1) != 1)
		_exit(1);
	_exit(0);
}

static int enter_user_ns(const struct who *w)
{
	char text[64];

	if (unshare(CLONE_NEWUSER))
		return -errno;
	if (w->in & SUB_NS)
		return 0;
	snprintf(text, sizeof(text), "%u %u 1\n", w->uid, w->uid);
	return env_file_put("/proc/self/setgroups", "deny") ?:
	       env_file_put("/proc/self/uid_map", text) ?:
	       env_file_put("/proc/self/gid_map", text);
}

/* From root to @w, but for a pid namespace.  Return: 0, or the line of what cannot be. */
static int become(const struct who *w)
{
	int to[2], from[2];
	char c = 0;

#define MUST(call) do { if (call) return __LINE__; } while (0)
	MUST(pipe(to) || pipe(from));
	if (w->in & SUB_NS)
		MUST(start_mapper(getpid(), w->uid, to, from) < 0);
	MUST(prctl(PR_SET_KEEPCAPS, 1) || setgroups(0, NULL) || setgid(w->uid) || setuid(w->uid));
	MUST(set_caps(w->caps));
	MUST(prctl(PR_SET_DUMPABLE, 1));
	if (w->in & (USER_NS | SUB_NS))
		MUST(enter_user_ns(w));
	if (w->in & SUB_NS) {
		MUST(write(to[1], "x", 1) != 1 || read(from[0], &c, 1) != 1);
		MUST(setgid(1) || setuid(1));
	}
	MUST(prctl(PR_SET_DUMPABLE, !(w->in & HIDDEN)));
	return 0;
}

/*
 * A child that is @w and does @fn; root's are namespaces that a child begins in.  Return: its pid
 * here.
 */
static pid_t start(const struct who *w, void (*fn)(void *arg), void *arg)
{
	pid_t pid, inner;
	int status, line;

	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (w->in & (PID_NS | TIME_NS)) {
		if (unshare((w->in & PID_NS ? CLONE_NEWPID : 0) |
			    (w->in & TIME_NS ? CLONE_NEWTIME : 0)))
			_exit(77);
		inner = fork();
		if (inner) {
			/* The ends of pipes are the inner one's. */
			for (int fd = 3; fd < 64; fd++)
				close(fd);
			waitpid(inner, &status, 0);
			_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
		}
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	}
	line = become(w);
	/* A change of credentials has forgotten it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (line) {
		printf("# %s:%d: errno %d\n", __FILE__, line, errno);
		fflush(stdout);
		_exit(98);
	}
	fn(arg);
	_exit(0);
}

struct producing {
	int	told[2];
	int	end[2];
};

static void produce(void *arg)
{
	struct producing *p = arg;
	struct dev d;
	char c;

	close(p->end[1]);
	if (dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1) || dev_ring_open(&d, d.nr) ||
	    !ring_put(&d, d.nr, 0, 0, 1) || write(p->told[1], &d.id, sizeof(d.id)) != sizeof(d.id))
		_exit(97);
	/* Until the other side closes. */
	if (read(p->end[0], &c, 1))
		_exit(96);
}

enum { NOTHING, MAY_READ, MAY_WRITE };

/**
 * struct looking - what a reader looks at
 * @id: the producer
 * @pid: its process as the reader may ask the kernel about it, 0 where that is not to be asked
 */
struct looking {
	uint64_t	id;
	pid_t		pid;
};

/* What the kernel itself says: that call checks what ptrace would to read. */
static bool could_ptrace(pid_t pid)
{
	size_t len;
	void *head;

	return !syscall(SYS_get_robust_list, pid, &head, &len);
}

/* Exits with what the process may: 0 to 2, or 90 and more where two answers disagree. */
static void look(void *arg)
{
	struct xsprof_control c = { .size = sizeof(c), .set = 1 };
	struct looking *l = arg;
	struct xsprof_info info;
	int fd = dev_open(), err, consumes;
	struct dev r, w;

	err = dev_read_id(&r, fd, l->id, 0);
	if (dev_info(fd, l->id, &info) != err)
		_exit(90);
	if (l->pid && could_ptrace(l->pid) != !err)
		_exit(94);
	consumes = dev_read_id(&w, fd, l->id, XSPROF_OPEN_CONSUME);
	if (err)
		_exit(err == -ENOENT && consumes == -ENOENT ? NOTHING : 91);
	err = dev_call(r.fd, XSPROF_IOC_CONTROL, &c);
	if ((err == -EPERM) != (consumes == -EPERM))
		_exit(92);
	_exit(consumes == -EPERM ? MAY_READ : consumes ? 93 : MAY_WRITE);
}

static int what_may(const struct who *reader, uint64_t id, pid_t of)
{
	/* To look into a process is another capability than to look at what it records. */
	bool same = !(reader->in & PID_NS) && reader->caps != ONLY(CAP_PERFMON) &&
		    reader->caps != ONLY(CAP_SYS_ADMIN);
	struct looking l = { .id = id, .pid = same ? of : 0 };
	pid_t pid = start(reader, look, &l);
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 95;
}

FIXTURE(owner)
{
};

FIXTURE_VARIANT(owner)
{
	struct who	producer;
	struct who	reader;
	int		may;
};

FIXTURE_SETUP(owner)
{
}

FIXTURE_TEARDOWN(owner)
{
	int fd = dev_open();

	dev_drop_ended(fd);
	close(fd);
}

#define CASE(name, ...)	FIXTURE_VARIANT_ADD(owner, name) { __VA_ARGS__ }

/* Producer, reader, what that may. */
CASE(same, { USER, 0, 0 }, { USER, 0, 0 }, MAY_WRITE);
CASE(other, { USER, 0, 0 }, { OTHER, 0, 0 }, NOTHING);
CASE(root, { USER, 0, 0 }, { 0, 0, ALL_CAPS }, MAY_WRITE);
CASE(root_without_any, { USER, 0, 0 }, { 0, 0, 0 }, NOTHING);
/* What could not be ptraced cannot be read, but by who may do it all the same. */
CASE(hidden, { USER, HIDDEN, 0 }, { USER, 0, 0 }, NOTHING);
CASE(hidden_perfmon, { USER, HIDDEN, 0 }, { OTHER, 0, ONLY(CAP_PERFMON) }, MAY_READ);
CASE(hidden_admin, { USER, HIDDEN, 0 }, { OTHER, 0, ONLY(CAP_SYS_ADMIN) }, MAY_WRITE);
/* It has more rights than the reader, as many, less. */
CASE(more_rights, { USER, 0, ONLY(CAP_NET_RAW) }, { USER, 0, 0 }, NOTHING);
CASE(other_rights, { USER, 0, ONLY(CAP_NET_RAW) }, { USER, 0, ONLY(CAP_CHOWN) }, NOTHING);
CASE(same_rights, { USER, 0, ONLY(CAP_NET_RAW) }, { USER, 0, ONLY(CAP_NET_RAW) }, MAY_WRITE);
CASE(less_rights, { USER, 0, 0 }, { USER, 0, ONLY(CAP_NET_RAW) }, MAY_WRITE);
CASE(more_rights_perfmon, { USER, 0, ONLY(CAP_NET_RAW) }, { USER, 0, ONLY(CAP_PERFMON) },
     MAY_READ);
CASE(root_of_less, { 0, 0, ALL_CAPS }, { 0, 0, ONLY(CAP_NET_RAW) }, NOTHING);
/* A container without a user namespace: its root, and its users. */
CASE(out_of_pid_ns, { USER, 0, 0 }, { USER, PID_NS, 0 }, NOTHING);
CASE(out_of_pid_ns_root, { 0, 0, 0 }, { 0, PID_NS, ONLY(CAP_NET_RAW) }, NOTHING);
CASE(out_of_pid_ns_perfmon, { USER, 0, 0 }, { USER, PID_NS, ONLY(CAP_PERFMON) }, MAY_READ);
CASE(into_pid_ns, { USER, PID_NS, 0 }, { USER, 0, 0 }, MAY_WRITE);
CASE(beside_pid_ns, { USER, PID_NS, 0 }, { USER, PID_NS, 0 }, NOTHING);
/* A sandbox with all rights, of its own. */
CASE(out_of_user_ns, { USER, 0, 0 }, { USER, USER_NS, 0 }, NOTHING);
CASE(into_user_ns, { USER, USER_NS, 0 }, { USER, 0, 0 }, MAY_WRITE);
/* It began outside. */
CASE(into_user_ns_hidden, { USER, USER_NS | HIDDEN, 0 }, { USER, 0, 0 }, NOTHING);
CASE(into_user_ns_other, { USER, USER_NS, 0 }, { OTHER, 0, 0 }, NOTHING);
CASE(beside_user_ns, { USER, USER_NS, 0 }, { USER, USER_NS, 0 }, NOTHING);
CASE(into_user_ns_perfmon, { USER, USER_NS, 0 }, { OTHER, 0, ONLY(CAP_PERFMON) }, MAY_READ);
/* Subordinate ids: whose namespace it is may, and nobody who merely has that number. */
CASE(into_sub_ns, { USER, SUB_NS, 0 }, { USER, 0, 0 }, MAY_WRITE);
CASE(into_sub_ns_number, { USER, SUB_NS, 0 }, { SUB, 0, 0 }, NOTHING);
CASE(into_sub_ns_other, { USER, SUB_NS, 0 }, { OTHER, 0, 0 }, NOTHING);
CASE(out_of_sub_ns, { USER, 0, 0 }, { USER, SUB_NS, 0 }, NOTHING);
CASE(out_of_sub_ns_number, { SUB, 0, 0 }, { USER, SUB_NS, 0 }, NOTHING);
/* A time namespace has no say. */
CASE(time_ns, { USER, TIME_NS, 0 }, { USER, 0, 0 }, MAY_WRITE);
CASE(out_of_time_ns, { USER, 0, 0 }, { USER, TIME_NS, 0 }, MAY_WRITE);

TEST_F(owner, is)
{
	struct producing p;
	struct xsprof_info info;
	uint64_t id = 0;
	int fd = dev_open(), status;
	pid_t pid;

	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, pipe(p.told));
	ASSERT_EQ(0, pipe(p.end));
	pid = start(&variant->producer, produce, &p);
	ASSERT_GT(pid, 0);
	close(p.told[1]);
	close(p.end[0]);
	ASSERT_EQ(sizeof(id), read(p.told[0], &id, sizeof(id)));
	ASSERT_EQ(0, dev_info(fd, id, &info));
	EXPECT_EQ(variant->may, what_may(&variant->reader, id, (pid_t)info.pid));
	close(p.end[1]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	do
		status = dev_info(fd, id, &info);
	while (!status && info.state == XSPROF_STATE_LIVE);
	ASSERT_EQ(0, status);
	/* CONTROL of one that has ended says so, but only to whoever might. */
	EXPECT_EQ(variant->may, what_may(&variant->reader, id, 0));
	close(fd);
}

TEST_HARNESS_MAIN
