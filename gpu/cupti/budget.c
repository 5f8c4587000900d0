// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What the collector may cost: XSPROF_GPU_BUDGET, in per cent of one CPU.
 *
 * Its cost is what records add to a launch, times launches; what CUPTI itself says that it took in
 * the program's threads; and the time of the collector's thread.  The first is measured once there
 * are launches, of kernels and of graphs: with records for a moment, and without them for another.
 * When the cost of a second is more than the budget, unified memory is not recorded any more: what
 * that costs is the driver's, which slows down most of it and which nothing measures.  Where that
 * is not enough, graphs are recorded as a whole where most
 * kernels are of graphs; where that is not enough, calls are not recorded any more; then CUPTI is
 * given back.  To record a part of the time only would be of little use: a launch stays slower once
 * CUPTI was taken again (see attach.c).  Each step is in the trace, and each time in which devices
 * are not recorded.
 */
#include <stdlib.h>
#include <time.h>

#include "gpu/cupti/managed.h"

#define VARIABLE	"XSPROF_GPU_BUDGET"
#define SECOND		1000000000u
#define TICK		(SECOND / 4)
#define FEW		1000u			/* activities a second that are not worth it */
#define TRIES		8u			/* each costs a moment without records */

/* DRAINING: kinds are off, and what was launched before is waited for. */
enum state { RUNNING, WITH_RECORDS, DRAINING, WITHOUT_RECORDS, STOPPED };

static struct {
	double		allowed;	/* of 1; 0: there is none */
	enum state	state;
	uint64_t	until;		/* when the state ends, CLOCK_MONOTONIC */
	uint64_t	since;		/* when what is counted began */
	bool		measured[CUPTI_NR_LAUNCHES];	/* their cost was, or cannot be */
	uint32_t	tries[CUPTI_NR_LAUNCHES];	/* in which there were too few */
	bool		known[CUPTI_NR_LAUNCHES];	/* it was, at some time */
	bool		wanted[CUPTI_NR_LAUNCHES];	/* is being measured for these */
	uint64_t	with[CUPTI_NR_LAUNCHES];	/* ns of a launch, with records */
	double		added[CUPTI_NR_LAUNCHES];	/* ns, by records */
	uint64_t	cpu;		/* of this thread, then */
	double		cost;		/* of 1, of what was last counted */
	bool		in_graphs;	/* most kernels of that */
	uint64_t	rest;		/* ticks when devices were no longer recorded */
	bool		no_managed;	/* unified memory */
	bool		graphs;		/* as a whole */
	bool		no_calls;
	bool		refused;	/* CUPTI did not record again after a pause */
} budget;

/*
 * "2", "0.5", with or without "%".  The program's locale may have another decimal point, which
 * strtod() would want.  Return: thousandths; 0: it is no such number.
 */
static uint32_t read_percent(const char *text)
{
	uint32_t value = 0, unit = 1000;
	bool any = false;

	for (; *text >= '0' && *text <= '9' && value < 1000000; text++, any = true)
		value = value * 10 + (uint32_t)(*text - '0') * 1000;
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9'; text++, any = true)
			value += (uint32_t)(*text - '0') * (unit /= 10);
	text += *text == '%';
	return any && !*text ? value : 0;
}

void cupti_budget_init(void)
{
	const char *text = secure_getenv(VARIABLE);
	uint32_t percent;

	if (!text || !*text)
		return;
	percent = read_percent(text);
	if (percent < 100 || percent > 100000)
		xsprof_say("%s: '%s' is invalid: expected 0.1 to 100, percent of one CPU; no "
			   "budget is set", VARIABLE, text);
	else
		budget.allowed = percent / 100000.0;
}

static uint64_t thread_cpu(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * SECOND + (uint64_t)ts.tv_nsec;
}

/* A point in the trace: what was decided, and why. */
static void tell(const char *what)
{
	static xsprof_name_t key_cost, key_allowed;
	struct xsprof_kv kv[2];

	if (!key_cost) {
		key_cost = xsprof_name("cost (% of a CPU)");
		key_allowed = xsprof_name("budget (% of a CPU)");
	}
	kv[0] = xsprof_f64(key_cost, budget.cost * 100);
	kv[1] = xsprof_f64(key_allowed, budget.allowed * 100);
	xsprof_instant_args(xsprof_name_in(cupti_category(), what), kv, 2);
}

