// SPDX-License-Identifier: GPL-2.0-only
/*
 * The words of a row of a report: process, thread, category and name, and how wide their columns
 * are.  It prints no number.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "ranges/program.h"
#include "report/local.h"
#include "report/why-local.h"
#include "text/escape.h"
#include "text/utf8.h"

bool report_colours(void)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && (!no || !*no) && term && strcmp(term, "dumb");
}

void report_print_text(const char *s, size_t len, size_t width)
{
	size_t shown = xsp_escape_print(stdout, s, len);

	for (; shown < width; shown++)
		putchar(' ');
}

const char *report_process(const struct report *report, const struct xsp_group *group, char *buf,
			   size_t size)
{
	char text[XSP_PROGRAM_MAX];
	const char *name;

	if (!group->key.producer)
		return "(other)";
	name = xsp_program(report->source.trace, group->key.producer - 1, text);
	snprintf(buf, size, "%.64s-%u", name ? name : "?", group->pid);
	return buf;
}

const char *report_thread(const struct report *report, const struct xsp_key *key, char *buf,
			  size_t size)
{
	const char *comm;

	if (!key->tid)
		return "(other)";
	comm = xsprof_trace_thread(report->source.trace, key->producer - 1,
				   (uint32_t)(key->tid - 1));
	if (!*comm)
		comm = "?";
	snprintf(buf, size, "%.*s-%" PRIu64, (int)xsp_utf8_piece(comm, strlen(comm), 61), comm,
		 key->tid - 1);
	return buf;
}

static const char *module_text(const struct report *report, const struct xsp_group *group,
			       size_t *len)
{
	static const char none[] = "-";

	if (group->key.module || xsp_groups_is_other(report->groups, group))
		return xsp_groups_word(report->groups, group->key.module, len);
	*len = sizeof(none) - 1;
	return none;
}

void report_print_heads(const struct report *report, const struct report_width *width, bool bold)
{
	const char *place = report->by & REPORT_BY_LINE ? "Line" : "Module";

	if (report->by & REPORT_BY_PROCESS)
		printf("%-*s  ", (int)width->process, "Process");
	if (report->by & REPORT_BY_THREAD)
		printf("%-*s  ", (int)width->thread, "Thread");
	if (report->by & REPORT_BY_CATEGORY || report->split)
		printf("%-*s  ", (int)width->category, "Category");
	if (report->by & REPORT_BY_PLACE && report->by & REPORT_BY_NAME)
		printf("%-*s  ", (int)width->module, place);
	else if (report->by & REPORT_BY_PLACE)
		fputs(place, stdout);
	if (report->by & REPORT_BY_NAME)
		fputs("Name", stdout);
	puts(bold ? "\033[0m" : "");
}

/* The words of a row: process, thread, category, name, as far as the rows are split by them. */
void report_print_words(const struct report *report, const struct xsp_group *group,
			const struct report_width *width)
{
	bool other = xsp_groups_is_other(report->groups, group);
	char buf[160];
	const char *s;
	size_t len;

	if (report->by & REPORT_BY_PROCESS) {
		s = report_process(report, group, buf, sizeof(buf));
		report_print_text(s, strlen(s), width->process);
		fputs("  ", stdout);
	}
	if (report->by & REPORT_BY_THREAD) {
		s = report_thread(report, &group->key, buf, sizeof(buf));
		report_print_text(s, strlen(s), width->thread);
		fputs("  ", stdout);
	}
	if (report->by & REPORT_BY_CATEGORY || (report->split && !group->key.type)) {
		s = xsp_groups_word(report->groups, other ? 0 : group->key.category, &len);
		report_print_text(s, len, width->category);
		fputs("  ", stdout);
	}
	if (report->by & REPORT_BY_PLACE && !group->key.type) {
		s = module_text(report, group, &len);
		report_print_text(s, len, report->by & REPORT_BY_NAME ? width->module : 0);
		if (report->by & REPORT_BY_NAME)
			fputs("  ", stdout);
	}
	if (report->by & REPORT_BY_NAME) {
		s = xsp_groups_word(report->groups, other ? 0 : group->key.name, &len);
		report_print_text(s, len, 0);
	}
	if (group->key.shape) {
		s = xsp_groups_word(report->groups, group->key.shape, &len);
		putchar('(');
		report_print_text(s, len, 0);
		putchar(')');
	}
	putchar('\n');
}

