// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Metadata of a trace: keys and JSON values. session.c stores those of the session, and holds its
 * lock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/metadata.h"
#include "text/escape.h"

#define METADATA_MAX	1024u
#define LIST_MAX	(1u << 20)	/* limit of a list that is appended to, bytes */

void xsp_metadata_drop(struct xsp_metadata *m)
{
	for (uint32_t i = 0; i < m->nr; i++) {
		free(m->keys[i]);
		free(m->values[i]);
	}
	free(m->keys);
	free(m->values);
	*m = (struct xsp_metadata){ 0 };
}

static uint32_t find(const struct xsp_metadata *m, const char *key)
{
	uint32_t i = 0;

	while (i < m->nr && strcmp(m->keys[i], key))
		i++;
	return i;
}

static int add(struct xsp_metadata *m, const char *key, char *json)
{
	char **keys, **values, *copy;

	if (m->nr >= METADATA_MAX)
		return -E2BIG;
	keys = realloc(m->keys, (m->nr + 1) * sizeof(*keys));
	if (keys)
		m->keys = keys;
	values = realloc(m->values, (m->nr + 1) * sizeof(*values));
	if (values)
		m->values = values;
	copy = keys && values ? strdup(key) : NULL;
	if (!copy)
		return -ENOMEM;
	m->keys[m->nr] = copy;
	m->values[m->nr++] = json;
	return 0;
}

int xsp_metadata_set(struct xsp_metadata *m, const char *key, char *json)
{
	uint32_t i = find(m, key);

	if (i == m->nr)
		return add(m, key, json);
	free(m->values[i]);
	m->values[i] = json;
	return 0;
}

int xsp_metadata_append(struct xsp_metadata *m, const char *key, const char *json)
{
	uint32_t i = find(m, key);
	const char *old = i < m->nr ? m->values[i] : "";
	size_t keep = strlen(old), len = strlen(json);
	char *list, *p;
	int err;

	/* A value set by the program under that name is kept. */
	if (keep && (keep < 4 || *old != '[' || strcmp(old + keep - 2, "}]")))
		return -EEXIST;
	keep -= keep != 0;
	if (keep + len > LIST_MAX)
		return -E2BIG;
	list = malloc(keep + len + 3);
	if (!list)
		return -ENOMEM;
	p = mempcpy(list, old, keep);
	*p++ = keep ? ',' : '[';
	strcpy(mempcpy(p, json, len), "]");
	err = xsp_metadata_set(m, key, list);
	if (err)
		free(list);
	return err;
}

/* Quotes any bytes as a JSON string. */
char *xsp_json_string(const char *text)
{
	size_t len = strlen(text);
	char *json = malloc(XSP_ESCAPE_MAX * len + 3), *p = json;

	if (!json)
		return NULL;
	*p++ = '"';
	p = xsp_escape_json(p, text, len, NULL);
	*p++ = '"';
	*p = '\0';
	return json;
}