/* ---- the cost -------------------------------------------------------------------------------- */

static void count_anew(uint64_t now)
{
	budget.since = now;
	budget.cpu = thread_cpu();
	cupti_load_anew();
}

static void count(uint64_t now)
{
	const struct cupti_load *load = cupti_load();
	double cost = (double)load->overhead + (double)(thread_cpu() - budget.cpu);

	for (int l = 0; l < CUPTI_NR_LAUNCHES; l++)
		cost += (double)load->launches[l] * budget.added[l];
	budget.cost = cost / (double)(now - budget.since);
	budget.in_graphs = load->in_graphs > load->launches[CUPTI_LAUNCH_KERNEL];
}

/* There were too few of them in each try: their cost counts as 0. */
static void tell_unknown(enum cupti_launch launch)
{
	bool graph = launch == CUPTI_LAUNCH_GRAPH;

	if (budget.known[launch])
		return;
	tell(graph ? "GPU budget: the cost of a graph's launch is unknown" :
		     "GPU budget: the cost of a launch is unknown");
	xsprof_say("there are too few launches of %s at a time to measure what recording one "
		   "costs: the budget does not count it", graph ? "graphs" : "kernels");
}

/* Enough of them in the last second, in activities, to be worth measuring. */
static bool is_wanted(enum cupti_launch launch)
{
	const struct cupti_load *load = cupti_load();

	return !budget.measured[launch] &&
	       (launch == CUPTI_LAUNCH_GRAPH ? load->in_graphs : load->launches[launch]) >= FEW;
}

/* Those that there were enough of, with records and without. */
static void learn(void)
{
	static const char *const texts[CUPTI_NR_LAUNCHES] = {
		[CUPTI_LAUNCH_KERNEL] = "cost of recording a launch (ns)",
		[CUPTI_LAUNCH_GRAPH] = "cost of recording a graph's launch (ns)",
	};

	for (int l = 0; l < CUPTI_NR_LAUNCHES; l++) {
		uint64_t without = cupti_probe_take((enum cupti_launch)l);

		if (!budget.with[l] || !without) {
			/* Of a launch that was not wanted there may be more later. */
			if (budget.wanted[l] && ++budget.tries[l] == TRIES) {
				budget.measured[l] = true;
				tell_unknown((enum cupti_launch)l);
			}
			continue;
		}
		budget.added[l] = budget.with[l] > without ? (double)(budget.with[l] - without) : 0;
		xsprof_counter(xsprof_name_in(cupti_category(), texts[l]),
			       (int64_t)budget.added[l]);
		budget.measured[l] = budget.known[l] = true;
	}
}

/* ---- off and on ------------------------------------------------------------------------------ */

static void pause_for(enum state state, uint64_t until)
{
	cupti_kinds_pause();
	budget.rest = xsprof_now();
	budget.state = state;
	budget.until = until;
}

/* From when devices were no longer recorded, or from the end of what was told before. */
static void tell_unrecorded(uint64_t end)
{
	const struct xsprof_device_activity a = {
		.size = sizeof(a), .kind = XSPROF_GPU_UNRECORDED, .begin = budget.rest,
		.end = end, .device = XSPROF_NO_DEVICE, .stream = XSPROF_NO_STREAM,
		.name = xsprof_name_in(cupti_category(), budget.refused ?
				       "GPU not recorded: CUPTI refused" :
				       budget.state == STOPPED ?
				       "GPU not recorded: over budget" :
				       "GPU not recorded: the cost of a launch is measured"),
	};

	cupti_put(&a, NULL, 0);
	budget.rest = end;
}

static bool is_unrecorded(void)
{
	return budget.state != RUNNING && budget.state != WITH_RECORDS;
}

