// SPDX-License-Identifier: GPL-2.0-only
/*
 * Captures with events of the kernel's tracer. One is small and always the same, with markers; one
 * is long, with two CPUs in turn; the third names addresses; the fourth crashes the formatter.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tools/capture-tracer.h"

static void two(struct cpu *c, uint64_t ts, uint16_t type, int32_t pid, uint32_t a, uint32_t b)
{
	struct event e = event(type, pid);

	add32(&e, a);
	add32(&e, b);
	emit(c, ts, &e);
}

static void interrupt(struct cpu *c, uint64_t ts, int32_t pid)
{
	struct event e = event(IRQ_IN, pid);

	e.flags = 9;
	add32(&e, 31);
	add32(&e, 6u << 16 | 16);
	add(&e, "nvme0", 6);
	emit(c, ts, &e);
	two(c, ts + 700, IRQ_OUT, pid, 31, 1);
}

static void syscall(struct cpu *c, uint64_t ts, int32_t pid)
{
	struct event e = event(ENTER, pid);

	add64(&e, 202);
	for (uint64_t i = 0; i < 6; i++)
		add64(&e, i ? i << 40 : UINT64_MAX);
	emit(c, ts, &e);
	e = event(EXIT, pid);
	add64(&e, 202);
	add64(&e, (uint64_t)-11);
	emit(c, ts + 900, &e);
}

/* Dynamic text, an array, a 64-bit number; and an event without a description. */
static void odd(struct cpu *c, uint64_t ts)
{
	struct event e = event(EXEC, 100);
	uint16_t pair[2] = { 7, 65535 };

	add32(&e, 15u << 16 | 20);
	add32(&e, 100);
	add32(&e, 100);
	add(&e, "/usr/bin/al\xffpha", 15);
	emit(c, ts, &e);
	e = event(ODD, 100);
	add(&e, pair, 4);
	add(&e, "\xfd\x01\0\0", 4);
	add64(&e, 1ull << 63);
	add(&e, "a\"b\x01\xe2\x82\xac", 8);
	emit(c, ts + 100, &e);
	e = event(999, 100);
	add32(&e, 0x64636261);
	emit(c, ts + 200, &e);
	e = event(PRINT, 100);
	add64(&e, 0xffffffff81000000);
	add(&e, "B|100|marked\n", 14);
	emit(c, ts + 300, &e);
}

/*
 * Switches missing from the trace: from idle to alpha, between 50 and 90 us; from beta to alpha,
 * between 93 and 95; from alpha to idle, between 95 and 97; from idle to alpha, between 97 and 120,
 * known by a marker; on the other CPU to alpha, between 160, when it left the first CPU, and 170.
 * These prove nothing: a marker soon after the CPU was seen idle, one on another CPU than alpha's,
 * and one of a thread that the tracer never saw.
 */
void cap_make_left_out(void)
{
	static struct cpu c0 = { .cpu = 0 }, c1 = { .cpu = 1 };
	struct cap_ring r[2];

	cap_host("hostname=box\nkernel=6.1.0\n");
	cap_clock(T(0), T(10000000));
	describe();
	cap_producer(0, 100, T(0));
	cap_name(0, 1, "mark");
	cap_arena(0);
	cap_ring_open(&r[0], 0, 0, 64);
	cap_ring_open(&r[1], 0, 1, 64);
	cap_event(&r[0], T(105), XSPROF_REC_INSTANT, 100, 1, 0, 0);
	cap_event(&r[0], T(120), XSPROF_REC_INSTANT, 100, 1, 0, 0);
	cap_event(&r[1], T(140), XSPROF_REC_INSTANT, 100, 1, 0, 0);
	cap_event(&r[1], T(150), XSPROF_REC_INSTANT, 101, 1, 0, 0);
	cap_ring_close(&r[0], 0);
	cap_ring_close(&r[1], 0);
	sched_switch(&c0, T(10), 0, "swapper/0", 0, 100, "alpha");
	sched_switch(&c0, T(25), 100, "alpha", 1, 0, "swapper/0");
	sched_switch(&c0, T(90), 100, "alpha", 1, 0, "swapper/0");
	sched_switch(&c0, T(92), 0, "swapper/0", 0, 8, "beta");
	/* The kernel is still inside the switch. */
	interrupt(&c0, T(92) + 100, 0);
	syscall(&c0, T(95), 100);
	interrupt(&c0, T(97), 0);
	sched_switch(&c1, T(20), 0, "swapper/1", 0, 7, "kworker/1:1");
	sched_wake(&c1, T(50), WAKING, 7, 100, "alpha", 0);
	sched_switch(&c1, T(70), 7, "kworker/1:1", 1, 0, "swapper/1");
	sched_wake(&c1, T(93), WAKING, 0, 100, "alpha", 0);
	sched_switch(&c0, T(160), 100, "alpha", 0, 0, "swapper/0");
	syscall(&c1, T(170), 100);
	close_cpu(&c0, 0);
	close_cpu(&c1, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(200));
	cap_end(T(210));
}

