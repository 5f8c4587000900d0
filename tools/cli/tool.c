// SPDX-License-Identifier: GPL-2.0-only
/*
 * Errors and options common to all verbs.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "text/escape.h"

const char *tool_name = "xsprof";

/* Names of files and processes are arbitrary: they must not control the terminal. */
static void say(const char *fmt, va_list ap)
{
	char text[1024], plain[sizeof(text) * XSP_ESCAPE_MAX], *p = plain;
	size_t n;

	vsnprintf(text, sizeof(text), fmt, ap);
	for (const char *s = text; *s; s += n) {
		n = strcspn(s, "\\");
		p = xsp_escape_text(p, s, n);
		/* Do not escape what is escaped already. */
		if (s[n]) {
			*p++ = '\\';
			n++;
		}
	}
	*p = '\0';
	/* A single write, so that lines of several processes on one stderr stay whole. */
	fprintf(stderr, "%s: %s\n", tool_name, plain);
}

int tool_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	return TOOL_FAILED;
}

void tool_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void tool_say(void *data, bool note, const char *text)
{
	(void)data;
	if (note)
		tool_note("%s", text);
}

void tool_print_name(const char *name, size_t width)
{
	size_t shown = xsp_escape_print(stdout, name, strlen(name));

	for (; shown < width; shown++)
		putchar(' ');
}

static void see_help(const char *verb)
{
	if (verb && !strcmp(tool_name, "xsprof"))
		fprintf(stderr, "%s: see 'xsprof %s --help'\n", tool_name, verb);
	else
		fprintf(stderr, "%s: see '%s --help'\n", tool_name, tool_name);
}

int tool_usage(const char *verb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	see_help(verb);
	return TOOL_USAGE;
}

/* Levenshtein distance of short words: one row fits on the stack. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[65];
	size_t la = strlen(a), lb = strlen(b);
	size_t i, j;

	if (la > 64 || lb > 64)
		return 64;
	for (j = 0; j <= lb; j++)
		row[j] = j;
	for (i = 1; i <= la; i++) {
		unsigned int diag = row[0];

		row[0] = i;
		for (j = 1; j <= lb; j++) {
			unsigned int up = row[j];
			unsigned int best = diag + (a[i - 1] != b[j - 1]);

			if (up + 1 < best)
				best = up + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
			diag = up;
		}
	}
	return row[lb];
}

const char *tool_closest(const char *word, const char *const *words)
{
	unsigned int best = strlen(word) / 3 + 2;
	const char *found = NULL;

	for (; *words; words++) {
		unsigned int d = distance(word, *words);

		if (d < best) {
			best = d;
			found = *words;
		}
	}
	return found;
}

static const char *closest_option(const char *word, const struct option *opts)
{
	const char *words[65];
	size_t n = 0;

	for (; opts->name && n < 64; opts++)
		words[n++] = opts->name;
	words[n] = NULL;
	return tool_closest(word, words);
}

static const char *long_name(int val, const struct option *opts)
{
	for (; opts->name; opts++)
		if (opts->val == val)
			return opts->name;
	return NULL;
}

/*
 * Reports a getopt_long() error: @c is '?' or ':'. Suggests a similar option of @opts. Return:
 * TOOL_USAGE.
 */
static int bad_option(const char *verb, int c, char **argv, const struct option *opts)
{
	const char *word = argv[optind - 1];
	const char *name = long_name(optopt, opts);
	const char *near;

	if (c == ':') {
		if (!strncmp(word, "--", 2))
			return tool_usage(verb, "%s: needs a value", word);
		return tool_usage(verb, "-%c%s%s: needs a value", optopt,
				  name ? ", --" : "", name ? name : "");
	}
	if (!strncmp(word, "--", 2)) {
		char plain[64];

		snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(word + 2, "="), word + 2);
		/* getopt_long() leaves optopt set if the option exists but takes no value. */
		if (optopt && name && strchr(word, '='))
			return tool_usage(verb, "--%s: takes no value", plain);
		near = closest_option(plain, opts);
		if (near)
			return tool_usage(verb, "--%s: unknown option, did you mean --%s?",
					  plain, near);
		return tool_usage(verb, "--%s: unknown option", plain);
	}
	if (isprint(optopt))
		return tool_usage(verb, "-%c: unknown option", optopt);
	return tool_usage(verb, "%s: unknown option", word);
}

