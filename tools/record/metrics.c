// SPDX-License-Identifier: GPL-2.0-only
/*
 * --metrics, --metrics-by and --metrics-hz: see metrics.h.  Whether a GPU has a metric is known to
 * CUPTI, and so to the collector alone, in the program.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "record/metrics.h"

#define DEFAULT	"default"
#define HZ_MAX	100000u

#define OF_DEVICES	1u
#define OF_KERNELS	2u
#define OF_BOTH		(OF_DEVICES | OF_KERNELS)

/* As the collector has them, in its order. */
static const struct {
	const char	*word;
	uint32_t	of;
	const char	*what;
} words[] = {
	{ DEFAULT, OF_BOTH, "all of the following that the GPU has and can measure at once" },
	{ "gpu", OF_DEVICES, "time during which the compute and graphics engine was active (%)" },
	{ "sm", OF_BOTH, "SMs that had a warp (%, the mean of all SMs)" },
	{ "occupancy", OF_KERNELS, "warps of SMs that had any (% of the most possible)" },
	{ "tensor", OF_BOTH, "time during which tensor cores were active (% of all SMs)" },
	{ "dram", OF_BOTH, "device memory reads and writes (% of the peak)" },
	{ "nvlink", OF_DEVICES, "received and sent over NVLink (GB/s, all links)" },
	{ "pcie", OF_DEVICES, "received and sent over PCI Express (GB/s)" },
	{ "issue", OF_BOTH, "instructions issued (% of the peak)" },
};

#define WORDS	(sizeof(words) / sizeof(words[0]))

static int print_words(void)
{
	puts("xsprof record --metrics[=WORD,...] samples these metrics of NVIDIA's GPUs:\n");
	for (size_t i = 0; i < WORDS; i++)
		printf("  %-9s %s%s\n", words[i].word, words[i].what,
		       words[i].of == OF_DEVICES ? "; not by kernel" :
		       words[i].of == OF_KERNELS ? "; by kernel only" : "");
	puts("\nWith --metrics-by=kernel they are of each kernel, which then runs alone.\n"
	     "Full CUPTI metric names work too: "
	     "sm__warps_active.avg.pct_of_peak_sustained_active.\n"
	     "Metrics depend on the GPU: a recorded program reports those that its GPU lacks.\n"
	     "Nsight Compute lists the metrics of each chip:\n"
	     "  ncu --query-metrics-collection pmsampling --query-metrics --chip gh100\n"
	     "and those of kernels without --query-metrics-collection pmsampling.");
	return tool_finish(0);
}

/* Names of CUPTI have a unit, a counter and what is made of it: dram__bytes_read.sum.per_second */
static int is_name(const char *text, size_t len)
{
	return memmem(text, len, "__", 2) && memchr(text, '.', len);
}

/* Return: WORDS: it is none of them. */
static size_t find(const char *text, size_t len)
{
	size_t i = 0;

	while (i < WORDS && (strlen(words[i].word) != len || memcmp(words[i].word, text, len)))
		i++;
	return i;
}

int metrics_take(const char *text, const char **metrics)
{
	size_t n;

	if (text && !strcmp(text, "help"))
		return print_words();
	for (const char *p = text ? text : DEFAULT; *p; p += n + (p[n] == ',')) {
		n = strcspn(p, ",");
		if (find(p, n) == WORDS && !is_name(p, n))
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

int metrics_take_by(const char *text, const char **by)
{
	if (strcmp(text, "device") && strcmp(text, "kernel"))
		return tool_usage("record", "--metrics-by: '%s' is neither device nor kernel",
				  text);
	*by = text;
	return -1;
}

int metrics_check(const char *metrics, const char *by, const char *hz, const char *budget)
{
	bool kernels = by && !strcmp(by, "kernel");
	size_t n, i;

	if (!metrics && (hz || by))
		return tool_usage("record", "--metrics-%s needs --metrics", hz ? "hz" : "by");
	if (kernels && hz)
		return tool_usage("record", "--metrics-hz: of kernels metrics are not sampled: "
				  "not with --metrics-by=kernel");
	if (kernels && budget)
		return tool_usage("record", "--gpu-budget: each kernel runs alone to be measured, "
				  "at any cost: not with --metrics-by=kernel");
	for (const char *p = metrics ? metrics : ""; *p; p += n + (p[n] == ',')) {
		n = strcspn(p, ",");
		i = find(p, n);
		if (i < WORDS && !(words[i].of & (kernels ? OF_KERNELS : OF_DEVICES)))
			return tool_usage("record", "--metrics=%s: is measured of %s",
					  words[i].word, kernels ?
					  "devices only: not with --metrics-by=kernel" :
					  "kernels only: with --metrics-by=kernel");
	}
	return -1;
}
