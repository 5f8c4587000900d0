// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The drain's producers and its pace.  What is read from each is cap-producer.c's.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "trace/cap-drain.h"
#include "trace/cap-proc.h"
#include "trace/ring-clock.h"

#define MS		1000000u
#define SECOND		1000000000u

/* Full chunks of all rings together: what a decoder needs to hold to merge them. */
#define CHUNKS_BYTES	(16u << 20)
#define CHUNK_MIN	(16u << 10)

/* A pace that a ring can stand: it must not gain more than this of its size between two looks. */
#define FILL_AIM	256u		/* of 1024 */
#define SLEEP_MIN	(MS / 2)
#define SLEEP_MAX	(50 * MS)
/* Slots a second that a burst may bring while we sleep. */
#define BURST		40000000u
#define CHECK_NS	(100 * MS)

/* Files that were refused, so that each is told of once. */
#define REFUSED_MAX	256u

/* Messages of processes that are passed on; more are only counted. */
#define MESSAGES_MAX	256u

struct refused {
	ino_t	ino;
	int	err;
};

/**
 * struct xsp_drain - a drain
 * @st: the store
 * @dirfd: the session
 * @inotify: of it, -1 for none
 * @live: producers that have not ended
 * @nr_live: how many
 * @next_number: of the next producer
 * @seen: producers taken up
 * @scan: look through the session in the next step
 * @look: ask after all producers in the next step
 * @scan_at: when to look through it anyhow, ns
 * @tick_at: when the next clocks, ledgers and names are due, ns
 * @synced: bit k: clock kind k has a first sync point
 * @last_pass: when the last pass was, ns
 * @sleep: what was slept last, ns
 * @idle_since: since when no slot has come, ns
 * @ready: rings with memory, at the last pass
 * @gone_lost: records that ended producers lost
 * @gone_skipped: slots overwritten, of ended producers
 * @gone_bad: slots refused, of ended producers
 * @refused: files refused
 * @nr_refused: how many
 * @messages: processes that said why they take no part
 */
struct xsp_drain {
	struct xsp_store	st;
	int			dirfd;
	int			inotify;
	struct xsp_producer	*live;
	uint32_t		nr_live;
	uint32_t		next_number;
	uint32_t		seen;
	bool			scan;
	bool			look;
	uint64_t		scan_at;
	uint64_t		tick_at;
	uint32_t		synced;
	uint64_t		last_pass;
	uint64_t		sleep;
	uint64_t		idle_since;
	uint32_t		ready;
	uint64_t		gone_lost;
	uint64_t		gone_skipped;
	uint64_t		gone_bad;
	struct refused		refused[REFUSED_MAX];
	uint32_t		nr_refused;
	uint32_t		messages;
};

static uint64_t now_ns(void)
{
	return xsp_clock_ns(CLOCK_MONOTONIC);
}

static void store_clocks(struct xsp_drain *d, uint32_t kinds)
{
	struct xsprof_chunk chunk = {
		.type = XSPROF_CHUNK_CLOCK,
		.producer = XSPROF_NO_PRODUCER,
	};
	struct xsprof_sync sync[4];
	uint32_t kind, n = 0;

	for (kind = XSPROF_CLOCK_TSC; kind <= XSPROF_CLOCK_MONO_RAW; kind++)
		if (kinds >> kind & 1)
			xsp_sync_read(&sync[n++], kind);
	if (!n)
		return;
	chunk.first = sync[0].ticks;
	chunk.last = sync[0].ticks;
	xsp_store_chunk(&d->st, &chunk, sync, n * sizeof(sync[0]));
	d->synced |= kinds;
}

