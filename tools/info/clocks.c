// SPDX-License-Identifier: GPL-2.0-only
/*
 * Errors between pairs of clocks: a device's and the markers', the kernel tracer's and the
 * markers', the markers' and the recorder's sync points.
 * Reports large errors: events closer than that may be in the wrong order.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "info/local.h"
#include "text/json.h"

/*
 * About the delay from a call to the kernel that it launches: a smaller error does not change their
 * order.
 */
#define FAR_NS	10000u

/* A device that did something has a clock, also if nothing bounds its error. */
static void activity(struct info *info, const struct xsprof_event *ev)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;
	uint32_t device;
	uint64_t ns = xsp_early_event(&info->early, ev, &device);
	struct device_clock *clock = ns ? device_clocks_get(&info->clocks, ev, device) : NULL;

	if (clock) {
		clock->early++;
		clock->early_ns = ns > clock->early_ns ? ns : clock->early_ns;
	}
	if (rec && ev->rec_size >= sizeof(*rec) &&
	    xsp_device_is_work(ev->aux))
		(void)device_clocks_get(&info->clocks, ev, rec->device);
}

void info_clocks_event(struct info *info, const struct xsprof_event *ev)
{
	if (ev->type == XSPROF_REC_GPU)
		activity(info, ev);
	device_clocks_event(&info->clocks, info->source.trace, ev);
}

static uint64_t kernel_error(const struct info *info)
{
	struct xsprof_trace_kernel kernel = { .size = sizeof(kernel) };

	if (xsprof_trace_get_kernel(info->source.trace, &kernel) || kernel.refused ||
	    kernel.error_ns == UINT64_MAX)
		return 0;
	return kernel.error_ns;
}

/* With two points or fewer it is the kernel's own bound: no error was measured. */
static uint64_t markers_error(const struct info *info)
{
	return info->all.clock_error_ns == UINT64_MAX || info->all.clock_points < 3 ?
	       0 : info->all.clock_error_ns;
}

static void print_far(uint64_t ns)
{
	char text[32];

	printf("at most %s: events closer than that may be in the wrong order",
	       tool_format_time(text, sizeof(text), ns));
}

/*
 * Bounds by launches and waits are wide in a second without a short one, which is no sign of an
 * error: there the best second counts.
 */
static bool is_far(const struct device_clock *clock)
{
	const struct clock_bound *within = &clock->bounds[CLOCK_WITHIN];
	int64_t ns = clock->bounds[CLOCK_LATE].known ? within->least : within->most;

	return within->known && ns > (int64_t)FAR_NS;
}

static void print_side(const char *word, const struct clock_bound *b)
{
	char text[32];

	if (!b->known)
		printf("%s by an unknown time", word);
	else if (b->most < 0)
		printf("not %s", word);
	else
		printf("%s by at most %s", word,
		       tool_format_time(text, sizeof(text), (uint64_t)b->most));
}

/* @b bounds the other side. */
static void print_least(const char *word, const struct clock_bound *b)
{
	char text[32];

	if (b->known && b->least < 0)
		printf(", once %s by at least %s", word,
		       tool_format_time(text, sizeof(text), -(uint64_t)b->least));
}

static void print_device(const struct device_clock *clock)
{
	const struct clock_bound *within = &clock->bounds[CLOCK_WITHIN];
	int64_t most = device_clock_most(clock);
	const struct clock_bound *late = &clock->bounds[CLOCK_LATE];
	const struct clock_bound *early = &clock->bounds[CLOCK_EARLY];
	char text[32];

	printf("%-16serror of the times of device %u (process %u): ", "clocks", clock->device,
	       clock->pid);
	if (!within->known)
		fputs("unknown", stdout);
	else if (is_far(clock))
		print_far((uint64_t)most);
	else
		printf("at most %s",
		       tool_format_time(text, sizeof(text), (uint64_t)most));
	if (within->known && within->least < most)
		printf("; in the best second %s",
		       tool_format_time(text, sizeof(text),
					within->least > 0 ? (uint64_t)within->least : 0));
	putchar('\n');
	if (clock->early)
		printf("%-16s%" PRIu64 " activit%s of device %u (process %u) began before %s "
		       "launch, by at most %s\n", "clocks", clock->early,
		       clock->early == 1 ? "y" : "ies", clock->device, clock->pid,
		       clock->early == 1 ? "its" : "their",
		       tool_format_time(text, sizeof(text), clock->early_ns));
	if (!late->known && !early->known)
		return;
	printf("%-16stimes of device %u (process %u) are ", "clocks", clock->device, clock->pid);
	print_side("late", late);
	fputs(", ", stdout);
	print_side("early", early);
	print_least("late", early);
	print_least("early", late);
	putchar('\n');
}

void info_clocks_print(const struct info *info)
{
	if (markers_error(info) > FAR_NS) {
		printf("%-16serror of the times of markers on CLOCK_MONOTONIC: ", "clocks");
		print_far(markers_error(info));
		putchar('\n');
	}
	if (kernel_error(info) > FAR_NS) {
		printf("%-16serror of the times of markers on the clock of the kernel's tracer: ",
		       "clocks");
		print_far(kernel_error(info));
		putchar('\n');
	}
	for (uint32_t i = 0; i < info->clocks.nr; i++)
		print_device(&info->clocks.v[i]);
}

static void json_number(const char *key, bool known, int64_t value)
{
	printf(",\"%s\":", key);
	if (known)
		printf("%" PRId64, value);
	else
		fputs("null", stdout);
}

void info_clocks_json(const struct info *info)
{
	fputs(",\n\"device_clocks\":[", stdout);
	for (uint32_t i = 0; i < info->clocks.nr; i++) {
		const struct device_clock *clock = &info->clocks.v[i];
		const struct clock_bound *within = &clock->bounds[CLOCK_WITHIN];
		const struct clock_bound *late = &clock->bounds[CLOCK_LATE];
		const struct clock_bound *early = &clock->bounds[CLOCK_EARLY];

		printf("%s{\"device\":%u,\"pid\":%u", i ? "," : "", clock->device, clock->pid);
		json_number("last_error_ns", within->known, within->last);
		json_number("worst_error_ns", within->known, device_clock_most(clock));
		json_number("best_error_ns", within->known, within->least);
		printf(",\"far\":%s", is_far(clock) ? "true" : "false");
		json_number("late_at_most_ns", late->known, late->most);
		json_number("early_at_most_ns", early->known, early->most);
		json_number("late_at_least_ns", early->known && early->least < 0,
			    -(uint64_t)early->least);
		json_number("early_at_least_ns", late->known && late->least < 0,
			    -(uint64_t)late->least);
		printf(",\"before_launch\":%" PRIu64 ",\"before_launch_ns\":%" PRIu64 "}",
		       clock->early, clock->early_ns);
	}
	putchar(']');
}
