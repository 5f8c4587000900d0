// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Which of the wanted metrics a device's chip has, and can measure at one time: it has few
 * counters, and sampling can only use those of one pass. A kernel can be run once per pass, for
 * several passes: that is done for metrics that the user named.
 */
#include <stdlib.h>

#include "gpu/common/refused.h"
#include "gpu/cupti/chip.h"

/* More than any list of metrics needs: each pass runs each kernel once more. */
#define PASSES	64u

static void close_host(struct cupti_chip *chip)
{
	struct cupti_pm_object end = {
		.size = CUPTI_SIZE(cupti_pm_object, object), .object = chip->host,
	};

	if (chip->host)
		(void)cupti_pm.host_end(&end);
	free(chip->config);
	chip->host = NULL;
	chip->config = NULL;
}

/* Return: 0, or CUPTI's error, which differs between versions for unknown metrics. */
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

/* Return: @most passes are enough. */
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
 * Can all chosen metrics be measured at once? Each try needs an object of its own: metrics cannot
 * be removed from one, and an unknown name may leave it in any state.
 */
static bool fits(struct cupti_chip *chip, uint32_t passes)
{
	close_host(chip);
	return !open_host(chip) && !add_names(chip) && !make_config(chip) &&
	       count_passes(chip, passes);
}

/* Chooses the metric by its first name that the chip has. Return: false: it has none. */
static bool choose(struct cupti_chip *chip, const struct cupti_metric *metric)
{
	uint32_t passes = chip->type == CUPTI_RANGES && metric->asked ? PASSES : 1;

	/* Metrics that the user named before may need more passes already. */
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

/* Says whether the metric is unknown, or needs more counters than are left. */
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
		gpu_refused("GPU %u (%s) cannot measure %s at the same time as the others: it is "
			    "left out", device, chip->name, metric->title);
	else
		gpu_refused("GPU %u (%s) has no metric %s: xsprof record --metrics=help lists the "
			    "metrics", device, chip->name, metric->title);
}

/* @of: as in struct cupti_pm_available */
static int get_available(struct cupti_chip *chip, uintptr_t of)
{
	int (*get)(struct cupti_pm_available *) = chip->type == CUPTI_RANGES ?
		cupti_ranges.get_available : cupti_pm.get_available;
	struct cupti_pm_available available = {
		.size = CUPTI_SIZE(cupti_pm_available, image), .of = of,
	};
	int err = get(&available);

	if (err)
		return err;
	chip->available = calloc(1, available.bytes);
	if (!chip->available)
		return CUPTI_OUT_OF_MEMORY;
	available.image = chip->available;
	return get(&available);
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
	/* The last one tried may not have fitted. */
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
	err = get_available(chip, context ? (uintptr_t)context : device);
	return err ? err : cupti_chip_choose(chip, device);
}

int cupti_chip_clear_image(struct cupti_chip *chip)
{
	struct cupti_pm_data_init init = {
		.size = CUPTI_SIZE(cupti_pm_data_init, image), .object = chip->profiler,
		.bytes = chip->image_bytes, .image = chip->image,
	};

	return chip->type == CUPTI_RANGES ? cupti_ranges.init_data(&init) :
					    cupti_pm.init_data(&init);
}

int cupti_chip_make_image(struct cupti_chip *chip, size_t bytes)
{
	chip->image = calloc(1, bytes);
	chip->image_bytes = bytes;
	return chip->image ? cupti_chip_clear_image(chip) : CUPTI_OUT_OF_MEMORY;
}

int cupti_chip_get_values(const struct cupti_chip *chip, size_t index,
			  double values[CUPTI_METRICS])
{
	struct cupti_pm_values get = {
		.size = CUPTI_SIZE(cupti_pm_values, values), .host = chip->host,
		.image = chip->image, .bytes = chip->image_bytes, .index = index,
		.names = (const char **)chip->names, .nr = chip->nr, .values = values,
	};
	int err = cupti_pm.get_values(&get);

	for (uint32_t i = 0; i < chip->nr && !err; i++)
		values[i] /= chip->metrics[i]->unit;
	return err;
}

void cupti_chip_close(struct cupti_chip *chip)
{
	close_host(chip);
	free(chip->available);
	free(chip->image);
	*chip = (struct cupti_chip){ .nr = 0 };
}
