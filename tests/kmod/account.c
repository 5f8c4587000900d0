// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory accounting.  A producer's memory is charged with the rights and limits of its process at
 * attach, even if a reader causes the allocation.  Users of a user namespace share the account of
 * its creator.  Ended producers of one account are never dropped for another account.
 */
#include <pthread.h>

#include "account.h"

#define SUB	100000		/* the first of a user's subordinate ids */

/* ---- rights and limits ----------------------------------------------------------------------- */

/* The request comes from root, whose rights and limits must not count. */
TEST_F(account, limits_are_of_attach)
{
	struct plan p = { .uid = USER, .ring_size = 2 * MIB, .kernel_size = 4 * MIB };
	struct rlimit more = { RLIM_INFINITY, RLIM_INFINITY };

	ASSERT_EQ(0, env_parameter_set("uid_free_bytes", MIB));
	ASSERT_EQ(0, begin(&self->s[0], &p));
	EXPECT_EQ(-EPERM, ask(self->fd, self->s[0].id));
	/* A failed request keeps what it allocated, within the allowance. */
	EXPECT_GE(MIB, bytes_of(self->fd, self->s[0].id));
	ASSERT_EQ(0, prlimit(self->s[0].pid, RLIMIT_MEMLOCK, &more, NULL));
	EXPECT_EQ(-EPERM, tell(&self->s[0], 'r'));
	EXPECT_EQ(0, end(self->fd, &self->s[0]));
	/* RLIMIT_MEMLOCK below and above the size of the rings. */
	p.locked = 4 * MIB;
	ASSERT_EQ(0, begin(&self->s[1], &p));
	EXPECT_EQ(-EPERM, ask(self->fd, self->s[1].id));
	EXPECT_EQ(0, end(self->fd, &self->s[1]));
	p.locked = 64 * MIB;
	ASSERT_EQ(0, begin(&self->s[1], &p));
	EXPECT_EQ(0, ask(self->fd, self->s[1].id));
	EXPECT_LT(8 * MIB, bytes_of(self->fd, self->s[1].id));
	EXPECT_EQ(0, end(self->fd, &self->s[1]));
}

/* CAP_IPC_LOCK at attach counts, even if it was dropped since. */
TEST_F(account, right_to_lock)
{
	struct plan p = { .uid = USER, .caps = 1ull << CAP_IPC_LOCK, .ring_size = 2 * MIB,
			  .kernel_size = 4 * MIB };

	ASSERT_EQ(0, env_parameter_set("uid_free_bytes", MIB));
	ASSERT_EQ(0, begin(&self->s[0], &p));
	EXPECT_EQ(0, tell(&self->s[0], 'c'));
	EXPECT_EQ(0, ask(self->fd, self->s[0].id));
	EXPECT_EQ(0, tell(&self->s[0], 'r'));
}

/* The bookkeeping of the rings is charged too, and the error names the limit that was hit. */
TEST_F(account, books_are_charged)
{
	struct plan p = { .uid = USER, .ring_size = 16 * KIB, .kernel_size = 64 * MIB };

	ASSERT_EQ(0, env_parameter_set("uid_free_bytes", 128 * KIB));
	ASSERT_EQ(0, begin(&self->s[0], &p));
	EXPECT_EQ(-EPERM, ask(self->fd, self->s[0].id));
	EXPECT_GE(128 * KIB, bytes_of(self->fd, self->s[0].id));
	ASSERT_EQ(0, env_parameter_set("uid_free_bytes", self->was[0]));
	ASSERT_EQ(0, env_parameter_set("max_bytes", user_counter("bytes") + (128ll << 10)));
	EXPECT_EQ(-ENOMEM, ask(self->fd, self->s[0].id));
}

