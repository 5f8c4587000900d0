// SPDX-License-Identifier: GPL-2.0-only
/*
 * Captures of the scheduler's events: a program without markers, a range that waits for many tasks,
 * and processes whose ends the recorder saw late.
 */
#include <stdio.h>
#include <string.h>

#include "tools/capture-tracer.h"

enum { FORK = 311, EXITED };

static const char fork_format[] =
	"sched\nname: sched_process_fork\nID: 311\n" COMMON
	FIELD("char", "parent_comm[16]", 8, 16, 0) FIELD("pid_t", "parent_pid", 24, 4, 1)
	FIELD("char", "child_comm[16]", 28, 16, 0) FIELD("pid_t", "child_pid", 44, 4, 1)
	"\nprint fmt: \"comm=%s pid=%d child_comm=%s child_pid=%d\", REC->parent_comm, "
	"REC->parent_pid, REC->child_comm, REC->child_pid\n";

static const char exit_format[] =
	"sched\nname: sched_process_exit\nID: 312\n" COMMON
	FIELD("char", "comm[16]", 8, 16, 0) FIELD("pid_t", "pid", 24, 4, 1)
	FIELD("int", "prio", 28, 4, 1)
	"\nprint fmt: \"comm=%s pid=%d prio=%d\", REC->comm, REC->pid, REC->prio\n";

static void forked(struct cpu *c, uint64_t ts, int32_t parent, int32_t child)
{
	struct event e = event(FORK, parent);

	add_comm(&e, "prog");
	add32(&e, (uint32_t)parent);
	add_comm(&e, "prog");
	add32(&e, (uint32_t)child);
	emit(c, ts, &e);
}

static void exited(struct cpu *c, uint64_t ts, int32_t tid)
{
	struct event e = event(EXITED, tid);

	add_comm(&e, "gone");
	add32(&e, (uint32_t)tid);
	add32(&e, 120);
	emit(c, ts, &e);
}

/*
 * A range from 10 to 110 us: alpha runs 10 us, and waits 20 times for a CPU that another task has,
 * each time another one, 14 times for 6 us, 6 times for 1.
 */
void cap_make_behind(void)
{
	static struct cpu c = { .cpu = 0 };
	uint64_t t = T(10);
	struct cap_ring r;
	char comm[16];

	cap_host("hostname=box\nkernel=6.1.0\n");
	cap_clock(T(0), T(10000000));
	describe();
	cap_producer(0, 100, T(0));
	cap_name(0, 1, "step");
	cap_arena(0);
	cap_thread(0, 100, "alpha");
	cap_ring_open(&r, 0, 0, 64);
	cap_event(&r, T(10), XSPROF_REC_BEGIN, 100, 1, 0, 0);
	cap_event(&r, T(110), XSPROF_REC_END, 100, 0, 0, 0);
	cap_ring_close(&r, 0);
	sched_switch(&c, T(5), 0, "swapper/0", 0, 100, "alpha");
	for (int32_t i = 0; i < 20; i++) {
		snprintf(comm, sizeof(comm), "task%d", i);
		t += 500;
		sched_switch(&c, t, 100, "alpha", 256, 200 + i, comm);
		t += i < 14 ? 6000 : 1000;
		sched_switch(&c, t, 200 + i, comm, 256, 100, "alpha");
	}
	close_cpu(&c, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(120));
	cap_end(T(130));
}

/*
 * No process has markers. Of the command, 600 runs from 10 to 20 us and from 52 to 70; its child
 * 601 from 20 to 35 and from 40 to 60, when it exits. kworker/0:1 runs between. The name of 602,
 * another child, is unknown.
 */
