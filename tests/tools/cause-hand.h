/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the tests of the cause machine: their TAP lines, comparisons of a range's sums with
 * sums made by hand, and the segments that the machine reported. Does not feed the machine.
 */
#ifndef CAUSE_HAND_H
#define CAUSE_HAND_H

#include <stdbool.h>
#include <stdint.h>

#include "cause/sched.h"

/* Prints a TAP line. */
void result(const char *name, bool good);

/* Prints the plan. Return: the exit status. */
int results_end(void);

/* Returns a new machine. */
struct cause *fresh(void);

struct cause_who task(uint32_t tid);
struct cause_who on_top(enum cause_context context, int32_t vec);

struct want {
	uint64_t	ns;
	uint32_t	class;
};

/* The range has these classes and no others; @want ends with 0 ns. */
bool is(struct cause *cause, uint64_t key, uint64_t begin, uint64_t end, bool kept,
	const struct want *want);

#define IS(...)	is(__VA_ARGS__ { 0, 0 } })
#define W	(const struct want[]){

/* The arguments of tell(), the machine's hook; nr_told = 0 clears them. */
#define TOLD_MAX	64

extern struct cause_segment told[TOLD_MAX];
extern int nr_told;

void tell(void *data, const struct cause_segment *segment);
bool told_is(int i, uint64_t from, uint64_t to, uint32_t class, uint32_t who);

#endif /* CAUSE_HAND_H */
