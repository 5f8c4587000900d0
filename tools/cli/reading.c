// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input capture of dump, report and info: options, opening, and messages about losses.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/reading.h"
#include "cli/tool.h"
#include "cli/why.h"

/* Memory limit of the decoder; with an output's own tables the total stays below 64 MiB. */
#define MEMORY	(24u << 20)

int reading_option(struct reading *r, int c, char **argv, const struct option *options)
{
	int ret = r->filter ? xsp_filter_option(r->filter, r->verb, c, optarg) : -1;

	if (ret >= 0)
		return ret ? ret : -1;
	switch (c) {
	case 'i':
		r->input = optarg;
		return -1;
	case 'n':
		if (tool_parse_u64(optarg, &r->limit))
			return tool_usage(r->verb, "--limit %s: not a number", optarg);
		return -1;
	case 'q':
		r->quiet = true;
		return -1;
	case TOOL_OPT_ALLOW_LOST:
		r->allow_lost = true;
		return -1;
	default:
		return tool_option(r->verb, c, argv, options, r->help);
	}
}

int reading_file(struct reading *r, int argc, char **argv)
{
	struct stat st;

	if (optind < argc && !r->input)
		r->input = argv[optind++];
	if (optind < argc)
		return tool_usage(r->verb, "%s: one capture at a time", argv[optind]);
	if (r->input)
		return -1;
	r->input = XSP_INPUT;
	/* A pipe on stdin may also come from a shell's loop or from ssh. */
	if (!fstat(STDIN_FILENO, &st) && S_ISFIFO(st.st_mode))
		tool_note("reads " XSP_INPUT ": standard input is a pipe: '%s -' reads it",
			  r->verb);
	return -1;
}

/* ---- the capture ---------------------------------------------------------------------------- */

static void warn(void *data, const char *text)
{
	const struct xsp_source *source = data;

	if (!source->quiet)
		tool_note("%s", text);
}

/* A remedy if there is nothing to read, to follow the reason. */
static const char *cure(int err, const char *path)
{
	if (err == -EACCES)
		return ": run xsprof as its owner, or as root";
	if (err != -ENOENT)
		return "";
	return strcmp(path, XSP_INPUT) ? ": name a file that 'xsprof record' wrote" :
	       ": 'xsprof record' writes it; use --input for another file";
}

int xsp_source_open(struct xsp_source *source, const struct reading *reading, const char *path,
		    uint32_t flags)
{
	struct xsprof_trace_options opts = {
		.size = sizeof(opts),
		.flags = flags,
		.memory = MEMORY,
		.warn = warn,
		.warn_data = source,
	};
	const char *why;
	int ret;

	if (!path)
		path = reading->input;
	source->trace = NULL;
	source->arg = path;
	source->path = strcmp(path, "-") ? path : "stdin";
	source->quiet = reading->quiet;
	source->allow_lost = reading->allow_lost;
	ret = xsprof_trace_open(path, &opts, &source->trace);
	if (ret == 0)
		return 0;
	why = xsprof_trace_error(NULL);
	return tool_error("%s%s", *why ? why : strerror(-ret), cure(ret, path));
}

int xsp_source_error(const struct xsp_source *source, int ret)
{
	const char *why = xsprof_trace_error(source->trace);

	if (*why)
		return tool_error("%s", why);
	return tool_error("%s: %s", source->path, strerror(-ret));
}

/*
 * The recorder's messages: "process 12 is not recorded: why", or for a file "p.12.34.0: not
 * recorded: why". Messages about the kernel's events are not about a process.
 */
static bool of_process(const char *note)
{
	return strstr(note, " is not recorded: ") ||
	       (!strncmp(note, "p.", 2) && strstr(note, ": not recorded: "));
}

int xsp_source_start(const struct xsp_source *source, const struct xsprof_event *first,
		     uint64_t *ns)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	int ret = xsprof_trace_get_info(source->trace, &info);

	if (ret < 0)
		return xsp_source_error(source, ret);
	*ns = info.first_ns && info.first_ns < first->ns ? info.first_ns : first->ns;
	return 0;
}

const char *xsp_source_unrecorded(const struct xsp_source *source, uint32_t *index)
{
	const char *note;

	while ((note = xsprof_trace_note(source->trace, (*index)++)))
		if (of_process(note))
			return note;
	return NULL;
}

uint32_t xsp_source_nr_unrecorded(const struct xsp_source *source)
{
	uint32_t index = 0, n = 0;

	while (xsp_source_unrecorded(source, &index))
		n++;
	return n;
}

const char *xsp_source_missing(const struct xsp_source *source)
{
	const char *note;
	uint32_t i;

	for (i = 0; (note = xsprof_trace_note(source->trace, i)); i++)
		if (strstr(note, XSP_NOTE_MISSING))
			return note;
	return NULL;
}

int xsp_source_losses(const struct xsp_source *source)
{
	struct xsprof_trace_kernel kernel = { .size = sizeof(kernel) };
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	uint32_t unrecorded = xsp_source_nr_unrecorded(source);
	const char *missing = xsp_source_missing(source);
	bool damaged, kernel_lost, snapshot;
	int ret;

	ret = xsprof_trace_get_info(source->trace, &info);
	if (ret < 0)
		return xsp_source_error(source, ret);
	damaged = info.truncated || info.bad_chunks;
	kernel_lost = !xsprof_trace_get_kernel(source->trace, &kernel) &&
		      (kernel.lost || kernel.lost_slots || kernel.bad_slots);
	if (kernel_lost)
		tool_note("%s: lost %" PRIu64 " kernel events, and %" PRIu64 " bytes of "
			  "them that did not fit or are damaged", source->path, kernel.lost,
			  (kernel.lost_slots + kernel.bad_slots) * XSPROF_SLOT_SIZE);
	if (info.lost_records || info.lost_slots || info.bad_slots || damaged)
		tool_note("%s: lost %" PRIu64 " records, %" PRIu64 " slots overwritten unread, "
			  "%" PRIu64 " bad slots, %" PRIu64 " damaged chunks%s", source->path,
			  info.lost_records, info.lost_slots, info.bad_slots, info.bad_chunks,
			  info.truncated ? ", the file is cut off" : "");
	if (unrecorded)
		tool_note("%s: %u process%s could not be recorded: 'xsprof info' shows why",
			  source->path, unrecorded, unrecorded == 1 ? "" : "es");
	if (missing)
		tool_note("%s: %s", source->path, missing);
	if (damaged)
		return TOOL_DAMAGED;
	snapshot = info.end && info.end->why == WHY_SNAPSHOT;
	if (!kernel_lost && !unrecorded && !missing && !info.lost_records && !info.bad_slots &&
	    (!info.lost_slots || snapshot))
		return 0;
	return source->allow_lost ? 0 : TOOL_LOST;
}

bool xsp_source_attached(const struct xsp_source *source)
{
	/* What attach_text() has instead of a command. */
	const char *command = xsprof_trace_host_fact(source->trace, "command");

	return command && (!strncmp(command, "(processes ", 11) ||
			   !strcmp(command, "(all processes)"));
}

void xsp_source_close(struct xsp_source *source)
{
	xsprof_trace_close(source->trace);
	source->trace = NULL;
}
