/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes captures for the tests of the tools, byte by byte from the headers: shares no code with
 * the recorder or the decoder. Ticks are nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef XSPROF_TESTS_TOOLS_CAPTURE_H
#define XSPROF_TESTS_TOOLS_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include <xsprof/capture.h>

#define CAP_START	1000000000000u	/* first tick: 1000 s */
#define US		1000u
#define T(us)		(CAP_START + (us) * (uint64_t)US)

/* A ring's slots that are not written yet. */
struct cap_ring {
	uint32_t	producer;
	uint32_t	ring;
	uint64_t	pos;		/* slots before @slots */
	uint32_t	n;
	uint32_t	max;		/* slots in one chunk */
	uint8_t		*slots;
};

void cap_open(const char *path);
void cap_flush(void);
void cap_close(void);

void cap_chunk(uint16_t type, uint32_t producer, uint32_t ring, uint64_t pos, const void *data,
	       size_t len);
/* Sets the times of the next chunk; those of ring chunks come from their records. */
void cap_times(uint64_t first, uint64_t last);
void cap_host(const char *lines);
void cap_clock(uint64_t from, uint64_t to);
void cap_producer(uint32_t producer, uint32_t pid, uint64_t ticks);
/* A process in a pid namespace, where its pid is @own_pid. */
void cap_contained(uint32_t producer, uint32_t pid, uint32_t own_pid, uint64_t ticks);
void cap_thread(uint32_t producer, uint32_t tid, const char *comm);
void cap_exit(uint32_t producer, uint32_t how, int32_t status, uint64_t ticks);
void cap_end(uint64_t ticks);

/* Arena entries are collected until cap_arena(). */
void cap_entry(uint16_t type, uint32_t id, uint32_t aux, const void *text, size_t len);
void cap_arena(uint32_t producer);
uint32_t cap_name(uint32_t category, uint32_t index, const char *text);

void cap_ring_open(struct cap_ring *ring, uint32_t producer, uint32_t number, uint32_t max);
/* Copies @slots slots, and adds padding if necessary. */
void cap_record(struct cap_ring *ring, const void *rec, uint32_t slots);
void cap_ring_flush(struct cap_ring *ring);
void cap_ring_close(struct cap_ring *ring, uint64_t drops);

struct xsprof_rec cap_head(uint64_t ticks, uint8_t type, uint32_t tid, uint32_t name, uint32_t aux,
			   uint64_t value);
/* Writes a record of one slot. */
void cap_event(struct cap_ring *ring, uint64_t ticks, uint8_t type, uint32_t tid, uint32_t name,
	       uint32_t aux, uint64_t value);

/* capture-all.c */
void cap_make_all(void);
void cap_make_hostile(void);
void cap_make_keys(void);
void cap_make_crowded(void);
/* capture-ranges.c */
void cap_make_lost(void);
void cap_make_all_lost(void);
void cap_make_rows(void);
void cap_make_links(void);
void cap_make_async(void);
void cap_make_tasks(void);
void cap_make_waits(void);
/* capture-hostile.c */
void cap_make_hostile_lock(void);
void cap_make_lock(void);
void cap_make_handover(void);
/* Names of the GIL's records, which capture-hostile.c uses too. */
enum cap_lock_name {
	CAP_LOCK_WAIT = 1, CAP_LOCK_TAKEN, CAP_LOCK_HELD, CAP_LOCK_KEY_HOLDER, CAP_LOCK_KEY_LOCK,
	CAP_LOCK_KEY_TAKEN,
};
uint32_t cap_lock_name(enum cap_lock_name name);
void cap_lock_names(void);
/* A thread begins to wait for lock @lock, which @holder has; 0: none. */
void cap_lock_wait(struct cap_ring *r, uint64_t ticks, uint32_t tid, uint32_t holder,
		   uint32_t lock);
/* capture-args.c */
void cap_make_long(void);
void cap_make_empty(void);
void cap_make_empties(uint32_t n);
void cap_make_cover(void);
void cap_make_together(void);
void cap_make_flows(void);
void cap_make_deep(uint32_t n);
void cap_make_overlap(uint32_t n);
/* capture-kernel.c */
void cap_make_kernel(uint64_t until);
void cap_make_entries(void);
void cap_make_left_out(void);
void cap_make_busy(uint64_t events);
void cap_make_names(uint32_t kinds);
void cap_make_crash(uint32_t events, uint32_t at);
/* capture-tasks.c */
void cap_make_threads(void);
void cap_make_behind(void);
void cap_make_exits(void);
void cap_make_cost_threads(uint32_t n);
void cap_make_exec(void);
void cap_make_programs(void);
/* capture-formats.c: kinds of events whose output depends on their data. */
void cap_make_formats(uint32_t seed, uint32_t events);
void cap_make_numbers(void);
/*
 * capture-steps.c: a thread that trains, with two others beside it, and one that counts its steps;
 * steps.sh has the numbers.
 */
void cap_make_steps(void);
void cap_make_hung(void);
void cap_make_old_ledger(void);
void cap_make_late(void);
void cap_make_switched(void);
void cap_make_passes(void);
/* capture-parts.c: report.sh has the numbers. */
void cap_make_parts(void);
/* capture-usage.c: usage.sh has the numbers. */
void cap_make_usage(void);
void cap_make_modules(uint32_t names, uint32_t modules);
/* capture-cost.c. Return: 0, or -1 if there is no such kind. */
int cap_make_cost(const char *kind, uint32_t n);
/* capture-devices.c: more of these kinds. */
int cap_make_devices(const char *kind, uint32_t n);
void cap_make_hostile_devices(void);
/* capture-gpu.c */
void cap_make_launches(void);
void cap_make_contained(void);
void cap_make_idle(void);
void cap_make_copies(void);
void cap_make_forged(void);
void cap_make_nested(void);
void cap_make_reasons(void);
void cap_make_hogs(void);
void cap_make_launched(void);
void cap_make_clocks(void);
void cap_make_unrecorded(void);
void cap_make_paused(void);
void cap_make_measured(void);

#endif /* XSPROF_TESTS_TOOLS_CAPTURE_H */
