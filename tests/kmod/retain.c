// SPDX-License-Identifier: GPL-2.0-only
/*
 * Retention with concurrent limit checks: the excess of an account is taken only from that account,
 * at once. Also when the module checks for producers to drop.
 */
#include <pthread.h>

#include "account.h"
#include "tracefs.h"

/* Makes the module look at its limits, again and again, until @enough. */
static void *look_at_limits(void *enough)
{
	long long is = env_parameter("retain_seconds");

	while (!__atomic_load_n((bool *)enough, __ATOMIC_RELAXED))
		if (env_parameter_set("retain_seconds", is))
			return NULL;
	return enough;
}

/* A process of @uid that is @n producers, each with a ring of @size, until @go is closed. */
static pid_t crowd_start(int go[2], uid_t uid, unsigned int n, uint64_t size)
{
	int up[2];
	pid_t pid;
	char c;

	if (pipe(up))
		return -1;
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		return pid;
	if (!pid) {
		close(go[1]);
		if (user_become(uid, 0))
			_exit(1);
		for (unsigned int i = 0; i < n; i++) {
			struct dev d;

			if (dev_attach(&d, XSPROF_MODE_DISCARD, size, 1) ||
			    dev_ring_open(&d, d.nr))
				_exit(2);
		}
		_exit(write(up[1], "x", 1) != 1 || read(go[0], &c, 1));
	}
	close(up[1]);
	if (read(up[0], &c, 1) != 1)
		pid = -1;
	close(up[0]);
	return pid;
}

/* Ends them together.  Return: how many did not end well. */
static int crowds_end(int go[2], const pid_t *pids, unsigned int n)
{
	int status, bad = 0;

	close(go[1]);
	for (unsigned int i = 0; i < n; i++)
		bad += waitpid(pids[i], &status, 0) != pids[i] || status;
	close(go[0]);
	while (user_counter("live"))
		sched_yield();
	return bad;
}

static int crowd(uid_t uid, unsigned int n, uint64_t size)
{
	int go[2];
	pid_t pid;

	if (pipe(go))
		return -errno;
	pid = crowd_start(go, uid, n, size);
	return pid < 0 ? -EPIPE : crowds_end(go, &pid, 1);
}

#define SMALL	20u	/* producers of 1 MiB, of which a large one takes the place of most */

/* One end takes many of the same user's with it; what is older, of another user, stays. */
TEST_F(account, many_go_for_one)
{
	struct plan other = { .uid = OTHER, .ring_size = 64 * KIB, .kernel_size = 1 };
	uint64_t rounds = env_costly(45, 3), left = 0;
	bool enough = false;
	pthread_t looker;
	void *said;

	ASSERT_EQ(0, pthread_create(&looker, NULL, look_at_limits, &enough));
	for (uint64_t i = 0; i < rounds; i++) {
		uint64_t kept = end_of(self->fd, &other);
		long long dropped;

		ASSERT_NE(0, kept);
		ASSERT_EQ(0, crowd(USER, SMALL, MIB));
		ASSERT_EQ(SMALL + 1, user_counter("kept"));
		dropped = user_counter("dropped");
		ASSERT_EQ(0, env_parameter_set("retain_bytes",
					       user_counter("kept_bytes") + 4 * KIB));
		ASSERT_EQ(0, crowd(USER, 1, 16 * MIB));
		EXPECT_LT(dropped + SMALL / 2, user_counter("dropped"));
		left += bytes_of(self->fd, kept) != 0;
		ASSERT_EQ(0, env_parameter_set("retain_bytes", self->was[2]));
		drop_all(self->fd);
	}
	__atomic_store_n(&enough, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(looker, &said));
	EXPECT_NE(NULL, said);
	EXPECT_EQ(rounds, left);
}

/* A user who is beyond its own limit leaves the others what is theirs of all. */
TEST_F(account, own_limit_first)
{
	uint64_t rounds = env_costly(45, 3), left = 0;
	const uid_t uids[2] = { USER, OTHER };

	for (uint64_t i = 0; i < rounds; i++) {
		struct plan other = { .uid = OTHER, .ring_size = 64 * KIB, .kernel_size = 1 };
		uint64_t kept = end_of(self->fd, &other);
		long long others, users;
		pid_t pids[2];
		int go[2];

		ASSERT_NE(0, kept);
		ASSERT_EQ(0, crowd(OTHER, 4, 16 * KIB));
		others = user_counter("kept_bytes");
		ASSERT_EQ(0, crowd(USER, 16, 16 * KIB));
		users = user_counter("kept_bytes") - others;
		/* USER may keep what it does; there is room for as much again of OTHER. */
		ASSERT_EQ(0, env_parameter_set("retain_uid_bytes", users));
		ASSERT_EQ(0, env_parameter_set("retain_bytes", users + 2 * others));
		ASSERT_EQ(0, pipe(go));
		for (unsigned int k = 0; k < 2; k++) {
			pids[k] = crowd_start(go, uids[k], k ? 4 : 32, 16 * KIB);
			ASSERT_LT(0, pids[k]);
		}
		ASSERT_EQ(0, crowds_end(go, pids, 2));
		left += bytes_of(self->fd, kept) != 0;
		ASSERT_EQ(0, env_parameter_set("retain_uid_bytes", self->was[4]));
		ASSERT_EQ(0, env_parameter_set("retain_bytes", self->was[2]));
		drop_all(self->fd);
	}
	EXPECT_EQ(rounds, left);
}

