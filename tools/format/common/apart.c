// SPDX-License-Identifier: GPL-2.0-only
/*
 * The dump's side: see apart.h. Events and texts are in shared memory; bytes over a socket pass the
 * turn. Nothing that the other process writes is trusted: every text is copied, and its position
 * checked, before it is used.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "format/common/apart-local.h"
#include "format/common/apart.h"
#include "format/common/kernel.h"

#define DEATHS_MAX	16u		/* after these the process is not started again */
#define CPU_NS		2000000000u	/* for one event */
#define LOOK_MS		100		/* interval of checks of a slow process */
#define STILL_LOOKS	600u		/* checks without progress: it is taken for hung */

/**
 * struct xsp_apart - the process, and the batch requested from it
 * @trace: the trace
 * @shared: memory shared with the process
 * @pid: the process, 0: none
 * @fd: our end of the socket
 * @deaths: number of processes that died, each at an event of another kind
 * @refused: the kind of the last of these
 * @err: -errno: no process can be started
 * @fresh: the process was started in this batch
 * @ran: the batch was formatted
 * @nr: events in the batch
 * @next: the event that is likely to be used next
 * @used: bytes used in @shared
 * @asked: a private copy of the request, which the other process cannot change
 * @text: of the latest event
 */
struct xsp_apart {
	const struct xsprof_trace	*trace;
	struct apart_shared		*shared;
	pid_t				pid;
	int				fd;
	uint32_t			deaths;
	const struct xsp_kernel_kind	*refused;
	int				err;
	bool				fresh;
	bool				ran;
	uint32_t			nr;
	uint32_t			next;
	uint32_t			used;
	struct {
		const void		*rec;
		struct xsp_kernel_kind	*kind;
	} asked[XSP_APART_EVENTS];
	char				text[XSP_LIBRARY_TEXT];
};

