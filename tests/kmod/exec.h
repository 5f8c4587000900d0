/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process that attaches as an ordinary user, leaves something behind, and executes the test's own
 * file again: plain, set-user-id, or with a capability. Implements the process before and after;
 * exec.c judges.
 */
#ifndef KMOD_EXEC_H
#define KMOD_EXEC_H

#include <grp.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "sched.h"

#define USER	1000
#define RING	(1 << 20)
#define CAP	CAP_NET_RAW	/* any that an ordinary user has not */
#define IMAGE	"executed"	/* what this file calls itself when it has been executed */

/**
 * struct report - what the executed program says of itself
 * @begun: CLOCK_MONOTONIC_RAW of its first instruction, or nearly, ns
 * @uid: its effective user
 * @caps: its effective capabilities, the first 32
 * @refused: what the calls of a producer answered on a descriptor that it inherited
 * @id: of a producer that it is now, 0 for none
 */
struct report {
	uint64_t	begun;
	uint32_t	uid;
	uint32_t	caps;
	int		refused[8];
	uint64_t	id;
};

static uint64_t raw_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* ---- the executed program ------------------------------------------------------------------- */

static int map_rw(int fd, uint64_t off)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)off);

	return at == MAP_FAILED ? -errno : 0;
}

/* All that a producer's descriptor is good for. */
static void use_inherited(int fd, struct report *r)
{
	struct xsprof_control c = { .size = sizeof(c), .set = 1 };
	struct xsprof_emit e = { .size = sizeof(e) };
	struct xsprof_attach a = dev_attach_defaults();
	const struct xsprof_ctl *ctl = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	int again = dev_open();

	if (ctl == MAP_FAILED)
		_exit(3);
	a.flags = XSPROF_ATTACH_REJOIN;
	a.id = ctl->id;
	r->refused[0] = dev_populate(fd, ctl->arena_off, 1);
	r->refused[1] = dev_call(fd, XSPROF_IOC_CONTROL, &c);
	r->refused[2] = dev_call(fd, XSPROF_IOC_KICK, NULL);
	r->refused[3] = dev_call(fd, XSPROF_IOC_EMIT, &e);
	r->refused[4] = sched_switch_to(fd, XSPROF_SCHED_ON, NULL);
	r->refused[5] = map_rw(fd, ctl->arena_off);
	r->refused[6] = dev_call(again, XSPROF_IOC_ATTACH, &a);
	close(again);
}

/*
 * IMAGE OUT IN WHAT: runs and sleeps, reports to OUT and waits.  WHAT is "attach" to be a producer
 * again, else IN is an inherited descriptor of the producer before, or -1.
 */
__attribute__((constructor)) static void executed(int argc, char **argv)
{
	struct report r = { .begun = raw_ns(), .uid = geteuid() };
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	static struct dev d;
	int out, in;

	if (argc != 4 || strcmp(argv[0], IMAGE))
		return;
	out = atoi(argv[1]);
	in = atoi(argv[2]);
	sched_naps();
	if (syscall(SYS_capget, &h, data))
		_exit(1);
	r.caps = data[0].effective;
	if (in >= 0)
		use_inherited(in, &r);
	if (!strcmp(argv[3], "attach")) {
		if (dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1) || dev_ring_open(&d, d.nr) ||
		    !ring_put(&d, d.nr, 0, 0, 1))
			_exit(2);
		r.id = d.id;
	}
	if (write(out, &r, sizeof(r)) != sizeof(r))
		_exit(4);
	for (;;)
		env_nap(1000);
}

/* ---- what executes it ----------------------------------------------------------------------- */

enum image { PLAIN, SET_USER_ID, CAPABLE };
enum left { NOTHING, DESCRIPTOR, CONTROL_PAGE, INHERITED };

/**
 * struct start - what the process says before it executes
 * @id: its producer
 * @heir: the child that it left, 0 for none
 */
struct start {
	uint64_t	id;
	pid_t		heir;
};

