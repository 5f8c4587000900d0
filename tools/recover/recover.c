// SPDX-License-Identifier: GPL-2.0-only
/*
 * `xsprof recover`: appends the records that a killed recorder left in its session's rings to its
 * capture, after the last whole chunk, as if it had not been killed. It never takes a session from
 * a living recorder, and removes a session only after all of it is in a file and was read back.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/progress.h"
#include "cli/reading.h"
#include "cli/session.h"
#include "cli/tool.h"
#include "drain/drain.h"
#include "list/list.h"
#include "read/ring-guard.h"
#include "recover/local.h"
#include "recover/scan.h"

/**
 * struct recovery - one run
 * @output: -o, or NULL for the capture the session names
 * @only: the named sessions, terminated by NULL; NULL: all
 * @seen: which of these exist
 * @delete: remove instead
 * @found: sessions with a dead recorder
 * @failed: of these, not saved
 * @lost: saved sessions had lost records
 * @allow_lost: exit with status 0 if records were lost
 * @scan: contents of the capture; empty if it was not found
 * @cap: the output's writer
 * @named: path of the capture that the session names, "" for none
 * @was_there: there was a file of that name
 */
struct recovery {
	const char	*output;
	char		**only;
	bool		*seen;
	bool		delete;
	unsigned int	found;
	unsigned int	failed;
	bool		lost;
	bool		allow_lost;
	struct scan	scan;
	struct xsp_cap	cap;
	char		named[PATH_MAX];
	bool		was_there;
};

/* ---- questions of the drain ---------------------------------------------------------------- */

static bool resume(void *data, const struct xsprof_ctl *ctl, uint32_t *number, uint64_t *arena_pos,
		   uint64_t *lived)
{
	const struct recovery *r = data;
	uint32_t i;

	for (i = 0; i < r->scan.nr; i++) {
		const struct scan_producer *p = &r->scan.producers[i];

		if (!p->known || p->ended || p->ctl.id != ctl->id || p->ctl.pid != ctl->pid ||
		    p->ctl.seq != ctl->seq || p->ctl.start_time != ctl->start_time ||
		    p->ctl.pid_ns != ctl->pid_ns ||
		    memcmp(&p->ctl.attach, &ctl->attach, sizeof(ctl->attach)))
			continue;
		*number = p->number;
		*arena_pos = p->arena_end;
		if (p->last > *lived)
			*lived = p->last;
		return true;
	}
	return false;
}

/*
 * A recorder releases slots to the writer after they are in the file. It may have been killed in
 * between: the file can be ahead of the ring's tail, never behind.
 */
static void resume_ring(void *data, uint32_t number, uint32_t k, struct xsp_producer_ring *ring)
{
	const struct recovery *r = data;
	const struct scan_producer *p;

	if (number >= r->scan.nr || k >= r->scan.producers[number].nr_rings) {
		/*
		 * The recorder read these slots, but its capture lacks them: the disk was full. If
		 * the capture was not found, they may be in it.
		 */
		if (r->scan.size)
			ring->bad = ring->tail - ring->skipped;
		else
			ring->unsaved = ring->tail - ring->skipped;
		return;
	}
	p = &r->scan.producers[number];
	if (p->rings[k].end > ring->tail)
		ring->tail = p->rings[k].end;
	ring->read = p->rings[k].slots;
	if (ring->tail > ring->read + ring->skipped)
		ring->bad = ring->tail - ring->read - ring->skipped;
}

/*
 * The rings of a process say how much of it was read. Of processes that had ended before, the
 * recorder has left nothing but what it had stored.
 */
static void note_missing(void *data, uint64_t slots)
{
	struct recovery *r = data;
	char text[PATH_MAX + 256];
	const char *why = r->was_there ? "is another file now" : "is gone";

	if (r->scan.size || !*r->named)
		return;
	if (slots)
		snprintf(text, sizeof(text), "%s %s" XSP_NOTE_MISSING "%" PRIu64 " slots of these "
			 "processes, and all of processes that had ended before", r->named, why,
			 slots);
	else
		snprintf(text, sizeof(text), "%s %s: processes that had ended before the recorder "
			 "was killed are missing", r->named, why);
	xsp_cap_note(&r->cap, text);
	tool_note("%s", text);
}

