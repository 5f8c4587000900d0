// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Numbers of devices in a Kineto trace. Each process numbers the devices that it may use from 0, so
 * with CUDA_VISIBLE_DEVICES several call different devices by one number, or one by several. The
 * trace has one number for each device, told apart by kind and uuid, or without one by kind, name
 * and number: those of the trace's process keep theirs. In the trace a device is a process with its
 * number, so a process with that number is shown with another.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "decode/tid.h"
#include "export/kineto/local.h"
#include "text/json-valid.h"

/**
 * struct xsr_numbers - numbers of devices
 * @shown: process and number there -> number in the trace
 * @known: which device -> its number in the trace
 * @taken: bitmap of numbers that are no free ones: a process calls a device so, or is called so
 * @pids: bitmap of the numbers of processes
 * @seed: of @known
 * @full: no number is free
 * @merged: number of devices that have none of their own
 * @v: by number in the trace
 */
struct xsr_numbers {
	struct xsp_map		shown;
	struct xsp_map		known;
	uint64_t		taken[XSP_DEVICE_NUMBERS / 64];
	uint64_t		pids[XSP_DEVICE_NUMBERS / 64];
	uint64_t		seed;
	bool			full;
	uint64_t		merged;
	struct xsr_numbered	v[XSP_DEVICE_NUMBERS];
};

/* The device number in the name of a fact; XSP_DEVICE_NUMBERS: none. */
static uint32_t number_of(const char *name)
{
	unsigned long number = strncmp(name, "device.", 7) ? XSP_DEVICE_NUMBERS :
							     strtoul(name + 7, NULL, 10);
	char text[32];

	if (number >= XSP_DEVICE_NUMBERS)
		return XSP_DEVICE_NUMBERS;
	snprintf(text, sizeof(text), "device.%lu", number);
	return strcmp(name, text) ? XSP_DEVICE_NUMBERS : (uint32_t)number;
}

/* A process may state anything. */
static bool is_object(const char *json)
{
	return json[strspn(json, " \t\r\n")] == '{' && xsp_json_valid(json);
}

static uint64_t hash_value(uint64_t h, const char *facts, const char *key)
{
	size_t len;
	const char *value = xsp_device_fact(facts, key, &len);

	return value ? xsp_hash_bytes(xsp_hash_pair(h, 1), value, len) : h;
}

/* Never 0. One device may be of several kinds, which number its streams each for themselves. */
static uint64_t identity(const struct xsr_numbers *n, const char *facts, uint32_t number)
{
	uint64_t kind = hash_value(n->seed, facts, "kind");
	uint64_t h = hash_value(kind, facts, "uuid");

	if (h == kind)
		h = xsp_hash_pair(hash_value(kind, facts, "name"), number);
	return h ? h : 1;
}

static void set_bit(uint64_t *bits, uint32_t number)
{
	bits[number / 64] |= 1ull << number % 64;
}

static bool has_bit(const uint64_t *bits, uint32_t number)
{
	return bits[number / 64] >> number % 64 & 1;
}

/* The next number that nothing uses. XSP_DEVICE_NUMBERS: none. */
static uint32_t free_number(struct xsr_numbers *n, uint32_t number)
{
	for (uint32_t i = 1; !n->full && i < XSP_DEVICE_NUMBERS; i++) {
		uint32_t at = (number + i) % XSP_DEVICE_NUMBERS;

		if (!n->v[at].used && !has_bit(n->taken, at))
			return at;
	}
	n->full = true;
	return XSP_DEVICE_NUMBERS;
}

/* Not 0. */
static uint64_t key_of(uint32_t producer, uint32_t number)
{
	return ((uint64_t)producer + 1) << 32 | number;
}

static int add(struct xsr_numbers *n, uint32_t producer, uint32_t number, const char *facts)
{
	uint64_t id = identity(n, facts, number), *known = xsp_map_get(&n->known, id);
	uint32_t at = known ? (uint32_t)*known : number;
	/* A process has one number for a device, whatever it says. */
	bool same = known && n->v[at].latest != producer;
	int err = 0;

	if (!same) {
		at = n->v[number].used ? free_number(n, number) : number;
		/* Shown as what has its number. */
		if (at == XSP_DEVICE_NUMBERS) {
			n->merged++;
			return xsp_map_set(&n->shown, key_of(producer, number), number);
		}
		n->v[at] = (struct xsr_numbered){
			.facts = facts, .producer = producer, .number = number, .used = true,
		};
		if (!known)
			err = xsp_map_set(&n->known, id, at);
	}
	n->v[at].shared |= same;
	n->v[at].latest = producer;
	return err ? err : xsp_map_set(&n->shown, key_of(producer, number), at);
}

