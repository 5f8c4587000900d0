// SPDX-License-Identifier: GPL-2.0-only
/*
 * xsprof info: summarizes a capture: host, clock, processes, streams, losses. It reads every event
 * once, so that the counts are verified, not taken from headers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/reading.h"
#include "cli/tool.h"
#include "info/local.h"
#include "ranges/losses.h"

#define BATCH		256u
#define SET_BITS	17
#define SET_MAX		((1u << SET_BITS) / 4 * 3)

/* Threads seen, as producer and thread id, + 1; 0: a free slot. */
struct set {
	uint32_t	n;
	uint64_t	last;
	uint64_t	v[1u << SET_BITS];
};

static void help(void)
{
	fputs("usage: xsprof info [options] [FILE]\n\n"
	      "Summarizes a capture: host, recorder, clock, processes, streams and losses.\n\n"
	      "  -i, --input FILE      the capture (default " XSP_INPUT ", - is stdin)\n"
	      "      --json            as JSON\n"
	      "  -q, --quiet           no warnings about the file; losses are still shown\n"
	      "      --allow-lost      exit with status 0 if records were lost\n"
	      "  -h, --help            this text\n"
	      "  -V, --version         the version\n\n"
	      READING_STATUS_HELP,
	      stdout);
}

static int count_producer(struct info *info, uint32_t producer)
{
	uint32_t n = (producer / 64 + 1) * 64, *threads;

	if (producer >= XSPROF_CAP_MAX_PRODUCERS)
		return 0;
	if (producer >= info->nr_threads) {
		threads = realloc(info->threads, n * sizeof(*threads));
		if (!threads)
			return -ENOMEM;
		memset(threads + info->nr_threads, 0, (n - info->nr_threads) * sizeof(*threads));
		info->threads = threads;
		info->nr_threads = n;
	}
	info->threads[producer]++;
	return 0;
}

static int count_thread(struct info *info, struct set *set, const struct xsprof_event *ev)
{
	uint64_t key = ((uint64_t)ev->producer << 32 | ev->tid) + 1;
	uint32_t i = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> (64 - SET_BITS));

	if (key == set->last || !ev->tid)
		return 0;
	set->last = key;
	for (; set->v[i]; i = (i + 1) % (1u << SET_BITS))
		if (set->v[i] == key)
			return 0;
	if (set->n == SET_MAX) {
		info->threads_full = true;
		return 0;
	}
	set->v[i] = key;
	set->n++;
	return count_producer(info, ev->producer);
}

static void add_range(void *data, const struct xsprof_range *range)
{
	struct info *info = data;

	open_ranges_add(&info->open, range);
}

static int read_all(struct info *info, struct set *set, struct xsprof_pairer *pairer)
{
	static struct xsprof_event evs[BATCH];
	int n, i, ret;

	while ((n = xsprof_trace_next_batch(info->source.trace, evs, BATCH)) > 0) {
		if (!info->first_ns)
			info->first_ns = evs[0].ns;
		for (i = 0; i < n; i++) {
			if (evs[i].producer == XSPROF_NO_PRODUCER)
				continue;
			info->lossy_ns = xst_losses_until(&evs[i], info->lossy_ns);
			missed_event(&info->missed, info->source.trace, &evs[i]);
			info_clocks_event(info, &evs[i]);
			/* The end of a process that wrote nothing does not count. */
			ret = evs[i].type == XSPROF_EV_THREAD_EXIT ? 0 :
			      count_thread(info, set, &evs[i]);
			if (!ret)
				ret = open_ranges_event(&info->open, pairer, &evs[i]);
			if (ret < 0)
				return tool_error("%s", strerror(-ret));
		}
		info->last_ns = evs[n - 1].ns;
	}
	missed_facts(&info->missed, info->source.trace);
	return n < 0 ? xsp_source_error(&info->source, n) : 0;
}

static int sum_ledgers(struct info *info)
{
	struct xsprof_cap_ledger ledger;
	uint32_t p, i;

	for (p = 0; p < info->all.producers; p++)
		for (i = 0; xsprof_trace_get_ledger(info->source.trace, p, i, &ledger) == 0; i++)
			info->read_slots += ledger.read;
	return 0;
}

/* Reads every event, and finds ranges open at the end. Return: 0, or an exit status. */
static int read_whole(struct info *info)
{
	struct set *set = calloc(1, sizeof(*set));
	struct xsprof_pairer *pairer;
	int status, ret;

	ret = set ? xsprof_pairer_new(info->source.trace, add_range, info, &pairer) : -ENOMEM;
	if (ret < 0) {
		free(set);
		return tool_error("%s", strerror(-ret));
	}
	status = read_all(info, set, pairer);
	if (!status) {
		ret = xsprof_pairer_finish(pairer);
		if (!ret)
			ret = open_ranges_finish(&info->open);
		if (ret < 0)
			status = tool_error("%s: %s", info->source.path, strerror(-ret));
	}
	xsprof_pairer_free(pairer);
	free(set);
	return status;
}

static int run(struct info *info, bool json)
{
	int status, ret;

	info->open.trace = info->source.trace;
	status = read_whole(info);
	if (status)
		return status;
	info->all.size_of = sizeof(info->all);
	ret = xsprof_trace_get_info(info->source.trace, &info->all);
	if (ret < 0)
		return xsp_source_error(&info->source, ret);
	sum_ledgers(info);
	if (json)
		info_print_json(info);
	else
		info_print(info);
	status = tool_finish(0);
	return status ? status : xsp_source_losses(&info->source);
}

int cmd_info(int argc, char **argv)
{
	enum { OPT_JSON = 0x100 };
	static const struct option options[] = {
		READING_OPTIONS,
		{ "json",	no_argument,	   NULL, OPT_JSON },
		{ 0 },
	};
	struct reading reading = { .verb = "info", .help = help };
	bool json = false;
	struct info info = { 0 };
	int c, status;

	optind = 0;
	while ((c = getopt_long(argc, argv, ":" READING_SHORT, options, NULL)) != -1) {
		if (c == OPT_JSON) {
			json = true;
			continue;
		}
		status = reading_option(&reading, c, argv, options);
		if (status >= 0)
			return status;
	}
	status = reading_file(&reading, argc, argv);
	if (status < 0)
		status = xsp_source_open(&info.source, &reading, NULL, 0);
	if (status)
		return status;
	status = run(&info, json);
	open_ranges_free(&info.open);
	xsp_source_close(&info.source);
	xsp_early_free(&info.early);
	free(info.threads);
	return status;
}
