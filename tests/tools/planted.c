// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose range "op" is late for a known reason:
 *
 *	planted cpu		another process, "hog", has the CPU
 *	planted lock		a thread, "holder", has the lock, and runs
 *	planted chain		a thread, "holder", has the lock, and "hog" has its CPU
 *	planted fault		a page fault waits for a thread, "pager"
 *	planted io FILE		the disk writes FILE
 *	planted softirq		packets of the loopback arrive
 *	planted gap		it slept between the ranges "before" and "after"
 *	planted mix		nested ranges of all kinds, with sleeps and system calls in them
 *	planted late FILE	some of "before", then, as soon as FILE exists, "after", with sleeps
 *				in all
 *
 * Prints why and exits with 77 if that is not possible here.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <xsprof/xsprof.h>

static sem_t ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t op;

static void skip(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(77);
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Pins the caller to one CPU, the same for all. */
static void pin(void)
{
	cpu_set_t all, one;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(all), &all))
		die("sched_getaffinity");
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity");
}

static long us_since(clockid_t clock, const struct timespec *from)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (now.tv_sec - from->tv_sec) * 1000000 + (now.tv_nsec - from->tv_nsec) / 1000;
}

/* Uses @us microseconds of a CPU, however long that takes. */
static void work(long us)
{
	struct timespec from;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do {
		/* Reading the clock is a system call, and so an event. */
		for (int i = 0; i < 20000; i++)
			__asm__ volatile("" ::: "memory");
	} while (us_since(CLOCK_THREAD_CPUTIME_ID, &from) < us);
}

/*
 * Uses 3 ms of a CPU, and as much again until the hog has had it for 15 ms: if the hog's pause of 1
 * ms takes longer on this machine, the first 3 ms may have run without the hog.
 */
static void work_beside_hog(void)
{
	struct timespec wall, cpu;

	clock_gettime(CLOCK_MONOTONIC, &wall);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	do {
		work(3000);
	} while (us_since(CLOCK_MONOTONIC, &wall) -
		 us_since(CLOCK_THREAD_CPUTIME_ID, &cpu) < 15000);
}

/* Gets priority over the machine's other tasks, by @level. */
static void be_urgent(int level)
{
	struct sched_param param = { .sched_priority = level };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		skip("SCHED_FIFO");
}

static pid_t start_hog(void)
{
	int to[2];
	pid_t pid;
	char c;

	be_urgent(1);
	if (pipe(to))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "hog");
		pin();
		be_urgent(2);
		if (write(to[1], "r", 1) != 1)
			_exit(1);
		for (;;) {
			work(30000);
			usleep(1000);
		}
	}
	close(to[1]);
	if (read(to[0], &c, 1) != 1) {
		errno = EPERM;
		skip("SCHED_FIFO");
	}
	close(to[0]);
	return pid;
}

