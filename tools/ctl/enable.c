// SPDX-License-Identifier: GPL-2.0-only
/*
 * `xsprof enable` and `xsprof disable`: enable and disable categories of recorded processes. It
 * changes only which markers are recorded.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ctl-check.h"
#include "base/ctl-word.h"
#include "cli/find.h"
#include "cli/tool.h"
#include "read/peek-arena.h"
#include "read/ring-guard.h"
#include "text/escape.h"

#define KNOWN_MAX	256u	/* categories listed in an error */

/**
 * struct change - the requested change, and its result
 * @verb: "enable" or "disable"
 * @names: categories
 * @nr: their number
 * @found: bit i: a process has @names[i]
 * @on: enable them
 * @every: all categories
 * @who: the processes
 * @known: categories of the processes, for the error message
 * @nr_known: number of @known
 * @seen: processes checked
 * @changed: of these, changed
 * @same: of these, that had the setting already
 * @failed: of these, that could not be changed
 */
struct change {
	const char	*verb;
	char		**names;
	uint32_t	nr;
	uint64_t	found;
	bool		on;
	bool		every;
	struct attach	who;
	char		*known[KNOWN_MAX];
	uint32_t	nr_known;
	uint32_t	seen;
	uint32_t	changed;
	uint32_t	same;
	uint32_t	failed;
};

/* Compares a producer's categories with the requested ones. */
struct match {
	struct change	*change;
	uint64_t	bits;
};

static void remember(struct change *c, const char *name)
{
	uint32_t i;

	for (i = 0; i < c->nr_known; i++)
		if (!strcmp(c->known[i], name))
			return;
	if (c->nr_known == KNOWN_MAX)
		return;
	c->known[c->nr_known] = strdup(name);
	c->nr_known += c->known[c->nr_known] != NULL;
}

static int take_entry(void *data, const struct xsprof_entry *entry, const char *text)
{
	struct match *m = data;
	uint32_t i;

	if (entry->type != XSPROF_ENTRY_CATEGORY || entry->id >= XSPROF_MAX_CATEGORIES)
		return 0;
	remember(m->change, text);
	for (i = 0; i < m->change->nr; i++) {
		if (strcmp(m->change->names[i], text))
			continue;
		m->bits |= 1ull << entry->id;
		m->change->found |= 1ull << i;
	}
	return 0;
}

/* The bits of the requested categories in this producer. */
static uint64_t bits_of(struct change *c, const struct xsp_ring_file *rf)
{
	struct match m = { .change = c };

	peek_arena(rf, 0, &m, take_entry);
	return c->every ? UINT64_MAX : m.bits;
}

/* A living producer holds a lock on its file. */
static bool lives(const struct xsp_ring_file *rf)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1 };

	return !fcntl(rf->fd, F_GETLK, &lock) && lock.l_type != F_UNLCK;
}

/* ---- tmpfs --------------------------------------------------------------------------------- */

/*
 * Publishes the new set of categories to the reader after markers can see it: no marker that read
 * the old word is later than that time, except those in progress. After the last category is
 * disabled, no end of a range is written.
 */