/* ---- producers with readers ------------------------------------------------------------------ */

#define READ	150u	/* more than are looked at in one hold of the module's lock */

/* What was kept last of @n; all others get a reader of ours.  Return: its id, or 0. */
static uint64_t read_all_but_last(int fd, int *readers, unsigned int n)
{
	static struct xsprof_info infos[READ];
	struct xsprof_open o = { .size = sizeof(o) };
	unsigned int last = 0;

	if (dev_list(fd, infos, n, 0, NULL) != (int)n)
		return 0;
	for (unsigned int i = 1; i < n; i++)
		if (infos[i].ended > infos[last].ended)
			last = i;
	for (unsigned int i = 0; i < n; i++) {
		o.id = infos[i].id;
		readers[i] = i == last ? -1 : dev_call(fd, XSPROF_IOC_OPEN, &o);
		if (i != last && readers[i] < 0)
			return 0;
	}
	return infos[last].id;
}

/* However many of the same user's are being read: what nobody reads makes room, and that alone. */
TEST_F(account, beyond_those_read)
{
	struct plan p = { .uid = USER, .ring_size = 4 * KIB, .kernel_size = 1 };
	int readers[READ];
	uint64_t last;

	ASSERT_EQ(0, crowd(USER, READ, 4 * KIB));
	ASSERT_EQ(READ, user_counter("kept"));
	last = read_all_but_last(self->fd, readers, READ);
	ASSERT_NE(0, last);
	ASSERT_EQ(0, env_parameter_set("uid_max_producers", READ));
	ASSERT_EQ(0, begin(&self->s[0], &p));
	EXPECT_EQ(0, bytes_of(self->fd, last));
	EXPECT_EQ(READ - 1, user_counter("kept"));
	EXPECT_EQ(-EUSERS, tell(&self->s[0], 'a'));
	EXPECT_EQ(READ - 1, user_counter("kept"));
	/* Two are read no longer. */
	for (unsigned int i = 0, n = 0; i < READ && n < 2; i++)
		if (readers[i] >= 0) {
			close(readers[i]);
			readers[i] = -1;
			n++;
		}
	EXPECT_EQ(0, tell(&self->s[0], 'a'));
	EXPECT_EQ(0, tell(&self->s[0], 'a'));
	EXPECT_EQ(READ - 3, user_counter("kept"));
	EXPECT_EQ(-EUSERS, tell(&self->s[0], 'a'));
	for (unsigned int i = 0; i < READ; i++)
		if (readers[i] >= 0)
			close(readers[i]);
}

/* ---- when it is looked for ------------------------------------------------------------------- */

#define QUEUED	TRACEFS_OWN "events/workqueue/workqueue_queue_work/enable"

/* How often the module has queued its look at what is kept. */
static long long looks(void)
{
	FILE *f = fopen(TRACEFS_OWN "trace", "re");
	long long n = f ? 0 : -1;
	size_t room = 0;
	char *line = NULL;

	while (f && getline(&line, &room, f) > 0)
		n += *line != '#' && strstr(line, "function=trim_worker");
	free(line);
	if (f)
		fclose(f);
	return n;
}

/* Calls of one that lives change nothing of what is kept, and cost no look at it. */
TEST_F(account, no_look_for_the_living)
{
	uint64_t calls = env_figure(500, 100);
	struct sched s;

	ASSERT_EQ(0, sched_attach(&s, XSPROF_MODE_DISCARD, 16 * KIB));
	ASSERT_EQ(0, tracefs_open(1024));
	if (access(QUEUED, W_OK))
		SKIP(return, "this kernel does not trace its workqueues");
	ASSERT_EQ(0, env_file_put(QUEUED, "1"));
	for (uint64_t i = 0; i < calls; i++)
		EXPECT_EQ(0, sched_switch_to(s.d.fd, 0, NULL));
	EXPECT_EQ(0, sched_switch_to(s.d.fd, XSPROF_SCHED_ON, NULL));
	EXPECT_EQ(0, looks());
	/* A change of a limit does, or the trace shows nothing. */
	EXPECT_EQ(0, env_parameter_set("retain_seconds", env_parameter("retain_seconds")));
	EXPECT_LT(0, looks());
	EXPECT_EQ(0, env_file_put(QUEUED, "0"));
	dev_close(&s.d);
}

TEST_HARNESS_MAIN
