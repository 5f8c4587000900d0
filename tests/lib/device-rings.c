// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings on the device: with little memory, with many writing threads, and without a recorder; and
 * the calls that tell the kernel about new records.
 *
 *	session XSPROF_BACKEND=device XSPROF_BUFFER_SIZE=256k device-rings
 */
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "lib/device.h"

/* ---- no memory ---- */

#define PARAMETER	"/sys/module/xsprof/parameters/uid_free_bytes"
#define NOBODY		65534
#define LIMITED		60000

static bool set_parameter(const char *value, char *old, size_t size)
{
	FILE *f = fopen(PARAMETER, "r+");
	bool ok;

	if (!f)
		return false;
	ok = !old || fgets(old, size, f);
	rewind(f);
	ok = ok && fputs(value, f) >= 0;
	return !fclose(f) && ok;
}

/* A process under a memory limit: it must not die, and must count its losses. */
static int limited(void)
{
	struct xsprof_stats stats = { .size = sizeof(stats) };

	numbers(0, LIMITED);
	if (xsprof_get_stats(&stats) || !stats.attached || !stats.lost ||
	    stats.backend != XSPROF_BACKEND_DEVICE)
		return 1;
	return 0;
}

static void test_memlock(void)
{
	struct rlimit rl = { 300 << 10, 300 << 10 };
	char *argv[] = { (char *)"device", (char *)"limited", NULL }, old[64];
	unsigned int written;
	pid_t pid;

	if (geteuid() || !set_parameter("0", old, sizeof(old))) {
		tap_skip("RLIMIT_MEMLOCK", "not root");
		return;
	}
	pid = fork();
	if (!pid) {
		/* The session belongs to another user then: no file in it, but the device works. */
		putenv((char *)"XSPROF_BUFFER_SIZE=4M");
		putenv((char *)"XSPROF_MODE=discard");
		unsetenv("XSPROF_SESSION");
		if (setrlimit(RLIMIT_MEMLOCK, &rl) || setgid(NOBODY) || setuid(NOBODY))
			_exit(90);
		execv("/proc/self/exe", argv);
		_exit(126);
	}
	CHECK_EQ(wait_for(pid), 0);
	CHECK_EQ(end_state(pid, 0), XSPROF_STATE_EXITED);
	CHECK(set_parameter(old, NULL, 0));
	CHECK_EQ(fetch(pid), 1);
	CHECK(infos[0].bytes <= 300 << 10);
	collect(pid);
	written = collect_count(XSPROF_REC_COUNTER_I64, name);
	CHECK(written > 0 && got.drops > 0);
	CHECK_EQ(written + got.drops, LIMITED);
	tap_note("%u written, %llu dropped", written, (unsigned long long)got.drops);
	tap_result("RLIMIT_MEMLOCK used up: counted, and nobody is killed");
}

/* ---- many threads ---- */

#define THREADS	32
#define EACH	2000

static void *write_each(void *arg)
{
	unsigned int from = (unsigned int)(uintptr_t)arg * EACH;

	numbers(from, from + EACH);
	return NULL;
}

static int many(void)
{
	pthread_t thread[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, write_each, (void *)i))
			return 1;
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static void test_threads(void)
{
	static uint8_t seen[THREADS * EACH];
	pid_t pid = start("many", true, "XSPROF_BUFFER_SIZE=4M");

	CHECK_EQ(wait_for(pid), 0);
	CHECK_EQ(fetch(pid), 1);
	collect(pid);
	/* Lock rings count records for which no lock was free. */
	if (!got.n || !got.rec[0].locked)
		CHECK_EQ(got.drops, 0);
	CHECK_EQ(collect_count(XSPROF_REC_COUNTER_I64, name) + got.drops, THREADS * EACH);
	for (unsigned int i = 0; i < got.n; i++) {
		if (got.rec[i].name != name)
			continue;
		if (got.rec[i].value >= THREADS * EACH || seen[got.rec[i].value]++)
			tap_wrong("record %llu", (unsigned long long)got.rec[i].value);
	}
	tap_result("%u threads: every record, once", THREADS);
}

/* ---- the flight recorder ---- */

#define FLIGHT	50000

