// SPDX-License-Identifier: GPL-2.0-only
/*
 * CUPTI's functions for hardware counters in the stand-in. A chip measures six metrics at once; in
 * a sample the value of each is ten times its number, plus one in every second sample. Samples
 * cover the time that has passed since sampling began.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/cupti/metrics-abi.h"
#include "gpu/cupti/ranges-abi.h"
#include "tests/gpu/replay.h"
#include "tests/gpu/stand-in-metrics.h"

#define EXPORT		__attribute__((visibility("default")))
#define INVALID		1
#define FAILED		7
#define NOT_SUPPORTED	27
#define UNKNOWN		999
#define NAMES		16u
#define GIGA		1e9

EXPORT uint32_t stand_in_sampled, stand_in_unsampled;

/* The chip has all of these, except for words of the collector's second choice. */
struct known {
	const char	*name;
	double		scale;
};

static const struct known of_samples[] = {
	{ "gr__cycles_active.avg.pct_of_peak_sustained_elapsed", 1 },
	{ "TPC.TriageCompute.sm__cycles_active.avg.pct_of_peak_sustained_elapsed", 1 },
	{ "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 1 },
	{ "dram__read_throughput.avg.pct_of_peak_sustained_elapsed", 1 },
	{ "dram__write_throughput.avg.pct_of_peak_sustained_elapsed", 1 },
	{ "pcie__read_bytes.sum.per_second", GIGA },
	{ "pcie__write_bytes.sum.per_second", GIGA },
	{ "sm__inst_executed.avg.pct_of_peak_sustained_elapsed", 1 },
	{ "sm__nothing.avg.pct", 0 },
};

static const struct known of_kernels[] = {
	{ "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", 1 },
	{ "sm__warps_active.avg.pct_of_peak_sustained_active", 1 },
	{ "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_elapsed", 1 },
	{ "dram__bytes_read.sum.pct_of_peak_sustained_elapsed", 1 },
	{ "dram__bytes_write.sum.pct_of_peak_sustained_elapsed", 1 },
	{ "sm__inst_executed.avg.pct_of_peak_sustained_elapsed", 1 },
	{ "lts__t_sector_hit_rate.pct", 1 },
	{ "sm__nothing.avg.pct", 0 },
};

/* A host object; @wrong: an unknown name was added. */
struct host {
	bool	kernels;
	size_t	nr;
	bool	wrong;
	bool	configured;
};

struct sampling {
	uint64_t	interval;
	uint64_t	begin;		/* begin of the first remaining sample */
	uint64_t	nr;		/* samples so far */
	uint32_t	names;
	uint64_t	held;		/* samples in a full buffer */
	bool		on;
	bool		full;
};

static struct sampling samplings[8];
static bool initialized;

EXPORT int cuptiProfilerInitialize(struct cupti_pm_init *p);
EXPORT int cuptiDeviceGetChipName(struct cupti_pm_chip *p);
EXPORT int cuptiPmSamplingGetCounterAvailability(struct cupti_pm_available *p);
EXPORT int cuptiProfilerHostInitialize(struct cupti_pm_host *p);
EXPORT int cuptiProfilerHostDeinitialize(struct cupti_pm_object *p);
EXPORT int cuptiProfilerHostConfigAddMetrics(struct cupti_pm_add *p);
EXPORT int cuptiProfilerHostGetConfigImageSize(struct cupti_pm_config_size *p);
EXPORT int cuptiProfilerHostGetConfigImage(struct cupti_pm_config_image *p);
EXPORT int cuptiProfilerHostGetNumOfPasses(struct cupti_pm_passes *p);
EXPORT int cuptiProfilerHostEvaluateToGpuValues(struct cupti_pm_values *p);
EXPORT int cuptiPmSamplingEnable(struct cupti_pm_enable *p);
EXPORT int cuptiPmSamplingSetConfig(struct cupti_pm_config *p);
EXPORT int cuptiPmSamplingStart(struct cupti_pm_object *p);
EXPORT int cuptiPmSamplingStop(struct cupti_pm_object *p);
EXPORT int cuptiPmSamplingDecodeData(struct cupti_pm_decode *p);
EXPORT int cuptiPmSamplingGetCounterDataSize(struct cupti_pm_data_size *p);
EXPORT int cuptiPmSamplingCounterDataImageInitialize(struct cupti_pm_data_init *p);
EXPORT int cuptiPmSamplingGetCounterDataInfo(struct cupti_pm_data_info *p);
EXPORT int cuptiPmSamplingCounterDataGetSampleInfo(struct cupti_pm_sample *p);

/* ---- metrics of a chip ----------------------------------------------------------------------- */

int cuptiProfilerInitialize(struct cupti_pm_init *p)
{
	initialized = p->size == CUPTI_SIZE(cupti_pm_init, priv);
	return initialized ? 0 : INVALID;
}

int cuptiDeviceGetChipName(struct cupti_pm_chip *p)
{
	if (p->size != CUPTI_SIZE(cupti_pm_chip, name) || !initialized)
		return INVALID;
	p->name = "SI100";
	return 0;
}

int cuptiPmSamplingGetCounterAvailability(struct cupti_pm_available *p)
{
	if (p->size != CUPTI_SIZE(cupti_pm_available, image))
		return INVALID;
	if (stand_in.counters)
		return stand_in.counters;
	if (p->image)
		memset(p->image, 'a', p->bytes);
	p->bytes = 16;
	return 0;
}

int cuptiProfilerHostInitialize(struct cupti_pm_host *p)
{
	struct host *host;

	if (p->size != CUPTI_SIZE(cupti_pm_host, host) ||
	    (p->type != CUPTI_PM_SAMPLING && p->type != CUPTI_RANGES) ||
	    strcmp(p->chip, "SI100") || !p->available ||
	    p->available[15] != (p->type == CUPTI_RANGES ? 'r' : 'a'))
		return INVALID;
	host = calloc(1, sizeof(*host));
	if (!host)
		return UNKNOWN;
	host->kernels = p->type == CUPTI_RANGES;
	p->host = host;
	return 0;
}

int cuptiProfilerHostDeinitialize(struct cupti_pm_object *p)
{
	free(p->object);
	return p->object ? 0 : INVALID;
}

static const struct known *known_of(const struct host *host)
{
	return host->kernels ? of_kernels : of_samples;
}

static int find(const struct host *host, const char *name)
{
	const struct known *known = known_of(host);
	size_t n = host->kernels ? sizeof(of_kernels) / sizeof(of_kernels[0]) :
				   sizeof(of_samples) / sizeof(of_samples[0]);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(known[i].name, name))
			return (int)i;
	return -1;
}

