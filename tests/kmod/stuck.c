// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls with arguments in memory whose faults never complete: a process that handles its own page
 * faults (userfaultfd) can block each of its calls forever at a copy. No lock that another process
 * needs may be held there, and the process can be killed.
 */
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#include "ring.h"
#include "tracefs.h"
#include "user.h"

#define TRAPS		32
#define PAGE		4096

/* Pages whose faults nobody answers.  Return: the first, or NULL: this kernel has none such. */
static char *traps_open(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	char *at;

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		return NULL;
	at = mmap(NULL, TRAPS * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (uintptr_t)at;
	range.range.len = TRAPS * PAGE;
	return at == MAP_FAILED || ioctl(fd, UFFDIO_REGISTER, &range) ? NULL : at;
}

/**
 * struct call - a call that does not return
 * @name: of its command
 * @fd: whose
 * @cmd: its command; 0 for pread()
 * @arg: its argument
 * @back: it returned all the same
 */
struct call {
	const char	*name;
	int		fd;
	unsigned long	cmd;
	void		*arg;
	bool		back;
};

static void *make_call(void *arg)
{
	struct call *c = arg;

	if (c->cmd)
		dev_call(c->fd, c->cmd, c->arg);
	else if (pread(c->fd, c->arg, PAGE, 0) < 0)
		perror("pread");
	__atomic_store_n(&c->back, true, __ATOMIC_RELAXED);
	return NULL;
}

/* Is thread @tid of this process in a fault that nobody answers? */
static bool waits_for_page(pid_t tid)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "/proc/self/task/%d/wchan", tid);
	return !env_file_get(path, text, sizeof(text)) && !strncmp(text, "handle_userfault", 16);
}

/**
 * struct stuck - the threads of one process
 * @calls: what each does
 * @n: how many
 * @tids: the threads, 0 for one that has not begun
 */
struct stuck {
	struct call	calls[TRAPS];
	unsigned int	n;
	pid_t		tids[TRAPS];
};

static struct stuck stuck;

