// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library on the device: the kernel keeps a process' records, however the process ends. They
 * are read back with pread() of a reader's descriptor into a file for collect.h, so that rings are
 * walked as on tmpfs.
 *
 *	session XSPROF_BACKEND=device XSPROF_BUFFER_SIZE=256k device
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "lib/numbers.h"

#undef XSPROF_DEVICE	/* of allocations; not wanted here */
#include <xsprof/ioctl.h>

#define INFOS	64

static int dev;
static struct xsprof_info infos[INFOS];
static unsigned int nr_infos;

/* The producers that @pid has been, oldest first, into infos. */
static void look_up(pid_t pid)
{
	struct xsprof_info one;
	struct xsprof_list list = {
		.size = sizeof(list), .infos = (uintptr_t)&one, .info_size = sizeof(one),
	};

	nr_infos = 0;
	for (;;) {
		list.count = 1;
		if (ioctl(dev, XSPROF_IOC_LIST, &list))
			tap_bail("LIST: %s", strerror(errno));
		if (!list.count)
			return;
		list.after = one.id;
		/* A process that is gone has no number here; what it had in its own eyes stays. */
		if (one.own_pid == (uint32_t)pid && nr_infos < INFOS)
			infos[nr_infos++] = one;
	}
}

static int open_producer(uint64_t id, uint32_t flags)
{
	struct xsprof_open arg = { .size = sizeof(arg), .flags = flags, .id = id };
	int fd = ioctl(dev, XSPROF_IOC_OPEN, &arg);

	if (fd < 0)
		tap_wrong("OPEN of %llu: %s", (unsigned long long)id, strerror(errno));
	return fd;
}

/* All of a producer, as a file of the session: number @seq of @pid. */
static void fetch_one(const struct xsprof_info *info, pid_t pid, unsigned int seq)
{
	static char buf[1 << 16];
	char path[300];
	uint64_t at = 0;
	ssize_t n;
	int from = open_producer(info->id, 0), to;

	if (from < 0)
		return;
	snprintf(path, sizeof(path), "%s/p.%d.1.%u", getenv("XSPROF_SESSION"), (int)pid, seq);
	to = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	while ((n = pread(from, buf, sizeof(buf), at)) > 0) {
		if (write(to, buf, n) != n)
			tap_bail("%s: %s", path, strerror(errno));
		at += n;
	}
	CHECK_EQ(n, 0);
	CHECK_EQ(at, info->total_size);
	close(from);
	close(to);
}

/* Return: how many producers there are of @pid, whose memory collect() now finds. */
static unsigned int fetch(pid_t pid)
{
	look_up(pid);
	for (unsigned int i = 0; i < nr_infos; i++)
		fetch_one(&infos[i], pid, i);
	return nr_infos;
}

/* The kernel sees an end a moment after wait() does. */
static uint32_t end_state(pid_t pid, unsigned int which)
{
	for (unsigned int i = 0; i < 30000; i++) {
		look_up(pid);
		if (which < nr_infos && infos[which].state != XSPROF_STATE_LIVE)
			return infos[which].state;
		usleep(1000);
	}
	tap_wrong("process %d does not end", pid);
	return 0;
}

static void end(int status)
{
	syscall(SYS_exit_group, status);
}

static void on_cpu(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		end(91);
}

/* This program again, in another environment. */
static pid_t start(const char *what, bool session, const char *setting)
{
	char *argv[] = { (char *)"device", (char *)what, NULL };
	char text[100];
	pid_t pid = fork();

	if (pid)
		return pid;
	if (!session)
		unsetenv("XSPROF_SESSION");
	if (setting) {
		snprintf(text, sizeof(text), "%s", setting);
		putenv(text);
	}
	execv("/proc/self/exe", argv);
	_exit(126);
}

