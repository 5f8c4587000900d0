/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Names and categories for ITT's domains and strings.
 */
#ifndef XSPROF_ITT_NAMES_H
#define XSPROF_ITT_NAMES_H

#include "collect/itt/local.h"

/* Categories for calls without a domain; created at their first use. */
enum itt_category {
	ITT_CAT_ITT,		/* "itt" */
	ITT_CAT_SYNC,		/* "itt.sync" */
	ITT_CAT_HEAP,		/* "itt.heap" */
	ITT_CAT_MODEL,		/* "itt.model" */
	ITT_CAT_STITCH,		/* "itt.stitch" */
	ITT_CAT_JIT,		/* "itt.jit" */
	ITT_NR_CATS,
};

xsprof_name_t itt_intern(enum itt_category cat, const char *text);
/* The same for an unterminated text of a given length. */
xsprof_name_t itt_intern_len(enum itt_category cat, const char *text, size_t len);
/* A name in the category named after the domain; NULL: category "itt". */
xsprof_name_t itt_intern_domain(const char *domain, const char *text);

/*
 * worker.c: does a domain, created by the library that contains @part, need a second one for OpenMP
 * workers, whose name is put into @text? Then: sets the name of the second domain. Then: the domain
 * for tasks of the calling thread, which is the second one for a worker in oneDNN.
 */
bool itt_worker_wants(const char *domain, xsprof_name_t name, const void *part,
		      char text[XSPROF_TEXT_MAX]);
void itt_worker_domain(xsprof_name_t name, xsprof_name_t of_workers);
xsprof_name_t itt_worker_name(xsprof_name_t domain);

/*
 * The library that contains @part has created a domain: creates one for its workers too, if needed.
 */
void itt_made_domain(const char *domain, xsprof_name_t name, const void *part);
xsprof_name_t itt_adopt_domain(struct itt_domain *domain);
void itt_adopt_string(struct itt_string *string);
xsprof_name_t itt_resolve(xsprof_name_t domain, struct itt_string *string);
const char *itt_text(const struct itt_string *string);

/*
 * The domain's own name, which contains its category; stored in extra2 by the adoption. NULL, which
 * the macros never pass, is the domain "itt".
 */
static inline xsprof_name_t itt_domain_name(const struct itt_domain *domain)
{
	uintptr_t v;

	if (unlikely(!domain))
		return itt_adopt_domain(NULL);
	v = (uintptr_t)__atomic_load_n(&domain->extra2, __ATOMIC_RELAXED);
	return likely(v) ? (xsprof_name_t)v : itt_adopt_domain((struct itt_domain *)domain);
}

/*
 * The string's name in the domain's category. Its extra2 holds its number and its name in the first
 * domain that used it: one load and one compare.
 */
static inline xsprof_name_t itt_string_name(xsprof_name_t domain, struct itt_string *string)
{
	uint64_t v;

	if (likely(string != NULL)) {
		v = (uintptr_t)__atomic_load_n(&string->extra2, __ATOMIC_RELAXED);
		if (likely((uint32_t)v && !(((uint32_t)v ^ domain) >> XSPROF_NAME_SHIFT)))
			return (uint32_t)v;
	}
	return itt_resolve(domain, string);
}

#endif /* XSPROF_ITT_NAMES_H */