void cap_make_threads(void)
{
	static struct cpu c0 = { .cpu = 0 }, c1 = { .cpu = 1 };

	cap_host("hostname=box\nkernel=6.1.0\n");
	cap_clock(T(0), T(10000000));
	cap_host("command_pid=600\n");
	describe();
	section(XSPROF_SECTION_FORMAT, fork_format);
	section(XSPROF_SECTION_TASKS, "600 600 prog\n601 601 child\n602 602 \n");
	describe_more();
	sched_switch(&c0, T(10), 0, "swapper/0", 0, 600, "prog");
	forked(&c0, T(15), 600, 601);
	forked(&c0, T(16), 600, 602);
	sched_switch(&c0, T(20), 600, "prog", 1, 601, "prog");
	sched_switch(&c0, T(35), 601, "child", 256, 7, "kworker/0:1");
	sched_switch(&c0, T(40), 7, "kworker/0:1", 128, 601, "child");
	sched_wake(&c0, T(50), WAKING, 601, 600, "prog", 1);
	sched_switch(&c0, T(60), 601, "child", 32, 0, "swapper/0");
	sched_switch(&c1, T(52), 0, "swapper/1", 0, 600, "prog");
	sched_switch(&c1, T(70), 600, "prog", 32, 0, "swapper/1");
	close_cpu(&c0, 0);
	close_cpu(&c1, 0);
	cap_end(T(110));
}

/*
 * In its pid namespace the process is 1, outside 600, and its thread 2 is 601. One record each of
 * threads 3 and 4 falls on 601 and 600, as if the tracer had lost a switch. Its threads 600 to 602
 * were seen on no CPU.
 */
void cap_make_numbers(void)
{
	static const struct { uint32_t us, tid; } marks[] = {
		{ 12, 2 }, { 14, 2 }, { 16, 2 }, { 18, 3 }, { 30, 4 }, { 32, 1 }, { 34, 1 },
		{ 50, 600 }, { 52, 601 }, { 54, 602 },
	};
	static struct cpu c = { .cpu = 0 };
	struct cap_ring r;

	cap_host("hostname=box\nkernel=6.1.0\n");
	cap_clock(T(0), T(10000000));
	describe();
	cap_contained(0, 600, 1, T(0));
	cap_name(0, 1, "step");
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 64);
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		cap_event(&r, T(marks[i].us), XSPROF_REC_INSTANT, marks[i].tid, 1, 0, 0);
	cap_ring_close(&r, 0);
	sched_switch(&c, T(10), 0, "swapper/0", 0, 601, "prog");
	sched_switch(&c, T(20), 601, "prog", 1, 600, "prog");
	sched_switch(&c, T(40), 600, "prog", 1, 0, "swapper/0");
	close_cpu(&c, 0);
	cap_end(T(110));
}

/* A process with a range without an end, last seen at @lived and found to have ended at @ticks. */
static void process(uint32_t number, uint32_t pid, uint32_t how, uint64_t begin, uint64_t lived,
		    uint64_t ticks)
{
	struct xsprof_cap_exit gone = { .how = how, .ticks = ticks, .lived = lived };
	struct cap_ring r;

	gone.status = how == XSPROF_HOW_KILLED ? 9 : 0;
	cap_producer(number, pid, begin);
	cap_name(0, 1, "step");
	cap_arena(number);
	cap_ring_open(&r, number, 0, 64);
	cap_event(&r, begin + 10 * US, XSPROF_REC_BEGIN, pid, 1, 0, 0);
	cap_ring_close(&r, 0);
	cap_chunk(XSPROF_CHUNK_EXIT, number, 0, 0, &gone, sizeof(gone));
}

/*
 * The kernel saw 200 exit at 50 us, the last thread of 300 at 57, and 700 at 38, which existed
 * until 40 while the kernel freed its memory. 400 reported its own end. For 500 only an earlier
 * process with that id exited, and nothing is known of 600. 800 was found to have ended long after
 * it was last seen, as by a recovery. 900 has two producers: the earlier may have ended when the
 * later came, which ended with the process.
 */