TEST_F(account, kernel_size)
{
	struct xsprof_attach a = dev_attach_defaults();
	struct dev d;
	int err;

	a.kernel_size = 64 * MIB + 1;
	err = dev_attach_as(&d, &a);
	EXPECT_EQ(-EINVAL, err);
	if (!err)
		dev_close(&d);
	a.kernel_size = 64 * MIB;
	EXPECT_EQ(0, dev_attach_as(&d, &a));
	EXPECT_EQ(64 * MIB, d.ctl->kernel_size);
	dev_close(&d);
}

/* ---- retained producers of other users ------------------------------------------------------- */

TEST_F(account, no_room_at_anothers_cost)
{
	struct plan p = { .uid = USER, .ring_size = MIB, .kernel_size = 1 };
	long long dropped = user_counter("dropped");
	uint64_t kept = end_of(self->fd, &p);

	ASSERT_NE(0, kept);
	ASSERT_EQ(1, user_counter("kept"));
	ASSERT_EQ(0, env_parameter_set("max_bytes", user_counter("bytes") + (512ll << 10)));
	p.uid = OTHER;
	ASSERT_EQ(0, begin(&self->s[0], &p));
	EXPECT_EQ(-ENOMEM, tell(&self->s[0], 'r'));
	EXPECT_NE(0, bytes_of(self->fd, kept));
	EXPECT_EQ(dropped, user_counter("dropped"));
	EXPECT_EQ(0, end(self->fd, &self->s[0]));
	/* The same user's retained producer makes room. */
	p.uid = USER;
	ASSERT_EQ(0, begin(&self->s[1], &p));
	EXPECT_EQ(0, tell(&self->s[1], 'r'));
	EXPECT_EQ(0, bytes_of(self->fd, kept));
	EXPECT_EQ(dropped + 1, user_counter("dropped"));
}

/* The account that exceeds retain_bytes loses its own producers. */
TEST_F(account, excess_is_ones_own)
{
	struct plan p = { .uid = USER, .ring_size = MIB, .kernel_size = 1 };
	long long dropped = user_counter("dropped"), each;
	uint64_t kept = end_of(self->fd, &p), id[4];

	ASSERT_NE(0, kept);
	p.uid = OTHER;
	p.ring_size = 256 * KIB;
	id[0] = end_of(self->fd, &p);
	each = (long long)bytes_of(self->fd, id[0]);
	ASSERT_LT(0, each);
	/* Room for two and a half of them. */
	ASSERT_EQ(0, env_parameter_set("retain_bytes", user_counter("kept_bytes") + each * 3 / 2));
	id[1] = end_of(self->fd, &p);
	EXPECT_EQ(3, user_counter("kept"));
	EXPECT_EQ(dropped, user_counter("dropped"));
	id[2] = end_of(self->fd, &p);
	EXPECT_EQ(3, user_counter("kept"));
	EXPECT_EQ(dropped + 1, user_counter("dropped"));
	EXPECT_EQ(0, bytes_of(self->fd, id[0]));
	EXPECT_NE(0, bytes_of(self->fd, id[1]));
	EXPECT_NE(0, bytes_of(self->fd, id[2]));
	EXPECT_NE(0, bytes_of(self->fd, kept));
	/* Larger than the room: all producers of that user go, the new one last. */
	p.ring_size = 4 * MIB;
	id[3] = end_of(self->fd, &p);
	EXPECT_EQ(1, user_counter("kept"));
	EXPECT_EQ(dropped + 4, user_counter("dropped"));
	EXPECT_EQ(0, bytes_of(self->fd, id[3]));
	EXPECT_NE(0, bytes_of(self->fd, kept));
	/* The same rule for the first user. */
	p.uid = USER;
	id[0] = end_of(self->fd, &p);
	EXPECT_EQ(0, user_counter("kept"));
	EXPECT_EQ(dropped + 6, user_counter("dropped"));
}

/* ---- user namespaces ------------------------------------------------------------------------- */