static void stop_hog(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void plant_cpu(void)
{
	pid_t hog = start_hog();

	pin();
	xsprof_begin(op);
	work_beside_hog();
	xsprof_end();
	stop_hog(hog);
}

static void *hold(void *pinned)
{
	pthread_setname_np(pthread_self(), "holder");
	/* The tracer learns a name when the task gives up its CPU. */
	usleep(1000);
	pthread_mutex_lock(&lock);
	if (pinned)
		pin();
	sem_post(&ready);
	if (pinned)
		work_beside_hog();
	else
		work(40000);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void plant_lock(bool chain)
{
	pid_t hog = chain ? start_hog() : 0;
	pthread_t t;

	if (pthread_create(&t, NULL, hold, chain ? &lock : NULL))
		die("pthread_create");
	sem_wait(&ready);
	xsprof_begin(op);
	pthread_mutex_lock(&lock);
	xsprof_end();
	pthread_mutex_unlock(&lock);
	pthread_join(t, NULL);
	if (hog)
		stop_hog(hog);
}

static void *page_in(void *arg)
{
	static char page[4096] __attribute__((aligned(4096)));
	struct uffdio_copy copy = { .src = (uintptr_t)page, .len = 4096 };
	struct uffd_msg msg;
	int fd = *(int *)arg;

	pthread_setname_np(pthread_self(), "pager");
	sem_post(&ready);
	for (int i = 0; i < 8; i++) {
		if (read(fd, &msg, sizeof(msg)) != sizeof(msg))
			die("userfaultfd");
		usleep(3000);
		copy.dst = msg.arg.pagefault.address & ~4095ull;
		if (ioctl(fd, UFFDIO_COPY, &copy))
			die("UFFDIO_COPY");
	}
	return NULL;
}

static void plant_fault(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	volatile char *p;
	pthread_t t;

	if (fd < 0)
		skip("userfaultfd");
	p = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		die("mmap");
	reg.range.start = (uintptr_t)p;
	reg.range.len = 8 * 4096;
	if (ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		skip("userfaultfd");
	if (pthread_create(&t, NULL, page_in, &fd))
		die("pthread_create");
	sem_wait(&ready);
	xsprof_begin(op);
	for (int i = 0; i < 8; i++)
		p[i * 4096] = 1;
	xsprof_end();
	pthread_join(t, NULL);
}

static void plant_io(const char *path)
{
	size_t size = 1 << 20;
	int fd = open(path, O_CREAT | O_RDWR | O_DIRECT | O_SYNC | O_CLOEXEC, 0600);
	void *p;

	if (fd < 0)
		skip(path);
	if (posix_memalign(&p, 4096, size))
		die("posix_memalign");
	be_urgent(1);
	memset(p, 1, size);
	if (pwrite(fd, p, size, 0) != (ssize_t)size)
		skip(path);
	xsprof_begin(op);
	for (int i = 0; i < 32; i++)
		if (pwrite(fd, p, size, (off_t)i << 20) != (ssize_t)size)
			skip(path);
	xsprof_end();
	free(p);
	close(fd);
	unlink(path);
}

/* Returns how often packets were received. */
static unsigned long net_rx(void)
{
	unsigned long sum = 0;
	FILE *f = fopen("/proc/softirqs", "re");
	char line[16384], *p, *end;

	if (!f)
		skip("/proc/softirqs");
	while (fgets(line, sizeof(line), f)) {
		p = strstr(line, "NET_RX:");
		if (!p)
			continue;
		for (p += strlen("NET_RX:");; p = end) {
			sum += strtoul(p, &end, 10);
			if (end == p)
				break;
		}
	}
	fclose(f);
	return sum;
}

/*
 * After a long softirq the kernel leaves the next one to a thread, which must wait for the urgent
 * task: try again when that thread has done its work.
 */
static void plant_softirq(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	int in = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int out = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char packet[512] = { 0 };

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (in < 0 || out < 0 || bind(in, (struct sockaddr *)&a, len) ||
	    getsockname(in, (struct sockaddr *)&a, &len) ||
	    connect(out, (struct sockaddr *)&a, len))
		skip("the loopback");
	be_urgent(1);
	for (int try = 0; try < 20; try++) {
		uint64_t begin = xsprof_now();
		unsigned long before = net_rx();

		for (int i = 0; i < 3000; i++)
			if (send(out, packet, sizeof(packet), 0) < 0 && errno != ENOBUFS)
				skip("the loopback");
		if (net_rx() - before >= 2900) {
			xsprof_complete(op, begin);
			return;
		}
		usleep(50000);
	}
	errno = EBUSY;
	skip("softirqs, which the kernel left to a thread in 20 tries");
}

static void plant_gap(void)
{
	for (int i = 0; i < 20; i++) {
		xsprof_begin(op);
		xsprof_end();
	}
	xsprof_begin(xsprof_name("before"));
	work(100);
	xsprof_end();
	usleep(30000);
	xsprof_begin(xsprof_name("after"));
	work(100);
	xsprof_end();
}

static void mix_step(unsigned int *seed, int deep)
{
	uint64_t begin = xsprof_now();
	uint32_t whole = xsprof_name("whole"), inner = xsprof_name("inner");
	uint32_t span = xsprof_name("span"), part = xsprof_name("part");
	uint64_t end;

	xsprof_begin(deep ? inner : op);
	switch (rand_r(seed) % 6) {
	case 0:
		usleep(20);
		break;
	case 1:
		sched_yield();
		break;
	case 2:
		work(rand_r(seed) % 100);
		break;
	case 3:
		free(memset(malloc(1 << 20), 1, 1 << 20));
		break;
	default:
		if (deep < 5)
			mix_step(seed, deep + 1);
	}
	xsprof_end();
	end = xsprof_now();
	xsprof_complete(whole, begin);
	/* Begins in the middle of it, and ends after it. */
	xsprof_span(span, begin, end, 0, 0);
	xsprof_span(part, begin + (end - begin) / 2, end, 0, 0);
}

static void *mix(void *seed)
{
	unsigned int s = (unsigned int)(uintptr_t)seed;

	pin();
	for (int i = 0; i < 300; i++)
		mix_step(&s, 0);
	return NULL;
}

static void plant_mix(void)
{
	pthread_t t[3];

	for (uintptr_t i = 0; i < 3; i++)
		if (pthread_create(&t[i], NULL, mix, (void *)(i + 1)))
			die("pthread_create");
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

static void sleeps(const char *name)
{
	xsprof_begin(xsprof_name(name));
	for (int i = 0; i < 10; i++)
		usleep(1000);
	xsprof_end();
}

static void plant_late(const char *path)
{
	/* The tracer may not know the program yet at its first ones. */
	for (int i = 0; i < 10; i++)
		sleeps("before");
	while (access(path, F_OK))
		usleep(1000);
	sleeps("after");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	sem_init(&ready, 0, 0);
	op = xsprof_name("op");
	if (!strcmp(what, "cpu"))
		plant_cpu();
	else if (!strcmp(what, "lock") || !strcmp(what, "chain"))
		plant_lock(*what == 'c');
	else if (!strcmp(what, "fault"))
		plant_fault();
	else if (!strcmp(what, "io") && argc > 2)
		plant_io(argv[2]);
	else if (!strcmp(what, "softirq"))
		plant_softirq();
	else if (!strcmp(what, "gap"))
		plant_gap();
	else if (!strcmp(what, "mix"))
		plant_mix();
	else if (!strcmp(what, "late") && argc > 2)
		plant_late(argv[2]);
	else
		return 2;
	return 0;
}
