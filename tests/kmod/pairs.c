// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every pair of commands at once, by several threads on the same descriptor: of an open, of a
 * producer, of a reader and of one that consumes. Other tests check the results; here the kernel
 * must stay intact, each descriptor must close, and the device must keep working.
 */
#include <pthread.h>

#include "dev.h"
#include "env.h"
#include "ring.h"

#define THREADS		4u	/* half of them call the one, half the other */

enum side { NODE, PRODUCER, READER, CONSUMER, SIDES };

static const char *const side_names[SIDES] = { "an open", "a producer", "a reader", "a consumer" };

union argument {
	struct xsprof_attach	attach;
	struct xsprof_list	list;
	struct xsprof_open	open;
	struct xsprof_syncs	syncs;
	struct xsprof_populate	populate;
	struct xsprof_control	control;
	struct xsprof_watch	watch;
	struct xsprof_events	events;
	struct xsprof_emit	emit;
	struct xsprof_sched	sched;
};

/* Of the pair's descriptor. */
static struct {
	int		fd;
	uint64_t	id;
	uint64_t	len;
	uint64_t	rings_off;
	uint64_t	stride;
} of;

/* One of a few numbers that are near to what is right. */
static uint64_t some(uint64_t x, uint64_t a, uint64_t b, uint64_t c)
{
	return x % 3 == 0 ? a : x % 3 == 1 ? b : c;
}

static unsigned long make_attach(union argument *a, uint64_t x)
{
	a->attach = dev_attach_defaults();
	a->attach.mode = x & 1;
	if (x >> 8 & 1) {
		a->attach.flags = XSPROF_ATTACH_REJOIN;
		a->attach.id = of.id;
	}
	return (unsigned long)a;
}

static unsigned long make_list(union argument *a, uint64_t x)
{
	static __thread struct xsprof_info infos[4];

	a->list = (struct xsprof_list){
		.size = sizeof(a->list), .after = some(x, 0, of.id - 1, of.id),
		.infos = (uintptr_t)infos, .info_size = sizeof(infos[0]), .count = x % 5,
	};
	return (unsigned long)a;
}

static unsigned long make_open(union argument *a, uint64_t x)
{
	a->open = (struct xsprof_open){
		.size = sizeof(a->open), .flags = x & XSPROF_OPEN_CONSUME, .id = of.id,
	};
	return (unsigned long)a;
}

static unsigned long make_syncs(union argument *a, uint64_t x)
{
	static __thread struct xsprof_sync syncs[8];

	a->syncs = (struct xsprof_syncs){
		.size = sizeof(a->syncs), .syncs = (uintptr_t)syncs, .count = x % 9,
	};
	return (unsigned long)a;
}

static unsigned long make_populate(union argument *a, uint64_t x)
{
	a->populate = (struct xsprof_populate){
		.size = sizeof(a->populate), .offset = of.rings_off + x % 4 * of.stride,
		.bytes = some(x >> 8, of.stride, 4096, 64 << 10),
	};
	return (unsigned long)a;
}

static unsigned long make_control(union argument *a, uint64_t x)
{
	a->control = (struct xsprof_control){
		.size = sizeof(a->control), .set = x & 0xff, .clear = x >> 8 & 0xff,
		.pause = x >> 16 & 3, .resume = x >> 18 & 3,
	};
	return (unsigned long)a;
}

static unsigned long make_kick(union argument *a, uint64_t x)
{
	(void)a;
	return x & XSPROF_KICK_FLUSH;
}

static unsigned long make_watch(union argument *a, uint64_t x)
{
	a->watch = (struct xsprof_watch){
		.size = sizeof(a->watch), .slots = x >> 8 & 0xff,
		.period = some(x, 0, 1000000, 2000000),
	};
	return (unsigned long)a;
}

static unsigned long make_events(union argument *a, uint64_t x)
{
	(void)x;
	a->events = (struct xsprof_events){ .size = sizeof(a->events) };
	return (unsigned long)a;
}

static unsigned long make_drop(union argument *a, uint64_t x)
{
	(void)a;
	return some(x, 0, 0, XSPROF_DROP_AT_END);
}

