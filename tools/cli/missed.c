// SPDX-License-Identifier: GPL-2.0-only
/*
 * What collectors could not record: see missed.h.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/missed.h"

static const char counter[] = "not recorded: ";
static const char fact[] = "not recorded (";

void missed_event(struct missed_list *list, const struct xsprof_trace *trace,
		  const struct xsprof_event *ev)
{
	const char *text;
	uint32_t i = 0;

	if (ev->type != XSPROF_REC_COUNTER_I64)
		return;
	while (i < list->nr && (list->v[i].producer != ev->producer || list->v[i].name != ev->name))
		i++;
	if (i == list->nr) {
		text = xsprof_trace_name(trace, ev->producer, ev->name);
		if (i == MISSED_ROWS || strncmp(text, counter, strlen(counter)))
			return;
		list->v[i] = (struct missed){
			.text = text + strlen(counter), .producer = ev->producer,
			.category = xsprof_trace_category(trace, ev->producer, ev->name),
			.name = ev->name,
		};
		list->nr++;
	}
	/* The latest value is the sum. */
	list->v[i].n = ev->value;
}

/* "not recorded (CATEGORY): TEXT". Return: false: it is another fact. */
static bool is_missed(const char *key, size_t *category, const char **text)
{
	const char *end;

	if (strncmp(key, fact, strlen(fact)))
		return false;
	end = strstr(key, "): ");
	if (!end)
		return false;
	*category = (size_t)(end - key) - strlen(fact);
	*text = end + strlen("): ");
	return true;
}

static void take(struct missed_list *list, uint32_t producer, const char *key, const char *value)
{
	uint64_t n = strtoull(value, NULL, 10);
	const char *text;
	uint32_t i = 0;
	size_t len;

	if (!is_missed(key, &len, &text))
		return;
	while (i < list->nr && (list->v[i].producer != producer || strcmp(list->v[i].text, text) ||
				strncmp(list->v[i].category, key + strlen(fact), len) ||
				list->v[i].category[len]))
		i++;
	if (i == MISSED_ROWS)
		return;
	if (i == list->nr) {
		/* Its category is compared with those of counters alone, of which there is none. */
		list->v[i] = (struct missed){ .text = text, .category = "", .producer = producer };
		list->nr++;
	}
	list->v[i].n = n > list->v[i].n ? n : list->v[i].n;
}

void missed_facts(struct missed_list *list, struct xsprof_trace *trace)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	const char *key, *value;

	if (xsprof_trace_get_info(trace, &info) < 0)
		return;
	for (uint32_t p = 0; p < info.producers; p++)
		for (uint32_t i = 0; !xsprof_trace_fact_at(trace, p, i, &key, &value); i++)
			take(list, p, key, value);
}
