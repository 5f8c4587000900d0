// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Metadata: typed values and strings that the program adds to the current task, to an instance
 * identified by an id, or to a scope.
 *
 * They become arguments of the task that is open in this thread; otherwise they are recorded as an
 * instant "metadata" with the id or scope.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "collect/itt/names.h"

#define MAX_VALUES	64u	/* of one array; the number of others is recorded too */

static struct itt_string metadata = { .text = "metadata" };

/* @kv: kv[0] and up are the values; kv[-1] is reserved for the id or scope. */
static void add(xsprof_name_t domain, uint64_t id, int scope, struct xsprof_kv *kv, size_t n)
{
	xsprof_name_t name;

	if (!id && (scope == ITT_SCOPE_UNKNOWN || scope == ITT_SCOPE_TASK) && itt_thread.depth) {
		const struct itt_thread *t = &itt_thread;

		/* A task that will be written as a span is not open in the trace. */
		if (!t->nr_late || t->late[t->nr_late - 1].depth != t->depth) {
			xsprof_args(kv, n);
			return;
		}
		id = t->late[t->nr_late - 1].id;
	}
	name = itt_string_name(domain, &metadata);
	if (id) {
		kv[-1] = xsprof_u64(XSPROF_NAME("id"), id);
		itt_note(name, kv - 1, n + 1);
	} else if (scope) {
		kv[-1] = xsprof_i64(XSPROF_NAME("scope"), scope);
		itt_note(name, kv - 1, n + 1);
	} else {
		itt_note(name, kv, n);
	}
}

/* One element, possibly unaligned. */
#define ELEMENT(type, i) ({ \
	type v_; \
	memcpy(&v_, (const char *)data + (i) * sizeof(type), sizeof(type)); \
	v_; })

static bool value_of(struct xsprof_kv *kv, xsprof_name_t key, int type, const void *data, size_t i)
{
	switch (type) {
	case ITT_TYPE_U64:
		*kv = xsprof_u64(key, ELEMENT(uint64_t, i));
		return true;
	case ITT_TYPE_S64:
		*kv = xsprof_i64(key, ELEMENT(int64_t, i));
		return true;
	case ITT_TYPE_U32:
		*kv = xsprof_u64(key, ELEMENT(uint32_t, i));
		return true;
	case ITT_TYPE_S32:
		*kv = xsprof_i64(key, ELEMENT(int32_t, i));
		return true;
	case ITT_TYPE_U16:
		*kv = xsprof_u64(key, ELEMENT(uint16_t, i));
		return true;
	case ITT_TYPE_S16:
		*kv = xsprof_i64(key, ELEMENT(int16_t, i));
		return true;
	case ITT_TYPE_FLOAT:
		*kv = xsprof_f64(key, (double)ELEMENT(float, i));
		return true;
	case ITT_TYPE_DOUBLE:
		*kv = xsprof_f64(key, ELEMENT(double, i));
		return true;
	default:
		return false;
	}
}

size_t itt_values(struct xsprof_kv *kv, size_t max, xsprof_name_t key, int type, size_t count,
		  const void *data)
{
	size_t n;

	for (n = 0; n < count && n < max; n++)
		if (!value_of(&kv[n], key, type, data, n))
			return 0;
	return n;
}

static void add_values(const struct itt_domain *domain, const struct itt_id *id, int scope,
		       struct itt_string *key, int type, size_t count, const void *data)
{
	xsprof_name_t d = itt_domain_name(domain);
	struct xsprof_kv kv[1 + MAX_VALUES + 1];
	size_t n;

	if (!count || !data || !(xsprof_enabled() >> (d >> XSPROF_NAME_SHIFT) & 1))
		return;
	n = itt_values(kv + 1, MAX_VALUES, itt_string_name(d, key), type, count, data);
	if (!n) {
		itt_miss(ITT_MISS_METADATA);
		return;
	}
	if (n < count)
		kv[1 + n++] = xsprof_u64(XSPROF_NAME("(more values)"), count - MAX_VALUES);
	add(d, id ? itt_id(d, id) : 0, scope, kv + 1, n);
}