static void *in_thread(void *arg)
{
	unsigned int i = (unsigned int)(uintptr_t)arg;

	__atomic_store_n(&stuck.tids[i], (pid_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
	return make_call(&stuck.calls[i]);
}

static void add(const char *name, int fd, unsigned long cmd, void *arg)
{
	stuck.calls[stuck.n++] = (struct call){ .name = name, .fd = fd, .cmd = cmd, .arg = arg };
}

/* All calls with the argument in a trap, and those that read or write through it in one, too. */
static void add_all(int fresh, const struct dev *d, const struct dev *r, char *trap)
{
	static struct xsprof_list list = {
		.size = sizeof(list), .info_size = sizeof(struct xsprof_info), .count = 10,
	};
	static struct xsprof_syncs syncs = { .size = sizeof(syncs), .count = 100 };
	static struct xsprof_emit emit = {
		.size = sizeof(emit), .kind = XSPROF_EMIT_BEGIN, .name_len = 10,
	};

#define TRAP (trap + stuck.n * PAGE)
	add("ATTACH", fresh, XSPROF_IOC_ATTACH, TRAP);
	add("LIST", fresh, XSPROF_IOC_LIST, TRAP);
	add("OPEN", fresh, XSPROF_IOC_OPEN, TRAP);
	add("SYNCS", fresh, XSPROF_IOC_SYNCS, TRAP);
	add("POPULATE", d->fd, XSPROF_IOC_POPULATE, TRAP);
	add("CONTROL", d->fd, XSPROF_IOC_CONTROL, TRAP);
	add("SCHED", d->fd, XSPROF_IOC_SCHED, TRAP);
	add("EMIT", d->fd, XSPROF_IOC_EMIT, TRAP);
	add("CONTROL of a reader", r->fd, XSPROF_IOC_CONTROL, TRAP);
	add("WATCH", r->fd, XSPROF_IOC_WATCH, TRAP);
	add("EVENTS", r->fd, XSPROF_IOC_EVENTS, TRAP);
	add("SCHED of a reader", r->fd, XSPROF_IOC_SCHED, TRAP);
	add("read", r->fd, 0, TRAP);
	list.infos = (uintptr_t)TRAP;
	add("LIST's table", fresh, XSPROF_IOC_LIST, &list);
	syncs.syncs = (uintptr_t)TRAP;
	add("SYNCS' table", fresh, XSPROF_IOC_SYNCS, &syncs);
	emit.name = (uintptr_t)TRAP;
	add("EMIT's name", d->fd, XSPROF_IOC_EMIT, &emit);
#undef TRAP
}

/* Tells its producer's number when all threads are stuck.  Exits with 1 where it cannot. */
static void be_stuck(int to)
{
	struct dev d, r;
	int fresh = dev_open();
	char *trap = traps_open();
	pthread_t thread;

	if (!trap)
		_exit(write(to, &(uint64_t){ 0 }, 8) != 8);
	if (fresh < 0 || dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 2) ||
	    dev_ring_open(&d, d.nr) || dev_read_id(&r, fresh, d.id, XSPROF_OPEN_CONSUME))
		_exit(1);
	add_all(fresh, &d, &r, trap);
	for (unsigned int i = 0; i < stuck.n; i++)
		if (pthread_create(&thread, NULL, in_thread, (void *)(uintptr_t)i))
			_exit(1);
	for (unsigned int i = 0; i < stuck.n; i++) {
		while (!waits_for_page(__atomic_load_n(&stuck.tids[i], __ATOMIC_RELAXED))) {
			if (__atomic_load_n(&stuck.calls[i].back, __ATOMIC_RELAXED)) {
				printf("# %s has returned\n", stuck.calls[i].name);
				fflush(stdout);
				_exit(1);
			}
			sched_yield();
		}
	}
	if (write(to, &d.id, sizeof(d.id)) != sizeof(d.id))
		_exit(1);
	pause();
	_exit(1);
}

/* Whatever another process may do, with that producer and with its own.  Return: 0; the step. */
static int use_all(uint64_t id)
{
	struct xsprof_control set = { .size = sizeof(set), .set = 1 };
	struct xsprof_control clear = { .size = sizeof(clear), .clear = 1 };
	struct xsprof_sched sched = { .size = sizeof(sched), .flags = XSPROF_SCHED_ON };
	struct xsprof_events events = { .size = sizeof(events) };
	struct xsprof_info info;
	struct dev d, r;
	int fd = dev_open();

	if (dev_info(fd, id, &info) || info.id != id)
		return 1;
	if (dev_read_id(&r, fd, id, 0))
		return 2;
	if (dev_call(r.fd, XSPROF_IOC_CONTROL, &set) ||
	    dev_call(r.fd, XSPROF_IOC_CONTROL, &clear))
		return 3;
	if (dev_call(r.fd, XSPROF_IOC_SCHED, &sched))
		return 4;
	sched.flags = 0;
	if (dev_call(r.fd, XSPROF_IOC_SCHED, &sched))
		return 5;
	if (dev_call(r.fd, XSPROF_IOC_EVENTS, &events))
		return 6;
	dev_close(&r);
	if (dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 2) || dev_ring_open(&d, d.nr))
		return 7;
	if (!ring_put(&d, d.nr, 0, 0, 1))
		return 8;
	dev_close(&d);
	if (env_parameter_set("retain_seconds", 600) || user_counter("live") < 1)
		return 9;
	return dev_drop_ended(fd) < 0 ? 10 : 0;
}

TEST(calls_at_a_page_fault_hold_nothing)
{
	int to[2], status;
	uint64_t id = 0;
	pid_t pid, other;

	ASSERT_EQ(0, tracefs_open(64));
	/* Without a listener EMIT looks at no name. */
	ASSERT_EQ(0, tracefs_set("xsp_begin", true));
	ASSERT_EQ(0, pipe(to));
	fflush(stdout);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid)
		be_stuck(to[1]);
	close(to[1]);
	ASSERT_EQ((int)sizeof(id), read(to[0], &id, sizeof(id)));
	if (!id) {
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		SKIP(return, "this kernel has no userfaultfd");
	}
	other = fork();
	ASSERT_GE(other, 0);
	if (!other) {
		alarm(300);
		_exit(use_all(id));
	}
	ASSERT_EQ(other, waitpid(other, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(SIGKILL, status);
	close(to[0]);
	tracefs_close();
}

TEST_HARNESS_MAIN
