// SPDX-License-Identifier: GPL-2.0-only
/*
 * Errors between pairs of clocks: a device's and the markers' (counters "clock of device N: known
 * within ns"), the kernel tracer's and the markers', the markers' and the recorder's sync points.
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

static const char prefix[] = "clock of device ";
static const char suffix[] = ": known within ns";

/* The number of the device, -1: another counter. */
static int64_t device_of(const char *text)
{
	unsigned int number;
	int end = 0;

	if (strncmp(text, prefix, sizeof(prefix) - 1) ||
	    sscanf(text + sizeof(prefix) - 1, "%9u%n", &number, &end) != 1 ||
	    strcmp(text + sizeof(prefix) - 1 + end, suffix))
		return -1;
	return number;
}

/* Clocks beyond the limit are left out; there are few. */
void info_clocks_event(struct info *info, const struct xsprof_event *ev)
{
	struct info_clock *clock;
	int64_t device;
	uint32_t i = 0;

	if (ev->type != XSPROF_REC_COUNTER_I64)
		return;
	while (i < info->nr_clocks && (info->clocks[i].producer != ev->producer ||
				       info->clocks[i].name != ev->name))
		i++;
	clock = &info->clocks[i];
	if (i == info->nr_clocks) {
		device = i == INFO_CLOCKS ? -1 :
			 device_of(xsprof_trace_name(info->source.trace, ev->producer, ev->name));
		if (device < 0)
			return;
		*clock = (struct info_clock){
			.producer = ev->producer, .pid = ev->pid, .name = ev->name,
			.device = (uint32_t)device,
		};
		info->nr_clocks++;
	}
	clock->last_ns = ev->value;
	if (ev->value > clock->worst_ns)
		clock->worst_ns = ev->value;
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

	printf("up to %s apart: events closer than that may be in the wrong order",
	       tool_format_time(text, sizeof(text), ns));
}

void info_clocks_print(const struct info *info)
{
	if (markers_error(info) > FAR_NS) {
		printf("%-16smarkers and CLOCK_MONOTONIC ", "clocks");
		print_far(markers_error(info));
		putchar('\n');
	}
	if (kernel_error(info) > FAR_NS) {
		printf("%-16smarkers and the kernel's tracer ", "clocks");
		print_far(kernel_error(info));
		putchar('\n');
	}
	for (uint32_t i = 0; i < info->nr_clocks; i++) {
		const struct info_clock *clock = &info->clocks[i];
		char text[32];

		printf("%-16smarkers and device %u (process %u) ", "clocks", clock->device,
		       clock->pid);
		if (clock->worst_ns > FAR_NS)
			print_far(clock->worst_ns);
		else
			printf("at most %s apart",
			       tool_format_time(text, sizeof(text), clock->worst_ns));
		putchar('\n');
	}
}

void info_clocks_json(const struct info *info)
{
	fputs(",\n\"device_clocks\":[", stdout);
	for (uint32_t i = 0; i < info->nr_clocks; i++) {
		const struct info_clock *clock = &info->clocks[i];

		printf("%s{\"device\":%u,\"pid\":%u,\"last_error_ns\":%" PRIu64
		       ",\"worst_error_ns\":%" PRIu64 ",\"far\":%s}", i ? "," : "", clock->device,
		       clock->pid, clock->last_ns, clock->worst_ns,
		       clock->worst_ns > FAR_NS ? "true" : "false");
	}
	putchar(']');
}
