/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds sub-buffers of the kernel's tracer, event by event, for the files that make captures of
 * them.
 */
#ifndef XSPROF_TESTS_TOOLS_CAPTURE_TRACER_H
#define XSPROF_TESTS_TOOLS_CAPTURE_TRACER_H

#include "tools/capture.h"

#define PAGE		4096u
#define COMMON \
	"format:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FIELD(type, name, offset, size, sign) \
	"\tfield:" type " " name ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"

enum { SWITCH = 300, WAKING, WAKEUP, IRQ_IN, IRQ_OUT, SOFT_IN, SOFT_OUT, ENTER, EXIT, EXEC, ODD,
       PRINT = 5 };

/* A CPU, with its current sub-buffer. */
struct cpu {
	uint32_t	cpu;
	uint64_t	slots;		/* slots before it */
	uint64_t	first;
	uint64_t	ts;
	uint64_t	missed;		/* events lost before it */
	uint32_t	used;
	uint8_t		page[PAGE];
};

struct event {
	uint16_t	type;
	uint8_t		flags;
	uint8_t		preempt;
	int32_t		pid;
	uint8_t		data[512];
	uint32_t	len;
};

/* Adds a section to the next KERNEL chunk, which is written when there are many. */
void section(uint32_t kind, const char *text);
/* Adds the kinds above; or, of events that the kernel enters and leaves, only the entries. */
void describe(void);
void describe_entries(void);
/* Writes the sections not written yet. */
void describe_more(void);

struct event event(uint16_t type, int32_t pid);
void add(struct event *e, const void *data, uint32_t len);
void add32(struct event *e, uint32_t v);
void add64(struct event *e, uint64_t v);
void add_comm(struct event *e, const char *comm);
void emit(struct cpu *c, uint64_t ts, const struct event *e);
void sched_switch(struct cpu *c, uint64_t ts, int32_t prev, const char *prev_comm, uint64_t state,
		  int32_t next, const char *next_comm);
void sched_wake(struct cpu *c, uint64_t ts, uint16_t type, int32_t by, int32_t pid,
		const char *comm, uint32_t target);
/* Ends the sub-buffer. */
void page_out(struct cpu *c);
/* Writes the last sub-buffer, and the account of the CPU. */
void close_cpu(struct cpu *c, uint64_t lost);

#endif /* XSPROF_TESTS_TOOLS_CAPTURE_TRACER_H */
