// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine that tells what tasks' time was for, against sums made by hand, and against another
 * one that keeps every change there ever was and adds up from the beginning. TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cause-hand.h"

static struct cause_who on_top(enum cause_context context, int32_t vec)
{
	return (struct cause_who){ .context = context, .vec = vec };
}

/* ---- by hand -------------------------------------------------------------------------------- */

static void by_hand(void)
{
	struct cause_who irq = on_top(CAUSE_IN_IRQ, 7), soft = on_top(CAUSE_IN_SOFTIRQ, 3);
	struct cause_who waker = task(9);
	struct cause *c = fresh();

	cause_switch(c, 0, 1000, 0, CAUSE_STATE_RUN, 5);
	cause_begin(c, 1100, 5);
	cause_begin(c, 1150, 5);
	cause_syscall(c, 0, 1200, 5, 1);
	cause_irq_enter(c, 0, 1210, &irq);
	cause_irq_leave(c, 0, 1230, CAUSE_IN_IRQ, 7);
	cause_irq_enter(c, 0, 1230, &soft);
	cause_irq_enter(c, 0, 1240, &irq);
	cause_irq_leave(c, 0, 1245, CAUSE_IN_IRQ, 7);
	cause_irq_leave(c, 0, 1260, CAUSE_IN_SOFTIRQ, 3);
	cause_switch(c, 0, 1300, 5, CAUSE_STATE_SLEEP, 9);
	cause_wakeup(c, 1400, 5, 1, &waker);
	cause_switch(c, 1, 1450, 0, CAUSE_STATE_RUN, 5);
	cause_syscall(c, 1, 1460, 5, -1);
	cause_switch(c, 1, 1500, 5, CAUSE_STATE_RUN, 6);
	cause_switch(c, 1, 1600, 6, CAUSE_STATE_SLEEP, 5);
	cause_switch(c, 1, 1700, 5, CAUSE_STATE_DISK, 0);
	cause_wakeup(c, 1800, 5, 1, &irq);
	cause_switch(c, 1, 1810, 0, CAUSE_STATE_RUN, 5);

	result("a range inside another", IS(c, 5, 1150, 1820, true, W
		{ 50 + 40 + 100 + 10, CAUSE_CPU }, { 10 + 40 + 10, CAUSE_SYSCALL },
		{ 20 + 5, CAUSE_IRQ }, { 10 + 15, CAUSE_SOFTIRQ }, { 100, CAUSE_BLOCKED },
		{ 50 + 100 + 10, CAUSE_RUNNABLE }, { 100, CAUSE_IO },));
	result("the one around it", IS(c, 5, 1100, 1830, true, W
		{ 100 + 40 + 100 + 20, CAUSE_CPU }, { 10 + 40 + 10, CAUSE_SYSCALL },
		{ 20 + 5, CAUSE_IRQ }, { 10 + 15, CAUSE_SOFTIRQ }, { 100, CAUSE_BLOCKED },
		{ 50 + 100 + 10, CAUSE_RUNNABLE }, { 100, CAUSE_IO },));
	result("a range that was not announced", IS(c, 5, 1235, 1435, false, W
		{ 40, CAUSE_SYSCALL }, { 5, CAUSE_IRQ }, { 5 + 15, CAUSE_SOFTIRQ },
		{ 100, CAUSE_BLOCKED }, { 35, CAUSE_RUNNABLE },));
	result("before the first event", IS(c, 5, 100, 1100, false, W
		{ 900, CAUSE_UNKNOWN }, { 100, CAUSE_CPU },));
	result("a thread that the kernel said nothing of", IS(c, 4711, 100, 1100, false, W
		{ 1000, CAUSE_UNKNOWN },));
	result("a range of no time", IS(c, 5, 1500, 1500, false, W));
	cause_free(c);
}

