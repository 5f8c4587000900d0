// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of kernel threads in scheduler records.  A producer in the initial pid namespace gets all
 * names.  In another namespace it gets those of threads bound to CPUs; other names may tell of
 * processes elsewhere ("vhost-PID"), and are shown only with sched_comm=Y.
 */
#include <dirent.h>
#include <linux/membarrier.h>

#include "sched.h"
#include "user.h"

#define RING		(1 << 20)
#define PF_KTHREAD	0x00200000u
#define PF_BOUND	0x04000000u	/* PF_NO_SETAFFINITY */
#define MOST		1024

/* Kernel threads, from /proc. */
struct kthreads {
	unsigned int	n;
	pid_t		pid[MOST];
	char		name[MOST][16];
	bool		bound[MOST];
};

/* Return: true for a kernel thread. */
static bool read_stat(const char *pid, char name[16], unsigned int *flags)
{
	char path[280], text[1024];
	const char *from, *to;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	if (env_file_get(path, text, sizeof(text)))
		return false;
	from = strchr(text, '(');
	to = strrchr(text, ')');
	if (!from || !to || sscanf(to, ") %*c %*d %*d %*d %*d %*d %u", flags) != 1)
		return false;
	snprintf(name, 16, "%.*s", (int)(to - from - 1), from + 1);
	return *flags & PF_KTHREAD;
}

static void look_at_all(struct kthreads *t)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	unsigned int flags;

	t->n = 0;
	while (dir && (entry = readdir(dir)) && t->n < MOST) {
		if (!read_stat(entry->d_name, t->name[t->n], &flags))
			continue;
		t->pid[t->n] = (pid_t)strtol(entry->d_name, NULL, 10);
		t->bound[t->n++] = flags & PF_BOUND;
	}
	if (dir)
		closedir(dir);
}

/* The thread that runs RCU grace periods: membarrier() wakes it, and it is not bound to a CPU. */
static int find_rcu(const struct kthreads *t)
{
	for (unsigned int i = 0; i < t->n; i++)
		if (!strcmp(t->name[i], "rcu_preempt") || !strcmp(t->name[i], "rcu_sched"))
			return t->bound[i] ? -1 : (int)i;
	return -1;
}

/* Workers come and go, but all are bound. */
static bool is_bound(const struct kthreads *t, const char *name)
{
	if (!strncmp(name, "kworker/", 8))
		return true;
	for (unsigned int i = 0; i < t->n; i++)
		if (!strcmp(t->name[i], name))
			return t->bound[i];
	return false;
}

/**
 * struct told - counts of records that name a kernel thread as the other task
 * @t: all kernel threads
 * @rcu: name of RCU's thread
 * @bound: with the name of a bound thread
 * @free: with the name of another
 * @rcus: those of @free with the name @rcu
 * @nameless: without a name
 * @last: the last name of @free
 */
struct told {
	const struct kthreads	*t;
	const char		*rcu;
	uint64_t		bound;
	uint64_t		free;
	uint64_t		rcus;
	uint64_t		nameless;
	char			last[16];
};

static void take_kernel(void *arg, uint32_t k, uint64_t at, const uint64_t *s, unsigned int n)
{
	unsigned int type = ring_rec_type(s);
	struct told *o = arg;

	(void)k, (void)at;
	if ((type != XSPROF_REC_SCHED_OUT && type != XSPROF_REC_SCHED_WAKE) ||
	    sched_who(s) != XSPROF_SCHED_KERNEL)
		return;
	if (n != 2) {
		o->nameless++;
	} else if (is_bound(o->t, sched_name(s, n))) {
		o->bound++;
	} else {
		o->free++;
		o->rcus += !strcmp(o->rcu, sched_name(s, n));
		memcpy(o->last, sched_name(s, n), sizeof(o->last));
	}
}

/* Share CPU 0 with kernel threads of both kinds until records of both are there. */
static int on_one_cpu(const struct kthreads *t, const char *rcu, struct told *o)
{
	struct sched s;
	int err;

	env_on_cpu(0);
	err = sched_attach(&s, XSPROF_MODE_DISCARD, RING);
	if (err)
		return -err;
	for (unsigned int i = 0;; i++) {
		if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
			return 110;
		/* The migration thread of the CPU, which is bound, moves this one. */
		env_on_cpu(1);
		env_on_cpu(0);
		for (unsigned int k = 0; k < 200; k++)
			sched_yield();
		*o = (struct told){ .t = t, .rcu = rcu };
		if (sched_walk(&s, take_kernel, o) || sched_drops(&s))
			return 111;
		if (o->bound && (o->rcus || o->nameless))
			break;
	}
	dev_close(&s.d);
	return 0;
}

FIXTURE(names)
{
	struct kthreads	*t;
	const char	*rcu;
};

FIXTURE_VARIANT(names)
{
	bool	inside;		/* in a pid namespace */
	bool	comm;		/* sched_comm=Y */
};

FIXTURE_VARIANT_ADD(names, machine) { false, false };
FIXTURE_VARIANT_ADD(names, inside) { true, false };
FIXTURE_VARIANT_ADD(names, inside_all) { true, true };

FIXTURE_SETUP(names)
{
	static struct kthreads all;
	cpu_set_t set;
	int rcu;

	look_at_all(&all);
	rcu = find_rcu(&all);
	if (rcu < 0)
		SKIP(return, "no thread of RCU's that is bound to no CPU");
	/* The CPU of the test. */
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	ASSERT_EQ(0, sched_setaffinity(all.pid[rcu], sizeof(set), &set));
	self->t = &all;
	self->rcu = all.name[rcu];
	ASSERT_EQ(0, env_file_put(ENV_PARAMETERS "sched_comm", variant->comm ? "Y" : "N"));
}

FIXTURE_TEARDOWN(names)
{
	env_file_put(ENV_PARAMETERS "sched_comm", "N");
}

TEST_F(names, told)
{
	struct told *o = mmap(NULL, sizeof(*o), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, o);
	if (variant->inside)
		ASSERT_EQ(0, unshare(CLONE_NEWPID));
	pid = fork();
	if (!pid)
		_exit(user_become(1000, 0) ? 112 : on_one_cpu(self->t, self->rcu, o));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	EXPECT_LT(0, o->bound);
	if (variant->inside && !variant->comm) {
		EXPECT_LT(0, o->nameless);
		EXPECT_EQ(0, o->free) {
			TH_LOG("told of %s", o->last);
		}
	} else {
		EXPECT_LT(0, o->rcus);
		EXPECT_EQ(0, o->nameless);
	}
	TH_LOG("%llu bound, %llu others, %llu without a name", (unsigned long long)o->bound,
	       (unsigned long long)o->free, (unsigned long long)o->nameless);
}

TEST_HARNESS_MAIN
