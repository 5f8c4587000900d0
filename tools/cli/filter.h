/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Event filters: the filter options of dump and report, the same in both. Prints no events.
 */
#ifndef XSPROF_FILTER_H
#define XSPROF_FILTER_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/trace.h>

/* Values of long options, outside of the range of characters. */
enum xsp_filter_option {
	XSP_FILTER_FROM = 0x200,
	XSP_FILTER_TO,
	XSP_FILTER_PID,
	XSP_FILTER_TID,
	XSP_FILTER_CPU,
	XSP_FILTER_NAME,
	XSP_FILTER_CATEGORY,
	XSP_FILTER_END,
};

#define XSP_FILTER_OPTIONS						\
	{ "from",	required_argument, NULL, XSP_FILTER_FROM },	\
	{ "to",		required_argument, NULL, XSP_FILTER_TO },	\
	{ "pid",	required_argument, NULL, XSP_FILTER_PID },	\
	{ "tid",	required_argument, NULL, XSP_FILTER_TID },	\
	{ "cpu",	required_argument, NULL, XSP_FILTER_CPU },	\
	{ "name",	required_argument, NULL, XSP_FILTER_NAME },	\
	{ "category",	required_argument, NULL, XSP_FILTER_CATEGORY }

#define XSP_FILTER_HELP_CPU						\
	"      --cpu LIST        only these CPUs\n"

#define XSP_FILTER_HELP							\
	"      --from TIME       only from TIME on: seconds since the start of the trace, or\n" \
	"                        @SECONDS of the recorded machine's CLOCK_MONOTONIC\n" \
	"      --to TIME         only up to TIME\n"			\
	"      --pid LIST        only these processes: 12,40-50\n"	\
	"      --tid LIST        only these threads\n"			\
	"      --name GLOB       only these names: 'aten::*'; may be repeated\n" \
	"      --category GLOB   only these categories; may be repeated\n"

struct xsp_span {
	uint64_t	lo;
	uint64_t	hi;
};

struct xsp_list {
	struct xsp_span	*v;
	size_t		n;
};

struct xsp_globs {
	const char	**v;
	size_t		n;
};

struct xsp_time {
	uint64_t	ns;
	bool		given;
	bool		absolute;
};

/**
 * struct xsp_filter - a filter; all zeros selects everything
 * @from_ns: earliest time, 0 for none; valid after xsp_filter_base()
 * @to_ns: latest time, UINT64_MAX for none
 * @any: a criterion other than time is set: otherwise xsp_filter_event() need not be called
 */
struct xsp_filter {
	uint64_t		from_ns;
	uint64_t		to_ns;
	bool			any;
	struct xsp_time		from;
	struct xsp_time		to;
	struct xsp_list		pid;
	struct xsp_list		tid;
	struct xsp_list		cpu;
	struct xsp_globs	name;
	struct xsp_globs	category;
};

/*
 * Handles option @c of getopt_long(). Return: 0, TOOL_USAGE after a message, -1: not a filter
 * option.
 */
int xsp_filter_option(struct xsp_filter *filter, const char *verb, int c, const char *arg);
/* Checks that both ends are known and in order. Return: 0, or TOOL_USAGE after a message. */
int xsp_filter_base(struct xsp_filter *filter, const char *verb, uint64_t base_ns);
void xsp_filter_free(struct xsp_filter *filter);

/* Does it exclude anything? */
static inline bool xsp_filter_given(const struct xsp_filter *filter)
{
	return filter->any || filter->from.given || filter->to.given;
}

static inline bool xsp_filter_time(const struct xsp_filter *filter, uint64_t ns)
{
	return ns >= filter->from_ns && ns <= filter->to_ns;
}

/* The begin of an event that is counted in sums, cut to the filter's time. */
static inline uint64_t xsp_filter_begin(const struct xsp_filter *filter, uint64_t begin,
					uint64_t end)
{
	return begin < filter->from_ns && end >= filter->from_ns ? filter->from_ns : begin;
}

bool xsp_filter_pid(const struct xsp_filter *filter, uint32_t pid);
/* The only selected process, 0: several. */
static inline uint32_t xsp_filter_one_pid(const struct xsp_filter *filter)
{
	const struct xsp_list *pid = &filter->pid;

	return pid->n == 1 && pid->v[0].lo == pid->v[0].hi ? (uint32_t)pid->v[0].lo : 0;
}
bool xsp_filter_thread(const struct xsp_filter *filter, uint32_t pid, uint32_t tid);
bool xsp_filter_cpu(const struct xsp_filter *filter, int32_t cpu);
/* @match caches the result for a name: 0 at first, then the same variable for the same name. */
bool xsp_filter_text(const struct xsp_filter *filter, const char *category, const char *name,
		     uint8_t *match);
bool xsp_filter_name(const struct xsp_filter *filter, const struct xsprof_trace *trace,
		     uint32_t producer, uint32_t name, uint8_t *match);

static inline bool xsp_filter_names(const struct xsp_filter *filter)
{
	return filter->name.n || filter->category.n;
}

/* Losses, and events of processes and threads, have no name. */
static inline bool xsp_event_nameless(const struct xsprof_event *ev)
{
	return ev->type >= XSPROF_EV_LOST && ev->type <= XSPROF_EV_THREAD_EXIT;
}

/* Is it one end of a range, or a whole range? */
static inline bool xsp_event_is_range(const struct xsprof_event *ev)
{
	switch (ev->type) {
	case XSPROF_REC_BEGIN:
	case XSPROF_REC_END:
	case XSPROF_REC_COMPLETE:
	case XSPROF_REC_SPAN:
	case XSPROF_REC_ASYNC_BEGIN:
	case XSPROF_REC_ASYNC_END:
	case XSPROF_REC_GPU:
		return true;
	default:
		return false;
	}
}

/* Did any process have a collector of devices? Its records come late. */
bool xsp_trace_has_devices(struct xsprof_trace *trace);

/* The time of an event; of a device activity, which is recorded late, its end. */
static inline uint64_t xsp_event_when(const struct xsprof_event *ev)
{
	return ev->type == XSPROF_REC_GPU ? ev->end_ns : ev->ns;
}

/* Is it counted as an event by all verbs? See xsprof(1). */
static inline bool xsp_event_counts(const struct xsprof_event *ev)
{
	return ev->rec && ev->type != XSPROF_REC_ARGS && ev->type != XSPROF_EV_KERNEL;
}

#endif /* XSPROF_FILTER_H */