static unsigned long make_emit(union argument *a, uint64_t x)
{
	static const char text[] = "pairs";

	a->emit = (struct xsprof_emit){
		.size = sizeof(a->emit), .kind = x % (XSPROF_EMIT_KINDS + 1),
		.name = (uintptr_t)text, .name_len = sizeof(text) - 1,
		.category = (uintptr_t)text, .category_len = sizeof(text) - 1,
	};
	return (unsigned long)a;
}

static unsigned long make_sched(union argument *a, uint64_t x)
{
	a->sched = (struct xsprof_sched){ .size = sizeof(a->sched), .flags = x & 1 };
	return (unsigned long)a;
}

static const struct command {
	unsigned int	sides;		/* a bit for each */
	unsigned long	cmd;
	unsigned long	(*make)(union argument *a, uint64_t x);
} commands[] = {
	{ 1 << NODE, XSPROF_IOC_ATTACH, make_attach },
	{ 1 << NODE | 1 << PRODUCER, XSPROF_IOC_LIST, make_list },
	{ 1 << NODE | 1 << PRODUCER, XSPROF_IOC_OPEN, make_open },
	{ 0xf, XSPROF_IOC_SYNCS, make_syncs },
	{ 1 << NODE | 1 << PRODUCER, XSPROF_IOC_POPULATE, make_populate },
	{ 0xf, XSPROF_IOC_CONTROL, make_control },
	{ 1 << NODE | 1 << PRODUCER, XSPROF_IOC_KICK, make_kick },
	{ 1 << READER | 1 << CONSUMER, XSPROF_IOC_WATCH, make_watch },
	{ 1 << READER | 1 << CONSUMER, XSPROF_IOC_EVENTS, make_events },
	{ 1 << READER | 1 << CONSUMER, XSPROF_IOC_DROP, make_drop },
	{ 1 << NODE | 1 << PRODUCER, XSPROF_IOC_EMIT, make_emit },
	{ 0xf, XSPROF_IOC_SCHED, make_sched },
};

#define COMMANDS	(sizeof(commands) / sizeof(commands[0]))

struct caller {
	const struct command	*command;
	uint64_t		seed;
	uint64_t		calls;
	uint64_t		done;
	pthread_barrier_t	*all;
};

static void *call_often(void *data)
{
	struct caller *c = data;

	pthread_barrier_wait(c->all);
	for (uint64_t i = 0; i < c->calls; i++) {
		union argument a;
		int ret;

		c->seed = env_mix(c->seed + i);
		ret = dev_call(of.fd, c->command->cmd, (void *)c->command->make(&a, c->seed));
		c->done += ret >= 0;
		/* Of all commands this one alone gives a descriptor. */
		if (c->command->cmd == XSPROF_IOC_OPEN && ret > 2)
			close(ret);
	}
	return NULL;
}

/* Return: calls that succeeded. */
static uint64_t run_pair(const struct command *a, const struct command *b, uint64_t calls,
			 uint64_t seed)
{
	struct caller callers[THREADS];
	pthread_t threads[THREADS];
	pthread_barrier_t all;
	uint64_t done = 0;

	pthread_barrier_init(&all, NULL, THREADS);
	for (unsigned int i = 0; i < THREADS; i++) {
		callers[i] = (struct caller){
			.command = i % 2 ? b : a, .seed = seed + i, .calls = calls, .all = &all,
		};
		if (pthread_create(&threads[i], NULL, call_often, &callers[i]))
			abort();
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		done += callers[i].done;
	}
	pthread_barrier_destroy(&all);
	return done;
}

FIXTURE(pairs)
{
	struct dev	producer;
};

FIXTURE_SETUP(pairs)
{
	ASSERT_EQ(0, dev_attach(&self->producer, XSPROF_MODE_DISCARD, 64 << 10, 4));
	ASSERT_EQ(0, dev_ring_open(&self->producer, self->producer.nr));
	of.id = self->producer.id;
	of.len = self->producer.len;
	of.rings_off = self->producer.rings_off;
	of.stride = self->producer.stride;
}