static void faults(void)
{
	struct cause *c = fresh();
	struct cause_who who = task(9);
	struct cause_sum sum;

	cause_switch(c, 0, 1000, 0, CAUSE_STATE_RUN, 5);
	cause_syscall(c, 0, 1010, 5, 1);
	cause_syscall(c, 0, 1020, 5, -1);
	cause_fault(c, 0, 1100, 5);
	cause_switch(c, 0, 1110, 5, CAUSE_STATE_DISK, 0);
	cause_wakeup(c, 1210, 5, 0, &who);
	cause_switch(c, 0, 1220, 0, CAUSE_STATE_RUN, 5);
	result("a sleep in a page fault", IS(c, 5, 1100, 1230, false, W
		{ 10 + 10, CAUSE_CPU }, { 100, CAUSE_FAULT }, { 10, CAUSE_RUNNABLE },));
	cause_syscall(c, 0, 1300, 5, 1);
	cause_switch(c, 0, 1310, 5, CAUSE_STATE_DISK, 0);
	cause_wakeup(c, 1410, 5, 0, &who);
	cause_switch(c, 0, 1420, 0, CAUSE_STATE_RUN, 5);
	result("a sleep in a system call after one", IS(c, 5, 1300, 1430, false, W
		{ 10 + 10, CAUSE_SYSCALL }, { 100, CAUSE_IO }, { 10, CAUSE_RUNNABLE },));
	cause_syscall(c, 0, 1440, 5, -1);
	cause_fault(c, 0, 1450, 5);
	cause_marker(c, 0, 1460, 5);
	cause_switch(c, 0, 1470, 5, CAUSE_STATE_SLEEP, 0);
	result("a sleep after a marker after one", IS(c, 5, 1470, 1480, false, W
		{ 10, CAUSE_BLOCKED },));
	cause_range(c, 5, 1000, 1480, false, &sum);
	result("page faults are counted", sum.v[CAUSE_FAULTS] == 2);
	cause_free(c);

	c = fresh();
	cause_switch(c, 0, 1000, 0, CAUSE_STATE_RUN, 5);
	cause_fault(c, 0, 1100, 5);
	cause_switch(c, 0, 1110, 5, CAUSE_STATE_DISK, 0);
	result("without system calls none is told", IS(c, 5, 1110, 1120, false, W
		{ 10, CAUSE_IO },));
	cause_free(c);
}

static uint64_t ran_of(uint64_t ns)
{
	return ns / 10 * 3 + (ns % 10 > 7 ? ns % 10 - 7 : 0);
}

/* A task that runs for 3 ns and waits for 7, over and over: more than is remembered of it. */
static void long_past(void)
{
	struct cause *c = fresh();
	uint64_t now = 1000000, begin, wrong = 0;
	struct cause_sum sum;

	for (uint32_t i = 0; i < 20000; i++, now += 10) {
		cause_switch(c, 0, now, 6, CAUSE_STATE_RUN, 5);
		cause_switch(c, 0, now + 3, 5, CAUSE_STATE_RUN, 6);
		if (i % 7 || i < 500)
			continue;
		for (begin = now - 4000; begin < now; begin += 13) {
			cause_range(c, 5, begin, now, false, &sum);
			wrong += sum.v[CAUSE_CPU] != ran_of(now - begin) || sum.v[CAUSE_UNKNOWN];
		}
	}
	result("what is remembered is exact", !wrong && !cause_get_stats(c)->forgotten);
	for (begin = now - 6000; begin < now - 4000; begin++) {
		cause_range(c, 5, begin, now, false, &sum);
		wrong += sum.v[CAUSE_CPU] != ran_of(now - begin - sum.v[CAUSE_UNKNOWN]);
	}
	result("and what begins before", !wrong && cause_get_stats(c)->forgotten);
	cause_range(c, 5, now - 100000, now, false, &sum);
	result("what is not is unknown",
	       sum.v[CAUSE_CPU] > 4000 / 10 * 3 &&
	       sum.v[CAUSE_CPU] + sum.v[CAUSE_RUNNABLE] + sum.v[CAUSE_UNKNOWN] == 100000 &&
	       sum.v[CAUSE_UNKNOWN] > 50000);
	cause_free(c);
}

/* ---- details -------------------------------------------------------------------------------- */