/* A process of @uid in a user namespace that it created, with the id map @map.  Return: its pid. */
static pid_t hold(uid_t uid, const char *map)
{
	char path[64], c = 0;
	int ready[2];
	pid_t pid;

	if (pipe(ready))
		return -errno;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if ((uid && user_become(uid, 0)) || unshare(CLONE_NEWUSER) ||
		    write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		pid = -1;
	close(ready[0]);
	for (int i = 0; i < 2 && pid > 0; i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, i ? "gid_map" : "uid_map");
		if (env_file_put(path, map))
			return -1;
	}
	return pid;
}

#define MAP_OF_USER	"0 1000 1\n1 100000 10\n"
#define MAP_OF_ROOT	"0 100000 10\n"

TEST_F(account, subordinate_users_share)
{
	struct plan p = { .uid = 1, .ring_size = MIB, .kernel_size = 1 };

	self->holder[0] = hold(USER, MAP_OF_USER);
	ASSERT_LT(0, self->holder[0]);
	/* Room for a ring and a half. */
	ASSERT_EQ(0, env_parameter_set("uid_free_bytes", 3 * MIB / 2));
	p.in = self->holder[0];
	ASSERT_EQ(0, begin(&self->s[0], &p));
	p.uid = 2;
	ASSERT_EQ(0, begin(&self->s[1], &p));
	/* The creator of the namespace, outside of it. */
	p.in = 0;
	p.uid = USER;
	ASSERT_EQ(0, begin(&self->s[2], &p));
	/* Another user, whose id outside is one of the subordinate ids. */
	p.uid = SUB;
	ASSERT_EQ(0, begin(&self->s[3], &p));
	EXPECT_EQ(0, tell(&self->s[0], 'r'));
	EXPECT_EQ(-EPERM, tell(&self->s[1], 'r'));
	EXPECT_EQ(-EPERM, tell(&self->s[2], 'r'));
	EXPECT_EQ(0, tell(&self->s[3], 'r'));
}

TEST_F(account, subordinate_users_are_counted)
{
	struct plan p = { .uid = 1, .ring_size = 16 * KIB, .kernel_size = 1 };

	self->holder[0] = hold(USER, MAP_OF_USER);
	ASSERT_LT(0, self->holder[0]);
	p.in = self->holder[0];
	ASSERT_EQ(0, env_parameter_set("uid_max_producers", 4));
	ASSERT_EQ(0, begin(&self->s[0], &p));
	EXPECT_EQ(0, tell(&self->s[0], 'a'));
	p.uid = 2;
	ASSERT_EQ(0, begin(&self->s[1], &p));
	p.in = 0;
	p.uid = USER;
	ASSERT_EQ(0, begin(&self->s[2], &p));
	for (unsigned int i = 0; i < 3; i++)
		EXPECT_EQ(-EUSERS, tell(&self->s[i], 'a'));
	p.uid = SUB;
	ASSERT_EQ(0, begin(&self->s[3], &p));
	EXPECT_EQ(0, tell(&self->s[3], 'a'));
}

/* Namespaces created by root are separate accounts, even with the same id map. */
TEST_F(account, containers_do_not_share)
{
	struct plan p = { .uid = 1, .ring_size = MIB, .kernel_size = 1 };

	ASSERT_EQ(0, env_parameter_set("uid_free_bytes", 3 * MIB / 2));
	for (unsigned int i = 0; i < 2; i++) {
		self->holder[i] = hold(0, MAP_OF_ROOT);
		ASSERT_LT(0, self->holder[i]);
		p.in = self->holder[i];
		ASSERT_EQ(0, begin(&self->s[i], &p));
		EXPECT_EQ(0, tell(&self->s[i], 'r'));
	}
	/* Users of one such namespace share. */
	p.uid = 2;
	ASSERT_EQ(0, begin(&self->s[2], &p));
	EXPECT_EQ(-EPERM, tell(&self->s[2], 'r'));
	p.in = 0;
	p.uid = SUB + 1;
	ASSERT_EQ(0, begin(&self->s[3], &p));
	EXPECT_EQ(0, tell(&self->s[3], 'r'));
}

/* ---- memory cgroups -------------------------------------------------------------------------- */