/* @only_stated: only notes the numbers, before any is assigned. */
static int add_process(struct xsr_kineto *k, uint32_t producer, bool only_stated)
{
	struct xsr_numbers *n = k->numbers;
	struct xsprof_trace_producer process;
	uint64_t done[XSP_DEVICE_NUMBERS / 64] = { 0 };
	const char *name, *value;
	uint32_t number;
	int err = 0;

	if (xsprof_trace_get_producer(k->w.trace, producer, &process) < 0 ||
	    (k->opts.pid && process.pid != k->opts.pid))
		return 0;
	if (process.pid < XSP_DEVICE_NUMBERS) {
		set_bit(n->taken, process.pid);
		set_bit(n->pids, process.pid);
	}
	for (uint32_t i = 0;
	     !err && !xsprof_trace_fact_at(k->w.trace, producer, i, &name, &value); i++) {
		number = number_of(name);
		if (number == XSP_DEVICE_NUMBERS || has_bit(done, number))
			continue;
		set_bit(done, number);
		if (only_stated) {
			set_bit(n->taken, number);
			continue;
		}
		value = xsprof_trace_fact(k->w.trace, producer, name);
		if (value && is_object(value))
			err = add(n, producer, number, value);
	}
	return err;
}

int xsr_numbers_new(struct xsr_kineto *k)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	int err = 0;

	k->numbers = calloc(1, sizeof(*k->numbers));
	if (!k->numbers)
		return -ENOMEM;
	k->numbers->seed = xsp_hash_seed(k->numbers);
	if (xsprof_trace_get_info(k->w.trace, &info) < 0)
		return 0;
	for (uint32_t i = 0; i < info.producers; i++)
		(void)add_process(k, i, true);
	if (k->main != XSPROF_NO_PRODUCER)
		err = add_process(k, k->main, false);
	for (uint32_t i = 0; !err && i < info.producers; i++)
		if (i != k->main)
			err = add_process(k, i, false);
	/* Collectors write late. */
	k->late |= k->numbers->known.used != 0;
	return err;
}

void xsr_numbers_free(struct xsr_numbers *numbers)
{
	if (!numbers)
		return;
	xsp_map_free(&numbers->shown);
	xsp_map_free(&numbers->known);
	free(numbers);
}

uint32_t xsr_number_of(struct xsr_kineto *k, uint32_t producer, uint32_t device)
{
	struct xsr_numbers *n = k->numbers;
	const uint64_t *shown = xsp_map_get(&n->shown, key_of(producer, device));
	uint32_t at = device;

	if (shown)
		return (uint32_t)*shown;
	/* No collector has such a number; a process may have it. */
	if (device >= XSP_DEVICE_NUMBERS)
		return device | 1u << 31;
	/* Nothing describes it: it may be another than the one with that number, or a process. */
	if (n->v[device].facts || has_bit(n->pids, device)) {
		at = free_number(n, device);
		n->merged += at == XSP_DEVICE_NUMBERS;
		if (at == XSP_DEVICE_NUMBERS)
			at = device;
		else
			n->v[at] = (struct xsr_numbered){
				.producer = producer, .number = device, .used = true,
			};
	}
	/* Without memory, it is searched for again. */
	(void)xsp_map_set(&n->shown, key_of(producer, device), at);
	return at;
}

uint32_t xsr_pid_shown(const struct xsr_kineto *k, uint32_t pid)
{
	return pid < XSP_DEVICE_NUMBERS && k->numbers->v[pid].facts ? pid + XST_TID_APART : pid;
}

uint64_t xsr_numbers_merged(const struct xsr_kineto *k)
{
	return k->numbers->merged;
}

const struct xsr_numbered *xsr_numbered_at(const struct xsr_kineto *k, uint32_t number)
{
	return k->numbers->v[number].used ? &k->numbers->v[number] : NULL;
}

uint64_t xsr_number_arg(void *data, uint32_t producer, const char *key, uint64_t value)
{
	struct xsr_kineto *k = data;
	uint64_t mask = 0;

	if (!strcmp(key, "fromDevice") || !strcmp(key, "toDevice"))
		return value < XSP_DEVICE_NUMBERS ?
		       xsr_number_of(k, producer, (uint32_t)value) : value;
	if (strcmp(key, "devices (mask)"))
		return value;
	/* A mask has no room for numbers from 64 on. */
	for (uint32_t i = 0; i < 64; i++) {
		uint32_t number = value >> i & 1 ? xsr_number_of(k, producer, i) : 64;

		mask |= number < 64 ? 1ull << number : 0;
	}
	return mask;
}
