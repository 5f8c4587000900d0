// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program of four threads that executes commands from its standard input, a line at a time, and
 * reports when each is done: for tests of `xsprof ctl`.
 *
 *	ops N		each thread does N ops, called "work0" to "work3"
 *	steps N		N steps; every other thread does one op in each
 *	alloc N		N allocations of 100 bytes, every other one freed
 *	session, end	a session of its own
 *	fork WORDS...	makes a child that does each of WORDS (step, init, page), then sleeps
 *	raw WORDS...	the same as the child of a raw clone()
 *	page		as another user, if possible: prints to standard error what an inherited
 *			descriptor of a control page allows
 *	close		all descriptors but the first three
 *	init		xsprof_ondemand_init()
 *	cancel		xsprof_ondemand_cancel()
 *	client		registers a client that writes no snapshots
 *	exec		executes itself without the environment that makes it listen
 *	switches	voluntary context switches of the library's thread so far
 *	quit
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xsprof/ondemand.h>
#include <xsprof/profiler.h>

#define THREADS	4

static pthread_barrier_t before, after;
static unsigned int rounds;
static xsprof_name_t names[THREADS];
static pthread_t threads[THREADS];
/* Like OpenMP's threadprivate arrays: the C library takes it from each thread's stack. */
static __thread volatile char wide[3 << 20];

static void one_op(unsigned int k)
{
	static const int64_t sizes[] = { 2, 3 };
	const struct xsprof_tensor tensor = {
		.sizes = sizes, .ndim = 2, .dtype = xsprof_name("float"), .itemsize = 4,
	};
	const struct xsprof_input input = { .kind = XSPROF_INPUT_TENSOR, .u.tensor = &tensor };
	const struct xsprof_op op = {
		.name = names[k], .sequence = XSPROF_NO_SEQUENCE, .nr_inputs = 1, .inputs = &input,
	};

	xsprof_op_begin(&op);
	xsprof_op_end();
}

static void *work(void *arg)
{
	unsigned int k = (uintptr_t)arg;

	wide[k] = 1;
	for (;;) {
		pthread_barrier_wait(&before);
		for (unsigned int i = 0; i < rounds; i++)
			one_op(k);
		pthread_barrier_wait(&after);
	}
	return NULL;
}

static void ops(unsigned int n)
{
	rounds = n;
	pthread_barrier_wait(&before);
	pthread_barrier_wait(&after);
}

static void alloc(unsigned int n)
{
	for (uintptr_t i = 0; i < n; i++) {
		void *at = (void *)(0x10000 + 256 * i);

		one_op(0);
		xsprof_report_memory_usage(at, 100, 100 * (i + 1), 1 << 20, XSPROF_DEVICE_CPU);
		if (i & 1)
			xsprof_report_memory_usage(at, -100, 100 * i, 1 << 20,
						   XSPROF_DEVICE_CPU);
	}
}

static int find_page(void)
{
	char path[32], link[64];
	ssize_t n;

	for (int fd = 3; fd < 1024; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, link, sizeof(link) - 1);
		link[n < 0 ? 0 : n] = '\0';
		if (!strcmp(link, "/memfd:xsprof-ctl (deleted)"))
			return fd;
	}
	return -1;
}

static bool opens(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDWR | O_CLOEXEC) >= 0 || open(path, O_RDONLY | O_CLOEXEC) >= 0;
}

static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	if (syscall(SYS_capset, &header, none))
		fprintf(stderr, "it cannot give up its capabilities: %m\n");
}

static void write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fprintf(stderr, "%s: %m\n", path);
	close(fd);
}

/* Gives the process all capabilities, in a new user namespace. */
static void own_users(void)
{
	/* A machine may forbid it. */
	if (unshare(CLONE_NEWUSER))
		_exit(0);
	write_to("/proc/self/setgroups", "deny");
	write_to("/proc/self/uid_map", "0 0 1");
}

/* Tries the page as the same user, with fewer rights than the page's process. */
static void try_with_less(int fd, void (*give_up)(void), const char *how)
{
	int status;
	pid_t pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (!pid) {
		give_up();
		if (opens(fd))
			fprintf(stderr, "%s can open the inherited page again\n", how);
		_exit(0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}

/* Tries the inherited descriptor, and opening it again: neither may give access. */
static void try_page(void)
{
	int fd = find_page();

	if (fd < 0)
		fprintf(stderr, "no page is inherited\n");
	if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED)
		fprintf(stderr, "the inherited page can be read\n");
	if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED)
		fprintf(stderr, "the inherited page can be written\n");
	if (geteuid())
		return;
	try_with_less(fd, drop_capabilities, "root without capabilities");
	try_with_less(fd, own_users, "root of another user namespace");
	if (setgroups(0, NULL) || setresgid(65534, 65534, 65534) ||
	    setresuid(65534, 65534, 65534))
		fprintf(stderr, "it cannot be another user: %m\n");
	if (opens(fd))
		fprintf(stderr, "another user can open the inherited page again\n");
}