static void details(void)
{
	struct cause_who who = task(9);
	struct cause_did did;
	struct cause *c = fresh();

	cause_hook(c, tell, NULL);
	cause_switch(c, 0, 1000, 0, CAUSE_STATE_RUN, 5);
	cause_switch(c, 1, 1000, 0, CAUSE_STATE_RUN, 9);
	cause_watch(c, 5);
	cause_syscall(c, 0, 1010, 5, 202);
	cause_switch(c, 0, 1100, 5, CAUSE_STATE_SLEEP, 0);
	cause_switch(c, 1, 1200, 9, CAUSE_STATE_RUN, 7);
	cause_switch(c, 1, 1900, 7, CAUSE_STATE_SLEEP, 9);
	cause_switch(c, 0, 1950, 0, CAUSE_STATE_RUN, 6);
	cause_wakeup(c, 2000, 5, 0, &who);
	cause_switch(c, 0, 2100, 6, CAUSE_STATE_SLEEP, 8);
	cause_migrate(c, 2300, 5, 1);
	cause_switch(c, 1, 2500, 9, CAUSE_STATE_SLEEP, 5);
	cause_flush(c, 5, 2600);
	result("segments say who", nr_told == 7 && told_is(0, 1000, 1010, CAUSE_CPU, 0) &&
	       told_is(1, 1010, 1100, CAUSE_SYSCALL, 0) && told[1].nr == 202 &&
	       told_is(2, 1100, 2000, CAUSE_BLOCKED, 9) && told[2].nr == 202 &&
	       told_is(3, 2000, 2100, CAUSE_RUNNABLE, 6) && told[3].cpu == 0 &&
	       told_is(4, 2100, 2300, CAUSE_RUNNABLE, 8) &&
	       told_is(5, 2300, 2500, CAUSE_RUNNABLE, 9) && told[5].cpu == 1 &&
	       told_is(6, 2500, 2600, CAUSE_SYSCALL, 0));
	result("what the waker did", cause_did(c, 9, 1100, 2000, &did) &&
	       did.class == CAUSE_RUNNABLE && did.ns == 700 && did.who == 7 &&
	       did.from == 1200 && did.to == 1900);
	cause_free(c);
}

/* A thread that calls exec() goes on with the number of its process. */
static void renamed(void)
{
	struct cause *c = fresh();

	cause_switch(c, 0, 1000, 0, CAUSE_STATE_RUN, 5);
	cause_begin(c, 1005, 5);
	cause_syscall(c, 0, 1010, 5, 59);
	cause_seen(c, 0, 1100);
	cause_begin(c, 1110, 5);
	cause_runs(c, 0, 1150, 6);
	cause_syscall(c, 0, 1200, 6, -1);
	result("one that has another number now is nowhere", IS(c, 5, 1110, 1300, true, W
		{ 190, CAUSE_UNKNOWN },));
	result("what it did before is known", IS(c, 5, 1005, 1300, true, W
		{ 5, CAUSE_CPU }, { 90, CAUSE_SYSCALL }, { 200, CAUSE_UNKNOWN },));
	result("and by its other number it runs", IS(c, 6, 1000, 1300, false, W
		{ 150, CAUSE_UNKNOWN }, { 150, CAUSE_CPU },));
	cause_free(c);
}

/* ---- the module's records ------------------------------------------------------------------ */

static void module(struct cause *c, uint16_t type, int32_t cpu, uint64_t ns, uint32_t tid,
		   uint32_t aux, uint64_t value)
{
	struct xsprof_event ev = {
		.type = type, .cpu = cpu, .ns = ns, .tid = tid, .aux = aux, .value = value,
	};

	if (!cause_sched_event(c, &ev, tid, (uint32_t)value))
		exit(1);
}

#define LETTER(c)	((uint32_t)(c) << XSPROF_SCHED_STATE_SHIFT)

