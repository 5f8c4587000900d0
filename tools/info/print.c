// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the output of `xsprof info`, as text or JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/why.h"
#include "decode/rank.h"
#include "format/common/out.h"
#include "info/local.h"
#include "text/json.h"

/* Prints at most @max bytes. */
static void print_text(const char *s, size_t max)
{
	size_t len = strnlen(s, max);

	xsp_escape_print(stdout, s, len);
	if (s[len])
		fputs("...", stdout);
}

static void print_line(const char *key, const char *value)
{
	size_t width = xsp_escape_print(stdout, key, strlen(key));

	printf("%*s", width < 16 ? (int)(16 - width) : 1, "");
	print_text(value, 4096);
	putchar('\n');
}

/* Prints the wall-clock time of an instant, in UTC. */
static const char *wall(const struct info *info, uint64_t ns, char *buf, size_t size)
{
	int64_t real = (int64_t)(ns + (uint64_t)info->all.real_offset_ns);
	time_t seconds = (time_t)(real / 1000000000);
	struct tm tm;
	size_t n;

	if (real < 0 || !gmtime_r(&seconds, &tm))
		return "unknown";
	n = strftime(buf, size, "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(buf + n, size - n, ".%03d UTC", (int)(real / 1000000 % 1000));
	return buf;
}

static void print_host(const struct info *info)
{
	const char *key, *value;
	uint32_t i;

	for (i = 0; xsprof_trace_host_fact_at(info->source.trace, i, &key, &value) == 0; i++)
		print_line(key, value);
}

static void print_file(const struct info *info)
{
	const struct xsprof_trace_info *all = &info->all;
	uint64_t raw = info->read_slots * XSPROF_SLOT_SIZE;

	printf("%-16s", "file");
	print_text(info->source.path, 4096);
	printf(": %" PRIu64 " bytes, %" PRIu64 " chunks, ", all->size, all->chunks);
	if (all->size && raw > all->size)
		printf("%" PRIu64 " bytes of records (compressed %.2f : 1), ", raw,
		       (double)raw / (double)all->size);
	else if (raw)
		printf("%" PRIu64 " bytes of records, ", raw);
	if (all->truncated)
		fputs("CUT OFF", stdout);
	else
		fputs("complete", stdout);
	if (all->bad_chunks)
		printf(", %" PRIu64 " DAMAGED CHUNKS", all->bad_chunks);
	putchar('\n');
}

static void print_clock(const struct info *info)
{
	const struct xsprof_trace_info *all = &info->all;
	char from[64], to[64];

	printf("%-16s%s, %.6f MHz, %u sync points, error ", "clock",
	       xsp_word_clock(all->clock_kind), all->clock_freq / 1e6, all->clock_points);
	/* A single sync point has a time but no rate: the recorder was killed right away. */
	if (all->clock_error_ns == UINT64_MAX)
		puts("unknown");
	else
		printf("at most %" PRIu64 " ns\n", all->clock_error_ns);
	if (!info->first_ns) {
		print_line("span", "no events");
		return;
	}
	printf("%-16s%" PRIu64 ".%09" PRIu64 " s, %" PRIu64 " events, from %s to %s\n", "span",
	       (info->last_ns - info->first_ns) / 1000000000u,
	       (info->last_ns - info->first_ns) % 1000000000u, all->records,
	       wall(info, info->first_ns, from, sizeof(from)),
	       wall(info, info->last_ns, to, sizeof(to)));
	if (info->lossy_ns && info->lossy_ns < info->last_ns)
		printf("%-16sthe last %s, from %s: nothing was lost after that\n", "whole",
		       tool_format_time(to, sizeof(to), info->last_ns - info->lossy_ns),
		       wall(info, info->lossy_ns, from, sizeof(from)));
}

static void print_kernel(const struct info *info)
{
	struct xsprof_trace_kernel kernel = { .size = sizeof(kernel) };

	if (xsprof_trace_get_kernel(info->source.trace, &kernel))
		return;
	printf("%-16s", "tracer");
	print_text(kernel.release, 256);
	printf(": %u kinds of events, %u CPUs, clock ", kernel.kinds, kernel.cpus);
	print_text(*kernel.clock ? kernel.clock : "unknown", 64);
	if (kernel.refused)
		printf(", LEFT OUT: %s\n", kernel.refused);
	else if (kernel.error_ns == UINT64_MAX)
		puts(", error unknown");
	else
		printf(", at most %" PRIu64 " ns from the markers'\n", kernel.error_ns);
	printf("%-16s%" PRIu64 ", %" PRIu64 " lost, %" PRIu64 " bytes not saved, %" PRIu64
	       " bad\n", "tracer events", kernel.events, kernel.lost,
	       kernel.lost_slots * XSPROF_SLOT_SIZE, kernel.bad_slots * XSPROF_SLOT_SIZE);
}

static const char *ending(const struct xsprof_trace_producer *p, char *buf, size_t size)
{
	switch (p->how) {
	case XSPROF_HOW_EXITED:
		snprintf(buf, size, "exited %d", p->status);
		return buf;
	case XSPROF_HOW_KILLED:
		snprintf(buf, size, "killed %d", p->status);
		return buf;
	default:
		return xsp_word_how(p->how);
	}
}

static void print_producer(const struct info *info, uint32_t number)
{
	struct xsprof_trace_producer p;
	const char *exe, *cmdline;
	struct xsp_rank rank;
	char buf[32];

	if (xsprof_trace_get_producer(info->source.trace, number, &p) < 0)
		return;
	exe = xsprof_trace_fact(info->source.trace, number, "exe");
	cmdline = xsprof_trace_fact(info->source.trace, number, "cmdline");
	printf("%6u %8u %-12s %-9s %7u %12" PRIu64 " %10" PRIu64 " %10" PRIu64 "  ", number, p.pid,
	       ending(&p, buf, sizeof(buf)), p.ctl ? xsp_word_mode(p.ctl->mode) : "?",
	       number < info->nr_threads ? info->threads[number] : 0, p.records, p.lost_records,
	       p.lost_slots);
	if (xsp_rank_of(info->source.trace, number, &rank))
		printf("rank %u", rank.rank);
	if (rank.known && rank.world_size)
		printf(" of %u", rank.world_size);
	if (rank.backend) {
		fputs(", ", stdout);
		print_text(rank.backend, 64);
	}
	fputs(rank.known ? ": " : "", stdout);
	/* --json has all. */
	print_text(cmdline ? cmdline : exe ? exe : "?", 160);
	putchar('\n');
}

/* The total of losses of a recorder whose file had no space left to name the processes. */
static uint64_t lost_of_unknown(const struct info *info)
{
	struct xsprof_trace_producer p;
	uint64_t known = 0;
	uint32_t i;

	for (i = 0; i < info->all.producers; i++)
		if (!xsprof_trace_get_producer(info->source.trace, i, &p))
			known += p.lost_records;
	return info->all.lost_records > known ? info->all.lost_records - known : 0;
}

static void print_processes(const struct info *info)
{
	uint64_t unknown = lost_of_unknown(info);
	uint32_t i;

	printf("\n%6s %8s %-12s %-9s %7s %12s %10s %10s  %s\n", "number", "pid", "ended", "mode",
	       "threads", "events", "lost", "lost slots", "command");
	for (i = 0; i < info->all.producers; i++)
		print_producer(info, i);
	if (unknown)
		printf("%6s %8s %-12s %-9s %7s %12s %10" PRIu64 " %10s  %s\n", "-", "-", "-", "-",
		       "-", "-", unknown, "-",
		       "(did not fit into the file; process unknown)");
}

static void print_streams(const struct info *info)
{
	struct xsprof_trace *trace = info->source.trace;
	struct xsprof_trace_producer p;
	struct xsprof_cap_ledger l;
	uint32_t n, i;

	printf("\n%6s %5s %-6s %14s %14s %10s %8s %10s %8s %10s\n", "number", "ring", "kind",
	       "head", "read", "skipped", "bad", "drops", "busy", "unsaved");
	for (n = 0; n < info->all.producers; n++) {
		if (xsprof_trace_get_producer(trace, n, &p) < 0)
			continue;
		for (i = 0; xsprof_trace_get_ledger(trace, n, i, &l) == 0; i++)
			printf("%6u %5u %-6s %14" PRIu64 " %14" PRIu64 " %10" PRIu64 " %8" PRIu64
			       " %10" PRIu64 " %8" PRIu64 " %10" PRIu64 "\n", n, l.ring,
			       xsp_word_ring(l.kind), l.head, l.read, l.skipped, l.bad, l.drops,
			       l.busy, l.unsaved);
	}
}

static const char *why_ended(const struct info *info)
{
	const struct xsprof_cap_end *end = info->all.end;

	static const char *const words[] = {
		"the command ended", "stopped by a signal", "the duration ended",
		"the recorder failed", "a snapshot of the rings in memory",
	};

	if (!end)
		return "incomplete: the recorder was killed, or the file is truncated";
	if (end->why == WHY_ENDED && xsp_source_attached(&info->source))
		return "the processes ended";
	return end->why < sizeof(words) / sizeof(words[0]) ? words[end->why] : "?";
}

void info_print(const struct info *info)
{
	const struct xsprof_trace_info *all = &info->all;
	const char *note;
	uint32_t i;

	print_file(info);
	print_host(info);
	print_clock(info);
	print_kernel(info);
	print_line("ended", why_ended(info));
	printf("%-16s%" PRIu64 " records, %" PRIu64 " slots overwritten unread, %" PRIu64
	       " bad slots\n", "lost", all->lost_records, all->lost_slots, all->bad_slots);
	info_slices_print(info);
	info_clocks_print(info);
	info_missed_print(info);
	for (i = 0; (note = xsprof_trace_note(info->source.trace, i)); i++)
		print_line("note", note);
	if (info->threads_full)
		print_line("note", "more threads than could be counted");
	print_processes(info);
	print_streams(info);
	open_ranges_print(&info->open, &(struct open_show){ 0 });
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_text(const char *key, const char *value)
{
	printf("\"%s\":", key);
	xsp_json_print(stdout, value, strlen(value));
}

static void json_facts(const struct info *info, uint32_t producer, bool host)
{
	const char *key, *value;
	uint32_t i;
	int ret;

	for (i = 0; ; i++) {
		ret = host ? xsprof_trace_host_fact_at(info->source.trace, i, &key, &value) :
			     xsprof_trace_fact_at(info->source.trace, producer, i, &key, &value);
		if (ret)
			break;
		if (i)
			putchar(',');
		xsp_json_print(stdout, key, strlen(key));
		putchar(':');
		xsp_json_print(stdout, value, strlen(value));
	}
}

static void json_ring(const struct xsprof_cap_ledger *l)
{
	printf("{\"ring\":%u,\"kind\":\"%s\",\"head\":%" PRIu64 ",\"read\":%" PRIu64
	       ",\"skipped\":%" PRIu64 ",\"bad\":%" PRIu64 ",\"drops\":%" PRIu64
	       ",\"busy\":%" PRIu64 ",\"unsaved\":%" PRIu64 "}", l->ring,
	       xsp_word_ring(l->kind), l->head, l->read, l->skipped, l->bad, l->drops, l->busy,
	       l->unsaved);
}

static void json_producer(const struct info *info, uint32_t number)
{
	struct xsprof_trace_producer p = { 0 };
	struct xsprof_cap_ledger ledger;
	uint32_t i;

	xsprof_trace_get_producer(info->source.trace, number, &p);
	printf("{\"number\":%u,\"pid\":%u,\"how\":\"%s\",\"%s\":%d,"
	       "\"exit_ns\":%" PRIu64 ",\"exit_within_ns\":%" PRIu64 ",\"threads\":%u,"
	       "\"events\":%" PRIu64 ",\"lost_records\":%" PRIu64 ",\"lost_slots\":%" PRIu64
	       ",\"bad_slots\":%" PRIu64, number, p.pid, xsp_word_how(p.how),
	       xsp_word_of_end(p.how), p.status, p.exit_ns,
	       p.exit_ns - xsprof_trace_lived_ns(info->source.trace, number),
	       number < info->nr_threads ? info->threads[number] : 0, p.records, p.lost_records,
	       p.lost_slots, p.bad_slots);
	if (p.ctl)
		printf(",\"mode\":\"%s\",\"ring_size\":%" PRIu64 ",\"rings\":%u,\"lock_rings\":%u",
		       xsp_word_mode(p.ctl->mode), (uint64_t)p.ctl->ring_size, p.ctl->nr_rings,
		       p.ctl->nr_lock_rings);
	fputs(",\"facts\":{", stdout);
	json_facts(info, number, false);
	fputs("},\"streams\":[", stdout);
	for (i = 0; xsprof_trace_get_ledger(info->source.trace, number, i, &ledger) == 0; i++) {
		if (i)
			putchar(',');
		json_ring(&ledger);
	}
	fputs("]}", stdout);
}

static void json_kernel(const struct info *info)
{
	struct xsprof_trace_kernel kernel = { .size = sizeof(kernel) };

	if (xsprof_trace_get_kernel(info->source.trace, &kernel))
		return;
	fputs(",\"kernel\":{\"release\":", stdout);
	xsp_json_print(stdout, kernel.release, strlen(kernel.release));
	fputs(",\"clock\":", stdout);
	xsp_json_print(stdout, kernel.clock, strlen(kernel.clock));
	if (kernel.refused) {
		fputs(",\"refused\":", stdout);
		xsp_json_print(stdout, kernel.refused, strlen(kernel.refused));
	}
	if (kernel.error_ns != UINT64_MAX)
		printf(",\"error_ns\":%" PRIu64, kernel.error_ns);
	printf(",\"kinds\":%u,\"cpus\":%u,\"events\":%" PRIu64 ",\"lost\":%" PRIu64
	       ",\"lost_slots\":%" PRIu64 ",\"bad_slots\":%" PRIu64 "}", kernel.kinds,
	       kernel.cpus, kernel.events, kernel.lost, kernel.lost_slots, kernel.bad_slots);
}

void info_print_json(const struct info *info)
{
	const struct xsprof_trace_info *all = &info->all;
	char freq[XSP_PUT_MAX + 2];
	const char *note;
	uint32_t i;

	putchar('{');
	json_text("file", info->source.path);
	printf(",\"size\":%" PRIu64 ",\"chunks\":%" PRIu64 ",\"record_bytes\":%" PRIu64
	       ",\"truncated\":%s,\"damaged_chunks\":%" PRIu64 ",\n\"host\":{", all->size,
	       all->chunks, info->read_slots * XSPROF_SLOT_SIZE, all->truncated ? "true" : "false",
	       all->bad_chunks);
	json_facts(info, 0, true);
	*xsp_json_double(freq, all->clock_freq) = '\0';
	printf("},\n\"clock\":{\"kind\":\"%s\",\"frequency_hz\":%s,\"sync_points\":%u,"
	       "\"error_ns\":%" PRIu64 ",\"realtime_offset_ns\":%" PRId64 "},\n",
	       xsp_word_clock(all->clock_kind), freq, all->clock_points, all->clock_error_ns,
	       all->real_offset_ns);
	printf("\"first_ns\":%" PRIu64 ",\"last_ns\":%" PRIu64 ",\"events\":%" PRIu64
	       ",\"lost_records\":%" PRIu64 ",\"lost_of_unknown\":%" PRIu64
	       ",\"lost_slots\":%" PRIu64 ",\"bad_slots\":%" PRIu64 ",\n",
	       info->first_ns, info->last_ns, all->records, all->lost_records,
	       lost_of_unknown(info), all->lost_slots, all->bad_slots);
	if (info->first_ns && info->lossy_ns < info->last_ns)
		printf("\"whole_from_ns\":%" PRIu64 ",",
		       info->lossy_ns ? info->lossy_ns + 1 : info->first_ns);
	json_text("ended", why_ended(info));
	fputs(",\n\"notes\":[", stdout);
	for (i = 0; (note = xsprof_trace_note(info->source.trace, i)); i++) {
		if (i)
			putchar(',');
		xsp_json_print(stdout, note, strlen(note));
	}
	putchar(']');
	info_clocks_json(info);
	info_missed_json(info);
	json_kernel(info);
	fputs(",\n\"processes\":[", stdout);
	for (i = 0; i < all->producers; i++) {
		fputs(i ? ",\n" : "\n", stdout);
		json_producer(info, i);
	}
	fputs("],\n\"open_at_end\":", stdout);
	open_ranges_json(&info->open, &(struct open_show){ .all = true });
	fputs(",\n\"silent_at_end\":", stdout);
	open_silent_json(&info->open, &(struct open_show){ .all = true });
	fputs("}\n", stdout);
}
