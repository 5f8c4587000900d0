/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the file that a result is saved as, and finds events in it. Never uses the result's events,
 * except to compare them.
 */
#ifndef XSP_TEST_SAVED_H
#define XSP_TEST_SAVED_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xsprof/result.h>

#include "common/tap.h"

#define SAVED_MAX	65536u

/* Returns the file's text, valid until the next call. @save: one of xsprof_result_save*(). */
__attribute__((unused)) static const char *
saved_by(int (*save)(struct xsprof_result *, const char *), struct xsprof_result *r)
{
	static char text[SAVED_MAX];
	char path[] = "/tmp/xsprof-saved.XXXXXX";
	int fd = mkstemp(path);
	ssize_t n;

	if (fd < 0)
		tap_bail("%s: %s", path, strerror(errno));
	close(fd);
	CHECK_EQ(save(r, path), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[n < 0 ? 0 : n] = '\0';
	close(fd);
	unlink(path);
	CHECK(n > 0 && n < (ssize_t)sizeof(text) - 1);
	return text;
}

__attribute__((unused)) static const char *saved(struct xsprof_result *r)
{
	return saved_by(xsprof_result_save, r);
}

/* An event of the trace; times in ns of CLOCK_REALTIME. */
struct saved_event {
	uint64_t	begin;
	uint64_t	duration;
	bool		unfinished;
};

/* Parses "12.345" after @key, before @end, to @scale digits; 0: not found. */
static uint64_t saved_number(const char *at, const char *end, const char *key, unsigned int scale)
{
	uint64_t v;
	char *p;

	at = strstr(at, key);
	if (!at || (end && at > end))
		return 0;
	v = strtoull(at + strlen(key), &p, 10);
	for (p += *p == '.'; scale; scale--)
		v = v * 10 + (*p >= '0' && *p <= '9' ? (uint64_t)(*p++ - '0') : 0);
	/* Times have steps below one ns, so rounding gives the exact ns. */
	return v + (*p >= '5' && *p <= '9');
}

/* Finds the range of that name, number @nth from 0: each has its own line. */
__attribute__((unused)) static bool saved_find(const char *text, const char *wanted,
					       unsigned int nth, struct saved_event *ev)
{
	const char *at = text, *end, *finished;
	char named[100];

	snprintf(named, sizeof(named), "\"name\":\"%s\"", wanted);
	do {
		at = strstr(at, named);
		if (!at)
			return false;
		at += strlen(named);
	} while (nth--);
	end = strchr(at, '\n');
	finished = strstr(at, "\"finished\":false");
	ev->begin = saved_number(at, end, "\"ts\":", 3) +
		    saved_number(text, NULL, "\"baseTimeNanoseconds\": ", 0);
	ev->duration = saved_number(at, end, "\"dur\":", 3);
	ev->unfinished = finished && (!end || finished < end);
	return true;
}

/* Counts its host events, which all have a number. */
static unsigned int saved_count(const char *text)
{
	unsigned int n = 0;

	while ((text = strstr(text, "\"Ev Idx\":"))) {
		text++;
		n++;
	}
	return n;
}

/* Each host event of the result is in the file with the same data, and no others. */
__attribute__((unused)) static bool saved_check(struct xsprof_result *r, const char *text)
{
	int64_t n = xsprof_result_nr_events(r);
	bool same = saved_count(text) == n;

	if (!same)
		tap_wrong("%u events in the file, %lld others", saved_count(text), (long long)n);

	for (int64_t i = 0; i < n; i++) {
		const struct xsprof_profiler_event *ev = xsprof_result_event(r, (uint64_t)i);
		const char *title = xsprof_event_name(ev);
		struct saved_event s = { 0 };
		unsigned int nth = 0;

		for (int64_t k = 0; k < i; k++)
			nth += !strcmp(xsprof_event_name(xsprof_result_event(r, (uint64_t)k)),
				       title);
		if (saved_find(text, title, nth, &s) && s.begin == xsprof_event_start_ns(ev) &&
		    s.duration == xsprof_event_duration_ns(ev) &&
		    s.unfinished == xsprof_event_unfinished(ev))
			continue;
		same = false;
		tap_wrong("%s: %llu and %llu ns%s in the file, %llu and %llu%s as event", title,
			  (unsigned long long)s.begin, (unsigned long long)s.duration,
			  s.unfinished ? ", open" : "",
			  (unsigned long long)xsprof_event_start_ns(ev),
			  (unsigned long long)xsprof_event_duration_ns(ev),
			  xsprof_event_unfinished(ev) ? ", open" : "");
	}
	return same;
}

#endif /* XSP_TEST_SAVED_H */