int tool_option(const char *verb, int c, char **argv, const struct option *opts,
		void (*help)(void))
{
	if (c == 'V')
		return tool_version();
	if (c != 'h')
		return bad_option(verb, c, argv, opts);
	help();
	return 0;
}

int tool_finish(int status)
{
	bool bad = ferror(stdout);
	int err;

	errno = 0;
	if (fflush(stdout) || bad) {
		err = errno;
		/* Report it once. */
		clearerr(stdout);
		tool_error("standard output: %s", err ? strerror(err) : "could not be written");
		return status ? status : TOOL_FAILED;
	}
	return status;
}

int tool_version(void)
{
	printf("%s %s\n", tool_name, XSPROF_VERSION);
	return 0;
}

int tool_parse_u64(const char *text, uint64_t *value)
{
	char *end;

	/* strtoull() accepts signs and blanks, which are not allowed here. */
	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, &end, 0);
	if (errno)
		return -errno;
	return *end ? -EINVAL : 0;
}

int tool_parse_size(const char *text, uint64_t *bytes)
{
	static const char suffixes[] = "kmgt";
	const char *found;
	unsigned int shift = 0;
	uint64_t value;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno)
		return -errno;
	found = *end ? strchr(suffixes, tolower((unsigned char)*end)) : NULL;
	if (found) {
		shift = 10 * (found - suffixes + 1);
		end++;
		if (*end == 'i')
			end++;
	}
	if (*end == 'B')
		end++;
	if (*end)
		return -EINVAL;
	if (shift && value > UINT64_MAX >> shift)
		return -ERANGE;
	*bytes = value << shift;
	return 0;
}

int tool_parse_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char	*suffix;
		double		ns;
	} units[] = {
		{ "", 1e9 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
		{ "m", 60e9 }, { "h", 3600e9 },
	};
	double value;
	char *end;
	size_t i;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return -EINVAL;
	/* No hexadecimal floats. */
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return -EINVAL;
	errno = 0;
	value = strtod(text, &end);
	if (errno || end == text)
		return -EINVAL;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].suffix))
			continue;
		if (value * units[i].ns >= 9e18)
			return -ERANGE;
		*ns = value * units[i].ns + 0.5;
		return 0;
	}
	return -EINVAL;
}

const char *tool_format_bytes(char *buf, size_t size, uint64_t bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
	double value = bytes;
	size_t unit = 0;

	while (value >= 999.95 && unit < sizeof(units) / sizeof(units[0]) - 1) {
		value /= 1000;
		unit++;
	}
	snprintf(buf, size, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return buf;
}

const char *tool_format_time(char *buf, size_t size, uint64_t ns)
{
	static const struct {
		uint64_t	ns;
		const char	*unit;
	} units[] = { { 1000000000u, "s" }, { 1000000, "ms" }, { 1000, "us" } };
	size_t i;

	for (i = 0; i < 3; i++) {
		if (ns < units[i].ns)
			continue;
		snprintf(buf, size, "%" PRIu64 ".%03" PRIu64 " %s", ns / units[i].ns,
			 ns % units[i].ns * 1000 / units[i].ns, units[i].unit);
		return buf;
	}
	snprintf(buf, size, "%" PRIu64 " ns", ns);
	return buf;
}

int tool_take_pid(const char *verb, const char *text, pid_t *pid)
{
	uint64_t value;

	if (tool_parse_u64(text, &value) || !value || value > INT32_MAX)
		return tool_usage(verb, "--pid: '%s' is not a process id", text);
	*pid = (pid_t)value;
	return -1;
}
