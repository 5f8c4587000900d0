// SPDX-License-Identifier: LGPL-2.1-only
/*
 * NVTX's domains, registered strings and categories, and names of texts.
 *
 * Each domain becomes a category of the library.  The handle of a domain encodes its number and
 * that category, the handle of a registered string its name.  NVTX's own categories are numbers:
 * a table keeps their names for the events that carry the number.
 */
#include "gpu/nvtx/local.h"

#define CATEGORIES	2048u	/* a power of two */
#define PROBES		16u

static uint32_t nr_domains;

/* By domain and number; written under nvtx_lock(), read without it: the key is stored last. */
static struct {
	uint64_t	key;
	xsprof_name_t	name;
} categories[CATEGORIES];

struct nvtx_domain nvtx_domain_default(const void *handle)
{
	if (handle)
		nvtx_miss(NVTX_MISS_DOMAIN);
	return (struct nvtx_domain){ .index = 0, .category = nvtx_default_category() };
}

/* ---- texts ----------------------------------------------------------------------------------- */

__attribute__((noinline)) xsprof_name_t nvtx_text_slow(struct nvtx_thread *t, uint32_t category,
						       const char *text)
{
	struct nvtx_cached *c;
	xsprof_name_t name;
	size_t len;

	if (!text)
		return nvtx_text(t, category, NVTX_NO_NAME);
	name = xsprof_name_in((int)category, text);
	len = strnlen(text, NVTX_CACHED_LEN);
	if (len == NVTX_CACHED_LEN || nvtx_no_room(name))
		return name;
	c = nvtx_cached_at(t, text);
	c->at = text;
	c->name = name;
	c->category = category;
	memcpy(c->text, text, len + 1);
	return name;
}

/* Encodes @c as UTF-8; an invalid code point becomes U+FFFD.  Return: the number of bytes. */
static size_t put_utf8(char out[4], uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 63));
		out[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 63));
	out[2] = (char)(0x80 | (c >> 6 & 63));
	out[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* wchar_t has 32 bits here.  Copied bytewise, as it may be unaligned. */
void nvtx_wide_text(char *out, size_t size, const void *text)
{
	const char *at = text;
	size_t n = 0;
	uint32_t c;

	for (; at && n + 5 <= size; at += sizeof(c)) {
		memcpy(&c, at, sizeof(c));
		if (!c)
			break;
		n += put_utf8(out + n, c);
	}
	out[n] = 0;
}

xsprof_name_t nvtx_wide(uint32_t category, const void *text)
{
	char utf8[NVTX_TEXT_MAX];

	if (!text)
		return xsprof_name_in((int)category, NVTX_NO_NAME);
	nvtx_wide_text(utf8, sizeof(utf8), text);
	return xsprof_name_in((int)category, utf8);
}

/* ---- domains and registered strings ---------------------------------------------------------- */

static void *domain_create(const char *name)
{
	uint32_t category = name && *name ? nvtx_new_category(name) : nvtx_default_category();
	uint32_t index = __atomic_add_fetch(&nr_domains, 1, __ATOMIC_RELAXED);

	return (void *)(uintptr_t)nvtx_handle(NVTX_TAG_DOMAIN, category, index);
}

static void *domain_create_wide(const void *name)
{
	char utf8[NVTX_TEXT_MAX];

	nvtx_wide_text(utf8, sizeof(utf8), name);
	return domain_create(utf8);
}

static void *string_handle(xsprof_name_t name)
{
	return (void *)(uintptr_t)nvtx_handle(NVTX_TAG_STRING, 0, name);
}

static void *register_string(const void *domain, const char *text)
{
	struct nvtx_domain d = nvtx_domain_of(domain);

	return string_handle(xsprof_name_in((int)d.category, text ? text : NVTX_NO_NAME));
}

static void *register_string_wide(const void *domain, const void *text)
{
	return string_handle(nvtx_wide(nvtx_domain_of(domain).category, text));
}

/* ---- NVTX's categories ----------------------------------------------------------------------- */

static uint64_t category_key(uint32_t domain, uint32_t id)
{
	return ((uint64_t)domain << 32 | id) + 1;	/* 0 is free */
}

static uint32_t category_at(uint64_t key)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 32);
}

xsprof_name_t nvtx_category_name(uint32_t domain, uint32_t id)
{
	uint64_t want = category_key(domain, id), key;
	uint32_t at = category_at(want);

	for (uint32_t i = 0; i < PROBES; i++, at++) {
		key = __atomic_load_n(&categories[at % CATEGORIES].key, __ATOMIC_ACQUIRE);
		if (!key)
			return 0;
		if (key == want)
			return __atomic_load_n(&categories[at % CATEGORIES].name,
					       __ATOMIC_RELAXED);
	}
	return 0;
}

static bool keep_category(uint64_t want, xsprof_name_t name)
{
	uint32_t at = category_at(want);

	for (uint32_t i = 0; i < PROBES; i++, at++) {
		uint64_t key = categories[at % CATEGORIES].key;

		if (key && key != want)
			continue;
		__atomic_store_n(&categories[at % CATEGORIES].name, name, __ATOMIC_RELAXED);
		__atomic_store_n(&categories[at % CATEGORIES].key, want, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

static void give_category(struct nvtx_domain d, uint32_t id, xsprof_name_t name)
{
	bool kept;

	nvtx_lock();
	kept = keep_category(category_key(d.index, id), name);
	nvtx_unlock();
	if (!kept)
		nvtx_miss(NVTX_MISS_CATEGORY);
}

static void domain_name_category(const void *domain, uint32_t id, const char *name)
{
	struct nvtx_domain d = nvtx_domain_of(domain);

	if (name)
		give_category(d, id, xsprof_name_in((int)d.category, name));
}

static void domain_name_category_wide(const void *domain, uint32_t id, const void *name)
{
	struct nvtx_domain d = nvtx_domain_of(domain);

	if (name)
		give_category(d, id, nvtx_wide(d.category, name));
}

static void name_category(uint32_t id, const char *name)
{
	domain_name_category(NULL, id, name);
}

static void name_category_wide(uint32_t id, const void *name)
{
	domain_name_category_wide(NULL, id, name);
}

/* Nothing to free: open ranges end by their own calls, and registered strings are names. */
static void domain_destroy(const void *domain)
{
	(void)domain;
}

const struct nvtx_entry nvtx_name_entries[] = {
	NVTX_ENTRY(NVTX_CORE, NVTX_NAME_CATEGORY_A, name_category),
	NVTX_ENTRY(NVTX_CORE, NVTX_NAME_CATEGORY_W, name_category_wide),
	NVTX_ENTRY(NVTX_CORE2, NVTX_DOMAIN_NAME_CATEGORY_A, domain_name_category),
	NVTX_ENTRY(NVTX_CORE2, NVTX_DOMAIN_NAME_CATEGORY_W, domain_name_category_wide),
	NVTX_ENTRY(NVTX_CORE2, NVTX_REGISTER_STRING_A, register_string),
	NVTX_ENTRY(NVTX_CORE2, NVTX_REGISTER_STRING_W, register_string_wide),
	NVTX_ENTRY(NVTX_CORE2, NVTX_DOMAIN_CREATE_A, domain_create),
	NVTX_ENTRY(NVTX_CORE2, NVTX_DOMAIN_CREATE_W, domain_create_wide),
	NVTX_ENTRY(NVTX_CORE2, NVTX_DOMAIN_DESTROY, domain_destroy),
	{ 0, 0, NULL }
};