static void child(char *words)
{
	for (char *w = strtok(words, " \n"); w; w = strtok(NULL, " \n")) {
		if (!strcmp(w, "step"))
			xsprof_profiler_step();
		if (!strcmp(w, "init"))
			xsprof_ondemand_init();
		if (!strcmp(w, "op"))
			one_op(0);
		if (!strcmp(w, "page"))
			try_page();
	}
	printf("child %d\n", (int)getpid());
	fflush(stdout);
	for (;;)
		pause();
}

/* Waits until the thread sleeps again. Return: its voluntary context switches so far. */
static unsigned int switches(void)
{
	char path[300], line[200];
	unsigned int n = 0;
	bool sleeps = false;
	struct dirent *e;
	DIR *dir = opendir("/proc/self/task");

	while (dir && !sleeps) {
		bool ours = false;
		FILE *f;

		e = readdir(dir);
		if (!e) {
			usleep(1000);
			rewinddir(dir);
			continue;
		}
		snprintf(path, sizeof(path), "/proc/self/task/%s/status", e->d_name);
		f = fopen(path, "r");
		while (f && fgets(line, sizeof(line), f)) {
			ours |= !strcmp(line, "Name:\txsprof-daemon\n");
			if (ours && !strncmp(line, "State:\tS", 8))
				sleeps = true;
			if (ours)
				sscanf(line, "voluntary_ctxt_switches: %u", &n);
		}
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return n;
}

static int nothing(void *data)
{
	(void)data;
	return 0;
}

static int save_nothing(void *data, const char *path)
{
	FILE *f = path ? fopen(path, "w") : NULL;

	(void)data;
	if (f)
		fputs("{}", f);
	return f ? fclose(f) : 0;
}

static void own_client(void)
{
	static const struct xsprof_client client = {
		/* A client of a version before snapshots. */
		.size = offsetof(struct xsprof_client, snapshot),
		.start = nothing, .stop = nothing, .save = save_nothing,
	};

	printf("%d\n", xsprof_register_client(&client));
}

static void own_session(void)
{
	const struct xsprof_profiler_config config = {
		.size = sizeof(config), .state = XSPROF_PROFILER_CPU,
	};

	printf("%d\n", xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0));
}

static void run_again(char *program)
{
	char *argv[] = { program, NULL };

	unsetenv("XSPROF_ONDEMAND");
	unsetenv("KINETO_USE_DAEMON");
	execv("/proc/self/exe", argv);
	_exit(126);
}

static void do_line(char *line, char *program)
{
	unsigned int n = 0;
	char word[20] = "";

	sscanf(line, "%19s %u", word, &n);
	if (!strcmp(word, "ops"))
		ops(n);
	else if (!strcmp(word, "alloc"))
		alloc(n);
	else if (!strcmp(word, "steps"))
		while (n--) {
			xsprof_profiler_step();
			one_op(0);
		}
	else if (!strcmp(word, "session"))
		own_session();
	else if (!strcmp(word, "end"))
		printf("%d\n", xsprof_disable_profiler(NULL));
	else if (!strcmp(word, "client"))
		own_client();
	else if (!strcmp(word, "close"))
		syscall(SYS_close_range, 3, ~0u, 0);
	else if (!strcmp(word, "init"))
		printf("%d\n", xsprof_ondemand_init());
	else if (!strcmp(word, "cancel"))
		printf("%d\n", xsprof_ondemand_cancel());
	else if (!strcmp(word, "switches"))
		printf("%u\n", switches());
	else if (!strcmp(word, "fork") && !fork())
		child(line + 4);
	else if (!strcmp(word, "raw") && !syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0))
		child(line + 3);
	else if (!strcmp(word, "exec"))
		run_again(program);
}

int main(int argc, char **argv)
{
	char line[200];

	(void)argc;
	signal(SIGCHLD, SIG_IGN);
	pthread_barrier_init(&before, NULL, THREADS + 1);
	pthread_barrier_init(&after, NULL, THREADS + 1);
	for (unsigned int i = 0; i < THREADS; i++) {
		char name[] = "work0";

		name[4] += i;
		names[i] = xsprof_name(name);
		if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i))
			return 1;
	}
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) && strcmp(line, "quit\n")) {
		do_line(line, argv[0]);
		printf("done\n");
		fflush(stdout);
	}
	return 0;
}