void cap_make_exits(void)
{
	static struct cpu c = { .cpu = 0 };

	cap_host("hostname=box\nkernel=6.1.0\n");
	cap_clock(T(0), T(10000000));
	describe();
	section(XSPROF_SECTION_FORMAT, exit_format);
	section(XSPROF_SECTION_TASKS, "300 300 three\n301 300 three\n");
	describe_more();
	process(0, 200, XSPROF_HOW_VANISHED, T(10), T(40), T(90));
	process(1, 300, XSPROF_HOW_KILLED, T(10), T(40), T(95));
	process(2, 400, XSPROF_HOW_EXITED, T(10), T(60), T(60));
	process(3, 500, XSPROF_HOW_VANISHED, T(30), T(45), T(96));
	process(4, 600, XSPROF_HOW_VANISHED, T(10), T(40), T(97));
	process(5, 700, XSPROF_HOW_VANISHED, T(10), T(40), T(80));
	process(6, 800, XSPROF_HOW_VANISHED, T(10), T(40), T(9000000));
	process(7, 900, XSPROF_HOW_VANISHED, T(10), T(40), T(91));
	process(8, 900, XSPROF_HOW_KILLED, T(50), T(60), T(90));
	exited(&c, T(25), 500);
	exited(&c, T(38), 700);
	exited(&c, T(50), 200);
	exited(&c, T(55), 300);
	exited(&c, T(57), 301);
	exited(&c, T(70), 400);
	exited(&c, T(71), 900);
	exited(&c, T(99), 600);
	close_cpu(&c, 0);
	cap_end(T(110));
}

/* In each of @n processes a thread ends long before the process, with a range open. */
void cap_make_cost_threads(uint32_t n)
{
	static struct cpu c = { .cpu = 0 };
	uint64_t last = T(4000000 + n);
	struct cap_ring r;
	char text[64];

	cap_host("hostname=cost\n");
	cap_clock(T(0), T(10000000));
	describe();
	section(XSPROF_SECTION_FORMAT, exit_format);
	describe_more();
	for (uint32_t i = 0; i < n; i++) {
		uint32_t pid = 1000 + 2 * i;

		snprintf(text, sizeof(text), "%u %u prog\n%u %u prog\n", pid, pid, pid + 1, pid);
		section(XSPROF_SECTION_TASKS, text);
		describe_more();
		cap_producer(i, pid, T(1));
		cap_name(0, 1, "step");
		cap_arena(i);
		cap_ring_open(&r, i, 0, 64);
		cap_event(&r, T(2), XSPROF_REC_BEGIN, pid + 1, 1, 0, 0);
		cap_ring_close(&r, 0);
		cap_exit(i, XSPROF_HOW_KILLED, 9, last);
		exited(&c, T(10 + i), (int32_t)pid + 1);
	}
	close_cpu(&c, 0);
	cap_end(last + 1);
}

/* execve() replaces a program between 40 and 50 us; the new one is killed at 100. */
void cap_make_exec(void)
{
	cap_host("hostname=box\n");
	cap_clock(T(0), T(10000));
	process(0, 90, XSPROF_HOW_EXEC, T(10), T(40), T(95));
	process(1, 90, XSPROF_HOW_KILLED, T(50), T(100), T(100));
	cap_end(T(110));
}

/* Processes by what is known of their program. */
void cap_make_programs(void)
{
	static const char *const facts[][2] = {
		{ "exe=/usr/bin/python3.11", "cmdline=python3 train.py /a/b" },
		{ "exe=/usr/bin/python3.11", "cmdline=/usr/bin/python3 train.py" },
		{ "exe=/opt/my app/run", "cmdline=/opt/my app/run -v" },
		{ "exe=/usr/bin/heat (deleted)", "cmdline=./heat" },
		{ "exe=/usr/bin/sh", "cmdline=-sh" },
		{ "exe=/usr/bin/alone", NULL },
		{ NULL, "cmdline=/usr/bin/told now" },
		{ "exe=/usr/bin/odd", "cmdline=/" },
		{ NULL, NULL },
	};
	struct cap_ring r;

	cap_host("hostname=programs\n");
	cap_clock(T(0), T(10000));
	for (uint32_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		cap_producer(i, 60 + i, T(0));
		cap_name(0, 1, "work");
		for (uint32_t k = 0; k < 2; k++)
			if (facts[i][k])
				cap_entry(XSPROF_ENTRY_FACT, 0, 0, facts[i][k],
					  strlen(facts[i][k]));
		cap_arena(i);
		cap_ring_open(&r, i, 0, 64);
		cap_event(&r, T(10 + i), XSPROF_REC_COMPLETE, 60 + i, 1, 0, US);
		cap_ring_close(&r, 0);
	}
	cap_end(T(100));
}
