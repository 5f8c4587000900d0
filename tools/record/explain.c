// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hints for recordings that are empty or incomplete.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "ftrace/ftrace.h"
#include "record/local.h"
#include "record/program.h"

/* No process joined. Most programs have no markers: first what records any program. */
static void explain_nobody(const struct recording *r)
{
	if (r->opts.python_hz) {
		tool_note("nothing was recorded: the command ran no Python that xsprof can record, "
			  "and had no markers");
		tool_note("it must have the environment of the command, which sudo and env -i "
			  "clear, and load the libraries of LD_PRELOAD");
		return;
	}
	tool_note("nothing was recorded: no process of the command had markers");
	tool_note("'sudo xsprof record -e sched' shows where the time of any program's threads "
		  "goes");
	tool_note("markers are those of libxsprof-user%s%s%s",
		  r->opts.torch && !strcmp(r->opts.torch, "off") ? "" : ", PyTorch's ops",
		  r->opts.itt ? ", ITT calls (not in GNU's libgomp)" : "",
		  r->opts.nvtx ? ", NVTX calls" : "");
	tool_note("if it has some: containers need the recorder's /dev/shm; env -i and sudo clear "
		  "variables");
}

void record_explain_nothing(const struct recording *r)
{
	const char *backend = r->opts.backend ? NULL : getenv("XSPROF_BACKEND");
	bool came = attach_on(&r->opts.attach) || r->stats.refused || r->stats.producers;
	const char *refusal = came ? NULL : program_refusal(r->opts.argv[0]);

	if (refusal)
		tool_note("no markers were recorded: %s is %s", r->opts.argv[0], refusal);
	else if (ftrace_last_stats()->events && !r->stats.refused)
		tool_note("no markers were recorded: 'xsprof report' shows where the time of "
			  "threads went, if the events include sched");
	else if (attach_on(&r->opts.attach) && !r->stats.refused)
		tool_note("nothing was recorded: no process reached a marker");
	else if (attach_on(&r->opts.attach))
		return;	/* exit_status() prints it */
	else if (r->stats.refused)
		tool_note("nothing was recorded: all processes that tried to join failed, see "
			  "above");
	else if (r->stats.producers && r->opts.python_hz)
		tool_note("nothing was recorded: no Python ran until its first sample, and the "
			  "command executed no marker%s",
			  r->opts.categories ? " of these categories" : "");
	else if (r->stats.producers)
		tool_note("nothing was recorded: the command joined but executed no marker%s",
			  r->opts.categories ? " of these categories" : "");
	else if (backend && !strcmp(backend, "none"))
		tool_note("nothing was recorded: XSPROF_BACKEND=none in the environment disables "
			  "it: unset it, or use --backend");
	else
		explain_nobody(r);
}

void record_explain_python(const struct recording *r)
{
	/* Otherwise record_explain_nothing() says it, or the command of -p. */
	if (r->opts.python_hz && !r->stats.sampled && r->stats.records && !r->file_error &&
	    !attach_on(&r->opts.attach))
		tool_note("--python: no stack was sampled: the command ran no Python that xsprof "
			  "can sample, or it ended at once");
}

/* An option for CUDA alone that was given; NULL: none. Others imply --gpu too. */
static const char *cuda_option(const struct record_options *opts)
{
	return opts->metrics ? "--metrics" : opts->gpu_what ? "--gpu=WHAT" :
	       opts->gpu_budget ? "--gpu-budget" : opts->gpu_share ? "--gpu-share" : NULL;
}

void record_explain_gpu(const struct recording *r, bool goes_on)
{
	const struct record_options *opts = &r->opts;
	const char *cuda = cuda_option(opts), *option = cuda ? cuda : "--gpu";

	if (!opts->gpu || r->file_error)
		return;
	if (!r->stats.devices && r->stats.cuda)
		tool_note("%s: CUDA was initialised, but reported no device until the end of the "
			  "recording: the program launched nothing, or it ended at once", option);
	else if (!r->stats.devices && goes_on)
		tool_note("%s: no recorded process had used a device when the recording ended "
			  "(--duration): %s has no device activity", option, opts->output);
	else if (!r->stats.devices)
		tool_note("%s: no recorded process used CUDA, OpenCL, Vulkan, Level Zero or ROCm: "
			  "a CPU build of PyTorch, no driver, or an early end; %s has no device "
			  "activity", option, opts->output);
	else if (!r->stats.cuda && cuda)
		tool_note("%s: for CUDA alone, which no recorded process used", cuda);
}

/* The collector numbers modules in the order of the option. */
void record_explain_modules(const struct recording *r)
{
	const char *word = r->opts.python_trace;
	size_t len;

	if (!word || !strcmp(word, "all") || r->file_error)
		return;
	for (uint32_t i = 0; i < 64 && *word; word += len + (word[len] == ',')) {
		len = strcspn(word, ",");
		if (len && !(r->stats.modules & 1ull << i))
			tool_note("--python-trace: no function of '%.*s' was called: name modules "
				  "as in import, and the program by its file name without "
				  ".py", (int)len, word);
		i += len != 0;
	}
}

void record_explain_losses(const struct recording *r)
{
	uint64_t lost = r->stats.lost_records + r->stats.lost_slots, late = r->stats.late_records;

	if (r->file_error || !lost)
		return;
	/* For these a larger buffer is no remedy. */
	if (late)
		tool_note("events were lost: %" PRIu64 " came while their process was creating its "
			  "rings (from signal handlers, from children of vfork()), or were nested "
			  "in over 60 ranges of disabled categories: against the former, execute a "
			  "marker at the start of each forked child, with signals blocked",
			  late);
	if (lost <= late)
		return;
	if (r->stats.no_room && r->stats.no_room != ENOSPC && r->stats.no_room != EDQUOT)
		tool_note("events were lost: %s", xsp_drain_no_room(r->stats.no_room));
	else if (r->full || r->stats.no_room)
		tool_note("events were lost: the tmpfs of the rings was full: use a smaller "
			  "--buffer-size (-b), or set XSPROF_SHM_DIR to a larger tmpfs");
	else if (r->opts.mode && !strcmp(r->opts.mode, "overwrite"))
		tool_note("events were overwritten before they were read: to keep more than the "
			  "latest, use a larger --buffer-size (-b) or fewer --categories");
	else if (r->small)
		tool_note("events were lost: rings filled up before they were read, and there was "
			  "no space for larger ones: set XSPROF_SHM_DIR to a larger tmpfs, use "
			  "fewer --categories, or -m overwrite to keep the latest");
	else
		tool_note("events were lost: rings filled up before they were read: use a larger "
			  "--buffer-size (-b), fewer --categories, %sor -m overwrite to keep the "
			  "latest", r->opts.realtime ? "" : "--realtime if the CPUs are busy, ");
}