static void of_the_module(void)
{
	struct cause *c = fresh();

	nr_told = 0;
	cause_hook(c, tell, NULL);
	module(c, XSPROF_REC_SCHED_IN, 0, 1000, 5, 0, 0);
	cause_watch(c, 5);
	module(c, XSPROF_REC_SCHED_OUT, 0, 1100, 5, LETTER('R') | XSPROF_SCHED_PREEMPTED |
	       XSPROF_SCHED_OTHER, 0);
	module(c, XSPROF_REC_SCHED_IN, 0, 1200, 5, 0, 0);
	module(c, XSPROF_REC_SCHED_OUT, 0, 1300, 5, LETTER('R') | XSPROF_SCHED_KERNEL, 17);
	module(c, XSPROF_REC_SCHED_IN, 0, 1340, 6, 0, 0);
	module(c, XSPROF_REC_SCHED_MIGRATE, 0, 1350, 5, 0, 1ull << 32);
	module(c, XSPROF_REC_SCHED_IN, 1, 1400, 5, 0, 0);
	module(c, XSPROF_REC_SCHED_OUT, 1, 1500, 5, LETTER('S') | XSPROF_SCHED_IDLE, 0);
	module(c, XSPROF_REC_SCHED_WAKE, 0, 1600, 5, XSPROF_SCHED_THREAD, 9);
	module(c, XSPROF_REC_SCHED_IN, 1, 1650, 5, 0, 0);
	module(c, XSPROF_REC_SCHED_OUT, 1, 1700, 5, LETTER('D') | XSPROF_SCHED_IDLE, 0);
	module(c, XSPROF_REC_SCHED_WAKE, 0, 1800, 5, XSPROF_SCHED_IRQ, 0);
	module(c, XSPROF_REC_SCHED_IN, 1, 1810, 5, 0, 0);
	cause_flush(c, 5, 1820);
	result("the module's records", nr_told == 13 &&
	       told_is(0, 1000, 1100, CAUSE_CPU, 0) &&
	       told_is(1, 1100, 1200, CAUSE_RUNNABLE, 0) &&
	       told[1].who.context == CAUSE_IN_NOTHING &&
	       told_is(3, 1300, 1340, CAUSE_RUNNABLE, 17) && told[3].partial &&
	       told_is(4, 1340, 1350, CAUSE_RUNNABLE, 6) && !told[4].partial &&
	       told_is(5, 1350, 1400, CAUSE_RUNNABLE, 0) && told[5].cpu == 1 &&
	       told_is(7, 1500, 1600, CAUSE_BLOCKED, 9) &&
	       told_is(8, 1600, 1650, CAUSE_RUNNABLE, 0) &&
	       told[8].who.context == CAUSE_IN_NOTHING &&
	       told_is(10, 1700, 1800, CAUSE_IO, 0) && told[10].who.context == CAUSE_IN_IRQ &&
	       told_is(12, 1810, 1820, CAUSE_CPU, 0));
	cause_free(c);

	c = fresh();
	module(c, XSPROF_REC_SCHED_IN, 0, 1000, 5, 0, 0);
	cause_begin(c, 1050, 5);
	module(c, XSPROF_REC_SCHED_OUT, 0, 1100, 5, LETTER('S') | XSPROF_SCHED_OTHER, 0);
	module(c, XSPROF_REC_SCHED_WAKE, 1, 1250, 5, XSPROF_SCHED_OTHER, 0);
	module(c, XSPROF_REC_SCHED_IN, 1, 1300, 5, 0, 0);
	result("their sums", IS(c, 5, 1050, 1400, true, W { 50 + 100, CAUSE_CPU },
		{ 150, CAUSE_BLOCKED }, { 50, CAUSE_RUNNABLE },));
	cause_free(c);
}

/* ---- at random ------------------------------------------------------------------------------ */

#define TASKS	6u
#define CPUS	3u
#define STEPS	4000u
#define RANGES	64u

/* The other one: no sums, no rings; the latest change of each task is the last of its list. */
struct model_task {
	uint32_t	run;	/* 0 unknown, 1 on, 2 waits, 3 sleeps, 4 disk, 5 fault */
	int		cpu;
	bool		nr;
	bool		fault;
	uint32_t	nr_list;
	uint64_t	at[STEPS * 2];
	uint8_t		class[STEPS * 2];
};

struct model_cpu {
	uint32_t	current;
	bool		known;
	int		nested[8];
	int		deep;
};

static struct model_task tasks[TASKS + 1];
static struct model_cpu cpus[CPUS];
static bool syscalls;
static uint64_t state;

static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) % below);
}

