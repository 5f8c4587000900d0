// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation during a producer's end: its process is killed while readers request scheduling
 * records.  Memory that is allocated after the end must be counted as retained, once, and its
 * excess must be taken from the same account.
 */
#include <pthread.h>
#include <setjmp.h>

#include "account.h"

struct asker {
	struct dev	r;
	pthread_t	thread;
	int		err;
};

static void *ask_now(void *arg)
{
	struct asker *a = arg;

	a->err = sched_switch_to(a->r.fd, XSPROF_SCHED_ON, NULL);
	return NULL;
}

static uint64_t all_kept(int fd)
{
	struct xsprof_info info;
	uint64_t after = 0, sum = 0;

	while (dev_list(fd, &info, 1, after, NULL) == 1) {
		after = info.id;
		if (info.state != XSPROF_STATE_LIVE)
			sum += info.bytes;
	}
	return sum;
}

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

/*
 * End a producer @us microseconds after two readers have requested its rings; UINT64_MAX: after
 * both requests returned.  Return: duration of the requests in us; 0: one failed unexpectedly.
 */
static uint64_t end_meanwhile(int fd, struct server *s, const struct plan *p, uint64_t us)
{
	struct asker a[2] = { 0 };
	uint64_t begun;
	bool odd = begin(s, p) || tell(s, 'r');

	for (unsigned int i = 0; i < 2 && !odd; i++)
		odd = dev_read_id(&a[i].r, fd, s->id, 0);
	if (odd)
		return 0;
	begun = now_us();
	for (unsigned int i = 0; i < 2; i++)
		if (pthread_create(&a[i].thread, NULL, ask_now, &a[i]))
			return 0;
	if (us != UINT64_MAX) {
		env_nap((long)us);
		kill(s->pid, SIGKILL);
	}
	for (unsigned int i = 0; i < 2; i++) {
		pthread_join(a[i].thread, NULL);
		odd |= a[i].err && a[i].err != -ESHUTDOWN;
		dev_close(&a[i].r);
	}
	begun = now_us() - begun;
	end(fd, s);
	return odd ? 0 : begun + 1;
}

/* kept_bytes in sysfs is the sum over all retained producers. */
TEST_F(account, memory_after_the_end)
{
	struct plan p = { .uid = USER, .ring_size = 16 * KIB, .kernel_size = 4 * MIB };
	uint64_t rounds = env_figure(40, 10), seed = env_seed(), whole;

	whole = end_meanwhile(self->fd, &self->s[0], &p, UINT64_MAX);
	ASSERT_NE(0, whole);
	for (uint64_t i = 0; i < rounds; i++) {
		ASSERT_NE(0, end_meanwhile(self->fd, &self->s[0], &p, env_random(&seed) % whole));
		ASSERT_EQ(all_kept(self->fd), (uint64_t)user_counter("kept_bytes")) {
			TH_LOG("round %llu", (unsigned long long)i);
		}
		if (i % 8 == 7) {
			drop_all(self->fd);
			ASSERT_EQ(0, user_counter("kept_bytes"));
		}
	}
}

/* A retained producer of another user stays. */
TEST_F(account, late_excess_is_ones_own)
{
	struct plan p = { .uid = USER, .ring_size = MIB, .kernel_size = 4 * MIB };
	uint64_t rounds = env_figure(20, 5), seed = env_seed(), whole, kept = end_of(self->fd, &p);

	ASSERT_NE(0, kept);
	p.uid = OTHER;
	p.ring_size = 16 * KIB;
	whole = end_meanwhile(self->fd, &self->s[0], &p, UINT64_MAX);
	ASSERT_NE(0, whole);
	ASSERT_EQ(0, dev_drop_id(self->fd, self->s[0].id));
	ASSERT_EQ(0, env_parameter_set("retain_bytes",
				       user_counter("kept_bytes") + (long long)(4 * MIB)));
	for (uint64_t i = 0; i < rounds; i++) {
		ASSERT_NE(0, end_meanwhile(self->fd, &self->s[0], &p, env_random(&seed) % whole));
		/* Drops that were queued are done when the next producer has ended. */
		end_of(self->fd, &p);
		ASSERT_NE(0, bytes_of(self->fd, kept)) {
			TH_LOG("round %llu", (unsigned long long)i);
		}
	}
}

/* ---- a process that shares the memory of one that has ended ---------------------------------- */

static sigjmp_buf env;

static void on_fault(int sig)
{
	siglongjmp(env, sig);
}

struct heir {
	struct dev	d;
	volatile char	*hole;
	int		go[2];
	int		done[2];
};

/* Told that its parent has ended, touches what that had mapped.  Writes the signal of it. */
static int touch_hole(void *arg)
{
	struct heir *h = arg;
	struct sigaction sa = { .sa_handler = on_fault };
	int sig;
	char c;

	sigaction(SIGBUS, &sa, NULL);
	if (read(h->go[0], &c, 1) != 1)
		return 1;
	sig = sigsetjmp(env, 1);
	if (!sig)
		*h->hole = 1;
	return write(h->done[1], &sig, sizeof(sig)) != sizeof(sig);
}

static void __attribute__((noreturn)) leave_heir(struct heir *h)
{
	static char stack[64 << 10] __attribute__((aligned(16)));

	if (dev_attach(&h->d, XSPROF_MODE_DISCARD, 64 << 10, 2) ||
	    dev_ring_open(&h->d, h->d.nr))
		_exit(1);
	h->hole = h->d.base + dev_ring_off(&h->d, h->d.nr + 1) + 2 * h->d.page;
	if (dev_overlay(&h->d, dev_ring_off(&h->d, h->d.nr + 1) + 2 * h->d.page, h->d.page) ||
	    clone(touch_hole, stack + sizeof(stack), CLONE_VM, h) < 0 ||
	    write(h->done[1], &h->d.id, sizeof(h->d.id)) != sizeof(h->d.id))
		_exit(2);
	_exit(0);
}

/* Nothing is added to what is retained, so that it stays what was counted. */
TEST_F(account, shared_memory_after_the_end)
{
	int sig = -1, status;
	uint64_t id, bytes;
	struct heir h;
	pid_t pid;

	ASSERT_EQ(0, pipe(h.go));
	ASSERT_EQ(0, pipe(h.done));
	fflush(stdout);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid)
		leave_heir(&h);
	ASSERT_EQ(sizeof(id), read(h.done[0], &id, sizeof(id)));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	until_ended(self->fd, id);
	bytes = bytes_of(self->fd, id);
	ASSERT_EQ(1, write(h.go[1], "x", 1));
	ASSERT_EQ(sizeof(sig), read(h.done[0], &sig, sizeof(sig)));
	EXPECT_EQ(SIGBUS, sig);
	EXPECT_EQ(bytes, bytes_of(self->fd, id));
	EXPECT_EQ(all_kept(self->fd), (uint64_t)user_counter("kept_bytes"));
}

TEST_HARNESS_MAIN