static void test_killed(void)
{
	struct xsprof_stats stats = { .size = sizeof(stats) };
	pid_t pid = fork();

	if (!pid) {
		numbers(0, 1000);
		if (xsprof_get_stats(&stats) || stats.backend != XSPROF_BACKEND_DEVICE)
			end(1);
		kill(getpid(), SIGKILL);
	}
	CHECK_EQ(wait_for(pid), SIGKILL);
	CHECK_EQ(end_state(pid, 0), XSPROF_STATE_KILLED);
	CHECK_EQ(infos[0].status, SIGKILL);
	CHECK(infos[0].session != 0);
	CHECK_EQ(infos[0].mode, XSPROF_MODE_DISCARD);
	CHECK_EQ(fetch(pid), 1);
	check_numbers_of(pid, 1000, pid);
	CHECK_EQ(got.state, XSPROF_STATE_KILLED);
	tap_result("killed: all that was written is there");
}

static void test_children(void)
{
	pid_t own[3], *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = fork(), child;

	if (!pid) {
		numbers(0, 100);
		child = fork();
		if (!child) {
			numbers(0, 200);
			end(0);
		}
		shared[0] = child;
		if (wait_for(child))
			end(1);
		child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
		if (!child) {
			numbers(0, 300);
			end(0);
		}
		shared[1] = child;
		if (wait_for(child))
			end(2);
		numbers(100, 150);
		/* A daemon: silent until its parent is gone. */
		child = fork();
		if (!child) {
			while (getppid() == pid || !shared[2])
				usleep(1000);
			usleep(20000);
			numbers(0, 400);
			end(0);
		}
		shared[2] = child;
		end(0);
	}
	CHECK_EQ(wait_for(pid), 0);
	CHECK_EQ(end_state(pid, 0), XSPROF_STATE_EXITED);
	memcpy(own, shared, sizeof(own));
	CHECK_EQ(end_state(own[2], 0), XSPROF_STATE_EXITED);
	for (unsigned int i = 0; i < 3; i++) {
		CHECK_EQ(fetch(own[i]), 1);
		check_numbers_of(own[i], 200 + 100 * i, own[i]);
	}
	CHECK_EQ(fetch(pid), 1);
	check_numbers_of(pid, 150, pid);
	munmap(shared, 4096);
	tap_result("fork, raw clone, and a daemon whose parent is gone: each its own");
}

static void test_exec(void)
{
	char *argv[] = { (char *)"device", (char *)"after-exec", NULL };
	pid_t pid = fork();

	if (!pid) {
		numbers(0, 30);
		execv("/proc/self/exe", argv);
		_exit(126);
	}
	CHECK_EQ(wait_for(pid), 0);
	CHECK_EQ(end_state(pid, 1), XSPROF_STATE_EXITED);
	CHECK_EQ(infos[0].state, XSPROF_STATE_DETACHED);
	CHECK_EQ(infos[0].status, -1);
	CHECK_EQ(fetch(pid), 2);
	check_numbers(pid, 60);
	tap_result("exec: two producers of one process");
}

static int share(void *arg)
{
	(void)arg;
	numbers(10, 20);
	return 0;
}

/* Memory that is there is written to; what the kernel refuses such a child is counted. */
static void test_shared(void)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	pid_t pid = fork(), child;

	if (!pid) {
		on_cpu(0);
		numbers(0, 10);
		child = clone(share, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD,
			      NULL);
		if (child < 0 || wait_for(child))
			end(1);
		numbers(20, 30);
		end(0);
	}
	CHECK_EQ(wait_for(pid), 0);
	CHECK_EQ(fetch(pid), 1);
	check_numbers_of(pid, 30, pid);
	tap_result("a child that shares the memory shares the producer");
}

/* ---- programs that close what they do not know ---- */

static void test_closed(void)
{
	unsigned int cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pid_t pid = fork();

	if (!pid) {
		on_cpu(0);
		numbers(0, 100);
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
		/* A ring that is new, one that grows, and the calls that need a descriptor. */
		on_cpu(cpus - 1);
		numbers(100, 4000);
		if (xsprof_pause() || xsprof_enabled())
			end(1);
		numbers(9000, 9100);
		if (xsprof_resume() || !xsprof_enabled())
			end(2);
		numbers(4000, 5000);
		end(0);
	}
	CHECK_EQ(wait_for(pid), 0);
	CHECK_EQ(fetch(pid), 1);
	check_numbers_of(pid, 5000, pid);
	tap_result("all descriptors closed: another is opened");
}

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