static void note_switch(struct xsprof_ctl *ctl, uint64_t wanted)
{
	uint64_t now = xsp_ticks(ctl->clock.kind);

	if (!wanted) {
		__atomic_store_n(&ctl->quiet_ticks, now, __ATOMIC_RELAXED);
		/* A reader that sees the new count sees the time. */
		__atomic_fetch_add(&ctl->quiets, 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&ctl->switched, wanted, __ATOMIC_RELAXED);
	__atomic_store_n(&ctl->switch_ticks, now, __ATOMIC_RELAXED);
	/* A reader that sees the new count sees both. */
	__atomic_fetch_add(&ctl->switches, 1, __ATOMIC_RELEASE);
}

static bool set_file(const struct xsp_ring_file *rf, uint64_t bits, bool on)
{
	struct xsprof_ctl *ctl = xsp_ring_ctl(rf);
	uint64_t before, after;

	if (on)
		before = __atomic_fetch_or(&ctl->wanted, bits, __ATOMIC_SEQ_CST);
	else
		before = __atomic_fetch_and(&ctl->wanted, ~bits, __ATOMIC_SEQ_CST);
	after = on ? before | bits : before & ~bits;
	xsp_ctl_settle(ctl);
	/* The end of the pause reports what it hid. */
	if (after != before && !__atomic_load_n(&ctl->paused, __ATOMIC_SEQ_CST))
		note_switch(ctl, after);
	return after != before;
}

static void change_file(struct change *c, const struct found *found)
{
	struct xsp_ring_file rf;
	uint64_t bits;
	int err;

	err = xsp_ring_file_open(&rf, found->dirfd, found->name);
	if (err) {
		/* It has ended meanwhile. */
		if (err == -ENOENT)
			return;
		tool_note("%s: not changed: %s", found->name, xsp_ctl_strerror(err));
		c->failed++;
		return;
	}
	if (lives(&rf)) {
		c->seen++;
		bits = bits_of(c, &rf);
		if (bits && set_file(&rf, bits, c->on))
			c->changed++;
		else if (bits)
			c->same++;
	}
	xsp_ring_file_close(&rf);
}

/* ---- the device ---------------------------------------------------------------------------- */

/* The kernel writes the control page, and returns the result. */
static int set_device(const struct xsp_ring_file *rf, uint64_t bits, bool on, bool *changed)
{
	uint64_t wanted = __atomic_load_n(&xsp_ring_ctl(rf)->wanted, __ATOMIC_RELAXED);
	struct xsprof_control arg = {
		.size = sizeof(arg),
		.set = on ? bits : 0,
		.clear = on ? 0 : bits,
	};

	*changed = (wanted & bits) != (on ? bits : 0);
	return ioctl(rf->fd, XSPROF_IOC_CONTROL, &arg) ? -errno : 0;
}

static void change_device(struct change *c, const struct found *found)
{
	struct xsp_ring_file rf;
	bool changed = false;
	uint64_t bits;
	int err;

	err = xsp_device_open_ring(&rf, found->device, found->info->id, false);
	if (err == -ENOENT)
		return;
	if (!err) {
		c->seen++;
		bits = bits_of(c, &rf);
		if (bits)
			err = set_device(&rf, bits, c->on, &changed);
		xsp_ring_file_close(&rf);
		/* It ended meanwhile. */
		if (err == -ESHUTDOWN)
			return;
		if (bits && !err) {
			c->changed += changed;
			c->same += !changed;
		}
	}
	if (err) {
		tool_note("%s: not changed: %s", found->name, xsp_device_ring_strerror(err));
		c->failed++;
	}
}

static int visit(void *data, const struct found *found)
{
	if (found->info && found->info->state == XSPROF_STATE_LIVE)
		change_device(data, found);
	/* Without a recorder, markers of a session stay disabled. */
	else if (!found->info && found->recorded)
		change_file(data, found);
	return 0;
}

/* ---- the verbs ----------------------------------------------------------------------------- */

static void list_known(const struct change *c)
{
	static char text[8 * (XSPROF_TEXT_MAX + 1)];
	uint32_t i;

	if (!c->nr_known)
		return;
	fprintf(stderr, "known:");
	for (i = 0; i < c->nr_known; i++) {
		/* Names come from programs: they must not control the terminal. */
		*xsp_escape_text(text, c->known[i], strlen(c->known[i])) = '\0';
		fprintf(stderr, "%s%s", i ? ", " : " ", text);
	}
	fputc('\n', stderr);
}

/* Names that no process has are most likely not meant. */
static int check_found(const struct change *c)
{
	int status = 0;
	uint32_t i;

	for (i = 0; i < c->nr; i++)
		if (!(c->found >> i & 1) && strcmp(c->names[i], "all"))
			status = tool_error("%s: no process has this category", c->names[i]);
	if (status)
		list_known(c);
	return status;
}

static int run(struct change *c)
{
	uint32_t i;
	int status, missing;

	if (xsp_guard_install())
		return tool_error("signals: %s", strerror(errno));
	status = find_producers(&c->who, visit, c);
	if (status)
		return status;
	missing = attach_check_met(&c->who);
	if (missing && !c->seen)
		return missing;
	if (!c->seen)
		return tool_error("none of your processes is being recorded: start one with "
				  "'xsprof record'");
	status = check_found(c);
	printf("%sd in %u process%s", c->verb, c->changed, c->changed == 1 ? "" : "es");
	if (c->same)
		printf(", %u unchanged", c->same);
	putchar('\n');
	for (i = 0; i < c->nr_known; i++)
		free(c->known[i]);
	return status || missing || c->failed ? TOOL_FAILED : 0;
}

static void help(const char *verb, bool on)
{
	printf("usage: xsprof %s [options] CATEGORY...\n"
	       "\n"
	       "%s categories of running processes, at once: their markers are\n"
	       "recorded%s from now on. 'all' means every category. Default: all of your\n"
	       "processes that are being recorded.\n"
	       "\n"
	       "  -p, --pid PID[,PID...]\n"
	       "                  only these processes\n"
	       "  -a, --all       also those processes of other users that you may read (needs\n"
	       "                  the module)\n"
	       "  -h, --help      this text\n"
	       "  -V, --version   the version\n"
	       "\n"
	       "The exit status is 1 if no process has one of the categories.\n",
	       verb, on ? "Enables" : "Disables", on ? "" : " no longer");
}

static void help_enable(void)
{
	help("enable", true);
}

static void help_disable(void)
{
	help("disable", false);
}

static int change(int argc, char **argv, bool on)
{
	static const struct option options[] = {
		{ "pid",     required_argument, NULL, 'p' },
		{ "all",     no_argument,	NULL, 'a' },
		TOOL_OPTIONS,
		{ NULL, 0, NULL, 0 },
	};
	struct change c = { .verb = on ? "enable" : "disable", .on = on };
	int opt, status;
	uint32_t i;

	while ((opt = getopt_long(argc, argv, ":p:ahV", options, NULL)) != -1) {
		switch (opt) {
		case 'p':
			status = attach_take(&c.who, c.verb, optarg);
			if (status >= 0)
				return status;
			break;
		case 'a':
			c.who.all = true;
			break;
		default:
			return tool_option(c.verb, opt, argv, options,
					   on ? help_enable : help_disable);
		}
	}
	c.names = argv + optind;
	c.nr = argc - optind;
	if (!c.nr)
		return tool_usage(c.verb, "which category?");
	if (c.nr > XSPROF_MAX_CATEGORIES)
		return tool_usage(c.verb, "more than %u categories, which is the most that a "
				  "process has",
				  XSPROF_MAX_CATEGORIES);
	for (i = 0; i < c.nr; i++)
		c.every |= !strcmp(c.names[i], "all");
	status = run(&c);
	attach_free(&c.who);
	return status;
}

int cmd_enable(int argc, char **argv)
{
	return change(argc, argv, true);
}

int cmd_disable(int argc, char **argv)
{
	return change(argc, argv, false);
}
