/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is interned in a Perfetto trace: see names.c.
 */
#ifndef XSPROF_PERFETTO_NAMES_H
#define XSPROF_PERFETTO_NAMES_H

#include "format/perfetto/local.h"

/* Room for @n more; where there is none, all is forgotten and readers are told so. */
void pf_names_room(struct xsp_out *out, uint32_t n);
const struct pf_name *pf_names_find(struct xsp_out *out, uint64_t key);
/* NULL: not to be interned, since its text may still come. */
const struct pf_name *pf_names_add(struct xsp_out *out, enum pf_interned kind, uint32_t producer,
				   uint32_t name);
/* Remembers that a counter's track was described.  Return: false when it was already. */
bool pf_names_counter(struct xsp_out *out, uint32_t producer, uint32_t name);
/* The same of the track @uuid of a device's counter. */
bool pf_names_metric(struct xsp_out *out, uint64_t uuid);
/* All that was interned is forgotten. */
void pf_names_forget(struct xsp_out *out);

static inline uint64_t pf_name_key(enum pf_interned kind, uint32_t producer, uint32_t name)
{
	return (uint64_t)kind << 60 | (uint64_t)producer << 32 | name;
}

static inline uint32_t pf_name_slot(uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 50);
}

static inline const struct pf_name *pf_name(struct xsp_out *out, enum pf_interned kind,
					    uint32_t producer, uint32_t name)
{
	uint64_t key = pf_name_key(kind, producer, name);
	const struct pf_name *entry = &pf_of(out)->names[pf_name_slot(key)];

	if (__builtin_expect(entry->key == key && entry->len, 1))
		return entry;
	entry = pf_names_find(out, key);
	return entry ? entry : pf_names_add(out, kind, producer, name);
}

#endif /* XSPROF_PERFETTO_NAMES_H */