static int flight(void)
{
	struct xsprof_stats stats = { .size = sizeof(stats) };

	on_cpu(0);
	if (xsprof_get_stats(&stats) || !stats.attached)
		return 1;
	if (xsprof_flush(-1) != -ENOTCONN)
		return 2;
	numbers(0, FLIGHT);
	kill(getpid(), SIGKILL);
	return 3;
}

static uint64_t next_number;

static void take_latest(struct rd_ring *r, const uint64_t *slot, unsigned int n, void *arg)
{
	(void)n, (void)arg;
	if (rd_type(slot) != XSPROF_REC_COUNTER_I64)
		return;
	if (next_number && slot[3] != next_number)
		rd_wrong(r, "number %llu after %llu", (unsigned long long)slot[3],
			 (unsigned long long)next_number - 1);
	next_number = slot[3] + 1;
}

static void test_flight(void)
{
	pid_t pid = start("flight", false, NULL);
	unsigned int rings = 0;
	struct rd rd;

	CHECK_EQ(wait_for(pid), SIGKILL);
	CHECK_EQ(end_state(pid, 0), XSPROF_STATE_KILLED);
	CHECK_EQ(infos[0].session, 0);
	CHECK_EQ(infos[0].mode, XSPROF_MODE_OVERWRITE);
	CHECK_EQ(fetch(pid), 1);
	if (rd_open_pid(&rd, pid)) {
		tap_wrong("no memory of it");
	} else {
		for (uint32_t k = 0; k < rd.nr; k++) {
			struct rd_ring *r = &rd.ring[k];
			uint64_t head;

			if (!rd_ready(&rd, k))
				continue;
			rings++;
			head = rd_head(r);
			CHECK(head > r->size);
			/* From the first whole block that cannot have been overwritten. */
			r->at = (head - r->size + XSPROF_OVERWRITE_MARGIN +
				 XSPROF_BLOCK_SLOTS - 1) & ~(uint64_t)(XSPROF_BLOCK_SLOTS - 1);
			rd_drain(&rd, k, UINT64_MAX, take_latest, NULL);
			CHECK(r->records > r->size / 2);
		}
		rd_close(&rd);
	}
	CHECK_EQ(rings, 1);
	CHECK_EQ(next_number, FLIGHT);
	tap_result("with no recorder: the latest records are kept");
}

/* ---- kicks ---- */

#define MARK	64
#define MARKED	1000

static int marked(void)
{
	on_cpu(0);
	raise(SIGSTOP);
	numbers(0, MARKED);
	raise(SIGSTOP);
	return 0;
}

static void test_watermark(void)
{
	struct xsprof_watch watch = { .size = sizeof(watch), .slots = MARK };
	struct xsprof_events events = { .size = sizeof(events) };
	pid_t pid = start("marked", true, NULL);
	siginfo_t info;
	uint64_t before;
	int fd;

	waitid(P_PID, pid, &info, WSTOPPED);
	look_up(pid);
	fd = open_producer(infos[0].id, XSPROF_OPEN_CONSUME);
	if (ioctl(fd, XSPROF_IOC_WATCH, &watch) || ioctl(fd, XSPROF_IOC_EVENTS, &events))
		tap_wrong("WATCH, EVENTS: %s", strerror(errno));
	before = events.kicks;
	kill(pid, SIGCONT);
	waitid(P_PID, pid, &info, WSTOPPED);
	if (ioctl(fd, XSPROF_IOC_EVENTS, &events))
		tap_wrong("EVENTS: %s", strerror(errno));
	tap_note("%llu kicks for %u records", (unsigned long long)(events.kicks - before),
		 MARKED);
	CHECK_EQ(events.kicks - before, MARKED / MARK);
	kill(pid, SIGCONT);
	CHECK_EQ(wait_for(pid), 0);
	close(fd);
	tap_result("a kick for every watermark");
}

int main(int argc, char **argv)
{
	name = xsprof_name("number");
	if (argc > 1)
		return !strcmp(argv[1], "many") ? many() :
		       !strcmp(argv[1], "flight") ? flight() :
		       !strcmp(argv[1], "marked") ? marked() : limited();
	if (!open_device())
		return tap_done();
	test_memlock();
	test_threads();
	test_flight();
	test_watermark();
	return tap_done();
}