FIXTURE_TEARDOWN(pairs)
{
	dev_close(&self->producer);
}

/* The descriptor of a pair, of its own where it can be.  Return: it or -errno. */
static int open_side(const struct dev *producer, enum side side)
{
	struct xsprof_open o = {
		.size = sizeof(o), .flags = side == CONSUMER ? XSPROF_OPEN_CONSUME : 0,
		.id = producer->id,
	};
	int node, fd;

	if (side == PRODUCER)
		return dup(producer->fd);
	node = dev_open();
	if (node < 0 || side == NODE)
		return node;
	fd = dev_call(node, XSPROF_IOC_OPEN, &o);
	close(node);
	return fd;
}

/* The pair on descriptors of its own: an open is attached once, so that takes many. */
static int run_side(const struct dev *producer, enum side side, const struct command *a,
		    const struct command *b, uint64_t seed, uint64_t *done)
{
	uint64_t fds = a->cmd == XSPROF_IOC_ATTACH ? env_costly(30, 9) : 1;
	uint64_t calls = env_costly(300, 60) / fds;

	for (uint64_t i = 0; i < fds; i++) {
		of.fd = open_side(producer, side);
		if (of.fd < 0)
			return of.fd;
		*done += run_pair(a, b, calls, seed + (i << 32));
		if (close(of.fd))
			return -errno;
	}
	return 0;
}

TEST_F(pairs, of_commands)
{
	uint64_t seed = env_seed();

	for (unsigned int side = 0; side < SIDES; side++) {
		uint64_t pairs = 0, done = 0;

		for (size_t i = 0; i < COMMANDS; i++) {
			for (size_t k = i; k < COMMANDS; k++) {
				if (!(commands[i].sides & commands[k].sides & 1u << side))
					continue;
				ASSERT_EQ(0, run_side(&self->producer, side, &commands[i],
						      &commands[k], seed + 1000 * i + k, &done));
				pairs++;
			}
		}
		ksft_print_msg("%s: %llu pairs, %llu calls done\n", side_names[side],
			       (unsigned long long)pairs, (unsigned long long)done);
		EXPECT_LT(0, done);
	}
}

/* Two that stop watching and begin again, and the close of what they share. */
TEST_F(pairs, watch)
{
	uint64_t rounds = env_costly(200, 40), seed = env_seed();
	const struct command *watch = NULL;

	for (size_t i = 0; i < COMMANDS; i++)
		if (commands[i].cmd == XSPROF_IOC_WATCH)
			watch = &commands[i];
	ASSERT_NE(NULL, watch);
	for (uint64_t i = 0; i < rounds; i++) {
		of.fd = open_side(&self->producer, CONSUMER);
		ASSERT_LE(0, of.fd);
		EXPECT_LT(0, run_pair(watch, watch, 100, seed + i));
		ASSERT_EQ(0, close(of.fd));
	}
}

/* All the same the device does what it does. */
TEST_F(pairs, goes_on)
{
	struct xsprof_watch w = { .size = sizeof(w), .period = 1000000 };
	struct xsprof_events e = { .size = sizeof(e) };
	struct dev d;

	ASSERT_EQ(0, dev_attach(&d, XSPROF_MODE_DISCARD, 64 << 10, 4));
	ASSERT_EQ(0, dev_ring_open(&d, d.nr));
	of.fd = open_side(&d, CONSUMER);
	ASSERT_LE(0, of.fd);
	ASSERT_EQ(0, dev_call(of.fd, XSPROF_IOC_WATCH, &w));
	ring_put(&d, d.nr, 1, 1, 1);
	/* The worker that looks at all that are watched comes by. */
	for (uint64_t before = 0, i = 0; i < 2;) {
		ASSERT_EQ(0, dev_call(of.fd, XSPROF_IOC_EVENTS, &e));
		if (e.kicks != before) {
			before = e.kicks;
			i++;
			ring_put(&d, d.nr, 1, 1 + i, 1);
		}
		usleep(1000);
	}
	close(of.fd);
	dev_close(&d);
}

TEST_HARNESS_MAIN
