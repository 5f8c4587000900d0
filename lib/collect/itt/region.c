// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Task groups and regions.
 *
 * A region is an asynchronous range. Its id is that of an object, such as a node of oneTBB's flow
 * graph, not of one use of it: it may begin again before it ends, and is over after as many ends as
 * begins. A region without a name has that of the task group with its id.
 */
#include "collect/itt/names.h"

static struct itt_map groups;	/* by id: v[0] = name */
static struct itt_map regions;	/* by id: v[0] = name, v[1] = open begins; under itt_lock() */

static void task_group(const struct itt_domain *domain, struct itt_id group, struct itt_id parent,
		       struct itt_string *name)
{
	xsprof_name_t d = itt_domain_name(domain), n = itt_string_name(d, name);
	uint64_t id = itt_id(d, &group);
	const uint64_t v[3] = { n };
	struct xsprof_kv kv[2];

	/* The address of a new object may be that of an old one with another name. */
	if (id && name && !itt_map_put(&groups, id, v))
		itt_miss(ITT_MISS_GROUP_FULL);
	itt_note(n, kv, itt_id_args(kv, id, itt_id(d, &parent)));
}
ITT_EXPORT(task_group, task_group);

static xsprof_name_t name_of(xsprof_name_t domain, uint64_t id, struct itt_string *name)
{
	uint64_t v[3];

	if (!name && id && itt_map_get(&groups, id, v))
		return (xsprof_name_t)v[0];
	return itt_string_name(domain, name);
}

static void region_begin(const struct itt_domain *domain, struct itt_id region,
			 struct itt_id parent, struct itt_string *name)
{
	xsprof_name_t d = itt_domain_name(domain), n;
	uint64_t id = itt_id(d, &region), up = itt_id(d, &parent);
	uint64_t v[3] = { 0 };

	n = name_of(d, id, name);
	/* Held until the records are written: their order is that of the count. */
	itt_lock();
	/* The null id names no object: one region per domain may be open. */
	if (itt_map_get(&regions, id ? id : d, v))
		n = (xsprof_name_t)v[0];
	v[0] = n;
	v[1]++;
	if (!itt_map_put(&regions, id ? id : d, v))
		itt_miss(ITT_MISS_OPEN_FULL);
	if (v[1] > 1)
		xsprof_async_instant(n, id);
	else
		xsprof_async_begin(n, id);
	if (v[1] == 1 && up)
		xsprof_relation(ITT_RELATION_CHILD_OF, id, up);
	itt_unlock();
}
ITT_EXPORT(region_begin, region_begin);

static void region_end(const struct itt_domain *domain, struct itt_id region)
{
	xsprof_name_t d = itt_domain_name(domain);
	uint64_t id = itt_id(d, &region);
	uint64_t v[3];

	itt_lock();
	if (!itt_map_get(&regions, id ? id : d, v)) {
		itt_miss(ITT_MISS_OVERLAPPED_END);
	} else if (--v[1]) {
		/* The key exists: put() changes its values in place. */
		itt_map_put(&regions, id ? id : d, v);
		xsprof_async_instant((xsprof_name_t)v[0], id);
	} else {
		itt_map_take(&regions, id ? id : d, v);
		xsprof_async_end((xsprof_name_t)v[0], id);
	}
	itt_unlock();
}
ITT_EXPORT(region_end, region_end);

const struct itt_entry itt_region_entries[] = {
	ITT_ENTRY(task_group, task_group),
	ITT_ENTRY(region_begin, region_begin),
	ITT_ENTRY(region_end, region_end),
	{ NULL, NULL }
};
