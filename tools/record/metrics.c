// SPDX-License-Identifier: GPL-2.0-only
/*
 * --metrics and --metrics-hz: see metrics.h.  Whether a GPU has a metric is known to CUPTI, and so
 * to the collector alone, in the program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "record/metrics.h"

#define DEFAULT	"default"
#define HZ_MAX	100000u

/* As the collector has them, in its order. */
static const struct {
	const char	*word;
	const char	*what;
} words[] = {
	{ DEFAULT, "all of the following that the GPU has and can measure at once" },
	{ "gpu", "time during which the compute and graphics engine was active (%)" },
	{ "sm", "SMs that had a warp (%, the mean of all SMs)" },
	{ "tensor", "time during which tensor cores were active (% of all SMs)" },
	{ "dram", "device memory reads and writes (% of the peak)" },
	{ "nvlink", "received and sent over NVLink (GB/s, all links)" },
	{ "pcie", "received and sent over PCI Express (GB/s)" },
	{ "issue", "instructions issued (% of the peak)" },
};

static int print_words(void)
{
	puts("xsprof record --metrics[=WORD,...] samples these metrics of NVIDIA's GPUs:\n");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		printf("  %-9s %s\n", words[i].word, words[i].what);
	puts("\nFull CUPTI metric names work too: "
	     "sm__warps_active.avg.pct_of_peak_sustained_active.\nMetrics depend on the GPU: a "
	     "recorded program reports those that its GPU lacks.\nNsight Compute lists the metrics "
	     "of each chip:\n  ncu --query-metrics-collection pmsampling --query-metrics --chip "
	     "gh100");
	return tool_finish(0);
}

/* Names of CUPTI have a unit, a counter and what is made of it: dram__bytes_read.sum.per_second */
static int is_name(const char *text, size_t len)
{
	return memmem(text, len, "__", 2) && memchr(text, '.', len);
}

int metrics_take(const char *text, const char **metrics)
{
	size_t n, i;

	if (text && !strcmp(text, "help"))
		return print_words();
	for (const char *p = text ? text : DEFAULT; *p; p += n + (p[n] == ',')) {
		n = strcspn(p, ",");
		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strlen(words[i].word) == n && !memcmp(words[i].word, p, n))
				break;
		if (i == sizeof(words) / sizeof(words[0]) && !is_name(p, n))
			return tool_usage("record", "--metrics: '%.*s' is invalid: --metrics=help "
					  "lists the metrics", (int)n, p);
	}
	if (text && !*text)
		return tool_usage("record", "--metrics=: a metric is missing: --metrics=help lists "
				  "the metrics");
	*metrics = text ? text : DEFAULT;
	return -1;
}

int metrics_take_hz(const char *text, const char **hz)
{
	char *end = NULL;
	unsigned long value = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;

	if (!value || value > HZ_MAX || *end)
		return tool_usage("record", "--metrics-hz: '%s': expected samples per second, 1 to "
				  "%u", text,
				  HZ_MAX);
	*hz = text;
	return -1;
}