#define PAYER	"/sys/fs/cgroup/xsprof-payer"
#define READER	"/sys/fs/cgroup/xsprof-reader"

static long long used(const char *cgroup)
{
	char path[128], text[64];

	snprintf(path, sizeof(path), "%s/memory.current", cgroup);
	return env_file_get(path, text, sizeof(text)) ? -1 : strtoll(text, NULL, 0);
}

struct asking {
	uint64_t	id;
};

static int ask_from(void *arg)
{
	struct asking *a = arg;

	return env_file_put(READER "/cgroup.procs", "0") ? 100 : -ask(dev_open(), a->id);
}

static int child(int (*call)(void *), void *arg)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(call(arg));
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 102;
}

TEST_F(account, memory_cgroup)
{
	struct plan p = { .uid = USER, .ring_size = 16 * KIB, .kernel_size = 4 * MIB,
			  .cgroup = PAYER };
	int err = env_cgroup(PAYER, "max\n") ?: env_cgroup(READER, "max\n");
	long long payer, reader;
	struct asking a;

	if (err)
		SKIP(return, "no memory controller of cgroup v2 here: %s", strerror(-err));
	ASSERT_EQ(0, begin(&self->s[0], &p));
	a.id = self->s[0].id;
	payer = used(PAYER);
	reader = used(READER);
	ASSERT_EQ(0, child(ask_from, &a));
	EXPECT_LE(payer + (long long)(7 * MIB), used(PAYER));	/* pages in advance, by CPU */
	/* The process itself, but no ring. */
	EXPECT_GT(reader + (long long)(2 * MIB), used(READER));
	EXPECT_EQ(0, end(self->fd, &self->s[0]));
	rmdir(PAYER);
	rmdir(READER);
}

/* What the process allocates itself is charged there too, wherever it has moved since. */
TEST_F(account, moved_to_another_cgroup)
{
	struct plan p = { .uid = USER, .ring_size = 4 * MIB, .kernel_size = 1, .cgroup = PAYER };
	int err = env_cgroup(PAYER, "max\n") ?: env_cgroup(READER, "max\n");
	static const char how[] = { 'r', 'f' };
	long long payer, reader;
	char pid[16];

	if (err)
		SKIP(return, "no memory controller of cgroup v2 here: %s", strerror(-err));
	ASSERT_EQ(0, begin(&self->s[0], &p));
	snprintf(pid, sizeof(pid), "%d", self->s[0].pid);
	ASSERT_EQ(0, env_file_put(READER "/cgroup.procs", pid));
	for (unsigned int i = 0; i < sizeof(how); i++) {
		payer = used(PAYER);
		reader = used(READER);
		EXPECT_EQ(0, tell(&self->s[0], how[i]));
		EXPECT_LE(payer + (long long)(3 * MIB), used(PAYER));
		EXPECT_GT(reader + (long long)(2 * MIB), used(READER));
	}
	EXPECT_EQ(0, end(self->fd, &self->s[0]));
	rmdir(PAYER);
	rmdir(READER);
}

/* What is retained in a cgroup makes room there for its user's live producers. */
TEST_F(account, cgroup_without_room)
{
	struct plan p = { .uid = USER, .ring_size = 8 * MIB, .kernel_size = 1, .cgroup = PAYER };
	struct plan elsewhere = { .uid = USER, .ring_size = 16 * KIB, .kernel_size = 1,
				  .cgroup = READER };
	int err = env_cgroup(PAYER, "12582912\n") ?: env_cgroup(READER, "max\n");
	static const char how[] = { 'r', 'f' };
	uint64_t kept, other;

	if (err)
		SKIP(return, "no memory controller of cgroup v2 here: %s", strerror(-err));
	for (unsigned int i = 0; i < sizeof(how); i++) {
		other = end_of(self->fd, &elsewhere);
		ASSERT_NE(0, other);
		kept = end_of(self->fd, &p);
		ASSERT_LT(8 * MIB, bytes_of(self->fd, kept));
		ASSERT_EQ(0, begin(&self->s[0], &p));
		EXPECT_EQ(0, tell(&self->s[0], how[i]));
		EXPECT_EQ(0, bytes_of(self->fd, kept));
		EXPECT_NE(0, bytes_of(self->fd, other));
		EXPECT_EQ(0, end(self->fd, &self->s[0]));
		drop_all(self->fd);
	}
	rmdir(PAYER);
	rmdir(READER);
}