static const struct xsp_drain_ops ops = {
	.say = tool_say,
	.resume = resume,
	.resume_ring = resume_ring,
	.last = note_missing,
};

/* ---- one session --------------------------------------------------------------------------- */

static int save(struct recovery *r, struct session_seen *seen)
{
	struct xsp_drain_stats stats;
	struct xsp_drain *drain;
	char path[PATH_MAX];
	uint64_t *ids = NULL;
	int fd = -1, unread, err;

	if (xsp_recording_fact(&seen->s, "output", r->named, sizeof(r->named)) <= 0)
		*r->named = '\0';
	r->was_there = *r->named && !faccessat(AT_FDCWD, r->named, F_OK, AT_SYMLINK_NOFOLLOW);
	err = recover_open_output(&r->scan, r->output, seen, &r->cap, path, sizeof(path), &fd);
	if (err)
		return err;
	if (r->scan.ended) {
		tool_note("%s: the capture is complete: nothing to add", path);
		goto done;
	}
	xsp_cap_note(&r->cap, "the recorder was killed: what follows was recovered from memory");
	err = xsp_drain_open(seen->s.dirfd, &r->cap, &ops, r, r->scan.nr, &drain);
	if (err) {
		tool_error("%s: %s", seen->s.path, strerror(-err));
		goto done;
	}
	err = recover_add_device(seen, &r->scan, drain, &ids);
	if (!err)
		err = xsp_drain_finish(drain, 3);
	xsp_drain_get_stats(drain, &stats);
	xsp_drain_close(drain);
	unread = err ? 0 : recover_verify(fd, &r->cap);
	if (unread)
		err = tool_error("%s: %s: the written file cannot be read back: keeping %s", path,
				 strerror(-unread), seen->s.path);
	else if (err)
		tool_error("%s: %s: the rest stays in %s: free some space and try again, or name "
			   "another file with -o", path, strerror(-err), seen->s.path);
	else
		progress_summary("recover", &stats,
				 r->scan.size ? "added to what was in" : "wrote", path);
	r->lost |= !err && progress_lost(&stats);
done:
	free(ids);
	xsp_cap_free(&r->cap);
	scan_free(&r->scan);
	if (close(fd) && !err)
		err = tool_error("%s: %s", path, strerror(errno));
	return err;
}

