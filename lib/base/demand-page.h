/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The control page between a process that can be asked for traces and `xsprof ctl`, which asks:
 * its layout, who may write what, and the futex that both sides wait by.  Knows nothing of what
 * is asked for; the process' side is profiler/listen.c, the other tools/ctl-page.c.
 *
 * It is a memfd of the process, which is found, and opened, in /proc/PID/fd: by whoever may trace
 * the process as the kernel sees it, and by nobody else.  It is sealed: who has it open cannot cut
 * it short under the other's feet.  It is gone with the process, however that ends.
 *
 * Either side takes what the other wrote for hostile: it is copied once, and every number in it
 * is compared to a bound before it is used.
 *
 *	xsprof ctl, the page's flock held	the process
 *
 *	verb, len, text				seen = bell		(acquire)
 *   A	asked = n		(release)    B	n = asked		(acquire), new?
 *	bell += 1		(release)	verb, len, text: copied
 *	FUTEX_WAKE(bell)			err, number, why, file
 *   D	answered == n?		(acquire)    C	answered = n		(release)
 *	else FUTEX_WAIT(answered)		FUTEX_WAKE(answered); FUTEX_WAIT(bell, seen)
 *
 * A pairs with B: who sees the number sees the request.  C pairs with D: who sees its number sees
 * the answer.  No wake-up is lost: bell is read before everything that the process looks at, so
 * what comes after its look has changed bell, and the kernel, which compares, does not let it
 * sleep.  @asked and @answered are compared for equality alone, and wrap.
 *
 * struct xsp_demand_now changes at any time.  @gen is odd while it is being written, as in a
 * seqcount; its readers wait by it.
 */
#ifndef XSP_CAP_DEMAND_H
#define XSP_CAP_DEMAND_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#define XSP_DEMAND_NAME		"xsprof-ctl"
#define XSP_DEMAND_LINK		"/memfd:" XSP_DEMAND_NAME " (deleted)"
#define XSP_DEMAND_MAGIC	0x6c7463666f727078ull	/* "xprofctl" */
#define XSP_DEMAND_VERSION	1u
#define XSP_DEMAND_SIZE		16384u
#define XSP_DEMAND_TEXT		6144u	/* bytes of a request's text */
#define XSP_DEMAND_WHY		512u	/* of a reason, its end included */

enum xsp_demand_verb {
	XSP_DEMAND_NONE = 0,	/* the one before is withdrawn */
	XSP_DEMAND_START,	/* text: what is wanted, as Kineto words it */
	XSP_DEMAND_STOP,
	XSP_DEMAND_SNAPSHOT,	/* text: ACTIVITIES_LOG_FILE alone */
};

enum xsp_demand_state {
	XSP_DEMAND_IDLE = 0,
	XSP_DEMAND_PENDING,	/* it is to begin, and has not */
	XSP_DEMAND_WARMUP,
	XSP_DEMAND_COLLECT,
	XSP_DEMAND_MEMORY,	/* memory is recorded */
	XSP_DEMAND_SAVE,
	XSP_DEMAND_GONE,	/* the program ends: nobody listens any more */
};

enum xsp_demand_from {
	XSP_DEMAND_BY_DAEMON = 0,
	XSP_DEMAND_BY_CTL,
};

/**
 * struct xsp_demand_lost - what a trace lacks
 * @known: the rest is said; 0: by a library that does not say it, or by a client of the program's
 * @reserved: 0
 * @records: lost: dropped, or read with no room in the file
 * @slots: overwritten before they were read
 * @bad_slots: refused
 */
struct xsp_demand_lost {
	uint32_t	known;
	uint32_t	reserved;
	uint64_t	records;
	uint64_t	slots;
	uint64_t	bad_slots;
};

/**
 * struct xsp_demand_now - what the process records on demand
 * @gen: odd while it is being written
 * @state: enum xsp_demand_state
 * @from: enum xsp_demand_from: who asked for it
 * @number: of the trace that runs, or of the last one; 0: there was none
 * @err: IDLE: 0, or the negative errno that it ended with
 * @why: IDLE: what went wrong
 * @file: where it goes to, or went
 * @lost: IDLE, @err is 0: what it lacks
 */
struct xsp_demand_now {
	uint32_t	gen;
	uint32_t	state;
	uint32_t	from;
	uint32_t	number;
	int32_t		err;
	uint32_t	reserved[3];
	char		why[XSP_DEMAND_WHY];
	char		file[PATH_MAX];
	struct xsp_demand_lost lost;
};

/**
 * struct xsp_demand - the control page
 * @magic: XSP_DEMAND_MAGIC
 * @version: XSP_DEMAND_VERSION
 * @pid: whose it is, in its own pid namespace: a child that has inherited it is another
 * @pid_ns: that namespace's inode
 * @reserved: 0
 * @bell: the process waits by it; whoever has something for it adds one
 * @asked: number of the latest request
 * @verb: enum xsp_demand_verb
 * @len: bytes of @text
 * @text: not terminated
 * @taken: number of the request that the process has seen last
 * @answered: number of the request that the answer is of
 * @err: 0 or a negative errno
 * @number: of the trace that it is about, 0 for none
 * @why: what went wrong
 * @file: where the trace goes to, or went
 * @now: what is recorded
 * @lost: of the answer: what the file lacks that it names, where that is whole
 *
 * @magic to @pid_ns are written before anybody can find the page, and never after.  @bell is
 * everybody's to add to, @asked to @text are the requester's, and all that follows the process'.
 */
struct xsp_demand {
	uint64_t		magic;
	uint32_t		version;
	uint32_t		pid;
	uint32_t		pid_ns;
	uint32_t		reserved[11];
	uint32_t		bell;
	uint32_t		asked;
	uint32_t		verb;
	uint32_t		len;
	char			text[XSP_DEMAND_TEXT];
	uint32_t		taken;
	uint32_t		answered;
	int32_t			err;
	uint32_t		number;
	char			why[XSP_DEMAND_WHY];
	char			file[PATH_MAX];
	struct xsp_demand_now	now;
	struct xsp_demand_lost	lost;
};

_Static_assert(sizeof(struct xsp_demand) <= XSP_DEMAND_SIZE, "the page is too small");
_Static_assert(offsetof(struct xsp_demand, bell) == 64, "the layout is an ABI");
_Static_assert(offsetof(struct xsp_demand, taken) == 80 + XSP_DEMAND_TEXT, "the layout is an ABI");
/* What has come since ends the structures: in the page of an older library these are zeros. */
_Static_assert(offsetof(struct xsp_demand, now.lost) == 9344 + XSP_DEMAND_TEXT,
	       "the layout is an ABI");
_Static_assert(offsetof(struct xsp_demand, lost) == 9376 + XSP_DEMAND_TEXT,
	       "the layout is an ABI");

/**
 * xsp_demand_wait - sleep until a word is not what it was
 * @word: shared with other processes
 * @was: sleep only if it is this
 * @ms: at the most; INT64_MAX: for ever
 *
 * Return: 0: look again, also when nothing has happened; -ETIMEDOUT; else -errno, without any
 * sleep.
 */
int xsp_demand_wait(uint32_t *word, uint32_t was, int64_t ms);

/* Wakes all who sleep by it. */
void xsp_demand_wake(uint32_t *word);

/* A text from somebody else, once: ended, and never longer than @room. */
void xsp_demand_copy(char *to, size_t room, const char *from);

#endif /* XSP_CAP_DEMAND_H */