/* Errors for unknown names differ, and the object is unusable afterwards. */
int cuptiProfilerHostConfigAddMetrics(struct cupti_pm_add *p)
{
	struct host *host = p->host;

	if (p->size != CUPTI_SIZE(cupti_pm_add, nr) || host->wrong || host->nr)
		return UNKNOWN;
	for (size_t i = 0; i < p->nr; i++) {
		if (find(host, p->names[i]) < 0) {
			host->wrong = true;
			return i ? UNKNOWN : INVALID;
		}
	}
	host->nr = p->nr;
	return 0;
}

int cuptiProfilerHostGetConfigImageSize(struct cupti_pm_config_size *p)
{
	const struct host *host = p->host;

	if (p->size != CUPTI_SIZE(cupti_pm_config_size, bytes) || host->wrong)
		return INVALID;
	p->bytes = 8 + host->nr;
	return 0;
}

int cuptiProfilerHostGetConfigImage(struct cupti_pm_config_image *p)
{
	struct host *host = p->host;

	if (p->size != CUPTI_SIZE(cupti_pm_config_image, image) || p->bytes != 8 + host->nr)
		return INVALID;
	memset(p->image, 'c', p->bytes);
	host->configured = true;
	return 0;
}

int cuptiProfilerHostGetNumOfPasses(struct cupti_pm_passes *p)
{
	if (p->size != CUPTI_SIZE(cupti_pm_passes, passes) || p->image[p->bytes - 1] != 'c')
		return INVALID;
	p->passes = (p->bytes - 8 + AT_ONCE - 1) / AT_ONCE;
	return 0;
}

int cuptiProfilerHostEvaluateToGpuValues(struct cupti_pm_values *p)
{
	const struct image *image = (const struct image *)p->image;
	const struct host *host = p->host;

	if (p->size != CUPTI_SIZE(cupti_pm_values, values) || !host->configured ||
	    host->nr != p->nr || p->index >= image->n || p->bytes != IMAGE_BYTES)
		return INVALID;
	for (size_t i = 0; i < p->nr; i++) {
		int k = find(host, p->names[i]);
		double scale = known_of(host)[k].scale;

		p->values[i] = scale > 0 ?
			       scale * (10.0 * (k + 1) +
						 (double)((image->first + p->index) & 1)) : NAN;
	}
	return 0;
}

/* ---- samples --------------------------------------------------------------------------------- */