static void make_kernel(uint64_t until, void (*describe_it)(void))
{
	static struct cpu c0 = { .cpu = 0 }, c1 = { .cpu = 1 };
	struct cap_ring r;
	char text[40];

	cap_host("hostname=box\nkernel=6.1.0\n");
	cap_clock(T(0), T(10000000));
	describe_it();
	if (until) {
		snprintf(text, sizeof(text), "until=%" PRIu64 "\n", T(until));
		section(XSPROF_SECTION_INFO, text);
		describe_more();
	}
	cap_producer(0, 100, T(0));
	cap_name(0, 1, "step");
	cap_name(0, 2, "wait");
	cap_entry(XSPROF_ENTRY_FACT, 0, 0, "exe=/usr/bin/alpha", 18);
	cap_arena(0);
	cap_thread(0, 100, "alpha");
	cap_thread(0, 101, "worker");
	cap_ring_open(&r, 0, 0, 4096);
	cap_event(&r, T(10), XSPROF_REC_BEGIN, 100, 1, 0, 0);
	cap_event(&r, T(20), XSPROF_REC_BEGIN, 100, 2, 0, 0);
	cap_event(&r, T(60), XSPROF_REC_END, 100, 0, 0, 0);
	cap_event(&r, T(80), XSPROF_REC_END, 100, 0, 0, 0);
	cap_ring_close(&r, 0);
	sched_switch(&c0, T(5), 0, "swapper/0", 0, 100, "alpha");
	syscall(&c0, T(22), 100);
	sched_switch(&c0, T(25), 100, "alpha", 1, 7, "kworker/0:1");
	interrupt(&c0, T(30), 7);
	two(&c0, T(32), SOFT_IN, 7, 4, 0);
	two(&c0, T(33), SOFT_OUT, 7, 4, 0);
	sched_switch(&c0, T(55), 7, "kworker/0:1", 256, 100, "alpha");
	odd(&c0, T(61));
	page_out(&c0);
	c0.missed = 12;
	sched_switch(&c0, T(90), 100, "alpha", 64, 0, "swapper/0");
	sched_wake(&c1, T(50), WAKING, 0, 100, "alpha", 0);
	sched_wake(&c1, T(51), WAKEUP, 0, 100, "alpha", 0);
	sched_switch(&c1, T(70), 0, "swapper/1", 0, 101, "wor\nker\"\xff");
	close_cpu(&c0, 15);
	close_cpu(&c1, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(100));
	cap_end(T(110));
}

void cap_make_kernel(uint64_t until)
{
	make_kernel(until, describe);
}

void cap_make_entries(void)
{
	make_kernel(0, describe_entries);
}

/* @events of two CPUs in turn: switches, wakeups and interrupts, as on a busy machine. */
void cap_make_busy(uint64_t events)
{
	static struct cpu c[2] = { { .cpu = 0 }, { .cpu = 1 } };
	static char comm[16];
	uint64_t t = T(0);

	cap_host("hostname=busy\nkernel=6.1.0\n");
	cap_clock(T(0), T(0) + events * 900 + 1000000000u);
	describe();
	for (uint64_t i = 0; i < events; i++) {
		struct cpu *cpu = &c[i / 5 & 1];
		int32_t a = 1000 + (int32_t)(i % 300), b = 1000 + (int32_t)(i / 7 % 300);

		t += 400 + i % 11 * 50;
		snprintf(comm, sizeof(comm), "task-%d", b);
		switch (i % 6) {
		case 0:
			sched_wake(cpu, t, WAKING, a, b, comm, (uint32_t)(i & 1));
			break;
		case 1:
			sched_wake(cpu, t, WAKEUP, a, b, comm, (uint32_t)(i & 1));
			break;
		case 2:
			two(cpu, t, SOFT_IN, a, 7, 0);
			break;
		case 3:
			two(cpu, t, SOFT_OUT, a, 7, 0);
			break;
		default:
			sched_switch(cpu, t, a, "worker", i & 1, b, comm);
		}
	}
	close_cpu(&c[0], 0);
	close_cpu(&c[1], 0);
	cap_end(t + 1);
}

