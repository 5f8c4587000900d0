// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sub-buffers of the kernel's tracer, built word by word as the kernel's ring buffer has them, and
 * the descriptions of their kinds of events: see capture-tracer.h.
 */
#include <stdbool.h>
#include <string.h>

#include "tools/capture-tracer.h"

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
	/* A kind that no output knows. */
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

static uint8_t sections[64 << 10];
static size_t sections_used;

void section(uint32_t kind, const char *text)
{
	struct xsprof_cap_section head = { .kind = kind, .len = (uint32_t)strlen(text) };

	memcpy(sections + sections_used, &head, sizeof(head));
	memcpy(sections + sections_used + sizeof(head), text, head.len);
	sections_used += sizeof(head) + ((head.len + 7) & ~7u);
	if (sections_used >= sizeof(sections) / 2)
		describe_more();
}

void describe_more(void)
{
	if (!sections_used)
		return;
	cap_chunk(XSPROF_CHUNK_KERNEL, XSPROF_NO_PRODUCER, 0, 0, sections, sections_used);
	sections_used = 0;
}

static void describe_kinds(bool exits)
{
	section(XSPROF_SECTION_INFO, "clock=x86-tsc\nsubbuf_size=4096\ndata_offset=16\n"
		"commit_offset=8\nlong_size=8\nrelease=6.1.0\n");
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (exits || !strstr(formats[i], "exit\nID"))
			section(XSPROF_SECTION_FORMAT, formats[i]);
	section(XSPROF_SECTION_TASKS, "100 100 alpha\n101 100 worker\n7 7 kworker/0:1\n");
	describe_more();
}

void describe(void)
{
	describe_kinds(true);
}

void describe_entries(void)
{
	describe_kinds(false);
}

/* ---- sub-buffers --------------------------------------------------------------------------- */

void page_out(struct cpu *c)
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

void add(struct event *e, const void *data, uint32_t len)
{
	memcpy(e->data + e->len, data, len);
	e->len += len;
}

void add32(struct event *e, uint32_t v)
{
	add(e, &v, sizeof(v));
}

void add64(struct event *e, uint64_t v)
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

void close_cpu(struct cpu *c, uint64_t lost)
{
	struct xsprof_cap_ledger ledger = { .ring = c->cpu, .kind = XSPROF_RING_KERNEL };

	page_out(c);
	ledger.head = ledger.read = c->slots;
	ledger.drops = lost;
	cap_chunk(XSPROF_CHUNK_LEDGER, XSPROF_NO_PRODUCER, c->cpu, 0, &ledger, sizeof(ledger));
}
