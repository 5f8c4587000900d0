/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rings that the kernel writes of a producer, as their tests read them, and threads that
 * switch on purpose.  Owns a view of such rings that ring.h can walk; never a verdict.
 */
#ifndef KMOD_SCHED_H
#define KMOD_SCHED_H

#include <linux/futex.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "ring.h"

#define SCHED_CPUS	64

/**
 * struct sched - a producer, and its kernel's rings
 * @d: the producer, or a reader of it
 * @k: the same, with the kernel's rings in the place of its own: ring k is CPU k's
 * @cpus: how many
 */
struct sched {
	struct dev	d;
	struct dev	k;
	uint32_t	cpus;
};

static inline int sched_switch_to(int fd, uint32_t flags, uint32_t *before)
{
	struct xsprof_sched s = { .size = sizeof(s), .flags = flags, .before = 77 };
	int err = dev_call(fd, XSPROF_IOC_SCHED, &s);

	if (before)
		*before = s.before;
	return err;
}

static inline void sched_view(struct sched *s)
{
	s->k = s->d;
	s->k.rings_off = s->d.ctl->kernel_off;
	s->k.ring_size = s->d.ctl->kernel_size;
	s->k.stride = 2 * s->d.page + s->d.ctl->kernel_size;
	s->k.nr = s->cpus = s->d.ctl->nr_kernel_rings;
	s->k.nl = 0;
}

/* A producer whose threads are recorded, in rings of @size.  Return: 0 or -errno. */
__attribute__((unused)) static int sched_attach(struct sched *s, uint32_t mode, uint64_t size)
{
	struct xsprof_attach a = dev_attach_defaults();
	int err;

	a.mode = mode;
	a.ring_size = 16 << 10;
	a.nr_lock_rings = 1;
	a.kernel_size = size;
	err = dev_attach_as(&s->d, &a);
	if (err)
		return err;
	sched_view(s);
	return sched_switch_to(s->d.fd, XSPROF_SCHED_ON, NULL);
}

__attribute__((unused)) static int sched_read(struct sched *s, int fd, uint64_t id, uint32_t flags)
{
	int err = dev_read_id(&s->d, fd, id, flags);

	if (!err)
		sched_view(s);
	for (uint32_t k = 0; !err && k < s->cpus && flags & XSPROF_OPEN_CONSUME; k++)
		err = dev_tail_open(&s->k, k);
	return err;
}

static inline const struct xsprof_rec_sched *sched_rec(const uint64_t *s)
{
	return (const struct xsprof_rec_sched *)s;
}

static inline const char *sched_name(const uint64_t *s, unsigned int n)
{
	return n == 2 ? (const char *)sched_rec(s)->comm : "";
}

static inline unsigned int sched_who(const uint64_t *s)
{
	return sched_rec(s)->rec.aux & XSPROF_SCHED_WHO;
}

static inline char sched_state(const uint64_t *s)
{
	return (sched_rec(s)->rec.aux & XSPROF_SCHED_STATE) >> XSPROF_SCHED_STATE_SHIFT;
}

/* As the kernel makes them: every field that has no meaning is 0. */
static bool sched_whole(const uint64_t *s, unsigned int n)
{
	const struct xsprof_rec_sched *r = sched_rec(s);
	size_t len;

	if (r->rec.size >> 4 != XSPROF_RECF_CPU || r->rec.name || !r->rec.tid || n > 2)
		return false;
	if (n == 2) {
		len = strnlen((const char *)r->comm, sizeof(r->comm));
		for (size_t i = len; i < sizeof(r->comm); i++)
			if (r->comm[i])
				return false;
		if (len == sizeof(r->comm) || r->reserved[0] || r->reserved[1])
			return false;
	}
	switch (r->rec.type) {
	case XSPROF_REC_SCHED_IN:
		return n == 1 && !r->rec.aux && !r->rec.value;
	case XSPROF_REC_SCHED_OUT:
		return sched_who(s) <= XSPROF_SCHED_OTHER && sched_who(s) != XSPROF_SCHED_NOBODY &&
		       strchr("RSDTtXZPI", sched_state(s)) && !(r->rec.value >> 32);
	case XSPROF_REC_SCHED_WAKE:
		return sched_who(s) <= XSPROF_SCHED_OTHER && sched_who(s) != XSPROF_SCHED_NOBODY &&
		       !sched_state(s) && !(r->rec.value >> 32);
	case XSPROF_REC_SCHED_MIGRATE:
		return n == 1 && !r->rec.aux;
	default:
		return false;
	}
}

/**
 * struct sched_count - how much of what a thread has
 * @tid: of which, 0 for all
 * @n: by type, from XSPROF_REC_SCHED_IN on
 * @bad: of another CPU than the ring's
 */
struct sched_count {
	uint32_t	tid;
	uint64_t	n[4];
	uint64_t	bad;
};

static void sched_count_one(void *arg, uint32_t k, uint64_t at, const uint64_t *s, unsigned int n)
{
	struct sched_count *c = arg;
	unsigned int type = ring_rec_type(s);

	(void)at, (void)n;
	if (type < XSPROF_REC_SCHED_IN || type > XSPROF_REC_SCHED_MIGRATE)
		return;
	c->bad += sched_rec(s)->rec.cpu != k;
	if (!c->tid || c->tid == (uint32_t)s[0])
		c->n[type - XSPROF_REC_SCHED_IN]++;
}

