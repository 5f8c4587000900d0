// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation during a producer's end: its process is killed while readers request scheduling
 * records.  Memory that is allocated after the end must be counted as retained, once, and its
 * excess must be taken from the same account.
 */
#include <pthread.h>

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

TEST_HARNESS_MAIN
