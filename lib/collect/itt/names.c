// SPDX-License-Identifier: LGPL-2.1-only
/*
 * ITT domains as categories, and string handles as names.
 *
 * A domain's extra2 holds the id of its name, which contains the category. A string handle can be
 * used in any domain, but a name id contains a category: so each handle gets a number, and its
 * extra2 holds the number and the id in the first domain that used it. Ids in further domains are
 * in a table whose words contain number and id, so that reading needs no lock and an entry may be
 * overwritten at any time.
 *
 * Domains and handles created here are never freed; those adopted from a static part belong to it,
 * and no pointer to them is kept, as it may be unloaded.
 */
#include <string.h>

#include "collect/itt/names.h"

#define MAX_STRINGS	XSPROF_NAME_MAX_INDEX
#define MAX_DOMAINS	65536u
#define BUCKETS		4096u
#define CACHE		8192u
#define CACHE_PROBES	2u

/* Marks an adopted object; never 0, whatever the name. */
#define ADOPTED		(1ull << 63)

struct made_string {
	struct itt_string	string;
	struct made_string	*next;
	uint64_t		hash;
};

struct made_domain {
	struct itt_domain	domain;
	struct made_domain	*next;
};

static struct made_string *strings[BUCKETS];
static struct made_domain *domains;
static uint32_t nr_strings, nr_domains;
static uint32_t numbers;	/* of string handles, made here or adopted */
static uint64_t cache[CACHE];

static struct itt_domain domains_full = { .flags = 1, .name = "(domains full)" };
static struct itt_string strings_full = { .text = "(strings full)" };

static const char *const category_texts[ITT_NR_CATS] = {
	"itt", "itt.sync", "itt.heap", "itt.model", "itt.stitch", "itt.jit",
};
static int categories[ITT_NR_CATS];	/* the category + 1; 0: not created */

/*
 * A forked child that has recorded nothing yet still has the parent's enabled bits, which lack a
 * new category: attach first, as the child's first marker would.
 */
static int new_category(const char *name)
{
	xsprof_init(NULL);
	return xsprof_category(name);
}

static int category_of(enum itt_category cat)
{
	int c = __atomic_load_n(&categories[cat], __ATOMIC_RELAXED);

	if (unlikely(!c)) {
		c = new_category(category_texts[cat]);
		c = c < 0 ? 1 : c + 1;
		__atomic_store_n(&categories[cat], c, __ATOMIC_RELAXED);
	}
	return c - 1;
}

static int category_named(const char *name)
{
	int c = name && *name ? new_category(name) : -1;

	return c < 0 ? category_of(ITT_CAT_ITT) : c;
}

xsprof_name_t itt_intern(enum itt_category cat, const char *text)
{
	return xsprof_name_in(category_of(cat), text ? text : "(no name)");
}

xsprof_name_t itt_intern_len(enum itt_category cat, const char *text, size_t len)
{
	char copy[XSPROF_TEXT_MAX + 1];

	if (!text)
		return itt_intern(cat, NULL);
	len = strnlen(text, len < XSPROF_TEXT_MAX ? len : XSPROF_TEXT_MAX);
	memcpy(copy, text, len);
	copy[len] = 0;
	return itt_intern(cat, copy);
}

xsprof_name_t itt_intern_domain(const char *domain, const char *text)
{
	return xsprof_name_in(category_named(domain), text ? text : "(no name)");
}

const char *itt_text(const struct itt_string *string)
{
	return string && string->text ? string->text : "(no name)";
}

/* ---- domains --------------------------------------------------------------------------------- */

xsprof_name_t itt_adopt_domain(struct itt_domain *domain)
{
	const char *text = domain && domain->name && *domain->name ? domain->name : "itt";
	xsprof_name_t name = itt_intern_domain(text, text);

	if (domain)
		__atomic_store_n(&domain->extra2, (void *)(uintptr_t)(ADOPTED | name),
				 __ATOMIC_RELAXED);
	return name;
}

static struct itt_domain *find_or_make_domain(const char *name)
{
	struct made_domain *d;

	for (d = domains; d; d = d->next)
		if (!strcmp(d->domain.name, name))
			return &d->domain;
	if (nr_domains >= MAX_DOMAINS)
		return &domains_full;
	d = itt_alloc(sizeof(*d));
	if (!d)
		return &domains_full;
	d->domain.name = itt_strdup(name);
	if (!d->domain.name)
		return &domains_full;
	d->domain.flags = 1;
	d->next = domains;
	domains = d;
	nr_domains++;
	return &d->domain;
}