static void add_text(const struct itt_domain *domain, const struct itt_id *id, int scope,
		     xsprof_name_t key, const char *text, size_t len)
{
	xsprof_name_t d = itt_domain_name(domain);
	struct xsprof_kv kv[2];

	/* The length may be 0 (unknown) or more than a record holds. */
	if (!len || len > XSPROF_TEXT_MAX)
		len = XSPROF_TEXT_MAX;
	kv[1].key = key;
	kv[1].type = XSPROF_ARG_STR;
	kv[1].len = strnlen(text, len);
	kv[1].u.str = text;
	add(d, id ? itt_id(d, id) : 0, scope, kv + 1, 1);
}

static void metadata_add(const struct itt_domain *domain, struct itt_id id, struct itt_string *key,
			 int type, size_t count, void *data)
{
	add_values(domain, &id, 0, key, type, count, data);
}
ITT_EXPORT(metadata_add, metadata_add);

static void metadata_str_add(const struct itt_domain *domain, struct itt_id id,
			     struct itt_string *key, const char *data, size_t length)
{
	if (data)
		add_text(domain, &id, 0, itt_string_name(itt_domain_name(domain), key), data,
			 length);
}
ITT_EXPORT(metadata_str_add, metadata_str_add);
ITT_EXPORT(metadata_str_addA, metadata_str_add);

static void metadata_add_with_scope(const struct itt_domain *domain, int scope,
				    struct itt_string *key, int type, size_t count, void *data)
{
	add_values(domain, NULL, scope, key, type, count, data);
}
ITT_EXPORT(metadata_add_with_scope, metadata_add_with_scope);

static void metadata_str_add_with_scope(const struct itt_domain *domain, int scope,
					struct itt_string *key, const char *data, size_t length)
{
	if (data)
		add_text(domain, NULL, scope, itt_string_name(itt_domain_name(domain), key), data,
			 length);
}
ITT_EXPORT(metadata_str_add_with_scope, metadata_str_add_with_scope);
ITT_EXPORT(metadata_str_add_with_scopeA, metadata_str_add_with_scope);

/* ---- printf formats: the program's own, with its own arguments ------------------------------- */

static void add_formatted(const struct itt_domain *domain, const struct itt_id *id,
			  const struct itt_string *format, va_list args)
{
	xsprof_name_t d = itt_domain_name(domain);
	char text[1024];

	if (!format || !format->text || !(xsprof_enabled() >> (d >> XSPROF_NAME_SHIFT) & 1))
		return;
	if (vsnprintf(text, sizeof(text), format->text, args) < 0)
		itt_miss(ITT_MISS_METADATA);
	else
		add_text(domain, id, 0, itt_string_name(d, &metadata), text, 0);
}

static void formatted_metadata_add(const struct itt_domain *domain, struct itt_string *format, ...)
{
	va_list args;

	va_start(args, format);
	add_formatted(domain, NULL, format, args);
	va_end(args);
}
ITT_EXPORT(formatted_metadata_add, formatted_metadata_add);

static void formatted_metadata_add_overlapped(const struct itt_domain *domain, struct itt_id id,
					      struct itt_string *format, ...)
{
	va_list args;

	va_start(args, format);
	add_formatted(domain, &id, format, args);
	va_end(args);
}
ITT_EXPORT(formatted_metadata_add_overlapped, formatted_metadata_add_overlapped);

const struct itt_entry itt_meta_entries[] = {
	ITT_ENTRY(metadata_add, metadata_add),
	ITT_ENTRY(metadata_str_add, metadata_str_add),
	ITT_ENTRY(metadata_str_addA, metadata_str_add),
	ITT_ENTRY(metadata_add_with_scope, metadata_add_with_scope),
	ITT_ENTRY(metadata_str_add_with_scope, metadata_str_add_with_scope),
	ITT_ENTRY(metadata_str_add_with_scopeA, metadata_str_add_with_scope),
	ITT_ENTRY(formatted_metadata_add, formatted_metadata_add),
	ITT_ENTRY(formatted_metadata_add_overlapped, formatted_metadata_add_overlapped),
	{ NULL, NULL }
};
