// SPDX-License-Identifier: GPL-2.0-only
/*
 * Addresses of the kernel: see symbols.h. Texts are not copied from the trace; for each function
 * only its begin is kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/common/symbols.h"

#define FUNCTIONS	(1u << 20)	/* a kernel has some hundred thousand */
#define NAME		256u
#define TEXTS		(8u << 20)	/* total bytes passed to all kinds */

struct function {
	uint64_t	addr;
	const char	*name;		/* up to the end of the line */
};

struct xsp_symbols {
	const struct xsprof_trace	*trace;
	struct function			*list;
	uint32_t			nr;
	uint32_t			room;
	size_t		given;		/* bytes of texts passed */
	char				name[NAME];
};

static int add(struct xsp_symbols *s, uint64_t addr, const char *name)
{
	if (s->nr == s->room) {
		uint32_t room = s->room ? 2 * s->room : 4096;
		struct function *list = realloc(s->list, room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		s->list = list;
		s->room = room;
	}
	s->list[s->nr++] = (struct function){ addr, name };
	return 0;
}

/* "ffffffff81000000 startup_64" */
static int add_lines(struct xsp_symbols *s, const char *text)
{
	int err = 0;

	while (*text && !err && s->nr < FUNCTIONS) {
		const char *end = strchrnul(text, '\n');
		char *name;
		uint64_t addr = strtoull(text, &name, 16);

		if (name > text && name + 1 < end && *name == ' ')
			err = add(s, addr, name + 1);
		text = *end ? end + 1 : end;
	}
	return err;
}

/* Of several names of one address the first one is used. */
static int compare(const void *pa, const void *pb)
{
	const struct function *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

int xsp_symbols_new(const struct xsprof_trace *trace, struct xsp_symbols **out)
{
	struct xsp_symbols *s = calloc(1, sizeof(*s));
	const char *text;
	int err = s ? 0 : -ENOMEM;

	*out = s;
	if (s)
		s->trace = trace;
	for (uint32_t i = 0; !err && (text = xsprof_trace_symbols(trace, i)) != NULL; i++)
		err = add_lines(s, text);
	if (err) {
		xsp_symbols_free(s);
		*out = NULL;
		return err;
	}
	if (s->nr)
		qsort(s->list, s->nr, sizeof(*s->list), compare);
	return 0;
}

void xsp_symbols_free(struct xsp_symbols *s)
{
	if (!s)
		return;
	free(s->list);
	free(s);
}

/* For a symbol of a module, the name of the module follows after a tab. */
static const char *copy_name(struct xsp_symbols *s, const char *name)
{
	size_t n = strcspn(name, "\n");

	if (n > NAME - 1)
		n = NAME - 1;
	for (size_t i = 0; i < n; i++)
		s->name[i] = name[i] == '\t' ? ' ' : name[i];
	s->name[n] = '\0';
	return s->name;
}

const char *xsp_symbols_function(struct xsp_symbols *s, uint64_t *addr)
{
	uint32_t low = 0, high = s->nr;

	/* Finds the first one beyond @addr. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s->list[middle].addr <= *addr)
			low = middle + 1;
		else
			high = middle;
	}
	/* The end of the last one is not known. */
	if (!low || (low == s->nr && s->list[low - 1].addr != *addr))
		return NULL;
	low--;
	while (low && s->list[low - 1].addr == s->list[low].addr)
		low--;
	*addr = s->list[low].addr;
	return copy_name(s, s->list[low].name);
}

/* "0xffffffff8281a424 : "Start context switch"" */
void xsp_symbols_texts(struct xsp_symbols *s,
		       void (*give)(void *data, uint64_t addr, const char *text), void *data)
{
	const char *text;

	for (uint32_t i = 0; (text = xsprof_trace_printk(s->trace, i)) != NULL; i++) {
		while (*text) {
			const char *end = strchrnul(text, '\n');
			char line[1024], *at;
			uint64_t addr = strtoull(text, &at, 16);
			size_t len = (size_t)(end - at);

			if (at > text && len > 3 && len < sizeof(line) && !memcmp(at, " : ", 3)) {
				if (s->given + len > TEXTS)
					return;
				s->given += len;
				memcpy(line, at + 3, len - 3);
				line[len - 3] = '\0';
				give(data, addr, line);
			}
			text = *end ? end + 1 : end;
		}
	}
}