void itt_made_domain(const char *domain, xsprof_name_t name, const void *part)
{
	char text[XSPROF_TEXT_MAX];

	if (itt_worker_wants(domain, name, part, text))
		itt_worker_domain(name, itt_intern_domain(text, text));
}

static struct itt_domain *domain_create(const char *name)
{
	struct itt_domain *d;

	if (!name)
		return NULL;
	itt_lock();
	d = find_or_make_domain(name);
	itt_unlock();
	if (d == &domains_full)
		itt_miss(ITT_MISS_MEMORY);
	itt_made_domain(d->name, itt_domain_name(d), __builtin_return_address(0));
	return d;
}
ITT_EXPORT(domain_create, domain_create);
ITT_EXPORT(domain_createA, domain_create);

/* ---- strings --------------------------------------------------------------------------------- */

/* Numbers a handle that has no number. If two threads race, the first wins. */
void itt_adopt_string(struct itt_string *string)
{
	uint64_t n = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
	void *none = NULL;

	__atomic_compare_exchange_n(&string->extra2, &none, (void *)(uintptr_t)(n << 32), false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

xsprof_name_t itt_resolve(xsprof_name_t domain, struct itt_string *string)
{
	uint32_t cat = domain >> XSPROF_NAME_SHIFT;
	uint64_t v = 0, number, at;
	xsprof_name_t name;

	if (string) {
		if (!__atomic_load_n(&string->extra2, __ATOMIC_RELAXED))
			itt_adopt_string(string);
		v = (uintptr_t)__atomic_load_n(&string->extra2, __ATOMIC_RELAXED);
	}
	number = v >> 32;	/* 0: the NULL handle */
	at = itt_mix(number << 6 | cat);
	for (uint32_t p = 0; p < CACHE_PROBES; p++) {
		uint64_t e = __atomic_load_n(&cache[(at + p) % CACHE], __ATOMIC_RELAXED);

		if (e && e >> 32 == number && (uint32_t)e >> XSPROF_NAME_SHIFT == cat)
			return (uint32_t)e;
	}

	name = xsprof_name_in((int)cat, itt_text(string));
	if (string && !(uint32_t)v) {
		void *old = (void *)(uintptr_t)v;

		if (__atomic_compare_exchange_n(&string->extra2, &old,
						(void *)(uintptr_t)(v | name), false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return name;
	}
	if (cache[at % CACHE])
		at += itt_mix(number) % CACHE_PROBES;
	__atomic_store_n(&cache[at % CACHE], number << 32 | name, __ATOMIC_RELAXED);
	return name;
}

static uint64_t hash_text(const char *text)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; text[i] && i < XSPROF_TEXT_MAX; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3ull;
	return h;
}

static struct itt_string *find_or_make_string(const char *text)
{
	uint64_t hash = hash_text(text);
	struct made_string **bucket = &strings[hash % BUCKETS], *s;

	for (s = *bucket; s; s = s->next)
		if (s->hash == hash && !strncmp(s->string.text, text, XSPROF_TEXT_MAX))
			return &s->string;
	if (nr_strings >= MAX_STRINGS)
		return &strings_full;
	s = itt_alloc(sizeof(*s));
	if (!s)
		return &strings_full;
	s->string.text = itt_strdup(text);
	if (!s->string.text)
		return &strings_full;
	s->hash = hash;
	s->next = *bucket;
	*bucket = s;
	nr_strings++;
	itt_adopt_string(&s->string);
	return &s->string;
}

static struct itt_string *string_handle_create(const char *text)
{
	struct itt_string *s;

	if (!text)
		return NULL;
	itt_lock();
	s = find_or_make_string(text);
	itt_unlock();
	if (s == &strings_full)
		itt_miss(ITT_MISS_MEMORY);
	return s;
}
ITT_EXPORT(string_handle_create, string_handle_create);
ITT_EXPORT(string_handle_createA, string_handle_create);

const struct itt_entry itt_name_entries[] = {
	ITT_ENTRY(domain_create, domain_create),
	ITT_ENTRY(domain_createA, domain_create),
	ITT_ENTRY(string_handle_create, string_handle_create),
	ITT_ENTRY(string_handle_createA, string_handle_create),
	{ NULL, NULL }
};