int xsp_apart_new(const struct xsprof_trace *trace, struct xsp_apart **out)
{
	struct xsp_apart *a = calloc(1, sizeof(*a));

	*out = NULL;
	if (!a)
		return -ENOMEM;
	a->shared = mmap(NULL, sizeof(*a->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (a->shared == MAP_FAILED) {
		free(a);
		return -ENOMEM;
	}
	a->trace = trace;
	a->fd = -1;
	*out = a;
	return 0;
}

/* ---- the process --------------------------------------------------------------------------- */

static void stop(struct xsp_apart *a)
{
	if (!a->pid)
		return;
	kill(a->pid, SIGKILL);
	while (waitpid(a->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(a->fd);
	a->pid = 0;
	a->fd = -1;
}

void xsp_apart_free(struct xsp_apart *a)
{
	if (!a)
		return;
	stop(a);
	munmap(a->shared, sizeof(*a->shared));
	free(a);
}

static int start(struct xsp_apart *a)
{
	pid_t self = getpid();
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return -errno;
	a->pid = fork();
	if (!a->pid)
		apart_serve(a->trace, a->shared, fds[1], self);
	close(fds[1]);
	if (a->pid < 0) {
		a->pid = 0;
		close(fds[0]);
		return -errno;
	}
	a->fd = fds[0];
	a->fresh = true;
	return 0;
}

static uint64_t cpu_ns(pid_t pid)
{
	struct timespec ts = { 0 };
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/*
 * The number of events that the process says are done, limited to possible values: at least @from,
 * the number it said before.
 */
static uint32_t done(const struct xsp_apart *a, uint32_t from)
{
	uint32_t n = atomic_load_explicit(&a->shared->done, memory_order_acquire);

	return n < from ? from : n > a->nr ? a->nr : n;
}

/* Return: true: all are formatted, false: it ended or makes no progress. */
static bool wait_for_it(struct xsp_apart *a, uint32_t from)
{
	struct pollfd pfd = { .fd = a->fd, .events = POLLIN };
	uint64_t since = cpu_ns(a->pid);
	uint32_t at = from, now, still = 0;
	char byte;

	for (;;) {
		int n = poll(&pfd, 1, LOOK_MS);

		now = done(a, at);
		if (n > 0)
			return recv(a->fd, &byte, 1, 0) == 1 && done(a, now) == a->nr;
		if (n < 0 && errno != EINTR)
			return false;
		if (now > at) {
			at = now;
			since = cpu_ns(a->pid);
			still = 0;
		} else if (cpu_ns(a->pid) - since > CPU_NS || ++still > STILL_LOOKS) {
			return false;
		}
	}
}

/* Event @at killed it: no more events of its kind. */
static void refuse(struct xsp_apart *a, uint32_t at)
{
	struct xsp_kernel_kind *kind = a->asked[at].kind;

	kind->refused = true;
	a->refused = kind;
	a->shared->said[at].what = APART_NOTHING;
	for (uint32_t i = at + 1; i < a->nr; i++)
		if (a->asked[i].kind == kind)
			a->shared->ask[i].size = 0;
}

/* Formats the events from @from on. Return: index after the last one handled. */
static uint32_t run_from(struct xsp_apart *a, uint32_t from)
{
	uint32_t at;

	if (!a->pid)
		a->err = start(a);
	if (a->err)
		return a->nr;
	a->shared->nr = a->nr;
	/* The process reads it after it got the byte. */
	atomic_store_explicit(&a->shared->done, from, memory_order_relaxed);
	if (send(a->fd, "", 1, MSG_NOSIGNAL) == 1 && wait_for_it(a, from))
		return a->nr;
	stop(a);
	at = done(a, from);
	if (at == a->nr)
		return at;
	refuse(a, at);
	if (++a->deaths == DEATHS_MAX)
		a->err = -EPROTO;
	return at + 1;
}

/* Formats the batch, with as many processes as needed. */
static void run(struct xsp_apart *a, uint32_t from)
{
	a->ran = true;
	memset(a->shared->said + from, 0, (a->nr - from) * sizeof(*a->shared->said));
	while (from < a->nr && !a->err)
		from = run_from(a, from);
}

/* ---- a batch ------------------------------------------------------------------------------- */

void xsp_apart_begin(struct xsp_apart *a)
{
	a->nr = a->next = a->used = 0;
	a->ran = a->fresh = false;
}

void xsp_apart_add(struct xsp_apart *a, struct xsp_kernel_kind *kind,
		   const struct xsprof_event *ev)
{
	if (a->ran || a->err || kind->refused || a->nr == XSP_APART_EVENTS ||
	    ev->rec_size > XSP_LIBRARY_EVENT || ev->rec_size > sizeof(a->shared->events) - a->used)
		return;
	a->asked[a->nr].rec = ev->rec;
	a->asked[a->nr].kind = kind;
	a->shared->ask[a->nr].id = kind->kind->id;
	a->shared->ask[a->nr].at = a->used;
	a->shared->ask[a->nr].size = ev->rec_size;
	memcpy(a->shared->events + a->used, ev->rec, ev->rec_size);
	a->used += ev->rec_size;
	a->nr++;
}

static bool find(struct xsp_apart *a, const void *rec)
{
	for (uint32_t i = a->next; i < a->nr; i++) {
		if (a->asked[i].rec == rec) {
			a->next = i;
			return true;
		}
	}
	return false;
}

/* The text of event @at; its position is read once, and the text copied. */
static const char *take(struct xsp_apart *a, uint32_t at, size_t *len)
{
	struct apart_said said;

	memcpy(&said, &a->shared->said[at], sizeof(said));
	if (said.what != APART_TEXT || said.len > sizeof(a->text))
		return NULL;
	memcpy(a->text, a->shared->texts[at], said.len);
	*len = said.len;
	return a->text;
}

const char *xsp_apart_text(struct xsp_apart *a, struct xsp_kernel_kind *kind,
			   const struct xsprof_event *ev, size_t *len)
{
	if (!find(a, ev->rec)) {
		if (kind->refused)
			return NULL;
		xsp_apart_begin(a);
		xsp_apart_add(a, kind, ev);
		if (!a->nr)
			return NULL;
	}
	if (!a->ran)
		run(a, a->next);
	/* The process's trace is that of its start: the file has grown since. */
	if (a->shared->said[a->next].what == APART_UNKNOWN && !a->fresh) {
		stop(a);
		run(a, a->next);
	}
	return take(a, a->next++, len);
}

uint32_t xsp_apart_refused(const struct xsp_apart *a, const char **name)
{
	*name = a->refused ? a->refused->name : NULL;
	return a->deaths;
}

int xsp_apart_error(const struct xsp_apart *a)
{
	return a->err;
}
