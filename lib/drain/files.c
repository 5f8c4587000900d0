// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Table of live producers by file name: see files.h. Owns none of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "drain/files.h"
#include "drain/producer.h"

#define ROOM_FIRST	64u

static struct xsp_producer **place(const struct xsp_files *files, const char *name)
{
	uint64_t hash = xsp_hash_bytes(files->seed, name, strlen(name));

	return &files->at[xsp_hash_place((uint32_t)hash, files->seed, files->room)];
}

struct xsp_producer *xsp_files_find(const struct xsp_files *files, const char *name)
{
	struct xsp_producer *p;

	if (!files->nr)
		return NULL;
	for (p = *place(files, name); p && strcmp(p->name, name); p = p->same_place)
		;
	return p;
}

static void put(struct xsp_files *files, struct xsp_producer *p)
{
	struct xsp_producer **at = place(files, p->name);

	p->same_place = *at;
	*at = p;
}

int xsp_files_reserve(struct xsp_files *files)
{
	struct xsp_files more = *files;
	struct xsp_producer *p;
	uint32_t i;

	if (files->nr < files->room)
		return 0;
	more.room = files->room ? 2 * files->room : ROOM_FIRST;
	more.at = calloc(more.room, sizeof(struct xsp_producer *));
	if (!more.at)
		return -ENOMEM;
	if (!files->room)
		more.seed = xsp_hash_seed(files);
	for (i = 0; i < files->room; i++) {
		while ((p = files->at[i])) {
			files->at[i] = p->same_place;
			put(&more, p);
		}
	}
	free(files->at);
	*files = more;
	return 0;
}

void xsp_files_add(struct xsp_files *files, struct xsp_producer *p)
{
	put(files, p);
	files->nr++;
}

void xsp_files_remove(struct xsp_files *files, const struct xsp_producer *p)
{
	struct xsp_producer **at;

	if (!files->nr)
		return;
	for (at = place(files, p->name); *at && *at != p; at = &(*at)->same_place)
		;
	if (!*at)
		return;
	*at = p->same_place;
	files->nr--;
}

void xsp_files_free(struct xsp_files *files)
{
	free(files->at);
	*files = (struct xsp_files){ 0 };
}