/* A name as printed by `xsprof list`, or its last part. */
static const char *last_part(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

static bool wanted(struct recovery *r, const char *name)
{
	bool any = !r->only;

	for (size_t i = 0; r->only && r->only[i]; i++) {
		if (strcmp(last_part(r->only[i]), name))
			continue;
		r->seen[i] = true;
		any = true;
	}
	return any;
}

/* Prints a message for each named session that does not exist. Return: their number. */
static unsigned int missing(const struct recovery *r)
{
	unsigned int n = 0;

	for (size_t i = 0; r->only && r->only[i]; i++) {
		if (r->seen[i])
			continue;
		tool_error("%s: no such session: 'xsprof list' shows them", r->only[i]);
		n++;
	}
	return n;
}

static int visit(void *data, struct session_seen *seen)
{
	struct recovery *r = data;
	int err;

	if (seen->name[0] != 's' || !wanted(r, seen->name))
		return 0;
	if (seen->alive) {
		if (!r->only)
			return 0;
		r->found++;
		r->failed++;
		tool_error("%s: its recorder still runs, and saves it", seen->name);
		return 0;
	}
	r->found++;
	err = xsp_recording_adopt(&seen->s);
	if (err) {
		r->failed++;
		tool_error("%s: %s", seen->name, xsp_recording_strerror(err));
		return 0;
	}
	if (!r->delete && save(r, seen)) {
		r->failed++;
		return 0;
	}
	err = r->delete ? recover_remove_device(seen) : 0;
	if (err)
		tool_error(XSPROF_DEVICE_PATH ": %s", strerror(-err));
	else
		err = xsp_recording_remove(&seen->s);
	if (err) {
		r->failed++;
		tool_error("%s: cannot be removed: %s", seen->s.path, strerror(-err));
	} else if (r->delete) {
		tool_note("%s: removed", seen->name);
	}
	return 0;
}

static void help(void)
{
	puts("usage: xsprof recover [options] [SESSION...]\n"
	     "       xsprof recover -p PID[,PID...] [-o FILE]\n"
	     "\n"
	     "Completes captures whose recorder was killed: appends the records that it had not\n"
	     "read yet, which are still in memory. Without SESSION, completes all of them.\n"
	     "\n"
	     "  -o, --output FILE  write FILE, and leave the incomplete capture unchanged\n"
	     "  -l, --list         only list such sessions\n"
	     "      --delete       remove them; their records are lost\n"
	     "  -p, --pid PID      save the records that the kernel module has of these\n"
	     "                     processes, ended or running, without a reader; into FILE\n"
	     "                     (xsprof.data)\n"
	     "      --allow-lost   exit with status 0 if records were lost\n"
	     "  -h, --help         this text\n"
	     "  -V, --version      the version\n"
	     "\n"
	     "The records of a running program are saved up to now; its recording ends.");
}

static int run(struct recovery *r)
{
	char user[XSP_RECORDING_PATH];
	const char *object;
	int err;

	/* Failed writes are reported as errors, not by a signal. */
	signal(SIGXFSZ, SIG_IGN);
	xsp_guard_install();
	err = xsp_recording_user_dir(user, false, &object);
	if (err && !(err == -ENOENT && object == user))
		return session_error(object, err);
	if (!err)
		err = session_each(visit, r);
	if (err && err != -ENOENT)
		return tool_error("%s: %s", user, strerror(-err));
	r->failed += missing(r);
	if (!r->found && !r->only)
		tool_note("nothing to recover: no recorder was killed");
	if (r->failed)
		return TOOL_FAILED;
	return r->lost && !r->allow_lost ? TOOL_LOST : 0;
}

int cmd_recover(int argc, char **argv)
{
	enum { OPT_DELETE = 256 };
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "list", no_argument, NULL, 'l' },
		{ "delete", no_argument, NULL, OPT_DELETE },
		{ "pid", required_argument, NULL, 'p' },
		TOOL_ALLOW_LOST,
		TOOL_OPTIONS,
		{ NULL, 0, NULL, 0 },
	};
	static struct recovery r;
	struct list_options list = { .dead_only = true };
	struct attach pids = { 0 };
	bool only_list = false;
	int c, status;

	while ((c = getopt_long(argc, argv, ":o:lp:hV", options, NULL)) != -1) {
		switch (c) {
		case 'o':
			r.output = optarg;
			if (output_name("recover", optarg) != -1)
				return TOOL_USAGE;
			break;
		case 'l':
			only_list = true;
			break;
		case 'p':
			status = attach_take(&pids, "recover", optarg);
			if (status >= 0)
				return status;
			break;
		case OPT_DELETE:
			r.delete = true;
			break;
		case TOOL_OPT_ALLOW_LOST:
			r.allow_lost = true;
			break;
		default:
			return tool_option("recover", c, argv, options, help);
		}
	}
	if (attach_on(&pids)) {
		if (optind < argc || only_list || r.delete)
			return tool_usage("recover", "--pid: cannot be combined with a session, or "
					  "options other than --output");
		status = recover_pids(&pids, r.output ? r.output : "xsprof.data", r.allow_lost);
		attach_free(&pids);
		return status;
	}
	if (optind < argc)
		r.only = argv + optind;
	if (r.output && optind + 1 < argc)
		return tool_usage("recover", "--output: only one session can go into %s, not %s "
				  "too",
				  r.output, argv[optind + 1]);
	if (r.output && !r.only && !only_list)
		return tool_usage("recover", "--output: several sessions: name the one that goes "
				  "into %s",
				  r.output);
	if (only_list && r.only)
		return tool_usage("recover", "%s: --list takes no session", r.only[0]);
	if (only_list) {
		c = list_sessions(&list);
		if (!c && !list.shown)
			puts("nothing to recover: no recorder was killed");
		return c;
	}
	r.seen = calloc(argc, sizeof(*r.seen));
	if (!r.seen)
		return tool_error("out of memory");
	status = run(&r);
	free(r.seen);
	return status;
}