static void print_modules_left(const struct report_modules *modules, const char *what)
{
	uint64_t unlinked = report_modules_unlinked(modules);

	if (!report_modules_any(modules))
		printf("... no %s were recorded: use record --torch=all for ops called by Python; "
		       "for a C++ program, record --torch=cstack records stacks, for dump -f "
		       "kineto\n", what);
	if (unlinked)
		printf("... the %s of %" PRIu64 " backward ops are unknown: their forward ops were "
		       "not recorded, or are too long ago\n", what, unlinked);
}

void report_print_left(const struct report *report, bool ranges)
{
	uint64_t crowded = report_shapes_crowded(report->shapes);

	if (report_hints_lack_places(report))
		puts("... stack samples have no lines or modules of ops: --by function shows them");
	if (ranges && report->by & REPORT_BY_PLACE)
		print_modules_left(report_shapes_modules(report->shapes),
				   report->by & REPORT_BY_LINE ? "lines" : "modules");
	if (ranges && report->by & REPORT_BY_SHAPE && !report_shapes_any(report->shapes))
		puts("... no inputs were recorded, so rows are by name: record --torch=shapes "
		     "records those of PyTorch's ops");
	if (crowded)
		printf("... inputs, modules or lines of "
		       "%" PRIu64 " ops did not fit: these ops are in rows '...', or by "
		       "name\n", crowded);
}

static uint64_t name_key(const struct xsp_group *row)
{
	return xsp_hash_pair(xsp_hash_pair(row->key.name, row->key.producer), row->key.tid) | 1;
}

/*
 * Rows are by name, and by category where a name is in several: oneDNN has one name for making a
 * primitive and for running it, in two domains.
 */
int report_split(struct report *report)
{
	struct xsp_map seen = { 0 };
	struct xsp_group **rows;
	int err = 0;
	size_t n;

	if (report->by & REPORT_BY_CATEGORY || !(report->by & REPORT_BY_NAME))
		return 0;
	rows = xsp_groups_all(report->groups, &n);
	for (size_t i = 0; i < n && !err; i++) {
		uint64_t key = name_key(rows[i]);
		const uint64_t *category = xsp_map_get(&seen, key);

		if (rows[i]->key.type || xsp_groups_is_other(report->groups, rows[i]))
			continue;
		if (!category)
			err = xsp_map_set(&seen, key, rows[i]->key.category);
		else if (*category != rows[i]->key.category)
			report->split = true;
	}
	xsp_map_free(&seen);
	return err;
}

void report_widen(const struct report *report, const struct xsp_group *row,
		  struct report_width *width)
{
	char buf[160];
	size_t len;

	if (report->by & REPORT_BY_PROCESS)
		width->process = report_max(width->process,
					  strlen(report_process(report, row, buf, sizeof(buf))));
	if (report->by & REPORT_BY_THREAD)
		width->thread = report_max(width->thread,
					 strlen(report_thread(report, &row->key, buf,
							      sizeof(buf))));
	if (report->by & REPORT_BY_PLACE) {
		module_text(report, row, &len);
		width->module = report_max(width->module, len < 60 ? len : 60);
	}
	xsp_groups_word(report->groups, row->key.category, &len);
	width->category = report_max(width->category, len < 40 ? len : 40);
}

/*
 * Is its time in no other range of the row?  That of a function that calls itself is in its
 * outermost call, that of a thread in the outermost ranges, where all of them are asked for.
 */
bool report_counts_once(const struct report *report, const struct xsprof_range *range)
{
	if (report->by & REPORT_BY_NAME)
		return !(range->flags & XSPROF_RANGEF_RECURSIVE);
	return !why_on_thread(range) || !range->depth || report->by & REPORT_BY_CATEGORY ||
	       xsp_filter_names(&report->filter);
}
