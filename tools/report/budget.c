// SPDX-License-Identifier: GPL-2.0-only
/*
 * Steps of a GPU budget: see budget.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/tool.h"
#include "report/gpu.h"
#include "text/json.h"

static const char prefix[] = "GPU budget: ";

void gpu_budget_event(struct gpu_report *gpu, const struct xsprof_event *ev)
{
	const char *text;

	if (ev->type != XSPROF_REC_INSTANT)
		return;
	text = xsprof_trace_name(gpu->report->source.trace, ev->producer, ev->name);
	if (strncmp(text, prefix, sizeof(prefix) - 1))
		return;
	if (gpu->nr_steps < GPU_BUDGET_STEPS)
		gpu->steps[gpu->nr_steps] = (struct gpu_budget_step){
			.ns = ev->ns, .pid = ev->pid, .text = text,
		};
	gpu->nr_steps++;
}

void gpu_print_budget(const struct gpu_report *gpu)
{
	char text[32];

	for (uint32_t i = 0; i < gpu->nr_steps && i < GPU_BUDGET_STEPS; i++) {
		const struct gpu_budget_step *s = &gpu->steps[i];

		printf("# %s after the begin, process %u: ",
		       tool_format_time(text, sizeof(text), s->ns - gpu->report->first_ns), s->pid);
		report_print_text(s->text, strlen(s->text), 0);
		putchar('\n');
	}
	if (gpu->nr_steps > GPU_BUDGET_STEPS)
		printf("# %u more steps of a GPU budget\n", gpu->nr_steps - GPU_BUDGET_STEPS);
}

void gpu_json_budget(const struct gpu_report *gpu)
{
	fputs(",\"budget_steps\":[", stdout);
	for (uint32_t i = 0; i < gpu->nr_steps && i < GPU_BUDGET_STEPS; i++) {
		const struct gpu_budget_step *s = &gpu->steps[i];

		printf("%s{\"ns\":%" PRIu64 ",\"pid\":%u,\"what\":", i ? "," : "",
		       s->ns - gpu->report->first_ns, s->pid);
		xsp_json_print(stdout, s->text, strlen(s->text));
		putchar('}');
	}
	printf("],\"budget_steps_more\":%u", gpu->nr_steps > GPU_BUDGET_STEPS ?
	       gpu->nr_steps - GPU_BUDGET_STEPS : 0);
}
