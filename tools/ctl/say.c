// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of `xsprof ctl` about processes: why one takes no requests, why it does not answer, its
 * state, and the list of listening ones. It sends no requests.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"
#include "cli/find.h"
#include "cli/library.h"
#include "cli/session.h"
#include "cli/tool.h"
#include "ctl/local.h"

#define LIBRARY	"/libxsprof-user.so"
#define PYTORCH	"/libtorch"

/* ---- why it cannot be asked ---- */

/* Was it started with XSPROF_ONDEMAND=1? */
static bool is_told(pid_t pid)
{
	char path[64], *word = NULL;
	bool told = false;
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	f = fopen(path, "re");
	while (f && !told && getdelim(&word, &room, '\0', f) > 0)
		told = !strncmp(word, "XSPROF_ONDEMAND=", 16) && word[16] &&
		       strcmp(word + 16, "0");
	free(word);
	if (f)
		fclose(f);
	return told;
}

static int not_allowed(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (!stat(path, &st) && st.st_uid && st.st_uid != geteuid())
		return tool_error("process %d: belongs to user %u: run xsprof as that user, or as "
				  "root",
				  (int)pid, (unsigned int)st.st_uid);
	return tool_error("process %d: cannot be read: it has other privileges than you: run "
			  "xsprof as root", (int)pid);
}

/* The library to preload for PyTorch's ops, with its directory if it is found. */
static const char *torch_library(void)
{
	static char path[PATH_MAX];

	return library_find(LIBRARY_TORCH, path, sizeof(path)) ? path : LIBRARY_TORCH;
}

/* It has XSPROF_ONDEMAND in its environment, but no library that reads it. */
static int lacks_library(pid_t pid)
{
	bool uses = ctl_maps_has(pid, PYTORCH);

	if (ctl_maps_has(pid, "/" LIBRARY_TORCH))
		return tool_error("process %d: has " LIBRARY_TORCH ", %s", (int)pid, uses ?
				  "which does not listen there yet: try again after 'import torch' "
				  "has ended; if it never listens, unset XSPROF_TORCH and see its "
				  "standard error" :
				  "but not PyTorch: it listens after 'import torch'");
	if (uses)
		return tool_error("process %d: has XSPROF_ONDEMAND in its environment, but no "
				  "library that records PyTorch's ops: start it with LD_PRELOAD=%s "
				  "too",
				  (int)pid, torch_library());
	return tool_error("process %d: has XSPROF_ONDEMAND in its environment, but not "
			  "libxsprof-user: link the program with it, or preload it; for PyTorch "
			  "LD_PRELOAD=%s", (int)pid, torch_library());
}

static int not_listening(pid_t pid, bool rings)
{
	if (rings && ctl_has_rings(pid))
		return tool_error("process %d: takes no requests, but has rings: 'xsprof snapshot "
				  "--pid %d' saves their contents", (int)pid, (int)pid);
	if (is_told(pid) && ctl_maps_has(pid, LIBRARY))
		return tool_error("process %d: has XSPROF_ONDEMAND in its environment, but does "
				  "not listen: a forked child listens after its first "
				  "xsprof_profiler_step() or xsprof_ondemand_init(); otherwise "
				  "KINETO_LOG_LEVEL=0 shows why", (int)pid);
	if (is_told(pid))
		return lacks_library(pid);
	if (ctl_maps_has(pid, PYTORCH) && !ctl_maps_has(pid, "/" LIBRARY_TORCH))
		return tool_error("process %d: does not listen: start it with XSPROF_ONDEMAND=1 "
				  "LD_PRELOAD=%s; 'xsprof ctl list' shows the processes that "
				  "listen", (int)pid,
				  torch_library());
	return tool_error("process %d: does not listen: start it with XSPROF_ONDEMAND=1%s, or call "
			  "xsprof_ondemand_init() in it; 'xsprof ctl list' shows the processes "
			  "that listen",
			  (int)pid, ctl_maps_has(pid, LIBRARY) ? "" : " and libxsprof-user");
}

