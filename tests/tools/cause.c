// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cause machine, which classifies tasks' time, compared with sums made by hand. TAP.
 */
#include <stdlib.h>

#include "tools/cause-hand.h"

/* ---- sums ----------------------------------------------------------------------------------- */

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

/* A thread of another pid namespace: its switches have an id that could not be mapped. */
static void other_number(void)
{
	struct cause *c = fresh();

	cause_switch(c, 0, 1000, 0, CAUSE_STATE_RUN, 5);
	cause_marker(c, 0, 1100, 4711);
	cause_switch(c, 0, 1200, 5, CAUSE_STATE_SLEEP, 0);
	cause_switch(c, 0, 1900, 0, CAUSE_STATE_RUN, 5);
	cause_marker(c, 0, 2000, 4711);
	result("a thread with another number in the kernel", IS(c, 4711, 1100, 2000, false, W
		{ 900, CAUSE_UNKNOWN },));
	result("the one with that number", IS(c, 5, 1100, 2000, false, W
		{ 100 + 100, CAUSE_CPU }, { 700, CAUSE_BLOCKED },));
	cause_marker(c, 1, 2000, 6);
	result("one on a CPU of which nothing was told", IS(c, 6, 2000, 2100, false, W
		{ 100, CAUSE_CPU },));
	cause_switch(c, 0, 2100, 5, CAUSE_STATE_SLEEP, 0);
	cause_marker(c, 0, 2200, 7);
	result("one that came from the idle loop unseen", IS(c, 7, 2200, 2300, false, W
		{ 100, CAUSE_CPU },));
	cause_free(c);
}

static uint64_t ran_of(uint64_t ns)
{
	return ns / 10 * 3 + (ns % 10 > 7 ? ns % 10 - 7 : 0);
}

/* A task that runs for 3 ns and waits for 7, repeatedly: more than the machine remembers. */
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
	result("and of how much the other had the CPU", did.who_ns == 700);
	cause_free(c);
}

/* Many short pieces by one, and one longer piece by another: the first is named, with its part. */
static void shared(void)
{
	struct cause_who who = task(9), storage = task(6), timer = on_top(CAUSE_IN_IRQ, 0);
	struct cause *c = fresh();
	struct cause_did did;
	uint64_t at = 1000;

	cause_hook(c, tell, NULL);
	cause_switch(c, 0, 1000, 0, CAUSE_STATE_RUN, 5);
	cause_switch(c, 1, 1000, 0, CAUSE_STATE_RUN, 9);
	cause_watch(c, 5);
	cause_switch(c, 0, 1100, 5, CAUSE_STATE_SLEEP, 0);
	for (int i = 0; i < 10; i++, at += 100) {
		cause_switch(c, 1, at + 110, 9, CAUSE_STATE_RUN, 7);
		cause_switch(c, 1, at + 190, 7, CAUSE_STATE_RUN, 9);
	}
	cause_switch(c, 1, at + 110, 9, CAUSE_STATE_RUN, 8);
	cause_switch(c, 1, at + 410, 8, CAUSE_STATE_RUN, 9);
	cause_wakeup(c, at + 420, 5, 0, &who);
	result("who had the CPU for most of it, not for the longest piece",
	       cause_did(c, 9, 1100, at + 420, &did) && did.class == CAUSE_RUNNABLE &&
	       did.ns == 1100 && did.who == 7 && did.who_ns == 800 && did.to - did.from == 80);

	/* The same while asleep: woken ten times by timers, once and later by a task. */
	at += 1000;
	for (int i = 0; i < 10; i++, at += 100) {
		cause_switch(c, 1, at, 9, CAUSE_STATE_SLEEP, 0);
		cause_wakeup(c, at + 80, 9, 1, &timer);
		cause_switch(c, 1, at + 81, 0, CAUSE_STATE_RUN, 9);
	}
	cause_switch(c, 1, at, 9, CAUSE_STATE_SLEEP, 0);
	cause_wakeup(c, at + 300, 9, 1, &storage);
	cause_switch(c, 1, at + 301, 0, CAUSE_STATE_RUN, 9);
	result("who woke it from most of it", cause_did(c, 9, at - 1000, at + 310, &did) &&
	       did.class == CAUSE_BLOCKED && did.ns == 1100 && !did.who && did.who_ns == 800);
	cause_free(c);
}

/* A thread that calls execve() continues under its process's id. */
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

int main(void)
{
	by_hand();
	faults();
	other_number();
	long_past();
	details();
	shared();
	renamed();
	of_the_module();
	return results_end();
}
