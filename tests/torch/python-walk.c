// SPDX-License-Identifier: GPL-2.0-only
/*
 * The Python part of the collector as a library of its own, for python-walk.py: returns, as text,
 * what it would record at the place of the call. Called with and without the GIL.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "collect/torch/inputs.h"
#include "collect/torch/native.h"
#include "collect/torch/python.h"

#define MANY	100000u
#define API	__attribute__((visibility("default")))

struct torch_user torch_user;
static char *names[MANY];
static uint32_t nr_names;
static struct {
	uint64_t	key;
	uint64_t	frame[PYTHON_FRAMES];
	uint32_t	nr;
	uint32_t	left;
} stacks[MANY];
static uint32_t nr_stacks;
static uint32_t forgotten;
static char said[400];

bool collect_peek(void *to, const void *from, size_t len)
{
	struct iovec local = { to, len }, remote = { (void *)(uintptr_t)from, len };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)len;
}

void collect_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(said, sizeof(said), fmt, ap);
	va_end(ap);
}

/* Replaces the native part: no native frames. */
uint64_t torch_native_key(const struct native_stack *stack, uint64_t more)
{
	(void)stack;
	return more;
}

static xsprof_name_t name(int category, const char *text)
{
	(void)category;
	for (uint32_t i = 1; i <= nr_names; i++)
		if (!strcmp(names[i], text))
			return i;
	names[++nr_names] = strdup(text);
	return nr_names;
}

static uint32_t stack_find(uint64_t key)
{
	uint32_t n = __atomic_load_n(&nr_stacks, __ATOMIC_ACQUIRE);

	for (uint32_t i = n; i-- > __atomic_load_n(&forgotten, __ATOMIC_RELAXED);)
		if (stacks[i].key == key)
			return i + 1;
	return 0;
}

/* The lock is held. */
static uint32_t stack_add(uint64_t key, const uint64_t *frames, uint32_t nr, uint32_t left)
{
	if (nr_stacks == MANY)
		abort();
	stacks[nr_stacks].key = key;
	memcpy(stacks[nr_stacks].frame, frames, nr * sizeof(*frames));
	stacks[nr_stacks].nr = nr;
	stacks[nr_stacks].left = left;
	__atomic_store_n(&nr_stacks, nr_stacks + 1, __ATOMIC_RELEASE);
	return nr_stacks;
}

/* Return: the message, "" for none. */
API const char *walk_init(void)
{
	torch_user.name = name;
	torch_user.stack_find = stack_find;
	torch_user.stack_add = stack_add;
	torch_python_init(0);
	return said;
}

/* Does what the child of a fork does. */
API void walk_forget(void)
{
	__atomic_store_n(&forgotten, nr_stacks, __ATOMIC_RELAXED);
}

API uint32_t walk_stacks(void)
{
	return nr_stacks;
}

/* Writes "module|frame;frame;...|left", innermost first; "" if nothing is known. */
API void walk_here(char *buf, size_t size)
{
	static const struct native_stack native;
	struct python_place place;
	size_t n;

	torch_python_place(&place, &native, 1);
	*buf = '\0';
	if (!place.stack)
		return;
	n = (size_t)snprintf(buf, size, "%s|", place.module ? names[place.module] : "");
	if (place.stack == XSPROF_STACK_MISSED) {
		snprintf(buf + n, size - n, "missed|0");
		return;
	}
	for (uint32_t i = 0; i < stacks[place.stack - 1].nr; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%s", i ? ";" : "",
				      names[(uint32_t)stacks[place.stack - 1].frame[i]]);
	snprintf(buf + n, size - n, "|%u", stacks[place.stack - 1].left);
}
