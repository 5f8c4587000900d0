// SPDX-License-Identifier: GPL-2.0-only
/*
 * The start of the trace, the origin of --from and --to.
 */
#include "cli/tool.h"
#include "report/local.h"

int report_start(struct report *report, const struct xsprof_event *first)
{
	int ret = xsp_source_start(&report->source, first, &report->first_ns);

	if (ret)
		return ret;
	report->last_ns = report->first_ns;
	return xsp_filter_base(&report->filter, "report", report->first_ns);
}