static uint8_t model_class(const struct model_task *t)
{
	static const uint8_t off[] = { CAUSE_UNKNOWN, 0, CAUSE_RUNNABLE, CAUSE_BLOCKED, CAUSE_IO,
				       CAUSE_FAULT };

	if (t->run != 1)
		return off[t->run];
	if (cpus[t->cpu].deep)
		return cpus[t->cpu].nested[cpus[t->cpu].deep - 1] ? CAUSE_SOFTIRQ : CAUSE_IRQ;
	return t->nr ? CAUSE_SYSCALL : CAUSE_CPU;
}

static void model_note(uint64_t ns)
{
	for (uint32_t i = 1; i <= TASKS; i++) {
		struct model_task *t = &tasks[i];

		t->at[t->nr_list] = ns;
		t->class[t->nr_list++] = model_class(t);
	}
}

static void model_sum(uint32_t tid, uint64_t begin, uint64_t end, struct cause_sum *sum)
{
	const struct model_task *t = &tasks[tid];

	memset(sum, 0, sizeof(*sum));
	for (uint64_t i = 0; i <= t->nr_list; i++) {
		uint64_t from = i ? t->at[i - 1] : 0, to = i < t->nr_list ? t->at[i] : end;

		from = from > begin ? from : begin;
		to = to < end ? to : end;
		if (from < to)
			sum->v[i ? t->class[i - 1] : CAUSE_UNKNOWN] += to - from;
	}
}

/* A CPU and who is there are drawn so that the sequence is one that a kernel could give. */
static void step(struct cause *c, uint64_t ns)
{
	uint32_t cpu = draw(CPUS), tid = draw(TASKS + 1), prev = cpus[cpu].current;
	struct cause_who who = task(1);
	struct model_task *t = &tasks[prev];
	static const uint32_t runs[] = { 2, 3, 4 };
	uint32_t s = draw(3);

	switch (draw(8)) {
	case 0 ... 1:
		if (cpus[cpu].deep || (tid && (tasks[tid].run == 1 || tasks[tid].run > 2)))
			return;
		cause_switch(c, cpu, ns, prev, s, tid);
		if (prev)
			t->run = s && t->fault && !t->nr && syscalls ? 5 : runs[s];
		cpus[cpu].current = tid;
		cpus[cpu].known = true;
		if (tid) {
			tasks[tid].run = 1;
			tasks[tid].cpu = (int)cpu;
		}
		break;
	case 2 ... 3:
		if (!tid || tasks[tid].run < 3)
			return;
		cause_wakeup(c, ns, tid, (int32_t)cpu, &who);
		tasks[tid].run = 2;
		break;
	case 4:
		if (cpus[cpu].deep == 8)
			return;
		who = on_top(s & 1 ? CAUSE_IN_SOFTIRQ : CAUSE_IN_IRQ, 3);
		cause_irq_enter(c, (int32_t)cpu, ns, &who);
		cpus[cpu].nested[cpus[cpu].deep++] = s & 1;
		break;
	case 5:
		if (!cpus[cpu].deep)
			return;
		cpus[cpu].deep--;
		cause_irq_leave(c, (int32_t)cpu, ns, cpus[cpu].nested[cpus[cpu].deep] ?
				CAUSE_IN_SOFTIRQ : CAUSE_IN_IRQ, 3);
		break;
	case 6:
		if (!prev || cpus[cpu].deep)
			return;
		cause_syscall(c, (int32_t)cpu, ns, prev, t->nr ? -1 : 60);
		syscalls |= !t->nr;
		t->nr = !t->nr;
		t->fault = false;
		break;
	case 7:
		if (!prev || cpus[cpu].deep || t->nr)
			return;
		cause_fault(c, (int32_t)cpu, ns, prev);
		t->fault = true;
		break;
	}
	model_note(ns);
}

struct open {
	uint32_t	tid;
	uint64_t	begin;
};

