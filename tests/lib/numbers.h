/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes and checks numbered records of one name, to test which process a record belongs to.
 */
#ifndef XSP_TEST_NUMBERS_H
#define XSP_TEST_NUMBERS_H

#include <errno.h>
#include <sys/wait.h>

#include <xsprof/xsprof.h>

#include "ring/collect.h"

static xsprof_name_t name;

__attribute__((unused)) static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

__attribute__((unused)) static void numbers(unsigned int from, unsigned int to)
{
	for (unsigned int i = from; i < to; i++)
		xsprof_counter(name, i);
}

/* @pid has left @n records, numbered from 0; if @tid is not 0, all of that thread. */
__attribute__((unused)) static void check_numbers_of(pid_t pid, unsigned int n, uint32_t tid)
{
	uint8_t *seen = calloc(1, n + 1);

	collect(pid);
	CHECK_EQ(collect_count(XSPROF_REC_COUNTER_I64, name), n);
	for (unsigned int i = 0; i < got.n; i++) {
		const struct collected *c = &got.rec[i];

		if (c->type != XSPROF_REC_COUNTER_I64 || c->name != name)
			continue;
		if (c->value >= n || seen[c->value]++)
			tap_wrong("record %llu of process %d", (unsigned long long)c->value, pid);
		if (tid && c->tid != tid)
			tap_wrong("record %llu of process %d bears thread %u, not %u",
				  (unsigned long long)c->value, pid, c->tid, tid);
	}
	CHECK_EQ(got.drops, 0);
	CHECK(n == 0 || (collect_name(name) && !strcmp(collect_name(name), "number")));
	free(seen);
}

__attribute__((unused)) static void check_numbers(pid_t pid, unsigned int n)
{
	check_numbers_of(pid, n, 0);
}

#endif /* XSP_TEST_NUMBERS_H */