int xsp_drain_open(int dirfd, struct xsp_cap *cap, const struct xsp_drain_ops *ops, void *data,
		   uint32_t first, struct xsp_drain **out)
{
	char path[64];
	struct xsp_drain *d;

	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->st.buf = malloc(XSP_CAP_RAW_MAX);
	if (!d->st.buf) {
		free(d);
		return -ENOMEM;
	}
	d->st.cap = cap;
	d->st.chunk_slots = XSP_CAP_RAW_MAX >> XSPROF_SLOT_SHIFT;
	d->st.pid_ns = xsp_proc_pid_ns();
	d->st.ops = ops;
	d->st.keep = ops && ops->resume;
	d->st.data = data;
	d->dirfd = dirfd;
	d->next_number = first;
	d->scan = true;
	d->sleep = SLEEP_MIN;
	/* Where inotify cannot be had, the regular scan finds producers later. */
	d->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", dirfd);
	if (d->inotify >= 0 && inotify_add_watch(d->inotify, path, IN_MOVED_TO | IN_CREATE) < 0) {
		close(d->inotify);
		d->inotify = -1;
	}
	d->st.kinds = 1u << xsp_clock_kind();
	store_clocks(d, d->st.kinds);
	d->tick_at = now_ns() + SECOND;
	d->idle_since = now_ns();
	*out = d;
	return 0;
}

void xsp_drain_close(struct xsp_drain *d)
{
	struct xsp_producer *p;

	while ((p = d->live)) {
		d->live = p->next;
		xsp_producer_free(p);
	}
	if (d->inotify >= 0)
		close(d->inotify);
	free(d->st.buf);
	free(d);
}

int xsp_drain_fd(const struct xsp_drain *d)
{
	return d->inotify;
}

void xsp_drain_look(struct xsp_drain *d)
{
	d->look = true;
}

const struct xsp_producer *xsp_drain_producers(const struct xsp_drain *d)
{
	return d->live;
}

/* ---- finding producers --------------------------------------------------------------------- */

/* p.PID.START.SEQ and nothing else: names go into messages. */
static bool is_name(const char *name, char kind)
{
	size_t len = strlen(name);

	return name[0] == kind && name[1] == '.' && len > 2 &&
	       len < sizeof(((struct xsp_producer *)0)->name) &&
	       strspn(name + 2, "0123456789.") == len - 2;
}

static uint32_t hash_name(const char *name)
{
	uint32_t h = 2166136261u;

	while (*name)
		h = (h ^ (uint8_t)*name++) * 16777619u;
	return h;
}

static struct xsp_producer *find_live(const struct xsp_drain *d, const char *name, uint32_t hash)
{
	struct xsp_producer *p;

	for (p = d->live; p; p = p->next)
		if (p->hash == hash && !strcmp(p->name, name))
			return p;
	return NULL;
}

static void refuse(struct xsp_drain *d, const char *name, ino_t ino, int err)
{
	uint32_t i;

	for (i = 0; i < d->nr_refused; i++)
		if (d->refused[i].ino == ino && d->refused[i].err == err)
			return;
	if (d->nr_refused < REFUSED_MAX) {
		d->refused[d->nr_refused++] = (struct refused){ ino, err };
		xsp_store_note(&d->st, "%s: not recorded: %s", name, xsp_ctl_strerror(err));
	}
}

static void take_up(struct xsp_drain *d, const char *name, ino_t ino)
{
	uint32_t hash = hash_name(name);
	struct xsp_producer *p;
	int err = -EMFILE;

	if (find_live(d, name, hash))
		return;
	if (d->next_number < XSPROF_CAP_MAX_PRODUCERS)
		err = xsp_producer_open(&d->st, d->dirfd, name, &d->next_number, &p);
	if (err) {
		/* Not complete, gone again, or no descriptor free: the next scan tries again. */
		if (err == -ENOENT)
			return;
		refuse(d, name, ino, err);
		return;
	}
	p->hash = hash;
	p->next = d->live;
	d->live = p;
	d->nr_live++;
	d->seen++;
	/* Who begins may begin with a burst. */
	d->sleep = SLEEP_MIN;
	d->idle_since = now_ns();
	if (d->st.kinds & ~d->synced)
		store_clocks(d, d->st.kinds & ~d->synced);
	xsp_store_say(&d->st, "%s: process %d joined as producer %u", name, (int)p->pid,
		      p->number);
}