/* Ranges that are announced nest; those that are not begin anywhere. */
static bool check_ranges(struct cause *c, uint64_t ns, struct open *open, uint32_t *nr)
{
	struct cause_sum sum, model;
	uint32_t tid = 1 + draw(TASKS);
	uint64_t begin = ns - 1 - draw(20000), end = ns;
	bool good;

	if (draw(2))
		end -= draw((uint32_t)(ns - begin));
	cause_range(c, tid, begin, end, false, &sum);
	model_sum(tid, begin, end, &model);
	sum.v[CAUSE_FAULTS] = 0;
	good = !memcmp(&sum, &model, sizeof(sum));
	if (*nr < RANGES && draw(2)) {
		open[*nr].tid = tid;
		open[(*nr)++].begin = ns;
		cause_begin(c, ns, tid);
	} else if (*nr) {
		--*nr;
		cause_range(c, open[*nr].tid, open[*nr].begin, ns, true, &sum);
		model_sum(open[*nr].tid, open[*nr].begin, ns, &model);
		sum.v[CAUSE_FAULTS] = 0;
		good &= !memcmp(&sum, &model, sizeof(sum));
	}
	return good;
}

static void at_random(uint32_t rounds)
{
	uint32_t wrong = 0;

	for (uint32_t round = 0; round < rounds; round++) {
		struct cause *c = fresh();
		struct open open[RANGES];
		uint32_t nr_open = 0;
		uint64_t ns = 1000000;

		memset(tasks, 0, sizeof(tasks));
		memset(cpus, 0, sizeof(cpus));
		syscalls = false;
		state = round;
		for (uint32_t i = 0; i < STEPS; i++) {
			ns += draw(30);
			step(c, ns);
			/* Now and then it is the same time. */
			ns += draw(3);
			if (i % 5 == 0)
				wrong += !check_ranges(c, ns, open, &nr_open);
		}
		cause_free(c);
	}
	if (wrong)
		printf("# %u ranges are wrong\n", wrong);
	result("random sequences: every range as if it was added up from the beginning", !wrong);
}

/* Whatever it is fed with, in any order: the classes add up, and it ends. */
static void nonsense(uint32_t steps)
{
	struct cause *c = fresh();
	struct cause_sum sum;
	uint64_t begun[64] = { 0 };
	uint32_t wrong = 0;

	state = 42;
	for (uint32_t i = 0; i < steps; i++) {
		uint64_t ns = draw(4) ? (uint64_t)i * 10 : (uint64_t)draw(1u << 31) << draw(34);
		int32_t cpu = (int32_t)draw(10) - 1;
		uint32_t tid = draw(50) ? draw(40) : draw(1u << 31);
		struct cause_who who = on_top(draw(4), (int32_t)draw(5) - 1);
		uint64_t begin, wall, all = 0;

		switch (draw(11)) {
		case 0:
			cause_switch(c, cpu, ns, tid, draw(4), draw(40));
			break;
		case 1:
			cause_wakeup(c, ns, tid, cpu, &who);
			break;
		case 2:
			cause_migrate(c, ns, tid, cpu);
			break;
		case 3:
			cause_irq_enter(c, cpu, ns, &who);
			break;
		case 4:
			cause_irq_leave(c, cpu, ns, draw(3), (int32_t)draw(5) - 1);
			break;
		case 5:
			cause_syscall(c, cpu, ns, tid, (int32_t)draw(3) - 1);
			break;
		case 6:
			cause_fault(c, cpu, ns, tid);
			break;
		case 7:
			if (!draw(20))
				cause_lost(c, cpu, ns);
			break;
		case 8:
			cause_marker(c, cpu, ns, tid);
			break;
		case 9:
			cause_begin(c, ns, tid);
			begun[tid % 64] = ns;
			break;
		}
		cause_seen(c, cpu, ns);
		begin = draw(2) ? ns - draw(1000) : draw(2) ? begun[tid % 64] : draw(1u << 31);
		wall = draw(10000);
		cause_range(c, tid, begin, begin + wall, draw(2), &sum);
		for (int k = 0; k < CAUSE_CLASSES; k++) {
			all += sum.v[k];
			wrong += sum.v[k] > wall;
		}
		wrong += all != (begin + wall > begin ? wall : 0);
	}
	cause_free(c);
	result("nonsense adds up as well", !wrong);
}

int main(void)
{
	const char *variant = getenv("XSPROF_VARIANT");
	uint32_t part = variant && *variant ? 10 : 1;

	by_hand();
	faults();
	long_past();
	details();
	renamed();
	of_the_module();
	at_random(200 / part);
	nonsense(300000 / part);
	return results_end();
}
