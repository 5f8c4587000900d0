// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Wake-up sources of a drain: the device, the session's folder and ends of processes, in one epoll
 * descriptor. Without epoll they are polled.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "drain/local.h"

/* Events read per call; the rest is read by the next, which follows at once. */
#define EVENTS		64

void xsp_drain_wake_check(struct xsp_drain *d)
{
	struct xsp_producer *p;

	if (!xsp_store_inside(&d->st))
		return;
	if (!xsp_fd_ours(d->epoll))
		d->epoll = -1;
	if (!xsp_fd_ours(d->inotify))
		d->inotify = -1;
	if (!xsp_fd_ours(d->folder))
		d->folder = -1;
	for (p = d->live; p; p = p->next)
		if (!xsp_fd_ours(p->pidfd))
			p->pidfd = -1;
}

int xsp_drain_wake_on(struct xsp_drain *d, int fd, void *who)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = who };

	if (d->epoll < 0)
		return -EMFILE;
	return epoll_ctl(d->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

void xsp_drain_wake_off(const struct xsp_drain *d, int fd)
{
	if (d->epoll >= 0 && fd >= 0)
		epoll_ctl(d->epoll, EPOLL_CTL_DEL, fd, NULL);
}

/* A process whose pidfd did not report an end was alive before we asked. */
static void note_alive(struct xsp_drain *d, const uint64_t *ticks)
{
	struct xsp_producer *p;

	for (p = d->live; p; p = p->next) {
		uint64_t now = ticks[p->rf.ctl.clock.kind & 3];

		if (p->pidfd >= 0 && !p->told && now > p->process_lived)
			p->process_lived = now;
	}
}

/*
 * The kernel is queried before the rings are read: events after the query wake us again, events
 * before it are seen.
 */
void xsp_drain_listen(struct xsp_drain *d)
{
	struct epoll_event events[EVENTS];
	uint64_t ticks[4] = { 0 };
	struct xsp_producer *p;
	uint32_t kind;
	int i, n;

	if (d->epoll < 0)
		return;
	for (kind = 0; kind < 4; kind++)
		if (d->st.kinds >> kind & 1)
			ticks[kind] = xsp_ticks(kind);
	n = epoll_wait(d->epoll, events, EVENTS, 0);
	for (i = 0; i < n; i++) {
		p = events[i].data.ptr;
		if (events[i].data.ptr == &d->device)
			d->list = true;
		else if (events[i].data.ptr != &d->inotify &&
			 events[i].data.ptr != &d->notices)
			p->told = true;
	}
	if (n >= 0 && n < EVENTS)
		note_alive(d, ticks);
	for (p = d->live; p; p = p->next)
		if (p->rf.device && (p->told || d->look))
			xsp_producer_ask(p);
}

bool xsp_drain_all_quiet(const struct xsp_drain *d)
{
	const struct xsp_producer *p;

	/* What could not be taken up is tried again every second. */
	if (d->device < 0 || d->nr_refused || d->list || d->scan || d->folder >= 0 ||
	    (d->st.dirfd >= 0 && d->inotify < 0))
		return false;
	for (p = d->live; p; p = p->next)
		if (!p->quiet)
			return false;
	return true;
}
