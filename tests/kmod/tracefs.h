/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tracepoints xsprof:* as used by a tracer: enabled in the test's own tracefs instance, and
 * read as text, as people and scripts do. Owns the instance; does not judge events.
 */
#ifndef KMOD_TRACEFS_H
#define KMOD_TRACEFS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "env.h"

#define TRACEFS		"/sys/kernel/tracing/"
#define TRACEFS_OWN	TRACEFS "instances/xsprof-test/"
#define TRACEFS_TEXT	256

/**
 * struct tracefs_event - an event of ours
 * @kind: its name: "xsp_begin"
 * @pid: thread that it came from
 * @text: what follows the kind, without the fields below
 * @category: text of the category
 * @ticks: the record's time
 * @line: all of the line
 */
struct tracefs_event {
	char		kind[32];
	int		pid;
	char		text[TRACEFS_TEXT];
	char		category[TRACEFS_TEXT];
	uint64_t	ticks;
	const char	*line;
};

/* @event: "xsp_begin", or "" for all of them.  Return: 0 or -errno. */
__attribute__((unused)) static int tracefs_set(const char *event, bool on)
{
	char path[128];

	snprintf(path, sizeof(path), TRACEFS_OWN "events/xsprof/%s%senable", event,
		 *event ? "/" : "");
	return env_file_put(path, on ? "1" : "0");
}

__attribute__((unused)) static int tracefs_clear(void)
{
	int err = 0;
	FILE *f = fopen(TRACEFS_OWN "trace", "we");

	if (!f)
		err = -errno;
	else
		fclose(f);
	return err;
}

/*
 * An instance with room for @kb on each CPU, less where figures are lower and pages are dear: that
 * of the test before, if there was one, since making it takes a slow kernel many seconds.
 * Return: 0 or -errno.
 */
__attribute__((unused)) static int tracefs_open(unsigned int kb)
{
	char text[32];
	int err;

	if (mkdir(TRACEFS_OWN, 0700) && errno != EEXIST)
		return -errno;
	snprintf(text, sizeof(text), "%u", env_debug() ? kb / 8 : kb);
	err = env_file_put(TRACEFS_OWN "buffer_size_kb", text);
	/* What a test that failed left behind. */
	if (!err)
		err = tracefs_set("", false);
	return err ? err : tracefs_clear();
}

/* Nothing is on any more.  Return: 0 or -errno. */
__attribute__((unused)) static int tracefs_close(void)
{
	int err = tracefs_set("", false);

	return err ? err : tracefs_clear();
}

/* When the program ends, not when one of its tests does: those leave by _exit(). */
__attribute__((destructor)) static void tracefs_remove(void)
{
	rmdir(TRACEFS_OWN);
}

/* Is there any event?  From the head of the text alone. */
__attribute__((unused)) static bool tracefs_any(void)
{
	FILE *f = fopen(TRACEFS_OWN "trace", "re");
	unsigned long n = 0;
	char line[512];

	while (f && !n && fgets(line, sizeof(line), f) && *line == '#')
		sscanf(line, "# entries-in-buffer/entries-written: %lu", &n);
	if (f)
		fclose(f);
	return n;
}

/* The number by which perf knows it, or -errno. */
__attribute__((unused)) static int tracefs_id(const char *event)
{
	char path[128], text[32];
	int err;

	snprintf(path, sizeof(path), TRACEFS "events/xsprof/%s/id", event);
	err = env_file_get(path, text, sizeof(text));
	return err ? err : atoi(text);
}

/* The field @name of a line, up to @stop. */
static inline void tracefs_field(const char *line, const char *name, char stop, char *to)
{
	const char *at = strstr(line, name), *end;

	*to = 0;
	if (!at)
		return;
	at += strlen(name);
	end = strchrnul(at, stop);
	if (end - at < TRACEFS_TEXT) {
		memcpy(to, at, (size_t)(end - at));
		to[end - at] = 0;
	}
}

/*
 * "  COMM-PID [CPU] FLAGS TIME: KIND: TEXT category=CATEGORY ... ticks=N".  The test's names hold
 * no "[0" and no "category=".
 */
static inline bool tracefs_parse(const char *line, struct tracefs_event *ev)
{
	const char *cpu = strstr(line, "[0"), *at, *end;

	memset(ev, 0, sizeof(*ev));
	ev->line = line;
	if (*line == '#' || !cpu)
		return false;
	for (at = cpu; at > line && at[-1] != '-'; at--)
		;
	ev->pid = atoi(at);
	at = strstr(cpu, ": ");
	if (!at)
		return false;
	at += 2;
	end = strchr(at, ':');
	if (!end || end - at >= (long)sizeof(ev->kind))
		return false;
	memcpy(ev->kind, at, (size_t)(end - at));
	end += end[1] == ' ' ? 2 : 1;
	at = strstr(end, " category=");
	if (!at)
		return false;
	if (at - end < TRACEFS_TEXT)
		memcpy(ev->text, end, (size_t)(at - end));
	tracefs_field(at, " category=", ' ', ev->category);
	at = strstr(at, " ticks=");
	ev->ticks = at ? strtoull(at + strlen(" ticks="), NULL, 0) : 0;
	return at;
}

/**
 * tracefs_read() - all events of the instance, from its text
 * @fn: called for each line that is an event
 * @arg: for it
 *
 * Return: lines that are none of ours, or -errno; -EOVERFLOW: the buffer could not hold all.
 */
__attribute__((unused)) static int tracefs_read(void (*fn)(const struct tracefs_event *ev,
							   void *arg), void *arg)
{
	FILE *f = fopen(TRACEFS_OWN "trace", "re");
	unsigned long in = 0, written = 0;
	struct tracefs_event ev;
	size_t room = 0;
	char *line = NULL;
	int other = 0;
	ssize_t n;

	if (!f)
		return -errno;
	while ((n = getline(&line, &room, f)) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (tracefs_parse(line, &ev))
			fn(&ev, arg);
		else if (*line != '#')
			other++;
		else
			sscanf(line, "# entries-in-buffer/entries-written: %lu/%lu", &in,
			       &written);
	}
	free(line);
	fclose(f);
	return in == written ? other : -EOVERFLOW;
}

#endif /* KMOD_TRACEFS_H */
