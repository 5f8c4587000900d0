// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Samples of a device's metrics: the device itself takes them at an interval, into a buffer of its
 * own, from which the collector's thread reads them.  A sample is the mean over its interval, of
 * all that runs on the device, of whichever process.
 *
 * Sampling begins when the program has a context on the device.  cuptiPmSamplingDisable() is not
 * called: versions of CUPTI end all that they record with it, and what the process has of the
 * device ends with the process.
 */
#include <math.h>
#include <stdlib.h>

#include "gpu/cupti/local.h"

#define DEVICES		32u
#define SECOND		1000000000ull
#define MILLISECOND	1000000ull
/* Room for some seconds at 1 kHz, on the device. */
#define HARDWARE_BYTES	(64u << 20)
/* Read at once, at most; and how many there should be by then. */
#define SAMPLES		512u
#define READ_AFTER	64u
#define IMAGES		8u
#define READ_SOONEST	(10 * MILLISECOND)
#define READ_LATEST	(SECOND / 4)
/* Metrics of a record: as many as it has room for. */
#define ARGS		10u

enum state { NEW, SAMPLING, STOPPED, REFUSED };

/**
 * struct device - a device
 * @state: what it is doing
 * @chip: what it measures
 * @sampling: CUPTI's object
 * @image: where samples are read to
 * @bytes: of it
 * @since: when it began to sample, ns of our clock
 * @last: end of the last sample, as CUPTI has it; 0: none since it began
 * @length: of that sample
 * @overflow: its buffer is full, and takes no samples until sampling begins anew
 * @full: it was, and sampling has begun anew after @last
 */
struct device {
	enum state		state;
	struct cupti_chip	chip;
	void			*sampling;
	uint8_t			*image;
	size_t			bytes;
	uint64_t		since;
	uint64_t		last;
	uint64_t		length;
	bool			overflow;
	bool			full;
};

static struct device devices[DEVICES];
static bool on;
static uint64_t next;		/* when to read again, ns of CLOCK_MONOTONIC */

/* ---- refused --------------------------------------------------------------------------------- */

static const char *cure(int err)
{
	switch (err) {
	case CUPTI_NO_PRIVILEGE:
	case CUPTI_NO_PRIVILEGE_VGPU:
		return ": the driver allows only root to read GPU counters (its option "
		       "NVreg_RestrictProfilingToAdminUsers=0 allows all users)";
	case CUPTI_INVALID_OPERATION:
	case CUPTI_HARDWARE_BUSY:
		return ": another profiler or a monitor uses its counters (dcgmi profiling --pause "
		       "makes DCGM release them)";
	case CUPTI_NOT_INITIALIZED:
		return ": libnvperf_host.so and libnvperf_target.so must be beside libcupti";
	case CUPTI_NO_MIG:
		return ": it is partitioned by MIG";
	case CUPTI_NO_VGPU:
		return ": it is a virtual GPU, whose host must allow it";
	default:
		return "";
	}
}

static int stop(struct device *d)
{
	struct cupti_pm_run run = {
		.size = CUPTI_SIZE(cupti_pm_run, sampling), .sampling = d->sampling,
	};

	d->state = STOPPED;
	return cupti_pm.stop(&run);
}

static void refuse(uint32_t number, int err)
{
	struct device *d = &devices[number];

	xsprof_say("the metrics of GPU %u are not recorded: %s (%d)%s", number, cupti_text(err),
		   err, cure(err));
	if (d->state == SAMPLING)
		(void)stop(d);
	cupti_chip_close(&d->chip);
	free(d->image);
	d->image = NULL;
	d->state = REFUSED;
}

/* ---- begin and end --------------------------------------------------------------------------- */

/* Not all devices sample by time: of the others the interval is in clocks, of about 1 GHz. */
static int set_config(struct device *d)
{
	struct cupti_pm_config config = {
		.size = CUPTI_SIZE(cupti_pm_config, trigger), .sampling = d->sampling,
		.bytes = d->chip.bytes, .image = d->chip.config, .hardware = HARDWARE_BYTES,
		.interval = cupti_metrics_interval(), .trigger = CUPTI_TRIGGER_TIME,
	};
	int err = cupti_pm.set_config(&config);

	if (!err)
		return 0;
	config.trigger = CUPTI_TRIGGER_CLOCK;
	return cupti_pm.set_config(&config) ? err : 0;
}

