// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the trace starts, which --from and --to count from.
 */
#include "cli/tool.h"
#include "report/local.h"

int report_start(struct report *report, const struct xsprof_event *first)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	int ret = xsprof_trace_get_info(report->source.trace, &info);

	if (ret < 0)
		return xsp_source_error(&report->source, ret);
	report->first_ns = info.first_ns && info.first_ns < first->ns ? info.first_ns : first->ns;
	report->last_ns = report->first_ns;
	return xsp_filter_base(&report->filter, "report", report->first_ns);
}