/* What is recorded from here on was launched after the time that is told. */
static void resume(uint64_t now)
{
	uint64_t end = xsprof_now();
	int err = cupti_kinds_resume(budget.graphs, !budget.no_calls);

	tell_unrecorded(end);
	if (err) {
		cupti_tell(err);
		cupti_kinds_pause();
		cupti_flush(CUPTI_FLUSH_FORCED);
		cupti_detach();
		budget.refused = true;
		budget.state = STOPPED;
		budget.until = now;
		return;
	}
	count_anew(now);
	budget.state = RUNNING;
	budget.until = now + TICK;
}

/* What is left costs less, which is measured anew. */
static void step(bool *left_out, const char *what)
{
	*left_out = true;
	memset(budget.measured, 0, sizeof(budget.measured));
	memset(budget.tries, 0, sizeof(budget.tries));
	tell(what);
}

/* Devices are not recorded now.  Is there a way to record them, or is it over? */
static void choose(uint64_t now)
{
	if (budget.cost > budget.allowed && !budget.no_managed && cupti_managed_configured()) {
		step(&budget.no_managed, "GPU budget: unified memory is not recorded from here");
		cupti_managed_drop();
	/* Among several users that is chosen once, at the begin. */
	} else if (budget.cost > budget.allowed && budget.in_graphs && !budget.graphs &&
	    !cupti_sharing()) {
		step(&budget.graphs, "GPU budget: graphs as a whole from here");
	} else if (budget.cost > budget.allowed && !budget.no_calls) {
		step(&budget.no_calls, "GPU budget: calls are not recorded from here");
	} else if (budget.cost > budget.allowed) {
		tell("GPU budget: devices are not recorded from here");
		cupti_flush(CUPTI_FLUSH_FORCED);
		cupti_detach();
		budget.state = STOPPED;
		budget.until = now;
		return;
	}
	resume(now);
}

/* A second is over, or more of it than can be told apart. */
static void go_on(uint64_t now)
{
	bool any = false;

	for (int l = 0; l < CUPTI_NR_LAUNCHES; l++) {
		budget.wanted[l] = is_wanted((enum cupti_launch)l);
		any |= budget.wanted[l];
	}
	if (any) {
		for (int l = 0; l < CUPTI_NR_LAUNCHES; l++)
			(void)cupti_probe_take((enum cupti_launch)l);
		cupti_probe(true);
		budget.state = WITH_RECORDS;
		budget.until = now + TICK;
		return;
	}
	budget.until = now + TICK;
	if (now - budget.since < SECOND)
		return;
	count(now);
	if (budget.cost > budget.allowed)
		pause_for(DRAINING, now + TICK);
	else
		count_anew(now);
}

static void with_records_is_over(uint64_t now)
{
	for (int l = 0; l < CUPTI_NR_LAUNCHES; l++)
		budget.with[l] = cupti_probe_take((enum cupti_launch)l);
	pause_for(WITHOUT_RECORDS, now + TICK);
}

static void without_records_is_over(uint64_t now)
{
	learn();
	cupti_probe(false);
	/* What came in before the pause, at what is known now of its cost. */
	count(now - TICK);
	choose(now);
}

uint64_t cupti_budget(uint64_t now, bool asked)
{
	/* Each kernel is measured at any cost, by callbacks that the probe would turn off. */
	if (!budget.allowed || cupti_metrics_by_kernel())
		return now + SECOND;
	if (!budget.since) {
		count_anew(now);
		budget.until = now + TICK;
	}
	if (asked && is_unrecorded())
		tell_unrecorded(xsprof_now());
	if (now < budget.until)
		return budget.until;
	switch (budget.state) {
	case WITH_RECORDS:
		with_records_is_over(now);
		break;
	case WITHOUT_RECORDS:
		without_records_is_over(now);
		break;
	case DRAINING:
		choose(now);
		break;
	case RUNNING:
		go_on(now);
		break;
	case STOPPED:
		/* In pieces: the recording may end, or the program, without a turn of this. */
		tell_unrecorded(xsprof_now());
		budget.until = now + SECOND;
		break;
	}
	return budget.until;
}

bool cupti_budget_end(void)
{
	if (budget.state == WITH_RECORDS || budget.state == WITHOUT_RECORDS)
		cupti_probe(false);
	if (is_unrecorded())
		tell_unrecorded(xsprof_now());
	budget.state = RUNNING;
	budget.refused = false;
	budget.since = 0;
	return cupti_attached();
}
