// SPDX-License-Identifier: GPL-2.0-only
/*
 * Formats that need all ops of a process: those of PyTorch's other tools, written by the library.
 * They cannot be written before the whole capture has been read.
 */
#include <errno.h>
#include <string.h>

#include <xsprof/flow.h>
#include <xsprof/result.h>

#include "cli/tool.h"
#include "dump/local.h"

static int timeline(struct xsprof_result *result, const char *path)
{
	return xsprof_result_save_memory_timeline(result, path, XSPROF_DEVICE_CPU);
}

static const struct whole {
	const char	*name;
	int		(*save)(struct xsprof_result *result, const char *path);
	bool		memory;		/* needs allocations, else ops */
} wholes[] = {
	{ "execution-trace", xsprof_result_save_execution_trace, false },
	{ "memory-snapshot", xsprof_result_save_memory_snapshot, true },
	{ "memory-timeline", timeline, true },
};

const struct whole *dump_whole_find(const char *name)
{
	for (size_t i = 0; i < sizeof(wholes) / sizeof(wholes[0]); i++)
		if (!strcmp(wholes[i].name, name))
			return &wholes[i];
	return NULL;
}

int dump_whole_check(const struct dump *dump)
{
	const struct xsp_filter *f = &dump->filter;
	const char *name = dump->whole->name;

	if (!strcmp(dump->output, "-"))
		return tool_usage("dump", "-f %s: needs an output file: -o FILE", name);
	if (dump->look_on || dump->follow)
		return tool_usage("dump", "-f %s: needs a whole capture: cannot be used with "
				  "--live or --follow", name);
	if (xsp_filter_given(f) && !(xsp_filter_one_pid(f) && !f->from.given && !f->to.given &&
				     !f->tid.n && !f->cpu.n && !f->name.n && !f->category.n))
		return tool_usage("dump", "-f %s: shows a whole process: --pid PID is the only "
				  "filter", name);
	if (dump->reading.limit != UINT64_MAX || dump->out.relative)
		return tool_usage("dump", "-f %s: cannot be used with --limit or --reltime", name);
	return -1;
}

/* Return: the capture has several processes, and none was selected. */
static bool several(struct dump *dump)
{
	struct xsprof_trace_producer first = { 0 }, other = { 0 };
	struct xsprof_trace_info info = { .size_of = sizeof(info) };

	if (xsp_filter_one_pid(&dump->filter) ||
	    xsprof_trace_get_info(dump->source.trace, &info) < 0 ||
	    xsprof_trace_get_producer(dump->source.trace, 0, &first))
		return false;
	for (uint32_t i = 1; i < info.producers; i++)
		if (!xsprof_trace_get_producer(dump->source.trace, i, &other) &&
		    other.pid != first.pid)
			return true;
	return false;
}

/*
 * Reads to the end: some losses, and a truncated file, are known only there.
 * Return: 0: the capture has the needed records; else TOOL_FAILED after a message.
 */
static int check_held(struct dump *dump)
{
	static struct xsprof_event evs[256];
	uint32_t pid = xsp_filter_one_pid(&dump->filter);
	bool memory = dump->whole->memory;
	struct xsprof_trace_op op;
	bool held = false;
	int n;

	while ((n = xsprof_trace_next_batch(dump->source.trace, evs, 256)) > 0)
		for (int i = 0; i < n; i++)
			if (!held && (!pid || evs[i].pid == pid))
				held = memory ? evs[i].type == XSPROF_REC_ALLOC :
				       xsprof_trace_op(&evs[i], &op);
	if (n < 0)
		return xsp_source_error(&dump->source, n);
	if (held)
		return 0;
	return tool_error("%s: has no %s, which %s needs: record with --torch %s",
			  dump->source.path, memory ? "PyTorch allocations" : "PyTorch ops",
			  dump->whole->name, memory ? "all" : "shapes");
}

int dump_whole(struct dump *dump)
{
	const struct xsprof_result_options opts = {
		.size = sizeof(opts), .pid = xsp_filter_one_pid(&dump->filter),
	};
	struct xsprof_result *result;
	const char *why;
	int err;

	if (several(dump))
		return tool_usage("dump", "-f %s: shows one process: select it with --pid ('xsprof "
				  "info' lists the recorded processes)", dump->whole->name);
	err = check_held(dump);
	if (err)
		return err;
	err = xsprof_result_open(dump->source.path, &opts, &result);
	if (err)
		return tool_error("%s: %s", dump->source.path, strerror(-err));
	err = dump->whole->save(result, dump->output);
	why = xsprof_result_error(result);
	if (err)
		err = tool_error("%s: %s", dump->output, why && *why ? why : strerror(-err));
	xsprof_result_free(result);
	return err ? err : xsp_source_losses(&dump->source);
}
