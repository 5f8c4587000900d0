/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A producer's open ranges by category, so that switching a category off finds the ranges that it
 * ends without looking at others. A program may switch as often as it writes records.
 */
#ifndef XSP_BY_CATEGORY_H
#define XSP_BY_CATEGORY_H

#include <stddef.h>
#include <stdint.h>

#include <xsprof/abi.h>

struct xsp_category_item;

/* Lists of one producer; all zeros is empty. It must not move while it has members. */
struct xsp_by_category {
	struct xsp_category_list {
		struct xsp_category_item	*first;
		struct xsp_category_item	*last;
	}			*of;	/* of each category, in order of insertion */
	uint32_t		room;	/* capacity of @of in categories */
	uint64_t		used;	/* categories that may have members */
};

/**
 * struct xsp_category_item - an open range, or a thread with open ranges, in a category's list
 * @of: the range or thread
 * @other: next item of the same struct xsp_category_items
 */
struct xsp_category_item {
	struct xsp_category_item	*next;
	struct xsp_category_item	*prev;
	struct xsp_by_category		*by;
	struct xsp_category_item	*other;
	void				*of;
	uint32_t			category;
};

/* The items of a thread, which is in the list of each category of its open ranges. */
struct xsp_category_items {
	struct xsp_category_item	*first;
	uint64_t			mask;
};

static inline uint32_t xsp_category_of(uint32_t name)
{
	return name >> XSPROF_NAME_SHIFT;
}

/* Adds @member, whose @of is set. Return: 0 or -ENOMEM. */
int xsp_by_category_link(struct xsp_by_category *by, struct xsp_category_item *member,
			 uint32_t category);
/* Removes it from its list: @by is then NULL. */
void xsp_by_category_unlink(struct xsp_category_item *member);

/* Adds @of to the list of @category, once. Return: bytes allocated, or -ENOMEM. */
int xsp_by_category_join(struct xsp_by_category *by, struct xsp_category_items *set, void *of,
		     uint32_t category);
/* Removes it from the lists of @categories, a mask. Return: bytes freed. */
size_t xsp_by_category_leave(struct xsp_category_items *set, uint64_t categories);

/* Any member of a list of @categories, or NULL. */
void *xsp_by_category_any(struct xsp_by_category *by, uint64_t categories);
void xsp_by_category_free(struct xsp_by_category *by);

#endif /* XSP_BY_CATEGORY_H */
