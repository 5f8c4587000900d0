/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What a producer has open, by category: so that switching a category off finds what it ends
 * without a look at anything else.  A program may switch as often as it writes records.
 */
#ifndef XSP_BY_CATEGORY_H
#define XSP_BY_CATEGORY_H

#include <stddef.h>
#include <stdint.h>

#include <xsprof/abi.h>

struct xsp_category_item;

/* Of one producer; all zeros is empty.  It must not move while it has members. */
struct xsp_by_category {
	struct xsp_category_list {
		struct xsp_category_item	*first;
		struct xsp_category_item	*last;
	}			*of;	/* each category's, in the order in which they came */
	uint32_t		room;	/* categories in @of */
	uint64_t		used;	/* those that may have members */
};

/**
 * struct xsp_category_item - something that is open, in the list of its category
 * @of: what it is
 * @other: the next of the same xsp_category_items
 */
struct xsp_category_item {
	struct xsp_category_item	*next;
	struct xsp_category_item	*prev;
	struct xsp_by_category		*by;
	struct xsp_category_item	*other;
	void				*of;
	uint32_t			category;
};

/* Of a thread, which is in the lists of all categories that it has ranges of. */
struct xsp_category_items {
	struct xsp_category_item	*first;
	uint64_t			mask;
};

static inline uint32_t xsp_category_of(uint32_t name)
{
	return name >> XSPROF_NAME_SHIFT;
}

/* @member's @of is set.  Return: 0 or -ENOMEM. */
int xsp_by_category_link(struct xsp_by_category *by, struct xsp_category_item *member,
			 uint32_t category);
/* It is in no list then: @by is NULL. */
void xsp_by_category_unlink(struct xsp_category_item *member);

/* Puts @of into the list of @category, once.  Return: bytes that it took, or -ENOMEM. */
int xsp_by_category_join(struct xsp_by_category *by, struct xsp_category_items *set, void *of,
		     uint32_t category);
/* Takes it out of the lists of @categories, a mask.  Return: bytes that were freed. */
size_t xsp_by_category_leave(struct xsp_category_items *set, uint64_t categories);

/* One that is in a list of @categories, or NULL. */
void *xsp_by_category_any(struct xsp_by_category *by, uint64_t categories);
void xsp_by_category_free(struct xsp_by_category *by);

#endif /* XSP_BY_CATEGORY_H */
