/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common part of metrics-oracle.c and ranges-oracle.c: compares sizes of structures, stands in for
 * the functions of xsprof that the collector calls, and has CUPTI's own library check which metrics
 * the collector chooses.
 */
#ifndef ORACLE_COUNTERS_H
#define ORACLE_COUNTERS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cupti_version.h>

#include "gpu/cupti/chip.h"
#include "tests/gpu/oracle-same.h"

/* Our structures have the sizes of 12.6, the first version. */
#define WHOLE(ours, last, theirs) \
	_Static_assert(CUPTI_SIZE(ours, last) == theirs##_STRUCT_SIZE, #ours)
/* Newer versions have appended fields. */
#define PART(ours, last, theirs) \
	_Static_assert(VERSION > 1206 ? CUPTI_SIZE(ours, last) <= theirs##_STRUCT_SIZE : \
		       CUPTI_SIZE(ours, last) == theirs##_STRUCT_SIZE, #ours)

#define PERCENT	".avg.pct_of_peak_sustained_elapsed"

static uint32_t said;

static void say(const char *fmt, va_list args)
{
	vprintf(fmt, args);
	putchar('\n');
	said++;
}

void xsprof_say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
}

void gpu_refused(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
}

xsprof_name_t xsprof_name(const char *text)
{
	return text ? 1 : 0;
}

/* @names: the metrics that are chosen by default, in one pass. */
struct expected {
	const char	*chip;
	const char	*names[11];
};

static bool is_default(const char *const *names, const struct cupti_chip *chip)
{
	bool good = chip->passes == 1;
	uint32_t n = 0;

	printf("%s: %u metrics in %u passes\n", chip->name, chip->nr, chip->passes);
	for (; n < chip->nr; n++) {
		good = good && names[n] && !strcmp(chip->names[n], names[n]);
		printf("  %s\n", chip->names[n]);
	}
	return good && !names[n];
}

static bool choose_all(uint32_t type, const struct expected *chips, size_t nr,
		       bool (*is_good)(const char *const *names, const struct cupti_chip *chip))
{
	bool all = true;

	for (size_t i = 0; i < nr; i++) {
		struct cupti_chip chip = { .type = type, .name = chips[i].chip };
		int err = cupti_chip_choose(&chip, 0);

		if (err)
			printf("%s: %d\n", chips[i].chip, err);
		all = !err && is_good(chips[i].names, &chip) && all;
		cupti_chip_close(&chip);
	}
	return all;
}

/* Ends the program where CUPTI cannot be asked: newer versions need a driver. */
static void ask(uint32_t type, bool (*open)(void))
{
	struct cupti_chip chip = { .type = type, .name = "GH100" };

	setenv("XSPROF_METRICS", "default", 1);
	if (cupti_open() || !open())
		exit(3);
	cupti_metrics_init();
	if (cupti_chip_choose(&chip, 0) == NO_DRIVER)
		exit(3);
	cupti_chip_close(&chip);
	if (cupti_version != CUPTI_API_VERSION) {
		printf("version %u, headers of %u\n", cupti_version, CUPTI_API_VERSION);
		exit(1);
	}
}

#endif /* ORACLE_COUNTERS_H */
