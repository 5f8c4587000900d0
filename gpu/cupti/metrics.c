// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Which metrics the user wants: words of ours, and CUPTI's own names, in XSPROF_METRICS; of each
 * kernel or of devices, in XSPROF_METRICS_BY; and how often, in XSPROF_METRICS_HZ.
 */
#include <stdlib.h>

#include "gpu/cupti/local.h"

#define VARIABLE	"XSPROF_METRICS"
#define VARIABLE_HZ	"XSPROF_METRICS_HZ"
#define VARIABLE_BY	"XSPROF_METRICS_BY"
#define ALL		"default"
#define SECOND		1000000000u
/*
 * A sample is the mean over its interval, so a lower rate shows less detail and nothing wrong.  The
 * time that CUPTI takes for a sample in the program's process, and the size of the capture, are in
 * proportion to it.
 */
#define HZ		1000u
#define HZ_MAX		100000u

#define PERCENT		".avg.pct_of_peak_sustained_elapsed"
#define RATE		".sum.per_second"
#define GIGA		1e9

#define METRIC(word, text, per, ...) \
	{ word, { .title = (text), .names = { __VA_ARGS__ }, .unit = (per) } }

/*
 * What matters most comes first: where a chip cannot measure all at one time, the last are left
 * out.
 * Of two names the first is of a counter that is made for sampling; not all chips have it.
 */
static const struct known {
	const char		*word;
	struct cupti_metric	metric;
} of_devices[] = {
	METRIC("gpu", "GPU active (%)", 1, "gr__cycles_active" PERCENT),
	METRIC("sm", "SM active (%)", 1, "TPC.TriageCompute.sm__cycles_active" PERCENT,
	       "sm__cycles_active" PERCENT),
	METRIC("tensor", "Tensor active (%)", 1,
	       "TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime" PERCENT,
	       "sm__pipe_tensor_cycles_active" PERCENT),
	METRIC("dram", "DRAM read (%)", 1, "dram__read_throughput" PERCENT),
	METRIC("dram", "DRAM write (%)", 1, "dram__write_throughput" PERCENT),
	METRIC("nvlink", "NVLink RX (GB/s)", GIGA, "nvlrx__bytes" RATE),
	METRIC("nvlink", "NVLink TX (GB/s)", GIGA, "nvltx__bytes" RATE),
	METRIC("pcie", "PCIe RX (GB/s)", GIGA, "PCI.TriageCompute.pcie__read_bytes" RATE,
	       "pcie__read_bytes" RATE),
	METRIC("pcie", "PCIe TX (GB/s)", GIGA, "PCI.TriageCompute.pcie__write_bytes" RATE,
	       "pcie__write_bytes" RATE),
	METRIC("issue", "SM issue (%)", 1, "TPC.TriageCompute.sm__inst_executed_realtime" PERCENT,
	       "sm__inst_executed" PERCENT),
};

/*
 * Of a kernel alone the device is active all of the time, and links have no counters that would be
 * measured together with these.
 */
static const struct known of_kernels[] = {
	METRIC("sm", "SM active (%)", 1, "sm__cycles_active" PERCENT),
	METRIC("occupancy", "Warps active (%)", 1,
	       "sm__warps_active.avg.pct_of_peak_sustained_active"),
	METRIC("tensor", "Tensor active (%)", 1, "sm__pipe_tensor_cycles_active" PERCENT,
	       "sm__inst_executed_pipe_tensor" PERCENT),
	METRIC("dram", "DRAM read (%)", 1, "dram__bytes_read.sum.pct_of_peak_sustained_elapsed"),
	METRIC("dram", "DRAM write (%)", 1, "dram__bytes_write.sum.pct_of_peak_sustained_elapsed"),
	METRIC("issue", "SM issue (%)", 1, "sm__inst_executed" PERCENT),
};

static struct cupti_metric wanted[CUPTI_METRICS];
static uint32_t nr_wanted;
static uint64_t interval;
static bool by_kernel;

static void add(const struct cupti_metric *metric, bool asked)
{
	for (uint32_t i = 0; i < nr_wanted; i++) {
		if (!strcmp(wanted[i].title, metric->title)) {
			wanted[i].asked |= asked;
			return;
		}
	}
	if (nr_wanted == CUPTI_METRICS) {
		xsprof_say("%s: more than %u: %s is left out", VARIABLE, CUPTI_METRICS,
			   metric->title);
		return;
	}
	wanted[nr_wanted] = *metric;
	wanted[nr_wanted].asked = asked;
	wanted[nr_wanted++].key = xsprof_name(metric->title);
}

static void take(const char *text, size_t len)
{
	bool all = len == strlen(ALL) && !memcmp(text, ALL, len), found = false;
	size_t n = by_kernel ? ARRAY_SIZE(of_kernels) : ARRAY_SIZE(of_devices);
	const struct known *known = by_kernel ? of_kernels : of_devices;
	struct cupti_metric own = { .unit = 1 };

	for (size_t i = 0; i < n; i++) {
		if (all || (strlen(known[i].word) == len && !memcmp(known[i].word, text, len))) {
			add(&known[i].metric, !all);
			found = true;
		}
	}
	if (found)
		return;
	own.title = own.names[0] = strndup(text, len);
	if (own.title)
		add(&own, true);
}

static uint64_t read_hz(void)
{
	const char *text = secure_getenv(VARIABLE_HZ);
	char *end = NULL;
	unsigned long hz;

	if (!text || !*text)
		return HZ;
	hz = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
	if (hz && hz <= HZ_MAX && !*end)
		return hz;
	xsprof_say("%s: '%s' is invalid: expected samples per second, 1 to %u: using "
		   "%u", VARIABLE_HZ, text,
		   HZ_MAX, HZ);
	return HZ;
}

void cupti_metrics_init(void)
{
	const char *text = secure_getenv(VARIABLE), *by = secure_getenv(VARIABLE_BY);
	size_t len;

	by_kernel = by && !strcmp(by, "kernel");
	if (by && *by && !by_kernel && strcmp(by, "device"))
		xsprof_say("%s: '%s' is neither device nor kernel: device is taken", VARIABLE_BY,
			   by);
	for (; text && *text; text += len + (text[len] == ',')) {
		len = strcspn(text, ",");
		if (len)
			take(text, len);
	}
	if (nr_wanted)
		interval = SECOND / read_hz();
}

uint32_t cupti_metrics(const struct cupti_metric **metrics)
{
	*metrics = wanted;
	return nr_wanted;
}

bool cupti_metrics_by_kernel(void)
{
	return by_kernel && nr_wanted;
}

uint64_t cupti_metrics_interval(void)
{
	return interval;
}
