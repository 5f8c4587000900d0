// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Samples of a device's metrics: the device takes them at an interval, into a buffer of its own,
 * which the collector's thread reads. A sample is the mean over its interval, of all processes that
 * use the device.
 *
 * Sampling begins when the program has a context on the device. cuptiPmSamplingDisable() is not
 * called: with some versions of CUPTI it ends all recording. The process's end frees the device.
 */
#include <math.h>
#include <stdlib.h>

#include "gpu/common/refused.h"
#include "gpu/cupti/chip.h"

#define DEVICES		32u
#define SECOND		1000000000ull
#define MILLISECOND	1000000ull
#define HARDWARE_BYTES	(64u << 20)	/* on the device: some seconds at 1 kHz */
#define SAMPLES		512u		/* read at once, at most */
#define READ_AFTER	64u		/* samples to wait for before reading */
#define IMAGES		8u
#define READ_SOONEST	(10 * MILLISECOND)
#define READ_LATEST	(SECOND / 4)
#define ARGS		10u		/* metrics of a record: all it has room for */

enum state { NEW, SAMPLING, STOPPED, REFUSED };

/**
 * struct device - a device
 * @chip: what it measures
 * @since: when sampling began, ns of our clock
 * @last: end of the last sample, of CUPTI's clock; 0: none since sampling began
 * @length: length of that sample, ns
 * @overflow: the device's buffer is full: no samples until sampling is restarted
 * @full: the buffer was full, and sampling was restarted after @last
 * @any: there was a sample, or one that is counted as missed
 */
struct device {
	enum state		state;
	struct cupti_chip	chip;
	uint64_t		since;
	uint64_t		last;
	uint64_t		length;
	bool			overflow;
	bool			full;
	bool			any;
	enum cupti_clock	clock;
};

static struct device devices[DEVICES];
static bool on;
static bool missing;		/* CUPTI cannot sample; the user was told */
static bool was_off;		/* for a while: the program paused, or because of a budget */
static uint64_t next;		/* when to read again, ns of CLOCK_MONOTONIC */

/* ---- refused --------------------------------------------------------------------------------- */

static int stop(struct device *d)
{
	struct cupti_pm_object run = {
		.size = CUPTI_SIZE(cupti_pm_object, object), .object = d->chip.profiler,
	};

	d->state = STOPPED;
	return cupti_pm.stop(&run);
}

static void refuse(uint32_t number, int err)
{
	struct device *d = &devices[number];

	cupti_pm_tell(number, err);
	if (d->state == SAMPLING)
		(void)stop(d);
	cupti_chip_close(&d->chip);
	d->state = REFUSED;
}

/* ---- begin and end --------------------------------------------------------------------------- */

/* Devices that cannot sample by time do so by clocks, of about 1 GHz. */
static int set_config(struct device *d)
{
	struct cupti_pm_config config = {
		.size = CUPTI_SIZE(cupti_pm_config, trigger), .sampling = d->chip.profiler,
		.bytes = d->chip.bytes, .image = d->chip.config, .hardware = HARDWARE_BYTES,
		.interval = cupti_metrics_interval(), .trigger = CUPTI_TRIGGER_TIME,
	};
	int err = cupti_pm.set_config(&config);

	if (!err)
		return 0;
	config.trigger = CUPTI_TRIGGER_CLOCK;
	return cupti_pm.set_config(&config) ? err : 0;
}

static int make_image(struct cupti_chip *chip)
{
	struct cupti_pm_data_size bytes = {
		.size = CUPTI_SIZE(cupti_pm_data_size, bytes), .sampling = chip->profiler,
		.names = chip->names, .nr = chip->nr, .samples = SAMPLES,
	};
	int err = cupti_pm.get_data_size(&bytes);

	return err ? err : cupti_chip_make_image(chip, bytes.bytes);
}

static int start(struct device *d)
{
	struct cupti_pm_object run = {
		.size = CUPTI_SIZE(cupti_pm_object, object), .object = d->chip.profiler,
	};
	int err;

	d->since = xsprof_ticks_ns(xsprof_now());
	d->clock = CUPTI_NO_CLOCK;
	err = cupti_pm.start(&run);
	if (!err)
		d->state = SAMPLING;
	return err;
}

static void begin(uint32_t number)
{
	struct device *d = &devices[number];
	struct cupti_pm_enable enable = {
		.size = CUPTI_SIZE(cupti_pm_enable, object), .of = number,
	};
	int err = cupti_chip_open(&d->chip, number, NULL);

	if (!err && !d->chip.nr) {
		/* The user was told about each metric that was left out. */
		cupti_chip_close(&d->chip);
		d->state = REFUSED;
		return;
	}
	if (!err)
		err = cupti_pm.enable(&enable);
	d->chip.profiler = enable.object;
	if (!err)
		err = set_config(d);
	if (!err)
		err = make_image(&d->chip);
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
		/* A ratio to 0 is not finite, as of a unit that was off. */
		if (isfinite(values[i]))
			kv[n++] = xsprof_f64(d->chip.metrics[i]->key, values[i]);
		if (n == ARGS) {
			cupti_put(&a, kv, n);
			n = 0;
		}
	}
	if (n)
		cupti_put(&a, kv, n);
}

