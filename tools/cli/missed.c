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

/* Return: a new row; NULL: the process has too many, or all have. */
static struct missed *new_row(struct missed_list *list, uint32_t producer)
{
	uint32_t own = 0;

	for (uint32_t i = 0; i < list->nr; i++)
		own += list->v[i].producer == producer;
	if (own == MISSED_OF_ONE || list->nr == MISSED_ROWS) {
		list->full = true;
		return NULL;
	}
	return &list->v[list->nr++];
}

void missed_event(struct missed_list *list, const struct xsprof_trace *trace,
		  const struct xsprof_event *ev)
{
	struct missed *row;
	const char *text;
	uint32_t i = 0;

	if (ev->type != XSPROF_REC_COUNTER_I64)
		return;
	while (i < list->nr && (list->v[i].producer != ev->producer || list->v[i].name != ev->name))
		i++;
	row = &list->v[i];
	if (i == list->nr) {
		text = xsprof_trace_name(trace, ev->producer, ev->name);
		if (strncmp(text, counter, strlen(counter)))
			return;
		row = new_row(list, ev->producer);
		if (!row)
			return;
		*row = (struct missed){
			.text = text + strlen(counter), .producer = ev->producer,
			.category = xsprof_trace_category(trace, ev->producer, ev->name),
			.name = ev->name,
		};
	}
	/* The latest value is the sum. */
	row->n = ev->value;
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
	struct missed *row;
	const char *text;
	uint32_t i = 0;
	size_t len;

	if (!is_missed(key, &len, &text))
		return;
	while (i < list->nr && (list->v[i].producer != producer || strcmp(list->v[i].text, text) ||
				strncmp(list->v[i].category, key + strlen(fact), len) ||
				list->v[i].category[len]))
		i++;
	row = &list->v[i];
	if (i == list->nr) {
		row = new_row(list, producer);
		if (!row)
			return;
		/* Its category is compared with those of counters alone, of which there is none. */
		*row = (struct missed){ .text = text, .category = "", .producer = producer };
	}
	row->n = n > row->n ? n : row->n;
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

uint32_t missed_pid(const struct missed *row, struct xsprof_trace *trace)
{
	struct xsprof_trace_producer producer;

	return xsprof_trace_get_producer(trace, row->producer, &producer) < 0 ? 0 : producer.pid;
}
