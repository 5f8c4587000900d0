// SPDX-License-Identifier: GPL-2.0-only
/*
 * Converts options to a list of kernel events, and enables them. An event requested by name must
 * exist; of the events of an option such as --irq, those that this kernel has are used; an event
 * that the kernel cannot enable does not affect the others.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "ftrace/local.h"

/*
 * The events that show where a task's time went, and its process; all of sched would be several
 * times as many.
 */
static const char *const sched[] = {
	"sched/sched_switch", "sched/sched_wakeup", "sched/sched_wakeup_new",
	"sched/sched_waking", "sched/sched_migrate_task", "sched/sched_process_fork",
	"sched/sched_process_exec", "sched/sched_process_exit", "task/task_newtask", NULL
};

static const char *const irq[] = {
	"irq/irq_handler_entry", "irq/irq_handler_exit", "irq/softirq_entry", "irq/softirq_exit",
	"irq_vectors/*_entry", "irq_vectors/*_exit", "ipi/ipi_entry", "ipi/ipi_exit", NULL
};

static const char *const syscalls[] = { "raw_syscalls/sys_enter", "raw_syscalls/sys_exit", NULL };

static const char *const faults[] = {
	"exceptions/page_fault_user", "exceptions/page_fault_kernel", NULL
};

/* Reads all events of this kernel. Return: 0 or -errno. */
static int list_all(const char *dir, struct ftrace_list *all)
{
	char **systems = tracefs_event_systems(dir), **events = NULL;

	if (!systems)
		return errno ? -errno : -ENOENT;
	for (char **s = systems; *s; s++) {
		events = tracefs_system_events(dir, *s);
		for (char **e = events; e && *e; e++) {
			if (all->nr == all->room) {
				uint32_t room = all->room ? 2 * all->room : 1024;
				char **more = realloc(all->names, room * sizeof(*more));

				if (!more)
					goto no_memory;
				all->names = more;
				all->room = room;
			}
			if (asprintf(&all->names[all->nr], "%s/%s", *s, *e) < 0)
				goto no_memory;
			all->nr++;
		}
		tracefs_list_free(events);
	}
	tracefs_list_free(systems);
	return 0;

no_memory:
	tracefs_list_free(events);
	tracefs_list_free(systems);
	return -ENOMEM;
}

void ftrace_list_free(struct ftrace_list *list)
{
	for (uint32_t i = 0; i < list->nr; i++)
		free(list->names[i]);
	free(list->names);
	memset(list, 0, sizeof(*list));
}

/* Marks the events that match @pattern. Without '/' it is a system, or an event of any system. */
static uint32_t mark(const struct ftrace_list *all, const char *pattern, bool *wanted)
{
	const char *slash = strchr(pattern, '/');
	uint32_t found = 0;

	for (uint32_t i = 0; i < all->nr; i++) {
		char system[256];
		const char *name = all->names[i], *event = strchr(name, '/') + 1;
		bool match;

		snprintf(system, sizeof(system), "%.*s", (int)(event - name - 1), name);
		if (slash)
			match = !fnmatch(pattern, name, FNM_PATHNAME);
		else
			match = !fnmatch(pattern, system, 0);
		if (match) {
			wanted[i] = true;
			found++;
		}
	}
	if (found || slash)
		return found;
	for (uint32_t i = 0; i < all->nr; i++) {
		if (!fnmatch(pattern, strchr(all->names[i], '/') + 1, 0)) {
			wanted[i] = true;
			found++;
		}
	}
	return found;
}

static void mark_all(const struct ftrace_list *all, const char *const *patterns, bool *wanted)
{
	for (; *patterns; patterns++)
		mark(all, *patterns, wanted);
}

/*
 * Names of systems and of events, or with a '/' of both joined. Return: to be freed, as is
 * *@system.
 */