/* Samples have no gaps between them: a gap is of samples that found no room. */
static void count_lost(const struct device *d, uint64_t until)
{
	if (d->last && d->length && until > d->last)
		cupti_miss(CUPTI_MISS_SAMPLES, (until - d->last + d->length / 2) / d->length);
}

/* Return: false: CUPTI cannot give it. */
static bool get_sample(const struct device *d, size_t index, struct cupti_pm_sample *sample,
		       double values[CUPTI_METRICS])
{
	*sample = (struct cupti_pm_sample){
		.size = CUPTI_SIZE(cupti_pm_sample, end), .sampling = d->chip.profiler,
		.image = d->chip.image, .bytes = d->chip.image_bytes, .index = index,
	};
	return !cupti_pm.get_sample(sample) && !cupti_chip_get_values(&d->chip, index, values);
}

static void take_sample(struct device *d, const struct cupti_pm_sample *sample,
			enum cupti_clock clock, uint64_t off, const double *values)
{
	uint64_t length = d->length ? d->length : cupti_metrics_interval();
	uint64_t start = sample->start, end = sample->end;

	/* The begin of the first sample is not known, but it is after that of sampling. */
	if (!d->last || d->full || start < d->last || start >= end)
		start = end - length;
	if (!d->last && start < d->since + off && d->since + off < end)
		start = d->since + off;
	count_lost(d, start);
	d->any = true;
	d->last = end;
	d->length = end - start;
	d->full = false;
	if (clock == CUPTI_NO_CLOCK)
		cupti_miss(CUPTI_MISS_SAMPLE_TIME, 1);
	else
		put_sample(d, start - off, end - off, values);
}

static void miss_sample(struct device *d)
{
	d->any = true;
	cupti_miss(CUPTI_MISS_SAMPLES, 1);
}

static void take_samples(struct device *d, size_t n)
{
	enum cupti_clock clock = CUPTI_NO_CLOCK;
	double values[CUPTI_METRICS];
	struct cupti_pm_sample sample;
	uint64_t off = 0;

	/* The last sample ended just now: its time tells the clock. */
	if (n && get_sample(d, n - 1, &sample, values))
		clock = d->clock = cupti_clock_find(d->since, sample.end, d->clock);
	off = (uint64_t)cupti_clock_ahead(clock);
	for (size_t i = 0; i < n; i++) {
		if (get_sample(d, i, &sample, values))
			take_sample(d, &sample, clock, off, values);
		else
			miss_sample(d);
	}
}

static int restart(struct device *d)
{
	d->full = true;
	d->overflow = false;
	(void)stop(d);
	return start(d);
}

/* Sets @more if there may be more samples. Return: 0, or CUPTI's error. */
static int read_image(struct device *d, bool *more)
{
	struct cupti_pm_decode decode = {
		.size = CUPTI_SIZE(cupti_pm_decode, overflow), .sampling = d->chip.profiler,
		.image = d->chip.image, .bytes = d->chip.image_bytes,
	};
	struct cupti_pm_data_info info = {
		.size = CUPTI_SIZE(cupti_pm_data_info, completed), .image = d->chip.image,
		.bytes = d->chip.image_bytes,
	};
	int err = cupti_pm.decode(&decode);
	bool full = decode.overflow || err == CUPTI_OUT_OF_MEMORY;

	if (err && !full)
		return err;
	err = cupti_pm.get_data_info(&info);
	if (!err)
		take_samples(d, info.completed < SAMPLES ? info.completed : SAMPLES);
	if (!err)
		err = cupti_chip_clear_image(&d->chip);
	*more = !err && decode.reason == CUPTI_STOP_FULL && info.completed;
	d->overflow |= full;
	if (!err && d->overflow && !*more && d->state == SAMPLING)
		err = restart(d);
	return err;
}

/* While the device samples, the number of reads is bounded: it may sample faster than we read. */
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

/* ---- all devices ----------------------------------------------------------------------------- */

void cupti_sampling_on(void)
{
	static bool before;

	was_off |= before && !on;
	before = on = true;
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

/* Begins to sample the devices that the program uses. */
static void begin_all(void)
{
	static bool opened;

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

	if (!on || cupti_metrics_by_kernel() || !cupti_metrics(&wanted))
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

void cupti_sampling_end(void)
{
	const struct cupti_metric *wanted;

	/* Of one that was not always on it is not known why. */
	if (cupti_metrics_by_kernel() || !cupti_metrics(&wanted) || missing || was_off)
		return;
	for (uint32_t i = 0; i < DEVICES; i++)
		if (cupti_devices_used() >> i & 1 && devices[i].state != REFUSED && !devices[i].any)
			gpu_refused("the program ended before there was a sample of GPU %u's "
				    "metrics: sampling begins up to half a second after the "
				    "first use of a device", i);
}

void cupti_sampling_forget(void)
{
	on = false;
	memset(devices, 0, sizeof(devices));
}