/* e.PID.START.0: a process says in a line why it does not take part. */
static void take_message(struct xsp_drain *d, const char *name)
{
	char text[257];
	size_t i;
	ssize_t n;
	int fd;

	fd = openat(d->dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	/* Made and not yet written: the next scan reads it. */
	if (n <= 0)
		return;
	unlinkat(d->dirfd, name, 0);
	for (i = 0; i < (size_t)n && text[i] != '\n'; i++)
		if ((uint8_t)text[i] < ' ' || text[i] == 0x7f)
			text[i] = '?';
	text[i] = '\0';
	d->messages++;
	if (d->messages > MESSAGES_MAX)
		return;
	xsp_store_note(&d->st, "process %.*s is not recorded: %s",
		       (int)strspn(name + 2, "0123456789"), name + 2, text);
}

static void scan(struct xsp_drain *d)
{
	struct dirent *entry;
	DIR *dir;
	int fd;

	/* A descriptor of its own: the position in the folder is one per open. */
	fd = openat(d->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		if (is_name(entry->d_name, 'p'))
			take_up(d, entry->d_name, entry->d_ino);
		else if (is_name(entry->d_name, 'e'))
			take_message(d, entry->d_name);
	}
	closedir(dir);
}

/* What the events say does not matter: that there is one does. */
static bool appeared(struct xsp_drain *d)
{
	char buf[4096] __attribute__((aligned(8)));
	bool any = false;

	while (d->inotify >= 0 && read(d->inotify, buf, sizeof(buf)) > 0)
		any = true;
	return any;
}

/* ---- ending them --------------------------------------------------------------------------- */

static void unlink_producer(struct xsp_drain *d, struct xsp_producer *p)
{
	struct xsp_producer **at;
	uint64_t skipped, bad;

	for (at = &d->live; *at != p; at = &(*at)->next)
		;
	*at = p->next;
	d->nr_live--;
	d->gone_lost += xsp_producer_lost(p);
	xsp_producer_lost_slots(p, &skipped, &bad);
	d->gone_skipped += skipped;
	d->gone_bad += bad;
	if (!d->st.keep || !d->st.error)
		unlinkat(d->dirfd, p->name, 0);
	xsp_producer_free(p);
}

static void end_producer(struct xsp_drain *d, struct xsp_producer *p,
			 struct xsprof_cap_exit *exit)
{
	struct xsp_pass pass = { .now = now_ns(), .all = true, .min_slots = UINT64_MAX };
	static const char *const how[] = {
		"ended", "exited", "was killed", "runs another program", "vanished",
		"still runs",
	};

	/* A program that records itself said goodbye and still runs: nobody reads it after this. */
	if (p->pid == getpid())
		xsp_ring_switch_off(&p->rf);
	xsp_producer_pass(&d->st, p, &pass);
	xsp_producer_exit(&d->st, p, exit);
	xsp_store_say(&d->st, "%s: process %d %s", p->name, (int)p->pid, how[exit->how]);
	unlink_producer(d, p);
}

static void look_after(struct xsp_drain *d, uint64_t now)
{
	struct xsp_producer *p, *next;
	struct xsprof_cap_exit exit;

	for (p = d->live; p; p = next) {
		next = p->next;
		if (!d->look && now < p->check_at)
			continue;
		p->check_at = now + CHECK_NS;
		if (xsp_producer_ended(&d->st, p, now, &exit))
			end_producer(d, p, &exit);
	}
	d->look = false;
}

/* ---- pace ---------------------------------------------------------------------------------- */

static void size_chunks(struct xsp_drain *d)
{
	uint32_t bytes = CHUNKS_BYTES / (d->ready ? d->ready : 1);

	if (bytes > XSP_CAP_RAW_MAX)
		bytes = XSP_CAP_RAW_MAX;
	if (bytes < CHUNK_MIN)
		bytes = CHUNK_MIN;
	/* Whole blocks, so that a chunk that is cut ends with a record. */
	bytes -= bytes % XSPROF_BLOCK_SIZE;
	d->st.chunk_slots = bytes >> XSPROF_SLOT_SHIFT;
}

static uint64_t pace(struct xsp_drain *d, const struct xsp_pass *pass)
{
	uint64_t elapsed = d->last_pass ? pass->now - d->last_pass : SLEEP_MIN;
	uint64_t most = SLEEP_MAX, next;

	d->last_pass = pass->now;
	if (pass->new_slots || !d->idle_since)
		d->idle_since = pass->now;
	if (!d->nr_live)
		return d->sleep = SLEEP_MAX;
	/* Until all have been silent for a while: half the smallest ring at a burst's rate. */
	if (pass->now - d->idle_since < SECOND) {
		most = pass->min_slots / 2 * SECOND / BURST;
		if (most > 10 * MS)
			most = 10 * MS;
		if (most < SLEEP_MIN)
			most = SLEEP_MIN;
	}
	next = 2 * d->sleep + SLEEP_MIN;
	if (pass->fill) {
		uint64_t bound = elapsed * FILL_AIM / pass->fill;

		if (bound < next)
			next = bound;
	}
	if (next > most)
		next = most;
	/* Shorter naps than this cost more than they save. */
	if (next < SLEEP_MIN / 4)
		next = 0;
	return d->sleep = next;
}

static void tick(struct xsp_drain *d, uint64_t now)
{
	struct xsp_producer *p;

	if (now < d->tick_at)
		return;
	d->tick_at = now + SECOND;
	store_clocks(d, d->st.kinds);
	for (p = d->live; p; p = p->next) {
		uint64_t slots = 0;
		uint32_t k;

		xsp_producer_threads(&d->st, p, true);
		for (k = 0; k < p->rf.rings; k++)
			slots += p->rings[k].seen;
		slots += xsp_producer_lost(p);
		if (slots != p->ledger_slots)
			xsp_producer_ledger(&d->st, p);
		p->ledger_slots = slots;
	}
}

uint64_t xsp_drain_step(struct xsp_drain *d)
{
	struct xsp_pass pass = { .now = now_ns(), .min_slots = UINT64_MAX };
	struct xsp_producer *p;

	if (appeared(d) || d->scan || pass.now >= d->scan_at) {
		d->scan = false;
		d->scan_at = pass.now + SECOND;
		scan(d);
	}
	for (p = d->live; p; p = p->next)
		xsp_producer_pass(&d->st, p, &pass);
	d->ready = pass.ready;
	size_chunks(d);
	look_after(d, pass.now);
	tick(d, pass.now);
	return pace(d, &pass);
}

/* ---- the end ------------------------------------------------------------------------------- */

static void finish_live(struct xsp_drain *d)
{
	struct xsp_producer *p;

	for (p = d->live; p; p = p->next)
		if (!p->rf.broken)
			xsp_ring_switch_off(&p->rf);
	/* A marker that saw its bit set before is published in a moment. */
	if (d->live)
		usleep(2000);
	while ((p = d->live)) {
		struct xsprof_cap_exit exit = {
			.how = XSPROF_HOW_RUNNING,
			.ticks = xsp_ticks(p->rf.ctl.clock.kind),
		};

		end_producer(d, p, &exit);
	}
}

int xsp_drain_finish(struct xsp_drain *d, uint32_t why)
{
	struct xsprof_cap_end end = { .why = why };
	struct xsp_drain_stats stats;

	appeared(d);
	scan(d);
	d->look = true;
	look_after(d, now_ns());
	finish_live(d);
	store_clocks(d, d->st.kinds);
	xsp_drain_get_stats(d, &stats);
	if (d->st.error) {
		end.why = 3;
		xsp_cap_retry(d->st.cap);
	}
	end.ticks = xsp_ticks(xsp_clock_kind());
	end.slots = stats.slots;
	end.lost_records = stats.lost_records;
	end.lost_slots = stats.lost_slots;
	end.producers = stats.producers;
	xsp_cap_end(d->st.cap, &end);
	if (!d->st.error && d->st.cap->error)
		d->st.error = d->st.cap->error;
	return d->st.error;
}

void xsp_drain_get_stats(const struct xsp_drain *d, struct xsp_drain_stats *stats)
{
	const struct xsp_producer *p;

	*stats = (struct xsp_drain_stats){
		.records = d->st.records,
		.slots = d->st.slots,
		.lost_records = d->gone_lost + d->st.unsaved_records,
		.lost_slots = d->gone_skipped,
		.bad_slots = d->gone_bad,
		.bytes = d->st.cap->size,
		.producers = d->seen,
		.live = d->nr_live,
		.refused = d->nr_refused + d->messages,
		.error = d->st.error,
	};
	for (p = d->live; p; p = p->next) {
		uint64_t skipped, bad;

		stats->lost_records += xsp_producer_lost(p);
		xsp_producer_lost_slots(p, &skipped, &bad);
		stats->lost_slots += skipped;
		stats->bad_slots += bad;
	}
}
