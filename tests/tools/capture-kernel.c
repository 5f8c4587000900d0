// SPDX-License-Identifier: GPL-2.0-only
/*
 * Captures with events of the kernel tracer: sub-buffers put together word by word as the
 * kernel's ring buffer has them.  One is small and the same every time, markers among it; another
 * is long, with two CPUs in turn; the third names addresses; the fourth crashes what formats it.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/capture-kernel.h"

#define HEADER		16u
#define MISSED		(1u << 31 | 1u << 30)
#define WAKE(name, id) \
	"sched\nname: " name "\nID: " #id "\n" COMMON \
	FIELD("char", "comm[16]", 8, 16, 0) FIELD("pid_t", "pid", 24, 4, 1) \
	FIELD("int", "prio", 28, 4, 1) FIELD("int", "target_cpu", 32, 4, 1) \
	"\nprint fmt: \"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, " \
	"REC->prio, REC->target_cpu\n"

static const char *const formats[] = {
	"sched\nname: sched_switch\nID: 300\n" COMMON
	FIELD("char", "prev_comm[16]", 8, 16, 0) FIELD("pid_t", "prev_pid", 24, 4, 1)
	FIELD("int", "prev_prio", 28, 4, 1) FIELD("long", "prev_state", 32, 8, 1)
	FIELD("char", "next_comm[16]", 40, 16, 0) FIELD("pid_t", "next_pid", 56, 4, 1)
	FIELD("int", "next_prio", 60, 4, 1)
	"\nprint fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s "
	"next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, "
	"(REC->prev_state & ((((0x00000000 | 0x00000001) + 1) << 1) - 1)) ? "
	"__print_flags(REC->prev_state, \"|\", { 0x00000001, \"S\" }, { 0x00000040, \"P\" }, "
	"{ 0x00000080, \"I\" }) : \"R\", REC->prev_state & 256 ? \"+\" : \"\", REC->next_comm, "
	"REC->next_pid, REC->next_prio\n",
	WAKE("sched_waking", 301),
	WAKE("sched_wakeup", 302),
	"irq\nname: irq_handler_entry\nID: 303\n" COMMON
	FIELD("int", "irq", 8, 4, 1) FIELD("__data_loc char[]", "name", 12, 4, 0)
	"\nprint fmt: \"irq=%d name=%s\", REC->irq, __get_str(name)\n",
	"irq\nname: irq_handler_exit\nID: 304\n" COMMON
	FIELD("int", "irq", 8, 4, 1) FIELD("int", "ret", 12, 4, 1)
	"\nprint fmt: \"irq=%d ret=%s\", REC->irq, REC->ret ? \"handled\" : \"unhandled\"\n",
	"irq\nname: softirq_entry\nID: 305\n" COMMON FIELD("unsigned int", "vec", 8, 4, 0)
	"\nprint fmt: \"vec=%u\", REC->vec\n",
	"irq\nname: softirq_exit\nID: 306\n" COMMON FIELD("unsigned int", "vec", 8, 4, 0)
	"\nprint fmt: \"vec=%u\", REC->vec\n",
	"raw_syscalls\nname: sys_enter\nID: 307\n" COMMON
	FIELD("long", "id", 8, 8, 1) FIELD("unsigned long", "args[6]", 16, 48, 0)
	"\nprint fmt: \"NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)\", REC->id, REC->args[0], "
	"REC->args[1], REC->args[2], REC->args[3], REC->args[4], REC->args[5]\n",
	"raw_syscalls\nname: sys_exit\nID: 308\n" COMMON
	FIELD("long", "id", 8, 8, 1) FIELD("long", "ret", 16, 8, 1)
	"\nprint fmt: \"NR %ld = %ld\", REC->id, REC->ret\n",
	"sched\nname: sched_process_exec\nID: 309\n" COMMON
	FIELD("__data_loc char[]", "filename", 8, 4, 0) FIELD("pid_t", "pid", 12, 4, 1)
	FIELD("pid_t", "old_pid", 16, 4, 1)
	"\nprint fmt: \"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->pid, "
	"REC->old_pid\n",
	/* Of a kind that no output knows. */
	"odd\nname: odd_event\nID: 310\n" COMMON
	FIELD("u16", "pair[2]", 8, 4, 0) FIELD("s8", "small", 12, 1, 1)
	FIELD("u8", "flag", 13, 1, 0) FIELD("u64", "big", 16, 8, 0)
	FIELD("char", "text[8]", 24, 8, 0)
	"\nprint fmt: \"small=%d flag=%u big=%llu text=%s\", REC->small, REC->flag, REC->big, "
	"REC->text\n",
	"ftrace\nname: print\nID: 5\n" COMMON
	FIELD("unsigned long", "ip", 8, 8, 0) FIELD("char", "buf[]", 16, 0, 0)
	"\nprint fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n",
};