int ctl_reach(const struct ctl_asked *a, struct ctl_page *cp, bool rings)
{
	int err = ctl_open(cp, a->pid), pid = a->pid;

	switch (err) {
	case 0:
		return 0;
	case -ESRCH:
		return tool_error("process %d: does not exist, or has ended: 'xsprof ctl list' "
				  "shows the processes that listen", pid);
	case -EACCES:
		return not_allowed(pid);
	case -ENOENT:
		return not_listening(pid, rings);
	case -EBADF:
		return tool_error("process %d: has closed the file descriptor of its control page: "
				  "call xsprof_ondemand_init() in it after it closes descriptors",
				  pid);
	case -EPROTO:
		return tool_error("process %d: has another version of libxsprof-user: use the "
				  "xsprof of that version", pid);
	default:
		return tool_error("process %d: %s", pid, strerror(-err));
	}
}

/* ---- why it does not answer ---- */

static int timed_out(const struct ctl_asked *a, const struct ctl_page *cp)
{
	static struct xsp_demand_now now;
	struct xsp_proc_stat st;

	if (!xsp_proc_stat(a->pid, &st) && (st.state == 'T' || st.state == 't'))
		return tool_error("process %d: is stopped (SIGSTOP, or a debugger), and did not "
				  "answer; the request is cancelled", (int)a->pid);
	if (!ctl_now(cp, &now) && now.state == XSP_DEMAND_SAVE)
		return tool_error("process %d: is saving a trace, and did not answer within %g s; "
				  "the request is cancelled: try again, or with a longer --timeout",
				  (int)a->pid, (double)a->timeout_ns / 1e9);
	return tool_error("process %d: did not answer within %g s; the request is cancelled",
			  (int)a->pid, (double)a->timeout_ns / 1e9);
}

int ctl_request(const struct ctl_asked *a, struct ctl_page *cp, uint32_t verb,
		struct ctl_answer *answer)
{
	int err = ctl_ask(cp, verb, a->text, (int64_t)(a->timeout_ns / 1000000), answer);

	switch (err) {
	case 0:
		return 0;
	case -ETIMEDOUT:
		return timed_out(a, cp);
	case -EAGAIN:
		return tool_error("process %d: is busy with requests of another xsprof",
				  (int)a->pid);
	case -ESRCH:
		return tool_error("process %d: has ended, or now runs another program",
				  (int)a->pid);
	case -EPIPE:
		return tool_error("process %d: is ending", (int)a->pid);
	default:
		return tool_error("process %d: %s", (int)a->pid, strerror(-err));
	}
}

/* Explains an empty trace of a program that uses PyTorch without a library that records its ops. */
static void tell_torch(pid_t pid, int err)
{
	if (err == -ENODATA && ctl_maps_has(pid, PYTORCH) &&
	    !ctl_maps_has(pid, "/" LIBRARY_TORCH))
		tool_note("process %d: to record PyTorch's ops, start it with "
			  "LD_PRELOAD=%s", (int)pid, torch_library());
}

int ctl_refused(const struct ctl_asked *a, int err, const char *why)
{
	/* Without a message of the process, prints the text of the errno. */
	tool_error("process %d: %s", (int)a->pid, *why ? why : strerror(abs(err)));
	tell_torch(a->pid, err);
	return TOOL_FAILED;
}

int ctl_losses(const struct ctl_asked *a, const char *file, const struct xsp_demand_lost *lost)
{
	if (!lost->known || !(lost->records || lost->slots || lost->bad_slots))
		return 0;
	tool_note("process %d: %s: lost %" PRIu64 " records, %" PRIu64 " slots overwritten unread, "
		  "%" PRIu64 " bad slots: use a larger XSPROF_BUFFER_SIZE in the environment of "
		  "the program, or of its recorder", (int)a->pid, file, lost->records,
		  lost->slots, lost->bad_slots);
	return a->allow_lost ? 0 : TOOL_LOST;
}

/* ---- how it stands ---- */

static const char *const states[] = {
	[XSP_DEMAND_IDLE] = "idle",
	[XSP_DEMAND_PENDING] = "waiting",
	[XSP_DEMAND_WARMUP] = "warm-up",
	[XSP_DEMAND_COLLECT] = "recording",
	[XSP_DEMAND_MEMORY] = "memory",
	[XSP_DEMAND_SAVE] = "saving",
	[XSP_DEMAND_GONE] = "ending",
};

