/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The control page between a process that serves trace requests and `xsprof ctl`, which makes them:
 * its layout, who may write which field, and the futexes on which both sides wait. Independent of
 * the requests' contents; the process' side is ondemand/listen.c, the other tools/ctl/page.c.
 *
 * The page is a memfd of the process, found and opened through /proc/PID/fd, which the kernel
 * permits to processes that may trace it and to no others. It is sealed, so that neither side can
 * truncate it while the other uses it. It disappears with the process, however that ends.
 *
 * Each side treats what the other wrote as hostile: it is copied once, and every number is checked
 * against a bound before use.
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
 * A pairs with B: a side that sees the number sees the request. C pairs with D: a side that sees
 * its number sees the answer. No wake-up is lost: the process reads bell before everything else, so
 * a later request has changed bell, and the kernel, which compares it, does not let the process
 * sleep. @asked and @answered are compared for equality only, and wrap.
 *
 * struct xsp_demand_now may change at any time. @gen is odd while it is being written, as in a
 * seqcount; readers wait on @gen.
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
#define XSP_DEMAND_TEXT		6144u	/* maximum size of a request's text */
#define XSP_DEMAND_WHY		512u	/* maximum size of a reason, with its terminator */

enum xsp_demand_verb {
	XSP_DEMAND_NONE = 0,	/* the previous request is withdrawn */
	XSP_DEMAND_START,	/* text: the options, as in Kineto's configuration */
	XSP_DEMAND_STOP,
	XSP_DEMAND_SNAPSHOT,	/* text: ACTIVITIES_LOG_FILE only */
};

enum xsp_demand_state {
	XSP_DEMAND_IDLE = 0,
	XSP_DEMAND_PENDING,	/* accepted, not started yet */
	XSP_DEMAND_WARMUP,
	XSP_DEMAND_COLLECT,
	XSP_DEMAND_MEMORY,	/* memory is being recorded */
	XSP_DEMAND_SAVE,
	XSP_DEMAND_GONE,	/* the program is ending and no longer listens */
};

enum xsp_demand_from {
	XSP_DEMAND_BY_DAEMON = 0,
	XSP_DEMAND_BY_CTL,
};

/**
 * struct xsp_demand_lost - losses of a trace
 * @known: the fields below are valid; 0: from an older library, or from a client of the program
 * @reserved: 0
 * @records: lost records: dropped, or read but not stored for lack of room in the file
 * @slots: slots overwritten before they were read
 * @bad_slots: invalid slots
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
 * @from: enum xsp_demand_from: the source of the request
 * @number: number of the running trace, or of the last one; 0: none yet
 * @err: when IDLE: 0, or the negative errno with which it ended
 * @why: when IDLE: the reason of @err
 * @file: file of the trace
 * @lost: when IDLE and @err is 0: its losses
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
 * @pid: the process, in its own pid namespace: differs in a child that inherited the page
 * @pid_ns: inode of that namespace
 * @reserved: 0
 * @bell: the process waits on it; to notify the process, increment it
 * @asked: number of the latest request
 * @verb: enum xsp_demand_verb
 * @len: length of @text
 * @text: not terminated
 * @taken: number of the last request that the process has read
 * @answered: number of the request that the answer belongs to
 * @err: 0 or a negative errno
 * @number: number of the trace concerned, 0 for none
 * @why: reason of @err
 * @file: file of the trace
 * @now: what is being recorded
 * @lost: of the answer: losses of the complete file that it names
 *
 * @magic to @pid_ns are written before the page can be found, and never changed. Everyone may
 * increment @bell; @asked to @text are written by the requester, the fields after them by the
 * process.
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
/* New fields go to the end of the structures: in the page of an older library they are zero. */
_Static_assert(offsetof(struct xsp_demand, now.lost) == 9344 + XSP_DEMAND_TEXT,
	       "the layout is an ABI");
_Static_assert(offsetof(struct xsp_demand, lost) == 9376 + XSP_DEMAND_TEXT,
	       "the layout is an ABI");

/**
 * xsp_demand_wait - sleep while a word has a value
 * @word: shared with other processes
 * @was: sleep only while it has this value
 * @ms: timeout; INT64_MAX: none
 *
 * Return: 0: the word may have changed, check again; -ETIMEDOUT; another -errno without having
 * slept.
 */
int xsp_demand_wait(uint32_t *word, uint32_t was, int64_t ms);

/* Wakes all that sleep on @word. */
void xsp_demand_wake(uint32_t *word);

/* Copies a text of the other side, once; the copy is terminated and at most @room bytes. */
void xsp_demand_copy(char *to, size_t room, const char *from);

#endif /* XSP_CAP_DEMAND_H */