/* ---- sections ------------------------------------------------------------------------------ */

/* Of what the kernel enters and leaves only the entries were chosen. */
static bool entries_only;

static uint8_t sections[64 << 10];
static size_t sections_used;

void section(uint32_t kind, const char *text)
{
	struct xsprof_cap_section head = { .kind = kind, .len = (uint32_t)strlen(text) };

	memcpy(sections + sections_used, &head, sizeof(head));
	memcpy(sections + sections_used + sizeof(head), text, head.len);
	sections_used += sizeof(head) + ((head.len + 7) & ~7u);
}

void describe_more(void)
{
	cap_chunk(XSPROF_CHUNK_KERNEL, XSPROF_NO_PRODUCER, 0, 0, sections, sections_used);
	sections_used = 0;
}

void describe(void)
{
	section(XSPROF_SECTION_INFO, "clock=x86-tsc\nsubbuf_size=4096\ndata_offset=16\n"
		"commit_offset=8\nlong_size=8\nrelease=6.1.0\n");
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!entries_only || !strstr(formats[i], "exit\nID"))
			section(XSPROF_SECTION_FORMAT, formats[i]);
	section(XSPROF_SECTION_TASKS, "100 100 alpha\n101 100 worker\n7 7 kworker/0:1\n");
	describe_more();
}

/* ---- sub-buffers --------------------------------------------------------------------------- */

static void page_out(struct cpu *c)
{
	uint64_t commit = c->used - HEADER;

	if (c->used <= HEADER)
		return;
	if (c->missed) {
		commit |= MISSED;
		memcpy(c->page + c->used, &c->missed, 8);
		c->missed = 0;
	}
	memcpy(c->page, &c->first, 8);
	memcpy(c->page + 8, &commit, 8);
	cap_times(c->first, c->ts);
	cap_chunk(XSPROF_CHUNK_FTRACE, XSPROF_NO_PRODUCER, c->cpu, c->slots, c->page, PAGE);
	c->slots += PAGE / XSPROF_SLOT_SIZE;
	c->used = 0;
	memset(c->page, 0, PAGE);
}

static void put_word(struct cpu *c, uint32_t word)
{
	memcpy(c->page + c->used, &word, 4);
	c->used += 4;
}

/* @data begins with the eight bytes that all kinds have in common. */
static void put(struct cpu *c, uint64_t ts, const void *data, uint32_t len)
{
	uint32_t whole = (len + 3) & ~3u;

	if (c->used && (c->used + whole + 24 > PAGE || ts - c->ts >= 1u << 27))
		page_out(c);
	if (!c->used) {
		c->used = HEADER;
		c->first = c->ts = ts;
	}
	if (whole <= 28 * 4) {
		put_word(c, (uint32_t)(ts - c->ts) << 5 | whole / 4);
	} else {
		put_word(c, (uint32_t)(ts - c->ts) << 5);
		put_word(c, whole + 4);
	}
	memcpy(c->page + c->used, data, len);
	c->used += whole;
	c->ts = ts;
}

/* ---- events -------------------------------------------------------------------------------- */

struct event event(uint16_t type, int32_t pid)
{
	return (struct event){ .type = type, .flags = 1, .preempt = 2, .pid = pid };
}

