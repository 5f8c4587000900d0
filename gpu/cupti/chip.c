// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What of the metrics that are wanted a device's chip has, and can measure at one time: its
 * counters are few, and to sample is possible with those of one pass only.  A kernel can run once
 * for each of several passes: that is done for metrics that were named.
 */
#include <stdlib.h>

#include "gpu/cupti/local.h"

/* More of them than any list of metrics needs: each is a run of each kernel. */
#define PASSES	64u

static void close_host(struct cupti_chip *chip)
{
	struct cupti_pm_host_end end = { .size = CUPTI_SIZE(cupti_pm_host_end, host) };

	end.host = chip->host;
	if (chip->host)
		(void)cupti_pm.host_end(&end);
	free(chip->config);
	chip->host = NULL;
	chip->config = NULL;
}

/* Return: 0, or what CUPTI says; of metrics that it does not know that differs. */
static int add_names(struct cupti_chip *chip)
{
	struct cupti_pm_add add = {
		.size = CUPTI_SIZE(cupti_pm_add, nr), .host = chip->host, .names = chip->names,
		.nr = chip->nr,
	};

	return cupti_pm.add(&add);
}

static int make_config(struct cupti_chip *chip)
{
	struct cupti_pm_config_size bytes = {
		.size = CUPTI_SIZE(cupti_pm_config_size, bytes), .host = chip->host,
	};
	struct cupti_pm_config_image image = {
		.size = CUPTI_SIZE(cupti_pm_config_image, image), .host = chip->host,
	};
	int err = cupti_pm.get_config_size(&bytes);

	if (err)
		return err;
	chip->config = calloc(1, bytes.bytes);
	if (!chip->config)
		return CUPTI_OUT_OF_MEMORY;
	chip->bytes = bytes.bytes;
	image.bytes = bytes.bytes;
	image.image = chip->config;
	return cupti_pm.get_config(&image);
}

/* Return: there are no more than @most. */
static bool count_passes(struct cupti_chip *chip, uint32_t most)
{
	struct cupti_pm_passes passes = {
		.size = CUPTI_SIZE(cupti_pm_passes, passes), .bytes = chip->bytes,
		.image = chip->config,
	};

	if (cupti_pm.get_passes(&passes) || !passes.passes || passes.passes > most)
		return false;
	chip->passes = (uint32_t)passes.passes;
	return true;
}

static int open_host(struct cupti_chip *chip)
{
	struct cupti_pm_host begin = {
		.size = CUPTI_SIZE(cupti_pm_host, host), .type = chip->type,
		.chip = chip->name, .available = chip->available,
	};
	int err = cupti_pm.host_begin(&begin);

	chip->host = err ? NULL : begin.host;
	return err;
}

/*
 * All that is chosen, measured at once.  One object is of one choice: what was added to it stays,
 * and of a name that it does not know it may be left in any state.
 */
static bool fits(struct cupti_chip *chip, uint32_t passes)
{
	close_host(chip);
	return !open_host(chip) && !add_names(chip) && !make_config(chip) &&
	       count_passes(chip, passes);
}

/* The metric by the first of its names that the chip has.  Return: false: by none. */
static bool choose(struct cupti_chip *chip, const struct cupti_metric *metric)
{
	uint32_t passes = chip->type == CUPTI_RANGES && metric->asked ? PASSES : 1;

	/* What was named before may have taken more passes already. */
	passes = passes < chip->passes ? chip->passes : passes;
	chip->metrics[chip->nr++] = metric;
	for (size_t i = 0; i < ARRAY_SIZE(metric->names) && metric->names[i]; i++) {
		chip->names[chip->nr - 1] = metric->names[i];
		if (fits(chip, passes))
			return true;
	}
	chip->nr--;
	return false;
}

/* Alone, is it unknown, or does it need more than there is? */
static void tell_left_out(struct cupti_chip *chip, const struct cupti_metric *metric,
			  uint32_t device)
{
	struct cupti_chip alone = {
		.type = chip->type, .name = chip->name, .available = chip->available, .nr = 1,
	};
	bool exists;

	alone.names[0] = metric->names[1] ? metric->names[1] : metric->names[0];
	exists = !open_host(&alone) && !add_names(&alone);
	close_host(&alone);
	if (exists)
		xsprof_say("GPU %u (%s) cannot measure %s at the same time as the others: it is "
			   "left out", device, chip->name, metric->title);
	else
		xsprof_say("GPU %u (%s) has no metric %s: xsprof record --metrics=help lists the "
			   "metrics", device, chip->name, metric->title);
}

static int get_of_device(struct cupti_chip *chip, uint32_t device)
{
	struct cupti_pm_available available = {
		.size = CUPTI_SIZE(cupti_pm_available, image), .device = device,
	};
	int err = cupti_pm.get_available(&available);

	if (err)
		return err;
	chip->available = calloc(1, available.bytes);
	if (!chip->available)
		return CUPTI_OUT_OF_MEMORY;
	available.image = chip->available;
	return cupti_pm.get_available(&available);
}

static int get_of_context(struct cupti_chip *chip, void *context)
{
	struct cupti_range_available available = {
		.size = CUPTI_SIZE(cupti_range_available, image), .context = context,
	};
	int err = cupti_ranges.get_available(&available);

	if (err)
		return err;
	chip->available = calloc(1, available.bytes);
	if (!chip->available)
		return CUPTI_OUT_OF_MEMORY;
	available.image = chip->available;
	return cupti_ranges.get_available(&available);
}

int cupti_chip_choose(struct cupti_chip *chip, uint32_t device)
{
	const struct cupti_metric *wanted;
	uint32_t nr = cupti_metrics(&wanted);
	int err = open_host(chip);

	if (err)
		return err;
	for (uint32_t i = 0; i < nr; i++)
		if (!choose(chip, &wanted[i]) && wanted[i].asked)
			tell_left_out(chip, &wanted[i], device);
	/* What was tried last may be one that did not fit. */
	if (chip->nr && !fits(chip, PASSES))
		chip->nr = 0;
	return 0;
}

int cupti_chip_open(struct cupti_chip *chip, uint32_t device, void *context)
{
	struct cupti_pm_init init = { .size = CUPTI_SIZE(cupti_pm_init, priv) };
	struct cupti_pm_chip name = {
		.size = CUPTI_SIZE(cupti_pm_chip, name), .device = device,
	};
	int err = cupti_pm.init(&init);

	if (!err)
		err = cupti_pm.get_chip(&name);
	if (err)
		return err;
	chip->name = name.name;
	chip->type = context ? CUPTI_RANGES : CUPTI_PM_SAMPLING;
	err = context ? get_of_context(chip, context) : get_of_device(chip, device);
	return err ? err : cupti_chip_choose(chip, device);
}

void cupti_chip_close(struct cupti_chip *chip)
{
	close_host(chip);
	free(chip->available);
	*chip = (struct cupti_chip){ .nr = 0 };
}
