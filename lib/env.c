// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What the environment asks for (XSPROF_*), read once.  Never acts on it.
 *
 * secure_getenv(): a program with more rights than its caller takes no orders from him.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define XSP_RING_SIZE	(4ull << 20)
#define XSP_ARENA_SIZE	(1ull << 20)

struct xsp_config xsp_config = {
	.clock = "auto",
	.ring_size = XSP_RING_SIZE,
	.arena_size = XSP_ARENA_SIZE,
};

/**
 * xsp_parse_size() - read "4096", "64k", "4M", "1GiB": as the tool reads its options
 * @text: text
 * @bytes: set on success
 *
 * Return: 0 or -EINVAL.
 */
int xsp_parse_size(const char *text, uint64_t *bytes)
{
	unsigned long long v;
	int shift = 0, err = errno;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno) {
		errno = err;
		return -EINVAL;
	}
	errno = err;
	switch (*end) {
	case 'k': case 'K': shift = 10; end++; break;
	case 'm': case 'M': shift = 20; end++; break;
	case 'g': case 'G': shift = 30; end++; break;
	case 't': case 'T': shift = 40; end++; break;
	}
	if (shift && *end == 'i')
		end++;
	if (*end == 'B' || *end == 'b')
		end++;
	if (*end || v > UINT64_MAX >> shift)
		return -EINVAL;
	*bytes = v << shift;
	return 0;
}

static bool is_yes(const char *s)
{
	return s && *s && strcmp(s, "0") && strcmp(s, "no") && strcmp(s, "false");
}

/* A value that makes no sense keeps the default: a traced program must not fail for it. */
static void size_from(const char *name, uint64_t *to, uint64_t min, uint64_t max)
{
	const char *s = secure_getenv(name);
	uint64_t v;

	if (s && !xsp_parse_size(s, &v) && v >= min && v <= max)
		*to = v;
}

/*
 * A copy: programs write over their environment (setproctitle() of servers and of Python), and
 * their forked children attach long after.  Only one that is recorded pays for it.
 */
static const char *text_from(const char *name, const char *have)
{
	const char *s = secure_getenv(name);

	/* A process that records itself reads it twice. */
	if (s && have && !strcmp(s, have))
		return have;
	return s && *s ? strdup(s) : NULL;
}

static uint32_t choice_from(const char *name)
{
	static const char *const word[] = {
		[XSP_CHOICE_AUTO] = "auto",
		[XSP_CHOICE_DEVICE] = "device",
		[XSP_CHOICE_TMPFS] = "tmpfs",
		[XSP_CHOICE_NONE] = "none",
	};
	const char *s = secure_getenv(name);

	for (uint32_t i = 0; s && i < sizeof(word) / sizeof(word[0]); i++)
		if (!strcmp(s, word[i]))
			return i;
	return XSP_CHOICE_AUTO;
}

void xsp_config_read(void)
{
	struct xsp_config *c = &xsp_config;
	uint64_t locks = 0;
	const char *s;

	c->session = text_from("XSPROF_SESSION", c->session);
	if (c->session && *c->session != '/')
		c->session = NULL;
	c->record = text_from("XSPROF_RECORD", c->record);
	c->categories = text_from("XSPROF_CATEGORIES", c->categories);
	s = text_from("XSPROF_CLOCK", c->clock);
	if (s)
		c->clock = s;
	s = secure_getenv("XSPROF_MODE");
	c->has_mode = s && (!strcmp(s, "overwrite") || !strcmp(s, "discard"));
	if (c->has_mode)
		c->mode = *s == 'o' ? XSPROF_MODE_OVERWRITE : XSPROF_MODE_DISCARD;
	c->backend = choice_from("XSPROF_BACKEND");
	c->prefault = is_yes(secure_getenv("XSPROF_PREFAULT"));
	c->sched = is_yes(secure_getenv("XSPROF_SCHED"));
	size_from("XSPROF_BUFFER_SIZE", &c->ring_size, 1, XSP_RING_MAX);
	size_from("XSPROF_ARENA_SIZE", &c->arena_size, XSP_ARENA_MIN, XSP_ARENA_MAX);
	size_from("XSPROF_LOCK_RINGS", &locks, 1, XSPROF_MAX_LOCK_RINGS);
	c->lock_rings = locks;
}

/**
 * xsp_category_wanted() - does the list of categories want this one?
 * @name: the category's name
 * @len: its bytes
 *
 * "a,b": these alone.  "-c": all but this.  "a,-c": a.  The later entry wins.
 */
bool xsp_category_wanted(const char *name, size_t len)
{
	const char *p = xsp_config.categories;
	bool wanted = true;

	if (!p || !*p)
		return true;
	for (const char *q = p; *q; q += strcspn(q, ",")) {
		q += *q == ',';
		if (*q && *q != '-' && *q != ',')
			wanted = false;		/* there is a positive entry */
	}
	while (*p) {
		size_t n = strcspn(p, ",");
		bool off = *p == '-';

		if (n - off == len && !memcmp(p + off, name, len))
			wanted = !off;
		else if (!off && n == 3 && !memcmp(p, "all", 3))
			wanted = true;
		p += n + (p[n] == ',');
	}
	return wanted;
}
