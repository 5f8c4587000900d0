// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Parses the environment (XSPROF_*), once. Does not act on it and prints nothing: errors are
 * reported by the part that was asked to record (self-record.c).
 *
 * secure_getenv(): a program with more rights than its caller ignores the environment.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xsprof/abi.h>

#include "ring/config.h"

#define XSP_ARENA_SIZE	(1ull << 20)

struct xsp_config xsp_config = {
	.clock = "auto",
	.ring_size = XSP_RING_DEFAULT,
	.arena_size = XSP_ARENA_SIZE,
};

/* One for each variable parsed here. */
static struct xsp_wrong wrongs[12];
static uint32_t nr_wrongs;

static void wrong(const char *name, const char *expected, const char *instead)
{
	if (nr_wrongs < sizeof(wrongs) / sizeof(wrongs[0]))
		wrongs[nr_wrongs++] = (struct xsp_wrong){ name, expected, instead };
}

const struct xsp_wrong *xsp_config_wrong(uint32_t *nr)
{
	*nr = nr_wrongs;
	return wrongs;
}

/**
 * parse_size() - parse "4096", "64k", "4M", "1GiB", as the tool's options
 * @text: text
 * @bytes: set on success
 *
 * Return: 0 or -EINVAL.
 */
static int parse_size(const char *text, uint64_t *bytes)
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

/* Index in @words, which ends with NULL; -1: not found. */
static int word_of(const char *s, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(s, words[i]))
			return i;
	return -1;
}

/* An invalid value keeps the default: a traced program must not fail for it. */
static bool yes_from(const char *name)
{
	static const char *const words[] = { "0", "no", "false", "off", "1", "yes", "true", "on",
					     NULL };
	const char *s = secure_getenv(name);
	int i;

	if (!s || !*s)
		return false;
	i = word_of(s, words);
	if (i < 0)
		wrong(name, "1 or 0", "1 is used");
	return i < 0 || i > 3;
}

static void size_from(const char *name, uint64_t *to, uint64_t min, uint64_t max,
		      const char *expected, const char *instead)
{
	const char *s = secure_getenv(name);
	uint64_t v;

	if (s && !parse_size(s, &v) && v >= min && v <= max)
		*to = v;
	else if (s && *s)
		wrong(name, expected, instead);
}

/*
 * A copy: programs overwrite their environment (setproctitle() of servers and of Python), and their
 * forked children attach much later. Only recorded programs pay for it.
 */
static const char *text_from(const char *name, const char *have)
{
	const char *s = secure_getenv(name);

	/* A process that records itself parses it twice. */
	if (s && have && !strcmp(s, have))
		return have;
	return s && *s ? strdup(s) : NULL;
}

static uint32_t choice_from(const char *name)
{
	static const char *const words[] = {
		[XSP_CHOICE_AUTO] = "auto",
		[XSP_CHOICE_DEVICE] = "device",
		[XSP_CHOICE_TMPFS] = "tmpfs",
		[XSP_CHOICE_NONE] = "none",
		NULL
	};
	const char *s = secure_getenv(name);
	int i = s && *s ? word_of(s, words) : XSP_CHOICE_AUTO;

	if (i < 0)
		wrong(name, "auto, device, tmpfs or none", "auto is used");
	return i < 0 ? XSP_CHOICE_AUTO : i;
}

static void mode_from(const char *name, struct xsp_config *c)
{
	static const char *const words[] = { "discard", "overwrite", NULL };
	const char *s = secure_getenv(name);
	int i = s ? word_of(s, words) : -1;

	c->has_mode = i >= 0;
	if (c->has_mode)
		c->mode = i ? XSPROF_MODE_OVERWRITE : XSPROF_MODE_DISCARD;
	else if (s && *s)
		wrong(name, "discard or overwrite", "the default is used: discard");
}

/* Names may contain anything but a comma: report only what cannot have been meant. */
static void check_categories(const char *name, const char *list)
{
	static const char expected[] = "a,b for only these, -c for all except it";
	bool blank = false;
	size_t n;

	for (const char *p = list; p; p = p[n] ? p + n + 1 : NULL) {
		n = strcspn(p, ",");
		if (n == (*p == '-')) {
			wrong(name, expected, "empty entries are left out");
			return;
		}
		blank |= isspace((unsigned char)p[*p == '-']) ||
			 isspace((unsigned char)p[n - 1]);
	}
	if (blank)
		wrong(name, expected, "blanks are part of names");
}

void xsp_config_read(void)
{
	struct xsp_config *c = &xsp_config;
	uint64_t locks = 0;
	const char *s;

	nr_wrongs = 0;
	c->session = text_from("XSPROF_SESSION", c->session);
	if (c->session && *c->session != '/') {
		c->session = NULL;
		wrong("XSPROF_SESSION", "the absolute path of a recorder's session",
		      "none is used");
	}
	c->record = text_from("XSPROF_RECORD", c->record);
	c->categories = text_from("XSPROF_CATEGORIES", c->categories);
	check_categories("XSPROF_CATEGORIES", c->categories);
	s = text_from("XSPROF_CLOCK", c->clock);
	if (s)
		c->clock = s;
	if (strcmp(c->clock, "auto") && strcmp(c->clock, "mono"))
		wrong("XSPROF_CLOCK", "auto or mono", "auto is used");
	mode_from("XSPROF_MODE", c);
	c->backend = choice_from("XSPROF_BACKEND");
	c->prefault = yes_from("XSPROF_PREFAULT");
	c->sched = yes_from("XSPROF_SCHED");
	size_from("XSPROF_BUFFER_SIZE", &c->ring_size, 1, XSP_RING_MAX,
		  "a size up to 1T, e.g. 512k, 16M", "4M is used");
	size_from("XSPROF_ARENA_SIZE", &c->arena_size, XSP_ARENA_MIN, XSP_ARENA_MAX,
		  "a size from 4k to 256M, e.g. 64k, 1M", "1M is used");
	size_from("XSPROF_LOCK_RINGS", &locks, 1, XSPROF_MAX_LOCK_RINGS, "1 to 64",
		  "the default is used: 1, or 4 if the clock needs them");
	c->lock_rings = locks;
}

/**
 * xsp_category_wanted() - does the list of categories enable this one?
 * @name: the category's name
 * @len: its bytes
 *
 * "a,b": only these. "-c": all but this. "a,-c": a. Later entries win.
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
			wanted = false;		/* the list has a positive entry */
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
