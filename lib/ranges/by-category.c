// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Lists of open ranges by category: see by-category.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ranges/by-category.h"

static int make_room(struct xsp_by_category *by, uint32_t category)
{
	uint32_t room = by->room ? by->room : 4;
	struct xsp_category_list *of;

	while (room <= category)
		room *= 2;
	of = realloc(by->of, room * sizeof(*of));
	if (!of)
		return -ENOMEM;
	memset(of + by->room, 0, (room - by->room) * sizeof(*of));
	by->of = of;
	by->room = room;
	return 0;
}

int xsp_by_category_link(struct xsp_by_category *by, struct xsp_category_item *member,
			 uint32_t category)
{
	struct xsp_category_list *of;

	if (category >= by->room && make_room(by, category))
		return -ENOMEM;
	of = &by->of[category];
	member->by = by;
	member->category = category;
	member->next = NULL;
	member->prev = of->last;
	*(of->last ? &of->last->next : &of->first) = member;
	of->last = member;
	by->used |= 1ull << category;
	return 0;
}

void xsp_by_category_unlink(struct xsp_category_item *member)
{
	struct xsp_category_list *of = &member->by->of[member->category];

	*(member->prev ? &member->prev->next : &of->first) = member->next;
	*(member->next ? &member->next->prev : &of->last) = member->prev;
	member->by = NULL;
}

int xsp_by_category_join(struct xsp_by_category *by, struct xsp_category_items *set, void *of,
		     uint32_t category)
{
	struct xsp_category_item *member;

	if (set->mask >> category & 1)
		return 0;
	member = malloc(sizeof(*member));
	if (!member)
		return -ENOMEM;
	member->of = of;
	if (xsp_by_category_link(by, member, category)) {
		free(member);
		return -ENOMEM;
	}
	member->other = set->first;
	set->first = member;
	set->mask |= 1ull << category;
	return sizeof(*member);
}

size_t xsp_by_category_leave(struct xsp_category_items *set, uint64_t categories)
{
	struct xsp_category_item **link = &set->first;
	size_t freed = 0;

	while (*link) {
		struct xsp_category_item *member = *link;

		if (!(categories >> member->category & 1)) {
			link = &member->other;
			continue;
		}
		*link = member->other;
		xsp_by_category_unlink(member);
		free(member);
		freed += sizeof(*member);
	}
	set->mask &= ~categories;
	return freed;
}

void *xsp_by_category_any(struct xsp_by_category *by, uint64_t categories)
{
	uint64_t left = by->used & categories;

	while (left) {
		uint32_t category = (uint32_t)__builtin_ctzll(left);

		if (by->of[category].first)
			return by->of[category].first->of;
		left &= left - 1;
		by->used &= ~(1ull << category);
	}
	return NULL;
}

void xsp_by_category_free(struct xsp_by_category *by)
{
	free(by->of);
	*by = (struct xsp_by_category){ 0 };
}