static int clear_image(struct device *d)
{
	struct cupti_pm_data_init init = {
		.size = CUPTI_SIZE(cupti_pm_data_init, image), .sampling = d->sampling,
		.bytes = d->bytes, .image = d->image,
	};

	return cupti_pm.init_data(&init);
}

static int make_image(struct device *d)
{
	struct cupti_pm_data_size bytes = {
		.size = CUPTI_SIZE(cupti_pm_data_size, bytes), .sampling = d->sampling,
		.names = d->chip.names, .nr = d->chip.nr, .samples = SAMPLES,
	};
	int err = cupti_pm.get_data_size(&bytes);

	if (err)
		return err;
	d->image = calloc(1, bytes.bytes);
	if (!d->image)
		return CUPTI_OUT_OF_MEMORY;
	d->bytes = bytes.bytes;
	return clear_image(d);
}

static int start(struct device *d)
{
	struct cupti_pm_run run = {
		.size = CUPTI_SIZE(cupti_pm_run, sampling), .sampling = d->sampling,
	};
	int err;

	d->since = xsprof_ticks_ns(xsprof_now());
	err = cupti_pm.start(&run);
	if (!err)
		d->state = SAMPLING;
	return err;
}

static void begin(uint32_t number)
{
	struct device *d = &devices[number];
	struct cupti_pm_enable enable = {
		.size = CUPTI_SIZE(cupti_pm_enable, sampling), .device = number,
	};
	int err = cupti_chip_open(&d->chip, number);

	if (!err && !d->chip.nr) {
		/* A line has named each that was left out. */
		cupti_chip_close(&d->chip);
		d->state = REFUSED;
		return;
	}
	if (!err)
		err = cupti_pm.enable(&enable);
	d->sampling = enable.sampling;
	if (!err)
		err = set_config(d);
	if (!err)
		err = make_image(d);
	if (!err)
		err = start(d);
	if (err)
		refuse(number, err);
}

/* ---- samples --------------------------------------------------------------------------------- */

static void put_sample(const struct device *d, uint64_t begin_ns, uint64_t end_ns,
		       const double *values)
{
	struct xsprof_device_activity a = {
		.size = sizeof(a), .kind = XSPROF_GPU_METRICS, .device = (uint32_t)(d - devices),
		.name = xsprof_name_in(cupti_category(), "GPU metrics"),
		.begin = xsprof_ns_ticks(begin_ns), .end = xsprof_ns_ticks(end_ns),
	};
	struct xsprof_kv kv[ARGS];
	size_t n = 0;

	for (uint32_t i = 0; i < d->chip.nr; i++) {
		/* What is a part of nothing, as of a unit that was off. */
		if (isfinite(values[i]))
			kv[n++] = xsprof_f64(d->chip.metrics[i]->key,
					     values[i] / d->chip.metrics[i]->unit);
		if (n == ARGS) {
			cupti_put(&a, kv, n);
			n = 0;
		}
	}
	if (n)
		cupti_put(&a, kv, n);
}

/* Samples follow each other: what is between two is of those that found no room. */
static void count_lost(const struct device *d, uint64_t until)
{
	if (d->last && d->length && until > d->last)
		cupti_miss(CUPTI_MISS_SAMPLES, (until - d->last + d->length / 2) / d->length);
}

/* Return: false: nothing is known of it. */
static bool get_sample(const struct device *d, size_t index, struct cupti_pm_sample *sample,
		       double values[CUPTI_METRICS])
{
	struct cupti_pm_values get = {
		.size = CUPTI_SIZE(cupti_pm_values, values), .host = d->chip.host,
		.image = d->image, .bytes = d->bytes, .index = index,
		.names = (const char **)d->chip.names, .nr = d->chip.nr, .values = values,
	};

	*sample = (struct cupti_pm_sample){
		.size = CUPTI_SIZE(cupti_pm_sample, end), .sampling = d->sampling,
		.image = d->image, .bytes = d->bytes, .index = index,
	};
	return !cupti_pm.get_sample(sample) && !cupti_pm.get_values(&get);
}

static void take_sample(struct device *d, const struct cupti_pm_sample *sample,
			enum cupti_clock clock, uint64_t off, const double *values)
{
	uint64_t length = d->length ? d->length : cupti_metrics_interval();
	uint64_t start = sample->start, end = sample->end;

