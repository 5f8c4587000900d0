/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TAP for a test program: a plan, result lines, and a limited number of diagnostics, so that a
 * broken ring does not fill a disk. Counts errors from several threads.
 */
#ifndef XSP_TEST_TAP_H
#define XSP_TEST_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAP_DIAGS	8	/* diagnostics per result */

static unsigned int tap_tests, tap_failures;
static unsigned int tap_bad;		/* errors since the last result */

/* Reports an error: prints a line, and the next result fails. */
__attribute__((format(printf, 1, 2), unused)) static void tap_wrong(const char *fmt, ...)
{
	char line[400];
	va_list ap;

	if (__atomic_fetch_add(&tap_bad, 1, __ATOMIC_RELAXED) >= TAP_DIAGS)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	printf("# wrong: %s\n", line);
}

__attribute__((format(printf, 1, 2), unused)) static void tap_note(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

/* Prints the result of all checks since the one before. */
__attribute__((format(printf, 1, 2), unused)) static bool tap_result(const char *fmt, ...)
{
	bool ok = !__atomic_exchange_n(&tap_bad, 0, __ATOMIC_RELAXED);
	va_list ap;

	tap_failures += !ok;
	printf("%sok %u ", ok ? "" : "not ", ++tap_tests);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	return ok;
}

/* Prints a result of one condition. */
__attribute__((unused)) static void tap_ok(const char *name, bool good)
{
	__atomic_fetch_add(&tap_bad, !good, __ATOMIC_RELAXED);
	tap_result("%s", name);
}

__attribute__((unused)) static void tap_skip(const char *name, const char *why)
{
	printf("ok %u %s # SKIP %s\n", ++tap_tests, name, why);
	fflush(stdout);
}

/* Return: the program's exit status. */
__attribute__((unused)) static int tap_done(void)
{
	printf("1..%u\n", tap_tests);
	return tap_failures != 0;
}

/* The machine does not allow the test: no verdict on the product. */
__attribute__((format(printf, 1, 2), noreturn, unused)) static void tap_bail(const char *fmt, ...)
{
	va_list ap;

	printf("Bail out! ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	exit(99);
}

#define CHECK(cond) do { \
	if (!(cond)) \
		tap_wrong("%s:%d: %s", __FILE__, __LINE__, #cond); \
} while (0)

#define CHECK_EQ(a, b) do { \
	long long check_a_ = (long long)(a), check_b_ = (long long)(b); \
	if (check_a_ != check_b_) \
		tap_wrong("%s:%d: %s is %lld, not %lld (%s)", __FILE__, __LINE__, #a, check_a_, \
			  check_b_, #b); \
} while (0)

/* Returns VALUE of a command line argument NAME=VALUE, or NULL. */
__attribute__((unused)) static const char *arg_text(int argc, char **argv, const char *name)
{
	size_t n = strlen(name);

	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], name, n) && argv[i][n] == '=')
			return argv[i] + n + 1;
	return NULL;
}

__attribute__((unused)) static unsigned long long arg_number(int argc, char **argv,
							     const char *name,
							     unsigned long long otherwise)
{
	const char *s = arg_text(argc, argv, name);

	return s ? strtoull(s, NULL, 0) : otherwise;
}

#endif /* XSP_TEST_TAP_H */
