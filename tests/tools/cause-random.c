// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cause machine with random input: compared with a model that keeps every change and adds up
 * from the beginning; and with invalid sequences. TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/draw.h"
#include "tools/cause-hand.h"

#define TASKS	6u
#define CPUS	3u
#define STEPS	4000u
#define RANGES	64u

/* The model: no sums, no rings; the latest change of each task is the last in its list. */
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

/* Draws a CPU and a task so that a kernel could produce the sequence. */
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

/* Announced ranges nest; others begin anywhere. */
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
		draw_seed = round;
		for (uint32_t i = 0; i < STEPS; i++) {
			ns += draw(30);
			step(c, ns);
			/* Sometimes at the same time. */
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

/* With any input, in any order, the classes add up, and it terminates. */
static void nonsense(uint32_t steps)
{
	struct cause *c = fresh();
	struct cause_sum sum;
	uint64_t begun[64] = { 0 };
	uint32_t wrong = 0;

	draw_seed = 42;
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

	at_random(200 / part);
	nonsense(300000 / part);
	return results_end();
}