static uint64_t now(void)
{
	struct timespec ts;

	if (stand_in.sample_clock == STAND_IN_CALLBACK)
		return stand_in_now();
	clock_gettime(CLOCK_REALTIME, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec) /
	       (stand_in.sample_clock == STAND_IN_UNKNOWN ? 3 : 1);
}

int cuptiPmSamplingEnable(struct cupti_pm_enable *p)
{
	if (p->size != CUPTI_SIZE(cupti_pm_enable, object) || p->of >= 8)
		return INVALID;
	p->object = &samplings[p->of];
	return 0;
}

int cuptiPmSamplingSetConfig(struct cupti_pm_config *p)
{
	struct sampling *s = p->sampling;

	if (p->size != CUPTI_SIZE(cupti_pm_config, trigger) || p->image[p->bytes - 1] != 'c' ||
	    p->hardware < 1 << 20 || !p->interval)
		return INVALID;
	if (stand_in.by_clocks && p->trigger != CUPTI_TRIGGER_CLOCK)
		return NOT_SUPPORTED;
	if ((p->bytes - 8) / (AT_ONCE + 1))
		return NOT_SUPPORTED;
	/* The clock has 2 GHz. */
	s->interval = p->trigger == CUPTI_TRIGGER_CLOCK ? p->interval / 2 : p->interval;
	s->names = (uint32_t)p->bytes - 8;
	return 0;
}

int cuptiPmSamplingStart(struct cupti_pm_object *p)
{
	struct sampling *s = p->object;

	if (p->size != CUPTI_SIZE(cupti_pm_object, object) || s->on || !s->interval)
		return FAILED;
	s->on = true;
	s->full = false;
	s->nr = 0;
	s->begin = now();
	stand_in_sampled++;
	return 0;
}

int cuptiPmSamplingStop(struct cupti_pm_object *p)
{
	struct sampling *s = p->object;

	if (p->size != CUPTI_SIZE(cupti_pm_object, object) || !s->on)
		return FAILED;
	s->on = false;
	stand_in_unsampled++;
	return 0;
}

int cuptiPmSamplingGetCounterDataSize(struct cupti_pm_data_size *p)
{
	const struct sampling *s = p->sampling;

	if (p->size != CUPTI_SIZE(cupti_pm_data_size, bytes) || p->nr != s->names || !p->samples)
		return INVALID;
	p->bytes = IMAGE_BYTES;
	return 0;
}

/* Fewer samples than there are at a time. */
int cuptiPmSamplingCounterDataImageInitialize(struct cupti_pm_data_init *p)
{
	struct image *image = (struct image *)p->image;

	if (p->size != CUPTI_SIZE(cupti_pm_data_init, image) || p->bytes != IMAGE_BYTES)
		return INVALID;
	*image = (struct image){ .room = 50 };
	return 0;
}

/*
 * A full buffer keeps the oldest samples, and takes no more until sampling restarts. It is reported
 * once; there may be more to read then.
 */
int cuptiPmSamplingDecodeData(struct cupti_pm_decode *p)
{
	struct image *image = (struct image *)p->image;
	struct sampling *s = p->sampling;
	uint64_t left = (now() - s->begin) / s->interval;

	if (p->size != CUPTI_SIZE(cupti_pm_decode, overflow) || !image->room || image->n)
		return INVALID;
	p->overflow = !s->full && stand_in.samples && left > stand_in.samples;
	if (p->overflow) {
		s->full = true;
		s->held = stand_in.samples;
	}
	left = s->full ? s->held : left;
	image->n = left < image->room ? (uint32_t)left : image->room;
	image->begin = s->begin;
	image->interval = s->interval;
	image->first = s->nr;
	image->suspect = !s->nr;
	s->nr += image->n;
	s->begin += image->n * s->interval;
	s->held -= s->full ? image->n : 0;
	p->reason = image->n < left ? CUPTI_STOP_FULL : 2;
	return 0;
}

int cuptiPmSamplingGetCounterDataInfo(struct cupti_pm_data_info *p)
{
	const struct image *image = (const struct image *)p->image;

	if (p->size != CUPTI_SIZE(cupti_pm_data_info, completed))
		return INVALID;
	p->total = image->room;
	p->populated = p->completed = image->n;
	return 0;
}

int cuptiPmSamplingCounterDataGetSampleInfo(struct cupti_pm_sample *p)
{
	const struct image *image = (const struct image *)p->image;

	if (p->size != CUPTI_SIZE(cupti_pm_sample, end) || p->index >= image->n)
		return INVALID;
	p->start = image->suspect && !p->index ? 1 : image->begin + p->index * image->interval;
	p->end = image->begin + (p->index + 1) * image->interval;
	return 0;
}