/**
 * struct plan - what a test's process does
 * @path: what it executes
 * @left: and what of the producer is left
 * @thread: the thread that executes is not the first one
 * @again: the executed program attaches
 * @fails: there is nothing to execute
 * @first: it goes before all others on CPU 0
 * @producers: how many it is
 * @start: says struct start there
 * @go: waits there before it executes
 * @report: the executed program's way out
 */
struct plan {
	const char	*path;
	enum left	left;
	bool		thread;
	bool		again;
	bool		fails;
	bool		first;
	unsigned int	producers;
	int		start[2];
	int		go[2];
	int		report[2];
};

static void *execute(void *arg)
{
	const struct plan *p = arg;
	char out[16], in[16];

	snprintf(out, sizeof(out), "%d", p->report[1]);
	snprintf(in, sizeof(in), "%d", p->left == INHERITED ? 900 : -1);
	execl(p->path, IMAGE, out, in, p->again ? "attach" : "-", NULL);
	_exit(40);
}

/* The child that holds what is to be held.  Return: its pid. */
static pid_t leave(const struct plan *p, struct sched *s)
{
	void *page = mmap(NULL, s->d.page, PROT_READ, MAP_SHARED, s->d.fd, 0);
	pid_t pid;

	if (page == MAP_FAILED)
		_exit(20);
	if (p->left == INHERITED && dup2(s->d.fd, 900) != 900)	/* not close-on-exec */
		_exit(21);
	if (p->left != DESCRIPTOR && p->left != CONTROL_PAGE)
		return 0;
	pid = fork();
	if (pid)
		return pid;
	if (p->left == CONTROL_PAGE)
		close(s->d.fd);
	for (;;)
		pause();
}

/* The caller has that CPU whenever it wants it. */
static int exec_first(unsigned int cpu)
{
	const struct sched_param high = { .sched_priority = 10 };

	env_on_cpu(cpu);
	return sched_setscheduler(0, SCHED_FIFO, &high);
}

static void __attribute__((noreturn)) run(const struct plan *p)
{
	struct xsprof_attach a = dev_attach_defaults();
	static struct sched s;
	struct start start;
	pthread_t thread;
	char c;

	if (p->first && exec_first(0))
		_exit(16);
	if (setgroups(0, NULL) || setgid(USER) || setuid(USER))
		_exit(10);
	a.flags = XSPROF_ATTACH_MONO;	/* the executed program can read that clock */
	a.ring_size = 16 << 10;
	a.nr_lock_rings = 1;
	a.kernel_size = RING;
	if (dev_attach_as(&s.d, &a) || sched_switch_to(s.d.fd, XSPROF_SCHED_ON, NULL))
		_exit(11);
	for (unsigned int i = 1; i < p->producers; i++) {
		struct dev d;

		if (dev_attach(&d, XSPROF_MODE_DISCARD, 1, 1) || dev_ring_open(&d, d.nr))
			_exit(12);
	}
	start = (struct start){ .id = s.d.id, .heir = leave(p, &s) };
	if (write(p->start[1], &start, sizeof(start)) != sizeof(start))
		_exit(13);
	sched_naps();
	if (read(p->go[0], &c, 1) != 1)
		_exit(14);
	for (execl("/nowhere", IMAGE, NULL); p->fails;)
		sched_naps();
	if (!p->thread)
		execute((void *)p);
	if (pthread_create(&thread, NULL, execute, (void *)p))
		_exit(15);
	for (;;)
		pause();
}

/* A copy of this file that is what @image says.  Return: 0 or -errno. */
static int make_image(const char *path, enum image image)
{
	struct vfs_cap_data caps = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data = { { .permitted = 1u << CAP } },
	};
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	static char buf[1 << 16];
	ssize_t n;
	int err = 0;

	if (from < 0 || to < 0)
		return -errno;
	while ((n = read(from, buf, sizeof(buf))) > 0 && !err)
		err = write(to, buf, (size_t)n) == n ? 0 : -EIO;
	if (!err && image == CAPABLE)
		err = fsetxattr(to, "security.capability", &caps, sizeof(caps), 0) ? -errno : 0;
	if (!err && fchmod(to, image == SET_USER_ID ? 04755 : 0755))
		err = -errno;
	close(from);
	close(to);
	return err;
}

#endif /* KMOD_EXEC_H */