/* ---- addresses ----------------------------------------------------------------------------- */

/* A kernel of 60000 functions, 0x100 bytes each, and @kinds kinds of events that name one. */
void cap_make_names(uint32_t kinds)
{
	static struct cpu c = { .cpu = 0 };
	static char text[16 << 10];
	size_t used = 0;

	cap_host("hostname=names\nkernel=6.1.0\n");
	cap_clock(T(0), T(10000000));
	describe();
	for (uint32_t i = 0; i < 60000; i++) {
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "ffffffff%08x function_number_%u\n",
					 0x81000000 + 0x100 * i, i);
		if (used < sizeof(text) - 64 && i < 59999)
			continue;
		section(XSPROF_SECTION_SYMBOLS, text);
		used = 0;
	}
	for (uint32_t i = 0; i < kinds; i++) {
		snprintf(text, sizeof(text), "names\nname: name_%u\nID: %u\n%s", i, 1000 + i, COMMON
			 FIELD("void *", "function", 8, 8, 0)
			 "\nprint fmt: \"function %ps\", REC->function\n");
		section(XSPROF_SECTION_FORMAT, text);
	}
	section(XSPROF_SECTION_FORMAT, "names\nname: words\nID: 999\n" COMMON
		FIELD("const char *", "s", 8, 8, 0) "\nprint fmt: \"%s\", REC->s\n");
	section(XSPROF_SECTION_PRINTK, "0xffffffff90000000 : \"Start of it\"\n"
		"0xffffffff90000010 : \"100%s of it\"\n");
	describe_more();
	for (uint32_t i = 0; i < kinds; i++) {
		struct event e = event((uint16_t)(1000 + i), 100);

		add64(&e, 0xffffffff81000000 + 0x100 * (i * 37) + i % 3);
		emit(&c, T(10 + i), &e);
	}
	for (uint32_t i = 0; i < 3; i++) {
		struct event e = event(999, 100);

		add64(&e, 0xffffffff90000000 + 0x10 * i);
		emit(&c, T(20 + kinds + i), &e);
	}
	close_cpu(&c, 0);
	cap_end(T(100 + kinds));
}

/* ---- formats that fail ---------------------------------------------------------------------- */

#define BAD_KEY		0x5a5a1234u

/*
 * @events for libtraceevent to format. At event @at, which is odd, a kind reads far beyond the
 * event, and at @at + 2 another never ends, because of one field's value: a trial with made-up data
 * does not find that.
 */
void cap_make_crash(uint32_t events, uint32_t at)
{
	static struct cpu c = { .cpu = 0 };
	uint64_t t = T(10);

	cap_host("hostname=crash\nkernel=6.1.0\n");
	cap_clock(T(0), T(0) + events * 2000ull + 1000000000u);
	describe();
	section(XSPROF_SECTION_FORMAT, "bad\nname: reads_on\nID: 400\n" COMMON
		FIELD("unsigned int", "key", 8, 4, 0)
		FIELD("__data_loc unsigned char[]", "list", 12, 4, 0)
		"\nprint fmt: \"%s\", __print_array(__get_dynamic_array(list), "
		"REC->key == 1515852340 ? 268435456 : 1, 8)\n");
	section(XSPROF_SECTION_FORMAT, "bad\nname: no_end\nID: 401\n" COMMON
		FIELD("unsigned int", "key", 8, 4, 0)
		"\nprint fmt: \"%*d\", REC->key == 1515852340 ? 2147483647 : 1, REC->key\n");
	describe_more();
	for (uint32_t i = 0; i < events; i++, t += 1000) {
		struct event e = event(i & 1 ? 400 + (i >> 1 & 1) : IRQ_OUT, 100);

		add32(&e, i == at || i == at + 2 ? BAD_KEY : i);
		add32(&e, 8u << 16 | 8);
		emit(&c, t, &e);
	}
	close_cpu(&c, 0);
	cap_end(t + 1);
}
