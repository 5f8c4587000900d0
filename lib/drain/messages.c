// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Messages of processes that are not recorded: see messages.h. Prints nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/plain.h"
#include "base/proc.h"
#include "drain/messages.h"

/* Limits of lines: of the recorder's user, of each other user, of a process. */
#define MOST_OWN	256u
#define MOST		16u
#define MOST_PROCESS	4u

/* A file is written right after its creation. */
#define WRITTEN_S	10

/* Is the key new? Adds it. */
static bool is_new(struct xsp_messages *m, uint64_t key)
{
	if (xsp_refused_find(&m->told, key | 1))
		return false;
	xsp_refused_add(&m->told, &(struct xsp_refusal){ .key = key | 1 });
	return true;
}

/* Return: the number of messages of the process with this key, including this one. */
static uint32_t count(struct xsp_messages *m, uint64_t key)
{
	struct xsp_refusal *of = xsp_refused_find(&m->told, key | 1);

	if (of)
		return ++of->round;
	xsp_refused_add(&m->told, &(struct xsp_refusal){ .key = key | 1, .round = 1 });
	return 1;
}

/* Return: true if one more fits into the limits; else @line says that more were left out. */
static bool more(struct xsp_messages *m, struct xsp_share *share, char *line, bool *room)
{
	uint32_t most = share->foreign ? MOST : MOST_OWN;

	m->nr++;
	*room = ++share->messages <= most;
	if (share->messages != most + 1)
		return *room;
	if (share->foreign)
		snprintf(line, XSP_MESSAGE, "more than %u processes of user %u are not recorded: "
			 "the others are not named", most, (unsigned int)share->uid);
	else
		snprintf(line, XSP_MESSAGE, "more than %u processes are not recorded: the others "
			 "are not named", most);
	return true;
}

/*
 * Another user may write any pid into its file's name. It is not believed if that process lives and
 * belongs to a different user; of an ended process it cannot be checked. A process that could not
 * open its own /proc/self/stat gives no start: its user alone is checked.
 */
static bool is_forged(const struct xsp_share *share, pid_t pid, uint64_t start)
{
	struct xsp_proc_stat st;

	return share->foreign && !xsp_proc_stat(pid, &st) &&
	       ((start && st.start_time != start) || !xsp_proc_has_uid(pid, share->uid));
}

bool xsp_messages_take(struct xsp_messages *m, struct xsp_share *share, int dirfd,
		       const char *name, char line[static XSP_MESSAGE])
{
	uint64_t process = xsp_hash_bytes(XSP_HASH_TEXT, name, strlen(name));
	char text[257], user[32] = "", *end;
	pid_t pid = (pid_t)strtoul(name + 2, &end, 10);
	uint32_t nr;
	bool room;

	if (!xsp_plain_file(dirfd, name, text, sizeof(text)))
		return false;
	if (is_forged(share, pid, strtoull(*end ? end + 1 : end, NULL, 10))) {
		snprintf(line, XSP_MESSAGE, "user %u reports other users' processes as not "
			 "recorded: ignored", (unsigned int)share->uid);
		return !share->forged++;
	}
	if (!is_new(m, xsp_hash_pair(xsp_hash_bytes(process, text, strlen(text)), share->uid)))
		return false;
	nr = count(m, xsp_hash_pair(process, share->uid));
	if (nr > MOST_PROCESS + 1 || !more(m, share, line, &room))
		return false;
	if (!room)
		return true;
	if (share->foreign)
		snprintf(user, sizeof(user), " of user %u", (unsigned int)share->uid);
	if (nr > MOST_PROCESS)
		snprintf(line, XSP_MESSAGE, "process %d%s gives more than %u reasons for not being "
			 "recorded: the others are not shown", (int)pid, user, MOST_PROCESS);
	else
		snprintf(line, XSP_MESSAGE, "process %d%s%s%s", (int)pid, user,
			 *text == ':' ? "" : " is not recorded: ", text);
	return true;
}

bool xsp_messages_hear(struct xsp_messages *m, struct xsp_share *share,
		       const struct xsp_notice *notice, char line[static XSP_MESSAGE])
{
	const char *why = xsp_notice_reason(notice->err);
	struct xsp_proc_stat st = { 0 };
	uint64_t process;
	bool room;

	/* The pid may have been another process' before. */
	if (xsp_proc_stat(notice->pid, &st))
		st.start_time = 0;
	process = xsp_hash_pair((uint64_t)notice->pid << 32 | notice->uid, st.start_time);
	if (!is_new(m, xsp_hash_bytes(process, why, strlen(why))) || !more(m, share, line, &room))
		return false;
	if (room)
		snprintf(line, XSP_MESSAGE, "process %d of user %u is not recorded: %s",
			 (int)notice->pid, (unsigned int)notice->uid, why);
	return true;
}

bool xsp_message_is_junk(const struct xsp_share *share, const struct stat *st)
{
	bool empty = S_ISREG(st->st_mode) && !st->st_size;

	return share->foreign && ((!S_ISREG(st->st_mode) && !S_ISLNK(st->st_mode)) ||
				  share->messages > MOST ||
				  (empty && time(NULL) - st->st_ctime > WRITTEN_S));
}

void xsp_messages_free(struct xsp_messages *m)
{
	xsp_refused_free(&m->told);
}
