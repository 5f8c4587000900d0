// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared by the tests of the cause machine: owns their counts and the segments that were reported.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/tap.h"
#include "tools/cause-hand.h"

struct cause_segment told[TOLD_MAX];
int nr_told;

void result(const char *name, bool good)
{
	tap_ok(name, good);
}

int results_end(void)
{
	return tap_done();
}

struct cause *fresh(void)
{
	struct cause *cause;

	if (cause_new(&cause))
		exit(1);
	return cause;
}

struct cause_who task(uint32_t tid)
{
	return (struct cause_who){ .tid = tid, .vec = -1 };
}

struct cause_who on_top(enum cause_context context, int32_t vec)
{
	return (struct cause_who){ .context = context, .vec = vec };
}

bool is(struct cause *cause, uint64_t key, uint64_t begin, uint64_t end, bool kept,
	const struct want *want)
{
	struct cause_sum sum, model = { 0 };

	cause_range(cause, key, begin, end, kept, &sum);
	for (; want->ns; want++)
		model.v[want->class] += want->ns;
	for (int i = 0; i < CAUSE_CLASSES; i++)
		if (sum.v[i] != model.v[i])
			printf("# class %d: %llu, not %llu\n", i, (unsigned long long)sum.v[i],
			       (unsigned long long)model.v[i]);
	sum.v[CAUSE_FAULTS] = 0;
	return !memcmp(&sum, &model, sizeof(sum));
}

void tell(void *data, const struct cause_segment *segment)
{
	(void)data;
	if (nr_told < TOLD_MAX)
		told[nr_told++] = *segment;
}

bool told_is(int i, uint64_t from, uint64_t to, uint32_t class, uint32_t who)
{
	const struct cause_segment *s = &told[i];

	if (i < nr_told && s->from == from && s->to == to && s->class == class &&
	    s->who.tid == who)
		return true;
	printf("# segment %d: %llu to %llu, class %u, who %u\n", i, (unsigned long long)s->from,
	       (unsigned long long)s->to, s->class, (unsigned int)s->who.tid);
	return false;
}