/* All that is in the rings, from their beginning: they have not been overrun.  Return: torn. */
__attribute__((unused)) static uint64_t sched_walk(struct sched *s, ring_take_fn fn, void *arg)
{
	uint64_t wrong = 0;

	ring_check = sched_whole;
	for (uint32_t k = 0; k < s->cpus; k++) {
		struct ring_cursor c = { 0 };

		if (dev_ready(&s->d, s->d.nr + s->d.nl + k))
			ring_take(&s->k, k, &c, UINT64_MAX, fn, arg);
		wrong += c.torn + c.back;
	}
	return wrong;
}

__attribute__((unused)) static uint64_t sched_drops(const struct sched *s)
{
	uint64_t drops = 0;

	for (uint32_t k = 0; k < s->cpus; k++)
		if (dev_ready(&s->d, s->d.nr + s->d.nl + k))
			drops += ring_drops(&s->k, k);
	return drops;
}

/* Switches of the calling thread since it began, as the kernel counts them. */
static inline uint64_t sched_switches(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_THREAD, &u))
		return 0;
	return u.ru_nvcsw + u.ru_nivcsw;
}

static inline uint32_t sched_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

/**
 * struct sched_pair - two threads that wake each other
 * @turn: whose it is, 0 or 1; a futex
 * @rounds: how often
 * @s: whom the two are compared to, or NULL
 * @stop: what disturbs them is asked to end (1) before they are, and says that it has (2); or NULL
 * @tid: their thread ids
 * @counted: switches that the kernel counted, per thread
 * @found: SCHED_OUT records that they found, per thread
 * @torn: records that were not whole, or out of order
 */
struct sched_pair {
	uint32_t	turn;
	uint32_t	rounds;
	struct sched	*s;
	uint32_t	*stop;
	uint32_t	next;
	uint32_t	tid[2];
	uint64_t	counted[2];
	uint64_t	found[2];
	uint64_t	torn[2];
};

static inline void sched_wait_turn(struct sched_pair *p, uint32_t me)
{
	while (__atomic_load_n(&p->turn, __ATOMIC_ACQUIRE) != me)
		syscall(SYS_futex, &p->turn, FUTEX_WAIT, !me, NULL, NULL, 0);
}

/* No switch comes between the two looks at the kernel's count, or it is done again. */
static inline void sched_compare(struct sched_pair *p, uint32_t me)
{
	struct sched_count c;
	uint64_t before;

	do {
		c = (struct sched_count){ .tid = sched_tid() };
		before = sched_switches();
		p->torn[me] = sched_walk(p->s, sched_count_one, &c);
		p->counted[me] = sched_switches();
	} while (p->counted[me] != before);
	p->found[me] = c.n[XSPROF_REC_SCHED_OUT - XSPROF_REC_SCHED_IN];
}

/* The walk through a large ring takes long: with a switch in each it would never be done. */
static inline void sched_stop(uint32_t *stop)
{
	uint32_t runs = 0;

	__atomic_compare_exchange_n(stop, &runs, 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	while (__atomic_load_n(stop, __ATOMIC_ACQUIRE) != 2)
		env_nap(1000);
}

__attribute__((unused)) static void *sched_ping(void *arg)
{
	struct sched_pair *p = arg;
	uint32_t me = __atomic_fetch_add(&p->next, 1, __ATOMIC_RELAXED);

	p->tid[me] = sched_tid();
	for (uint32_t i = 0; i < p->rounds; i++) {
		sched_wait_turn(p, me);
		/* Now together on one CPU, now apart. */
		if (i % 16 == 0)
			env_on_cpu(env_mix(i + me) & 7);
		if (i % 8 == 3)
			sched_yield();
		if (i % 32 == 5)
			env_nap(100);
		__atomic_store_n(&p->turn, !me, __ATOMIC_RELEASE);
		syscall(SYS_futex, &p->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	if (p->stop)
		sched_stop(p->stop);
	if (p->s)
		sched_compare(p, me);
	return NULL;
}

__attribute__((unused)) static int sched_run_pair(struct sched_pair *p)
{
	pthread_t thread[2];
	int err;

	err = pthread_create(&thread[0], NULL, sched_ping, p);
	if (!err)
		err = pthread_create(&thread[1], NULL, sched_ping, p);
	if (err)
		return -err;
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	return 0;
}

/* Slots that the kernel has written for @s, on all CPUs. */
__attribute__((unused)) static uint64_t sched_heads(const struct sched *s)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < s->cpus; k++)
		if (dev_ready(&s->d, s->d.nr + s->d.nl + k))
			sum += __atomic_load_n(&dev_writer(&s->k, k)->head, __ATOMIC_ACQUIRE);
	return sum;
}

static inline long sched_own_switches(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? -1 : usage.ru_nvcsw;
}

/*
 * The calling thread leaves its CPU 20 times or more, and comes back.  Counted, as a nap that is
 * over before a slow kernel gets there is no switch.
 */
__attribute__((unused)) static void sched_naps(void)
{
	long until = sched_own_switches() + 20;

	while (sched_own_switches() < until)
		env_nap(100);
}

#endif /* KMOD_SCHED_H */
