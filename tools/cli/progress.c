// SPDX-License-Identifier: GPL-2.0-only
/*
 * Progress lines of a recording on stderr. Never stdout, which belongs to the command.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/progress.h"
#include "cli/signal-name.h"
#include "cli/tool.h"
#include "text/escape.h"

#define PERIOD_NS	250000000u

void progress_begin(struct progress *p, bool quiet, bool command)
{
	const char *term = getenv("TERM");

	memset(p, 0, sizeof(*p));
	p->terminal = !quiet && isatty(STDERR_FILENO) && term && strcmp(term, "dumb");
	p->live = p->terminal && !(command && isatty(STDOUT_FILENO));
	p->start = xsp_clock_ns(CLOCK_MONOTONIC);
	p->next = p->start + PERIOD_NS;
}

/* Formats losses: "0 lost", or the number of each kind. */
static void format_lost(char *buf, size_t size, const struct xsp_drain_stats *stats)
{
	size_t at;

	at = snprintf(buf, size, "%" PRIu64 " lost", stats->lost_records);
	if (stats->lost_slots && at < size)
		at += snprintf(buf + at, size - at, ", %" PRIu64 " slots overwritten",
			       stats->lost_slots);
	if (stats->bad_slots && at < size)
		at += snprintf(buf + at, size - at, ", %" PRIu64 " slots refused",
			       stats->bad_slots);
	if (stats->elsewhere_slots && at < size)
		snprintf(buf + at, size - at, ", %" PRIu64 " slots missing",
			 stats->elsewhere_slots);
}

/* A wrapped line cannot be cleared by overwriting its last row. */
static int columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 2)
		return 79;
	return size.ws_col - 1;
}

uint64_t progress_show(struct progress *p, const struct xsp_drain *d)
{
	uint64_t now = xsp_clock_ns(CLOCK_MONOTONIC);
	struct xsp_drain_stats stats;
	char bytes[32], lost[128], line[256];

	if (!p->live)
		return UINT64_MAX;
	if (now < p->next)
		return p->next - now;
	p->next = now + PERIOD_NS;
	xsp_drain_get_stats(d, &stats);
	tool_format_bytes(bytes, sizeof(bytes), stats.bytes);
	format_lost(lost, sizeof(lost), &stats);
	snprintf(line, sizeof(line), "[ xsprof record: %" PRIu64 " events, %s, %s, %" PRIu64 " s ]",
		 stats.records, bytes, lost, (now - p->start) / 1000000000u);
	if (!p->shown)
		progress_clear(p);
	fprintf(stderr, "\r%.*s\033[K", columns(), line);
	p->shown = true;
	return PERIOD_NS;
}

/*
 * A command may have left the cursor after its own output: blanks up to the last column wrap there,
 * and clear the line otherwise.
 */
void progress_clear(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	else if (p->terminal)
		fprintf(stderr, "%*s\r\033[K", columns() + 1, "");
	p->shown = false;
}

bool progress_lost(const struct xsp_drain_stats *stats)
{
	return stats->lost_records || stats->lost_slots || stats->bad_slots ||
	       stats->elsewhere_slots;
}

/* " (SIGSEGV: 4711, 4712; SIGKILL: 4713; ...)" */
static void print_killed(const struct xsp_drain_stats *stats)
{
	uint32_t named = stats->killed < XSP_DEATHS ? stats->killed : XSP_DEATHS;
	const char *between = " (", *name;
	uint32_t i, k;

	for (i = 0; i < named; i++) {
		int32_t signal = stats->deaths[i].signal;

		for (k = 0; k < i && stats->deaths[k].signal != signal; k++)
			;
		if (k < i)
			continue;
		name = signal_name(signal);
		if (name)
			fprintf(stderr, "%sSIG%s: %d", between, name, (int)stats->deaths[i].pid);
		else
			fprintf(stderr, "%ssignal %d: %d", between, (int)signal,
				(int)stats->deaths[i].pid);
		for (k = i + 1; k < named; k++)
			if (stats->deaths[k].signal == signal)
				fprintf(stderr, ", %d", (int)stats->deaths[k].pid);
		between = "; ";
	}
	if (named)
		fprintf(stderr, "%s)", named < stats->killed ? "; ..." : "");
}

static void print_deaths(const char *verb, const struct xsp_drain_stats *stats)
{
	if (!stats->killed && !stats->vanished)
		return;
	fprintf(stderr, "[ xsprof %s: ", verb);
	if (stats->killed) {
		fprintf(stderr, "%u of %u process%s killed", stats->killed, stats->producers,
			stats->producers == 1 ? " was" : "es were");
		print_killed(stats);
	}
	if (stats->vanished)
		fprintf(stderr, "%s%u of %u ended in an unknown way",
			stats->killed ? ", " : "", stats->vanished, stats->producers);
	fputs(" ]\n", stderr);
}

void progress_summary(const char *verb, const struct xsp_drain_stats *stats, const char *did,
		      const char *output)
{
	char bytes[32], lost[128];

	tool_format_bytes(bytes, sizeof(bytes), stats->bytes);
	format_lost(lost, sizeof(lost), stats);
	fprintf(stderr, "[ xsprof %s: %" PRIu64 " event%s from %u process%s, %s, %s, %s ",
		verb, stats->records, stats->records == 1 ? "" : "s", stats->producers,
		stats->producers == 1 ? "" : "es", bytes, lost, did);
	xsp_escape_print(stderr, output, strlen(output));
	fputs(" ]\n", stderr);
	print_deaths(verb, stats);
}