	/* When the first one began is not measured: not before sampling did. */
	if (!d->last || d->full || start < d->last || start >= end)
		start = end - length;
	if (!d->last && start < d->since + off && d->since + off < end)
		start = d->since + off;
	count_lost(d, start);
	d->last = end;
	d->length = end - start;
	d->full = false;
	if (clock == CUPTI_NO_CLOCK)
		cupti_miss(CUPTI_MISS_SAMPLE_TIME, 1);
	else
		put_sample(d, start - off, end - off, values);
}

static void take_samples(struct device *d, size_t n)
{
	enum cupti_clock clock = CUPTI_NO_CLOCK;
	double values[CUPTI_METRICS];
	struct cupti_pm_sample sample;
	uint64_t off = 0;

	/* The newest was read at once. */
	if (n && get_sample(d, n - 1, &sample, values))
		clock = cupti_clock_find(d->since, sample.end);
	off = (uint64_t)cupti_clock_ahead(clock);
	for (size_t i = 0; i < n; i++) {
		if (get_sample(d, i, &sample, values))
			take_sample(d, &sample, clock, off, values);
		else
			cupti_miss(CUPTI_MISS_SAMPLES, 1);
	}
}

static int start_anew(struct device *d)
{
	d->full = true;
	d->overflow = false;
	(void)stop(d);
	return start(d);
}

/* Return: 0; CUPTI's result.  @more: there may be more. */
static int read_image(struct device *d, bool *more)
{
	struct cupti_pm_decode decode = {
		.size = CUPTI_SIZE(cupti_pm_decode, overflow), .sampling = d->sampling,
		.image = d->image, .bytes = d->bytes,
	};
	struct cupti_pm_data_info info = {
		.size = CUPTI_SIZE(cupti_pm_data_info, completed), .image = d->image,
		.bytes = d->bytes,
	};
	int err = cupti_pm.decode(&decode);
	bool full = decode.overflow || err == CUPTI_OUT_OF_MEMORY;

	if (err && !full)
		return err;
	err = cupti_pm.get_data_info(&info);
	if (!err)
		take_samples(d, info.completed < SAMPLES ? info.completed : SAMPLES);
	if (!err)
		err = clear_image(d);
	*more = !err && decode.reason == CUPTI_STOP_FULL && info.completed;
	d->overflow |= full;
	if (!err && d->overflow && !*more && d->state == SAMPLING)
		err = start_anew(d);
	return err;
}

/* Of one that samples faster than they are read there would be no end. */
static void read_device(uint32_t number)
{
	struct device *d = &devices[number];
	uint32_t images = 0;
	bool more;
	int err;

	do {
		err = read_image(d, &more);
	} while (!err && more && (d->state != SAMPLING || ++images < IMAGES));
	if (err)
		refuse(number, err);
}

/* ---- all of them ----------------------------------------------------------------------------- */

void cupti_sampling_on(void)
{
	on = true;
}

void cupti_sampling_off(void)
{
	on = false;
	next = 0;
	for (uint32_t i = 0; i < DEVICES; i++) {
		struct device *d = &devices[i];

		if (d->state != SAMPLING)
			continue;
		(void)stop(d);
		read_device(i);
		if ((d->full || d->overflow) && d->last)
			cupti_miss(CUPTI_MISS_SAMPLES, 1);
		d->last = 0;
		d->full = d->overflow = false;
	}
}

/* Those that the program uses, of which some may be new. */
static void begin_all(void)
{
	static bool opened, missing;

	for (uint32_t i = 0; i < DEVICES; i++) {
		struct device *d = &devices[i];
		int err;

		if (!(cupti_devices_used() >> i & 1) || missing)
			continue;
		if (!opened)
			missing = !cupti_pm_open();
		opened = true;
		if (missing)
			continue;
		if (d->state == NEW)
			begin(i);
		if (d->state != STOPPED)
			continue;
		err = start(d);
		if (err)
			refuse(i, err);
	}
}

uint64_t cupti_sampling(uint64_t now, bool all)
{
	uint64_t period = READ_AFTER * cupti_metrics_interval();
	const struct cupti_metric *wanted;

	if (!on || !cupti_metrics(&wanted))
		return now + SECOND;
	if (now < next && !all)
		return next;
	begin_all();
	for (uint32_t i = 0; i < DEVICES; i++)
		if (devices[i].state == SAMPLING)
			read_device(i);
	period = period < READ_SOONEST ? READ_SOONEST : period > READ_LATEST ? READ_LATEST : period;
	next = now + period;
	return next;
}

void cupti_sampling_forget(void)
{
	on = false;
	memset(devices, 0, sizeof(devices));
}
