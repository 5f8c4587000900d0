// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event filters: see filter.h.
 */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli/filter.h"
#include "cli/tool.h"

/* Parses a number at @s up to @end, without sign or blanks. */
static bool number(const char **s, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)**s))
		return false;
	errno = 0;
	*value = strtoull(*s, &end, 10);
	*s = end;
	return !errno;
}

static int parse_list(struct xsp_list *list, const char *text)
{
	struct xsp_span span, *v;

	for (;;) {
		if (!number(&text, &span.lo))
			return -EINVAL;
		span.hi = span.lo;
		if (*text == '-') {
			text++;
			if (!number(&text, &span.hi) || span.hi < span.lo)
				return -EINVAL;
		}
		v = realloc(list->v, (list->n + 1) * sizeof(*v));
		if (!v)
			return -ENOMEM;
		list->v = v;
		list->v[list->n++] = span;
		if (!*text)
			return 0;
		if (*text++ != ',')
			return -EINVAL;
	}
}

static int parse_glob(struct xsp_globs *globs, const char *text)
{
	const char **v = realloc(globs->v, (globs->n + 1) * sizeof(*v));

	if (!v)
		return -ENOMEM;
	globs->v = v;
	globs->v[globs->n++] = text;
	return 0;
}

static int parse_when(struct xsp_time *when, const char *text)
{
	when->absolute = *text == '@';
	when->given = true;
	return tool_parse_time(text + when->absolute, &when->ns);
}

int xsp_filter_option(struct xsp_filter *filter, const char *verb, int c, const char *arg)
{
	static const char *const what[] = {
		"--from", "--to", "--pid", "--tid", "--cpu", "--name", "--category",
	};
	int ret;

	switch (c) {
	case XSP_FILTER_FROM:
		ret = parse_when(&filter->from, arg);
		break;
	case XSP_FILTER_TO:
		ret = parse_when(&filter->to, arg);
		break;
	case XSP_FILTER_PID:
		ret = parse_list(&filter->pid, arg);
		break;
	case XSP_FILTER_TID:
		ret = parse_list(&filter->tid, arg);
		break;
	case XSP_FILTER_CPU:
		ret = parse_list(&filter->cpu, arg);
		break;
	case XSP_FILTER_NAME:
		ret = parse_glob(&filter->name, arg);
		break;
	case XSP_FILTER_CATEGORY:
		ret = parse_glob(&filter->category, arg);
		break;
	default:
		return -1;
	}
	if (c > XSP_FILTER_TO)
		filter->any = true;
	if (ret == -ENOMEM)
		return tool_usage(verb, "%s: out of memory", what[c - XSP_FILTER_FROM]);
	if (ret && c <= XSP_FILTER_TO)
		return tool_usage(verb, "%s %s: not a time; seconds like 1.5, or @SECONDS",
				  what[c - XSP_FILTER_FROM], arg);
	if (ret)
		return tool_usage(verb, "%s %s: not a list of numbers like 3,8-11",
				  what[c - XSP_FILTER_FROM], arg);
	return 0;
}

static uint64_t resolve(const struct xsp_time *when, uint64_t base, uint64_t none)
{
	uint64_t ns;

	if (!when->given)
		return none;
	if (when->absolute || __builtin_add_overflow(when->ns, base, &ns))
		return when->ns;
	return ns;
}

int xsp_filter_base(struct xsp_filter *filter, const char *verb, uint64_t base_ns)
{
	filter->from_ns = resolve(&filter->from, base_ns, 0);
	filter->to_ns = resolve(&filter->to, base_ns, UINT64_MAX);
	if (filter->from_ns > filter->to_ns)
		return tool_usage(verb, "--from is later than --to: no time lies between them");
	return 0;
}

void xsp_filter_free(struct xsp_filter *filter)
{
	free(filter->pid.v);
	free(filter->tid.v);
	free(filter->cpu.v);
	free(filter->name.v);
	free(filter->category.v);
	memset(filter, 0, sizeof(*filter));
}

static bool listed(const struct xsp_list *list, uint64_t value)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (value >= list->v[i].lo && value <= list->v[i].hi)
			return true;
	return !list->n;
}

static bool matches(const struct xsp_globs *globs, const char *text)
{
	size_t i;

	for (i = 0; i < globs->n; i++)
		if (!fnmatch(globs->v[i], text, 0))
			return true;
	return !globs->n;
}

bool xsp_filter_pid(const struct xsp_filter *filter, uint32_t pid)
{
	return listed(&filter->pid, pid);
}

bool xsp_filter_thread(const struct xsp_filter *filter, uint32_t pid, uint32_t tid)
{
	return listed(&filter->pid, pid) && listed(&filter->tid, tid);
}

bool xsp_filter_cpu(const struct xsp_filter *filter, int32_t cpu)
{
	return !filter->cpu.n || (cpu >= 0 && listed(&filter->cpu, (uint64_t)cpu));
}

bool xsp_filter_text(const struct xsp_filter *filter, const char *category, const char *name,
		     uint8_t *match)
{
	if (!xsp_filter_names(filter))
		return true;
	if (!*match)
		*match = matches(&filter->name, name) && matches(&filter->category, category) ?
			 1 : 2;
	return *match == 1;
}

bool xsp_filter_name(const struct xsp_filter *filter, const struct xsprof_trace *trace,
		     uint32_t producer, uint32_t name, uint8_t *match)
{
	if (!xsp_filter_names(filter))
		return true;
	if (!*match) {
		bool yes = matches(&filter->name, xsprof_trace_name(trace, producer, name)) &&
			   matches(&filter->category,
				   xsprof_trace_category(trace, producer, name));

		*match = yes ? 1 : 2;
	}
	return *match == 1;
}

bool xsp_trace_has_devices(struct xsprof_trace *trace)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	const char *key, *value;

	if (xsprof_trace_get_info(trace, &info) < 0)
		return false;
	for (uint32_t n = 0; n < info.producers; n++)
		for (uint32_t i = 0; !xsprof_trace_fact_at(trace, n, i, &key, &value); i++)
			if (!strncmp(key, "device.", 7) || !strcmp(key, "cupti_version"))
				return true;
	return false;
}