static const char *state_of(const struct xsp_demand_now *now)
{
	return now->state < sizeof(states) / sizeof(states[0]) ? states[now->state] : "?";
}

static const char *who(const struct xsp_demand_now *now)
{
	return now->from == XSP_DEMAND_BY_CTL ? "xsprof ctl" : "the daemon";
}

static void print_asked(const char *which, const struct xsp_demand_now *now, const char *how,
			const char *what)
{
	printf("%s asked for by %s, %s ", which, who(now), how);
	tool_print_name(what, 0);
}

int ctl_status(struct ctl_asked *a, struct ctl_page *cp)
{
	static struct xsp_demand_now now;

	if (ctl_now(cp, &now))
		return tool_error("process %d: its control page keeps changing", (int)a->pid);
	printf("process %d (", (int)a->pid);
	tool_print_name(cp->comm, 0);
	printf("): %s", state_of(&now));
	if (!now.number) {
		fputs("; no request so far", stdout);
	} else if (now.state != XSP_DEMAND_IDLE) {
		print_asked(",", &now, "into", now.file);
	} else {
		print_asked("; the last trace,", &now, now.err ? "failed:" : "is",
			    now.err ? now.why : now.file);
	}
	putchar('\n');
	if (!now.number || now.err || now.state != XSP_DEMAND_IDLE)
		return 0;
	return ctl_losses(a, now.file, &now.lost);
}

static bool print_one(pid_t pid, bool first)
{
	static struct xsp_demand_now now;
	static struct ctl_page cp;

	if (ctl_open(&cp, pid))
		return false;
	if (first)
		printf("  %-8s %-16s %-10s %-11s %s\n", "PID", "COMM", "STATE", "ASKED BY", "FILE");
	printf("  %-8d ", (int)pid);
	tool_print_name(cp.comm, 16);
	if (ctl_now(&cp, &now)) {
		printf(" %-10s %-11s %s\n", "?", "?", "?");
	} else {
		printf(" %-10s %-11s ", state_of(&now), now.number ? who(&now) : "-");
		tool_print_name(now.number && !now.err && *now.file ? now.file : "-", 0);
		putchar('\n');
	}
	ctl_close(&cp);
	return true;
}

/* Prints on stderr why a process with the variable does not listen. A shell may have it too. */
static bool print_why_not(pid_t pid, bool first)
{
	(void)first;
	return is_told(pid) && (ctl_maps_has(pid, PYTORCH) || ctl_maps_has(pid, LIBRARY) ||
				ctl_maps_has(pid, "/" LIBRARY_TORCH)) &&
	       not_listening(pid, false);
}

/* Calls @fn for all processes.  Return: whether it was true for any; -errno after a message. */
static int each_process(bool (*fn)(pid_t pid, bool first))
{
	struct dirent *entry;
	bool any = false;
	DIR *dir;

	dir = opendir("/proc");
	if (!dir) {
		tool_error("/proc: %s", strerror(errno));
		return -EIO;
	}
	while ((entry = readdir(dir)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			any |= fn(atoi(entry->d_name), !any);
	closedir(dir);
	return any;
}

int ctl_list(void)
{
	int any = each_process(print_one);

	if (!any) {
		printf("none of your processes listens: a program that uses libxsprof-user does "
		       "with XSPROF_ONDEMAND=1, a Python that has imported PyTorch with that and "
		       "LD_PRELOAD=%s\n", torch_library());
		any = each_process(print_why_not);
	}
	return any < 0;
}

/* ---- rings ---- */

static int see_rings(void *data, const struct found *found)
{
	bool *has = data;
	char command[64] = "";
	struct xsp_recording s;

	/* Rings that a process made for its own sessions do not count. */
	if (!found->info && !xsp_recording_open(&s, found->path)) {
		xsp_recording_fact(&s, "command", command, sizeof(command));
		xsp_recording_close(&s);
	}
	*has |= strcmp(command, XSP_PROFILED);
	return 0;
}

bool ctl_has_rings(pid_t pid)
{
	bool has = false, met;
	struct attach who = { .pids = &pid, .met = &met, .nr = 1 };

	/* It prints why a process cannot be read. */
	return !find_producers(&who, see_rings, &has) && has;
}
