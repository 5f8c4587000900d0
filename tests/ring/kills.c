// SPDX-License-Identifier: GPL-2.0-only
/*
 * kill -9 at any moment of a writer's life, from its attach on: the rings it left decode, have what
 * was written before, and the account is exact except for the one record that each of its threads
 * was writing.
 *
 *	session XSPROF_BUFFER_SIZE=16k [XSPROF_MODE=overwrite] kills [kills=N] [live=0]
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "reader.h"
#include "stream.h"

#define THREADS	2

/* Shared with the writer: records begun, records done, of each thread. */
static struct {
	uint64_t	begun[THREADS];
	uint64_t	done[THREADS];
	uint32_t	attached;
} *tell;

static struct rd rd;
static uint64_t received;
static uint64_t torn;

static void *writer(void *arg)
{
	unsigned int t = (uintptr_t)arg;

	for (uint64_t seq = 0; ; seq++) {
		__atomic_store_n(&tell->begun[t], seq + 1, __ATOMIC_SEQ_CST);
		stream_emit(t, seq, XSPROF_RECORD_SLOTS);
		__atomic_store_n(&tell->done[t], seq + 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(&tell->attached, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static void writer_main(unsigned int threads)
{
	pthread_t thread;

	if (threads == 2 && pthread_create(&thread, NULL, writer, (void *)1))
		_exit(1);
	writer(0);
}

static void take(struct rd_ring *r, const uint64_t *slot, unsigned int n, void *arg)
{
	unsigned int id;
	uint64_t seq;

	(void)arg;
	if (rd_type(slot) == XSPROF_REC_LOST)
		return;
	if (!stream_check(slot, n, &id, &seq) || id >= THREADS || seq >= tell->begun[id]) {
		rd_wrong(r, "torn record, header %llx", (unsigned long long)slot[0]);
		torn++;
		return;
	}
	received++;
}

/* Reads the last lap, except for what the margin hides. */
static void snapshot(struct rd_ring *r)
{
	uint64_t head = rd_head(r), from = 0;

	if (head + XSPROF_OVERWRITE_MARGIN > r->size)
		from = (head + XSPROF_OVERWRITE_MARGIN - r->size + XSPROF_BLOCK_SLOTS - 1) &
		       ~(uint64_t)(XSPROF_BLOCK_SLOTS - 1);
	r->at = from < head ? from : head;
	r->last_ts = 0;
	while (r->at < head) {
		unsigned int n = rd_step(r, rd_slot(r, r->at), r->at, head, take, NULL);

		r->at = n ? r->at + n : head;
	}
}

static void check_remains(bool opened, bool overwrite)
{
	uint64_t begun = tell->begun[0] + tell->begun[1];
	uint64_t done = tell->done[0] + tell->done[1], have;

	if (!opened) {
		/* Killed while it attached: it must not have counted a record as written. */
		if (done)
			tap_wrong("%llu records written and no ring file",
				  (unsigned long long)done);
		return;
	}
	if (overwrite) {
		for (uint32_t k = 0; k < rd.nr; k++)
			if (rd_ready(&rd, k))
				snapshot(&rd.ring[k]);
		return;
	}
	rd_drain_all(&rd, take, NULL);
	have = received + rd_all_drops(&rd);
	if (have < done || have > begun)
		tap_wrong("%llu received and dropped, of %llu done and %llu begun",
			  (unsigned long long)have, (unsigned long long)done,
			  (unsigned long long)begun);
}

static void sweep(pid_t pid)
{
	const char *session = getenv("XSPROF_SESSION");
	struct dirent *e;
	DIR *d = opendir(session);
	int p;

	while (d && (e = readdir(d)))
		if (sscanf(e->d_name, "%*1[pte].%d.", &p) == 1 && p == pid)
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
}

int main(int argc, char **argv)
{
	unsigned int kills = arg_number(argc, argv, "kills", 1000), inside = 0, early = 0;
	bool live = arg_number(argc, argv, "live", 1), overwrite;
	uint64_t x = 9, total = 0, drops = 0;

	stream_init();
	if (rd_open_pid(&rd, getpid()))
		tap_bail("not attached: run it under session");
	overwrite = rd.ctl->mode == XSPROF_MODE_OVERWRITE;
	rd_close(&rd);
	tell = mmap(NULL, sizeof(*tell), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tell == MAP_FAILED)
		tap_bail("no memory");
	for (unsigned int i = 0; i < kills; i++) {
		bool opened = false;
		uint64_t end;
		pid_t pid;

		memset(tell, 0, sizeof(*tell));
		received = 0;
		x = stream_mix(x + i);
		pid = fork();
		if (pid < 0)
			tap_bail("fork: %s", strerror(errno));
		if (!pid)
			writer_main(1 + (i & 1));
		/* One in four is killed while it starts; the others after they have written. */
		while (i % 4 && !__atomic_load_n(&tell->attached, __ATOMIC_SEQ_CST))
			sched_yield();
		end = xsprof_now() + x % 1000000;
		while (xsprof_now() < end) {
			if (live && !overwrite && !opened)
				opened = !rd_open_pid(&rd, pid);
			for (uint32_t k = 0; opened && k < rd.nr; k++)
				rd_drain(&rd, k, 64, take, NULL);
		}
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		if (!opened)
			opened = !rd_open_pid(&rd, pid);
		check_remains(opened, overwrite);
		inside += tell->begun[0] + tell->begun[1] != tell->done[0] + tell->done[1];
		early += !opened;
		total += received;
		if (opened) {
			drops += rd_all_drops(&rd);
			rd_close(&rd);
		}
		sweep(pid);
	}
	tap_note("%u kills, %u inside a marker, %u before there was a ring; %llu received, "
		 "%llu dropped", kills, inside, early, (unsigned long long)total,
		 (unsigned long long)drops);
	CHECK(inside > kills / 10);
	tap_result("%s, %u kills%s", overwrite ? "OVERWRITE" : "DISCARD", kills,
		   live && !overwrite ? ", with a reader" : "");
	return tap_done();
}
