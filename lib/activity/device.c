// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Numbers of devices, and descriptions of devices, contexts and streams: facts of the process.
 *
 * Each kind of device has a block of numbers: built-in kinds have the same in all processes, others
 * get one when first used. The facts themselves are not kept here.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "activity/local.h"
#include "ring/state.h"

#define KINDS		(XSP_DEVICES / XSPROF_DEVICES_OF_KIND)
#define KIND_BYTES	24u
#define KNOWN_MAX	1900u	/* maximum size of a device's description */
#define NAME_MAX_BYTES	256u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char kinds[KINDS][KIND_BYTES] = { "cuda", "opencl", "vulkan" };

/* Return: the first number of a kind, or -ENOSPC. */
static int block_of(const char *kind)
{
	uint32_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < KINDS && kinds[i][0]; i++)
		if (!strcmp(kinds[i], kind))
			break;
	if (i < KINDS && !kinds[i][0])
		strcpy(kinds[i], kind);
	pthread_mutex_unlock(&lock);
	return i < KINDS ? (int)(i * XSPROF_DEVICES_OF_KIND) : -ENOSPC;
}

/* Kinds are kept: a device has the same number in the child. */
void xsp_devices_forget(void)
{
	pthread_mutex_init(&lock, NULL);
}

/* ---- what is said ---------------------------------------------------------------------------- */

/* JSON output up to @end; @p becomes NULL when it does not fit. */
struct json {
	char	*p;
	char	*end;
};

static void put(struct json *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(struct json *j, const char *fmt, ...)
{
	size_t room = j->p ? (size_t)(j->end - j->p) : 0;
	va_list ap;
	int n;

	if (!j->p)
		return;
	va_start(ap, fmt);
	n = vsnprintf(j->p, room, fmt, ap);
	va_end(ap);
	j->p = n >= 0 && (size_t)n < room ? j->p + n : NULL;
}

/* Leaves out bytes that JSON would escape. Return: @to. */
static char *plain(char *to, size_t size, const char *text)
{
	size_t n = 0;

	for (; text && *text && n < size - 1; text++)
		if (*text >= ' ' && *text < 0x7f && *text != '"' && *text != '\\')
			to[n++] = *text;
	to[n] = '\0';
	return to;
}

static void put_property(struct json *j, const struct xsprof_device_property *p)
{
	char text[NAME_MAX_BYTES];

	put(j, ", \"%s\": ", plain(text, sizeof(text), p->key));
	if (p->text)
		put(j, "\"%s\"", plain(text, sizeof(text), p->text));
	else
		put(j, "%llu", (unsigned long long)p->number);
}

/* In the format of Kineto's "deviceProperties". */
static int state(const struct xsprof_device *d, uint32_t number)
{
	char key[32], known[KNOWN_MAX], text[NAME_MAX_BYTES];
	struct json j = { .p = known, .end = known + sizeof(known) };

	put(&j, "{\"id\": %u, \"kind\": \"%s\"", number, plain(text, sizeof(text), d->kind));
	put(&j, ", \"name\": \"%s\"", plain(text, sizeof(text), d->name));
	if (d->uuid)
		put(&j, ", \"uuid\": \"%s\"", plain(text, sizeof(text), d->uuid));
	for (uint32_t i = 0; i < d->nr_properties; i++)
		put_property(&j, &d->properties[i]);
	put(&j, "}");
	if (!j.p)
		return -E2BIG;
	snprintf(key, sizeof(key), "device.%u", number);
	return xsprof_fact(key, known);
}

int xsprof_device_add(const struct xsprof_device *device)
{
	int first, ret, err = errno;

	if (!device || device->size < sizeof(*device) || !device->kind || !*device->kind ||
	    strlen(device->kind) >= KIND_BYTES || (device->nr_properties && !device->properties))
		return -EINVAL;
	if (device->index >= XSPROF_DEVICES_OF_KIND)
		return -ENOSPC;
	first = block_of(device->kind);
	if (first < 0)
		return first;
	/* A forked child may call this first. */
	if (!xsp_attached())
		(void)xsprof_init(NULL);
	ret = state(device, (uint32_t)first + device->index);
	if (!ret)
		ret = xsp_clock_add((uint32_t)first + device->index, device->kind);
	errno = err;
	return ret ? ret : first + (int)device->index;
}

/* Cut before a character of UTF-8 that does not fit.  Return: @to. */
static char *cut(char to[NAME_MAX_BYTES], const char *name)
{
	size_t n = strnlen(name, NAME_MAX_BYTES);

	if (n == NAME_MAX_BYTES)
		for (n--; n && ((unsigned char)name[n] & 0xc0) == 0x80; n--)
			;
	memcpy(to, name, n);
	to[n] = '\0';
	return to;
}

int xsprof_stream_name(uint32_t device, uint32_t context, uint32_t stream, const char *name)
{
	char key[48], text[NAME_MAX_BYTES];

	if (!name)
		return -EINVAL;
	snprintf(key, sizeof(key), "stream.%u.%u.%u", device, context, stream);
	return xsprof_fact(key, cut(text, name));
}

int xsprof_context_name(uint32_t device, uint32_t context, const char *name)
{
	char key[48], text[NAME_MAX_BYTES];

	if (!name)
		return -EINVAL;
	snprintf(key, sizeof(key), "context.%u.%u", device, context);
	return xsprof_fact(key, cut(text, name));
}