static const char **all_names(const struct ftrace_list *all, bool both, char **system)
{
	const char **names = calloc(2 * (size_t)all->nr + 1, sizeof(*names)), *last = "";
	size_t len = 0, n = 0;
	char *at;

	for (uint32_t i = 0; i < all->nr; i++)
		len += strlen(all->names[i]) + 1;
	at = *system = malloc(len + 1);
	if (!names || !at) {
		free(names);
		return NULL;
	}
	/* Systems first: at equal distance a system is more likely meant. */
	for (uint32_t i = 0; i < all->nr && !both; i++) {
		size_t k = strcspn(all->names[i], "/");

		if (strlen(last) == k && !strncmp(last, all->names[i], k))
			continue;
		memcpy(at, all->names[i], k);
		at[k] = '\0';
		last = names[n++] = at;
		at += k + 1;
	}
	for (uint32_t i = 0; i < all->nr; i++)
		names[n++] = both ? all->names[i] : strchr(all->names[i], '/') + 1;
	return names;
}

/* Is @pattern equal to @event, written as a path? */
static int unknown(const struct ftrace_list *all, const char *event, const char *pattern)
{
	const char **names, *close = NULL;
	char *systems = NULL;
	int system;

	names = all_names(all, strchr(pattern, '/'), &systems);
	if (names)
		close = tool_closest(pattern, names);
	system = close && strchr(close, '/') ? (int)strcspn(close, "/") : 0;
	if (close)
		tool_error("-e %s: this kernel has no such event: did you mean %.*s%s%s? "
			   "/sys/kernel/tracing/available_events lists all", event, system, close,
			   system ? ":" : "", close + system + (system > 0));
	else
		tool_error("-e %s: this kernel has no such event: "
			   "/sys/kernel/tracing/available_events lists all", event);
	free(names);
	free(systems);
	return TOOL_USAGE;
}

/* Users write SYSTEM:EVENT, tracefs has a slash. */
static int mark_event(const struct ftrace_list *all, const char *event, bool *wanted)
{
	char pattern[256], *colon;

	if (!strcmp(event, "sched")) {
		mark_all(all, sched, wanted);
		return 0;
	}
	if (snprintf(pattern, sizeof(pattern), "%s", event) >= (int)sizeof(pattern))
		return tool_error("-e %s: too long", event), TOOL_USAGE;
	colon = strchr(pattern, ':');
	if (colon)
		*colon = '/';
	return mark(all, pattern, wanted) ? 0 : unknown(all, event, pattern);
}

/* Lists are separated by commas, as with perf; no event has one in its name. */
static int mark_events(const struct ftrace_list *all, const char *events, bool *wanted)
{
	char *copy = strdup(events), *save, *event;
	int err = copy ? 0 : -ENOMEM;

	for (event = copy ? strtok_r(copy, ",", &save) : NULL; event && !err;
	     event = strtok_r(NULL, ",", &save))
		err = mark_event(all, event, wanted);
	free(copy);
	return err;
}

int ftrace_choose(const struct ftrace_options *opts, const char *dir, struct ftrace_list *list)
{
	struct ftrace_list all = { 0 };
	bool *wanted = NULL;
	int err;

	memset(list, 0, sizeof(*list));
	err = list_all(dir, &all);
	if (!err) {
		wanted = calloc(all.nr + 1, sizeof(*wanted));
		list->names = calloc(all.nr + 1, sizeof(*list->names));
		err = wanted && list->names ? 0 : -ENOMEM;
	}
	for (uint32_t i = 0; i < opts->nr_events && !err; i++)
		err = mark_events(&all, opts->events[i], wanted);
	if (!err && opts->irq)
		mark_all(&all, irq, wanted);
	if (!err && opts->syscalls)
		mark_all(&all, syscalls, wanted);
	if (!err && opts->faults)
		mark_all(&all, faults, wanted);
	for (uint32_t i = 0; i < all.nr && !err; i++) {
		if (wanted[i]) {
			list->names[list->nr++] = all.names[i];
			all.names[i] = NULL;
		}
	}
	free(wanted);
	ftrace_list_free(&all);
	if (err)
		ftrace_list_free(list);
	return err;
}

