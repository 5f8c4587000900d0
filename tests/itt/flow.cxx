// SPDX-License-Identifier: GPL-2.0-only
/*
 * A oneTBB program that knows nothing of xsprof, with results that do not depend on the
 * schedule: loops, a task group, and a flow graph, which passes ids with its tasks. It
 * allocates by tbbmalloc, which carries a second static ittnotify part. Built by real.py.
 */
#include <atomic>
#include <cstdio>

#include <tbb/flow_graph.h>
#include <tbb/parallel_for.h>
#include <tbb/scalable_allocator.h>
#include <tbb/task_group.h>

int main()
{
	std::atomic<long> loops{0}, flows{0};

	for (int round = 0; round < 10; round++) {
		tbb::task_group group;

		tbb::parallel_for(0, 100, [&](int i) {
			if (!round)
				loops += i;
		});
		group.run([] { scalable_free(scalable_malloc(1000)); });
		group.wait();
	}

	tbb::flow::graph graph;
	tbb::flow::function_node<int, int> twice(graph, tbb::flow::unlimited,
						 [](int i) { return 2 * i; });
	tbb::flow::function_node<int, int> sum(graph, tbb::flow::serial, [&](int i) {
		flows += i;
		return i;
	});

	tbb::flow::make_edge(twice, sum);
	for (int i = 0; i < 100; i++)
		twice.try_put(225);
	graph.wait_for_all();
	std::printf("flow: %ld %ld\n", loops.load(), flows.load());
	return 0;
}