/* The process under a limit: it must neither die nor lose count. */
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
		/* The session is another user's then: no file in it, but still the device. */
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
	/* Lock rings count what no lock could be had for. */
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
			/* From the first whole block that cannot have been begun again. */
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

/* Which environment means what. */
static int who(void)
{
	struct xsprof_stats stats = { .size = sizeof(stats) };

	return xsprof_get_stats(&stats) ? 9 : stats.backend;
}

static void test_choice(void)
{
	static const struct {
		const char	*setting;
		bool		session;
		uint32_t	backend;
	} want[] = {
		{ "XSPROF_BACKEND=auto", true, XSPROF_BACKEND_DEVICE },
		{ "XSPROF_BACKEND=auto", false, XSPROF_BACKEND_DEVICE },
		{ "XSPROF_BACKEND=device", true, XSPROF_BACKEND_DEVICE },
		{ "XSPROF_BACKEND=device", false, XSPROF_BACKEND_DEVICE },
		{ "XSPROF_BACKEND=tmpfs", true, XSPROF_BACKEND_TMPFS },
		{ "XSPROF_BACKEND=tmpfs", false, XSPROF_BACKEND_NONE },
		{ "XSPROF_BACKEND=none", true, XSPROF_BACKEND_NONE },
		{ "XSPROF_BACKEND=none", false, XSPROF_BACKEND_NONE },
		{ "XSPROF_BACKEND=nonsense", true, XSPROF_BACKEND_DEVICE },
	};

	for (unsigned int i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		int status = wait_for(start("who", want[i].session, want[i].setting));

		if (status != (int)want[i].backend << 8)
			tap_wrong("%s, %s: status %x, not of %u", want[i].setting,
				  want[i].session ? "recorded" : "not recorded", status,
				  want[i].backend);
	}
	tap_result("XSPROF_BACKEND chooses");
}

/* Other sizes than the environment's: the producer that was there for a moment is gone. */
static int init(void)
{
	struct xsprof_options opts = {
		.size = sizeof(opts), .ring_size = 32 << 10, .mode = XSPROF_MODE_OVERWRITE + 1,
		.flags = XSPROF_INIT_PREFAULT,
	};

	if (xsprof_init(&opts))
		return 1;
	numbers(0, 100);
	return xsprof_init(&opts) == -EALREADY ? 0 : 2;
}

static void test_init(void)
{
	pid_t pid = start("init", true, NULL);

	CHECK_EQ(wait_for(pid), 0);
	CHECK_EQ(fetch(pid), 1);
	CHECK_EQ(infos[0].mode, XSPROF_MODE_OVERWRITE);
	check_numbers_of(pid, 100, pid);
	CHECK_EQ(got.ctl.ring_size, 32 << 10);
	tap_result("xsprof_init: with other sizes");
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
	if (argc > 1 && !strcmp(argv[1], "after-exec")) {
		numbers(30, 60);
		return 0;
	}
	if (argc > 1)
		return !strcmp(argv[1], "many") ? many() : !strcmp(argv[1], "who") ? who() :
		       !strcmp(argv[1], "flight") ? flight() :
		       !strcmp(argv[1], "marked") ? marked() :
		       !strcmp(argv[1], "init") ? init() : limited();
	dev = open(XSPROF_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (dev < 0) {
		tap_skip("the device", "there is no " XSPROF_DEVICE_PATH);
		return tap_done();
	}
	test_killed();
	test_children();
	test_exec();
	test_shared();
	test_closed();
	test_memlock();
	test_threads();
	test_flight();
	test_choice();
	test_init();
	test_watermark();
	return tap_done();
}
