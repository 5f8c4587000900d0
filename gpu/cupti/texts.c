// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Texts that records point to: names of kernels and of devices.  They are CUPTI's, and may be gone
 * when the collector's thread reads a record, as when the module of a kernel is unloaded.  So they
 * are copied where CUPTI completes a buffer, and the records then point to the copies.
 *
 * A text is compared with its copy once a buffer, however many records point to it.  Copies stay:
 * there is one of each text, as there is one of each name in the trace.
 *
 * The thread that completes a buffer may be one of the program's, and CUPTI may hold locks of its
 * own: the lock here is held without calling CUPTI or the library.
 */
#include <pthread.h>
#include <stdlib.h>

#include "gpu/cupti/local.h"

#define TEXTS	8192u	/* all three are powers of two */
#define PLACES	8192u
#define NEAR	64u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* By content. */
static struct cupti_text *texts[TEXTS];

/* The copy of what was at an address; a module that is loaded later may have another text there. */
struct place {
	const char		*at;
	struct cupti_text	*text;
};

static struct place places[PLACES];

static uint32_t hash_address(const char *at, uint32_t size)
{
	return (uint32_t)((uint64_t)(uintptr_t)at * 0x9e3779b97f4a7c15ull >> 40) & (size - 1);
}

static uint32_t hash_text(const char *s)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; *s; s++)
		hash = (hash ^ (uint8_t)*s) * 0x100000001b3ull;
	return (uint32_t)(hash >> 32) & (TEXTS - 1);
}

/* The lock is held.  Return: NULL: there is no memory. */
static struct cupti_text *copy(const char *s)
{
	struct cupti_text **head = &texts[hash_text(s)], *text;
	size_t len;

	for (text = *head; text; text = text->next)
		if (!strcmp(text->text, s))
			return text;
	len = strlen(s) + 1;
	text = malloc(sizeof(*text) + len);
	if (!text)
		return NULL;
	memcpy(text->text, s, len);
	text->name = 0;
	text->next = *head;
	*head = text;
	return text;
}

static struct cupti_text *find(const char *s)
{
	struct place *p = &places[hash_address(s, PLACES)];
	struct cupti_text *text;

	pthread_mutex_lock(&lock);
	if (p->at != s || strcmp(p->text->text, s)) {
		text = copy(s);
		p->at = text ? s : NULL;
		p->text = text;
	}
	text = p->text;
	pthread_mutex_unlock(&lock);
	return text;
}

/* @near: those of this buffer, of which texts cannot change meanwhile. */
static void keep(const char **s, struct place *near)
{
	struct place *p = &near[hash_address(*s, NEAR)];

	if (!*s)
		return;
	if (p->at != *s) {
		p->at = *s;
		p->text = find(*s);
	}
	*s = p->text ? p->text->text : NULL;
}

/* Not by its address: once it is freed another name may be there. */
static void keep_device(struct cupti_device *device)
{
	struct place near[NEAR] = { { .at = NULL } };
	const char *was = device->name;

	keep(&device->name, near);
	if (cupti_version >= CUPTI_DEVICE_NAMES)
		free((void *)(uintptr_t)was);
}

uint32_t cupti_texts_keep(uint8_t *buffer, size_t valid)
{
	struct place near[NEAR] = { { .at = NULL } };
	void *record = NULL;
	uint32_t n;

	for (n = 0; !cupti.get_next(buffer, valid, &record); n++) {
		uint32_t kind = *(uint32_t *)record;

		if (kind == CUPTI_KERNEL)
			keep(&((struct cupti_kernel *)record)->name, near);
		else if (kind == CUPTI_DEVICE)
			keep_device(record);
	}
	return n;
}

/* A text that was under way in the parent is there as a whole, or not yet. */
void cupti_texts_forget(void)
{
	pthread_mutex_init(&lock, NULL);
}
