// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the cost of an ITT task through the collector, compared with a plain marker pair: with a
 * string handle, and without ids, as PyTorch and oneDNN call it.
 */
#include "lib/collect/itt/itt-abi.h"

#include "bench.h"
#include "collector.h"

static void (*begin)(const struct itt_domain *domain, struct itt_id task, struct itt_id parent,
		     struct itt_string *name);
static void (*end)(const struct itt_domain *domain);
static struct itt_domain *domain;
static struct itt_string *handle;

static void tasks(long n)
{
	static const struct itt_id none;

	for (long i = 0; i < n; i++) {
		begin(domain, none, none, handle);
		end(domain);
	}
}

static void open_collector(void)
{
	void *lib = bench_collector("BENCH_ITT");
	struct itt_domain *(*new_domain)(const char *text);
	struct itt_string *(*new_string)(const char *text);

	new_domain = (struct itt_domain *(*)(const char *))
		     bench_collector_find(lib, "__itt_domain_create");
	new_string = (struct itt_string *(*)(const char *))
		     bench_collector_find(lib, "__itt_string_handle_create");
	begin = (void (*)(const struct itt_domain *, struct itt_id, struct itt_id,
			  struct itt_string *))bench_collector_find(lib, "__itt_task_begin");
	end = (void (*)(const struct itt_domain *))bench_collector_find(lib, "__itt_task_end");
	domain = new_domain("bench");
	handle = new_string("aten::convolution");
}

int main(int argc, char **argv)
{
	static const struct bench_calls calls[] = {
		{ tasks, "itt_task", "itt_ratio" },
	};

	(void)argc;
	return bench_collector_run(argv, "itt_pair", open_collector, calls, 1);
}