static void add(struct event *e, const void *data, uint32_t len)
{
	memcpy(e->data + e->len, data, len);
	e->len += len;
}

void add32(struct event *e, uint32_t v)
{
	add(e, &v, sizeof(v));
}

static void add64(struct event *e, uint64_t v)
{
	add(e, &v, sizeof(v));
}

void add_comm(struct event *e, const char *comm)
{
	char text[16] = { 0 };

	memcpy(text, comm, strnlen(comm, 16));
	add(e, text, sizeof(text));
}

void emit(struct cpu *c, uint64_t ts, const struct event *e)
{
	put(c, ts, e, 8 + e->len);
}

void sched_switch(struct cpu *c, uint64_t ts, int32_t prev, const char *prev_comm, uint64_t state,
		  int32_t next, const char *next_comm)
{
	struct event e = event(SWITCH, prev);

	add_comm(&e, prev_comm);
	add32(&e, (uint32_t)prev);
	add32(&e, 120);
	add64(&e, state);
	add_comm(&e, next_comm);
	add32(&e, (uint32_t)next);
	add32(&e, 120);
	emit(c, ts, &e);
}

void sched_wake(struct cpu *c, uint64_t ts, uint16_t type, int32_t by, int32_t pid,
		const char *comm, uint32_t target)
{
	struct event e = event(type, by);

	add_comm(&e, comm);
	add32(&e, (uint32_t)pid);
	add32(&e, 120);
	add32(&e, target);
	emit(c, ts, &e);
}

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

/* Dynamic text, an array, a number of 64 bits; and a kind that is not described. */
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

void close_cpu(struct cpu *c, uint64_t lost)
{
	struct xsprof_cap_ledger ledger = { .ring = c->cpu, .kind = XSPROF_RING_KERNEL };

	page_out(c);
	ledger.head = ledger.read = c->slots;
	ledger.drops = lost;
	cap_chunk(XSPROF_CHUNK_LEDGER, XSPROF_NO_PRODUCER, c->cpu, 0, &ledger, sizeof(ledger));
}

/*
 * Switches that the kernel left out: from idle to alpha, between 50 and 90 us; from beta to alpha,
 * between 93 and 95; from alpha to idle, between 95 and 97; from idle to alpha, between 97 and 120,
 * by a marker; on the other CPU to alpha, between 160, when it left the first, and 170.  No proof
 * are a marker of soon after the CPU was seen to be idle, one of another CPU than alpha's, and one
 * of a thread that the tracer never saw.
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
	/* The kernel is still in the switch. */
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

void cap_make_kernel(uint64_t until)
{
	static struct cpu c0 = { .cpu = 0 }, c1 = { .cpu = 1 };
	struct cap_ring r;
	char text[40];

	cap_host("hostname=box\nkernel=6.1.0\n");
	cap_clock(T(0), T(10000000));
	describe();
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

void cap_make_entries(void)
{
	entries_only = true;
	cap_make_kernel(0);
}

/* @events of two CPUs in turn: switches, wake-ups, interrupts, as a busy machine has them. */
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

static void describe_part(void)
{
	if (sections_used < sizeof(sections) / 2)
		return;
	describe_more();
}

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
		describe_part();
		used = 0;
	}
	for (uint32_t i = 0; i < kinds; i++) {
		snprintf(text, sizeof(text), "names\nname: name_%u\nID: %u\n%s", i, 1000 + i, COMMON
			 FIELD("void *", "function", 8, 8, 0)
			 "\nprint fmt: \"function %ps\", REC->function\n");
		section(XSPROF_SECTION_FORMAT, text);
		describe_part();
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

/* ---- what its format makes of it ------------------------------------------------------------ */

#define BAD_KEY		0x5a5a1234u

/*
 * @events that libtraceevent formats.  At event @at, which is odd, a kind reads far beyond the
 * event, and at @at + 2 another never ends, since a field has one value: no trial with made-up
 * data finds that.
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