/*
 * So it does for the kernel's books of scheduling records, which come before the pages of these:
 * what is kept has gone when the pages are refused.
 */
TEST_F(account, cgroup_without_room_for_books)
{
	struct plan p = { .uid = USER, .ring_size = 8 * MIB, .kernel_size = 64 * MIB,
			  .cgroup = PAYER };
	int err = env_cgroup(PAYER, "max\n");
	char full[32];
	uint64_t kept;

	if (err)
		SKIP(return, "no memory controller of cgroup v2 here: %s", strerror(-err));
	kept = end_of(self->fd, &p);
	ASSERT_LT(8 * MIB, bytes_of(self->fd, kept));
	ASSERT_EQ(0, begin(&self->s[0], &p));
	snprintf(full, sizeof(full), "%lld", used(PAYER));
	ASSERT_EQ(0, env_file_put(PAYER "/memory.max", full));
	EXPECT_EQ(-ENOMEM, ask(self->fd, self->s[0].id));
	EXPECT_EQ(0, bytes_of(self->fd, kept));
	EXPECT_EQ(0, env_file_put(PAYER "/memory.max", "max"));
	EXPECT_EQ(0, end(self->fd, &self->s[0]));
	rmdir(PAYER);
}

/* ---- threads that allocate the same ---------------------------------------------------------- */

#define RACERS	4

struct race {
	struct dev		d;
	pthread_barrier_t	together;
	int			err;
};

static void *open_all(void *arg)
{
	struct race *r = arg;
	int err;

	pthread_barrier_wait(&r->together);
	for (uint32_t k = r->d.nr; k < r->d.nr + r->d.nl; k++) {
		err = dev_populate(r->d.fd, dev_ring_off(&r->d, k), r->d.stride);
		if (err)
			__atomic_store_n(&r->err, err, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Each page is there once and charged once, and each ring is complete, whichever came first. */
TEST_F(account, racing_threads)
{
	uint64_t rounds = env_figure(60, 10), first;
	struct xsprof_attach a = dev_attach_defaults();
	pthread_t thread[RACERS];
	struct race r;

	a.nr_lock_rings = 16;
	a.ring_size = 4 * KIB;
	ASSERT_EQ(0, pthread_barrier_init(&r.together, NULL, RACERS));
	for (uint64_t i = 0; i < rounds; i++) {
		r.err = 0;
		ASSERT_EQ(0, dev_attach_as(&r.d, &a));
		first = bytes_of(self->fd, r.d.id);
		for (unsigned int t = 0; t < RACERS; t++)
			ASSERT_EQ(0, pthread_create(&thread[t], NULL, open_all, &r));
		for (unsigned int t = 0; t < RACERS; t++)
			pthread_join(thread[t], NULL);
		EXPECT_EQ(0, r.err);
		EXPECT_EQ(first + r.d.nl * r.d.stride, bytes_of(self->fd, r.d.id));
		for (uint32_t k = r.d.nr; k < r.d.nr + r.d.nl; k++) {
			EXPECT_TRUE(dev_ready(&r.d, k));
			EXPECT_EQ(XSPROF_RING_LOCK, dev_writer(&r.d, k)->kind);
			EXPECT_EQ(UINT32_MAX, dev_writer(&r.d, k)->cpu);
			EXPECT_EQ(0, dev_reader(&r.d, k)->tail);
		}
		dev_close(&r.d);
	}
	pthread_barrier_destroy(&r.together);
}

TEST_HARNESS_MAIN