/* A pattern may match hundreds. */
#define REFUSED_TOLD	8u

static void tell_refused(struct xsp_cap *cap, const char *text)
{
	tool_note("%s", text);
	xsp_cap_note(cap, text);
}

int ftrace_enable(struct ftrace *ft, struct xsp_cap *cap)
{
	struct ftrace_list *list = &ft->events;
	uint32_t nr = 0, refused = 0;
	char text[700];
	int first = 0;

	for (uint32_t i = 0; i < list->nr; i++) {
		char *name = list->names[i];
		int err;

		snprintf(text, sizeof(text), "events/%s/enable", name);
		if (tracefs_instance_file_write(ft->instance, text, "1") >= 0) {
			list->names[nr++] = name;
			continue;
		}
		err = errno ? errno : EIO;
		if (!first)
			first = -err;
		*strchr(name, '/') = ':';
		snprintf(text, sizeof(text), "%s: not recorded: the kernel cannot enable this "
			 "event: %s", name, strerror(err));
		free(name);
		if (refused++ < REFUSED_TOLD)
			tell_refused(cap, text);
	}
	list->nr = nr;
	if (refused > REFUSED_TOLD) {
		snprintf(text, sizeof(text), "%u more events that the kernel cannot enable are not "
			 "recorded", refused - REFUSED_TOLD);
		tell_refused(cap, text);
	}
	return nr ? 0 : first;
}

int ftrace_check(const struct ftrace_options *opts, const char *verb)
{
	const char *alone = opts->tree ? "filter-tree" : opts->clock ? "trace-clock" :
			    opts->buffer ? "trace-buffer" : NULL;

	if (!ftrace_wanted(opts) && alone)
		return tool_usage(verb, "--%s: needs events: name them with -e", alone);
	return -1;
}

/* No entry of a list may be empty. */
static bool has_names(const char *events)
{
	size_t len;

	do {
		len = strcspn(events, ",");
		if (strspn(events, "/:") >= len)
			return false;
		events += len + 1;
	} while (events[-1]);
	return true;
}

int ftrace_option(struct ftrace_options *opts, const char *verb, int c, const char *arg)
{
	static const char *const clocks[] = { "x86-tsc", "mono_raw", "mono", "boot" };
	uint32_t i;

	switch (c) {
	case 'e':
		if (!has_names(arg))
			return tool_usage(verb, "-e '%s': expected an event, e.g. sched, block:*, "
					  "or a comma-separated list", arg);
		if (opts->nr_events == FTRACE_EVENTS_MAX)
			return tool_usage(verb, "-e: more than %d: use a pattern",
					  FTRACE_EVENTS_MAX);
		opts->events[opts->nr_events++] = arg;
		return -1;
	case OPT_IRQ:
		opts->irq = true;
		return -1;
	case OPT_SYSCALLS:
		opts->syscalls = true;
		return -1;
	case OPT_FAULTS:
		opts->faults = true;
		return -1;
	case OPT_FILTER_TREE:
		opts->tree = true;
		return -1;
	case OPT_TRACE_CLOCK:
		for (i = 0; i < 4 && strcmp(arg, clocks[i]); )
			i++;
		if (i == 4)
			return tool_usage(verb, "--trace-clock: '%s': expected x86-tsc, mono_raw, "
					  "mono or boot: other clocks cannot be compared with that "
					  "of markers", arg);
		opts->clock = clocks[i];
		return -1;
	case OPT_TRACE_BUFFER:
		if (tool_parse_size(arg, &opts->buffer) || opts->buffer < 65536 ||
		    opts->buffer > 1ull << 36)
			return tool_usage(verb, "--trace-buffer: '%s' is not a size: 64k to 64G",
					  arg);
		return -1;
	}
	return -1;
}
