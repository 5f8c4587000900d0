// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose child changes its user, root or namespaces before its first record.
 *
 *	identity COUNT STEP...		10 records here, then COUNT in a child after the steps
 *	identity emit COUNT		COUNT records
 *	identity flood PID		connects to this recorder's socket until the recorder
 *					ends; prints a line after FLOOD connections, and the total
 *
 * Steps, in this order: setgid, setuid, user, mount, pid, time (a new namespace each; time also
 * sets another time there), chroot=DIR, close (all descriptors but three), early (10 records),
 * ready=FILE (makes it), await=FILE (until something is in it), sleep=MS, late=FILE (stops the
 * recorder, which is the parent, until the file exists; done before the fork), reuse (opens another
 * file at the number of each of the library's descriptors), probe (tries what the library's
 * descriptor of the session allows this user), folders (makes folders in the session), crowd (makes
 * 3000 files there that are no producers), slander (writes a message there that process 1 is not
 * recorded), impersonate (pretends there to be its parent), orphan (stops the recorder, which is
 * $RECORDER or the parent, and kills its parent), grab=FILE (locks for good what it can in the
 * session, in a process whose id is in FILE), nofile (can open one file at a time), nofd (no file
 * at all), fsize (cannot write to files until its records are done), exec. Each process prints how
 * many records it wrote and the library's counts of them.
 */
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <xsprof/xsprof.h>

#include "record/intruder.h"

/* A leak check reads /proc, which another root lacks, as it does the variable that turns it off. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static const char *self;
pid_t recorder;
static long early;		/* records written by the step early */
bool orphaned;
static char parents_file[64];	/* in the session */

void must(int failed, const char *what)
{
	if (!failed)
		return;
	perror(what);
	_exit(99);
}

/* @number: RLIMIT_*.  Return: the limit that it had. */
static rlim_t limit(int number, rlim_t to)
{
	struct rlimit rl = { 0 };
	rlim_t before;

	must(getrlimit(number, &rl), "getrlimit");
	before = rl.rlim_cur;
	rl.rlim_cur = to < rl.rlim_max ? to : rl.rlim_max;
	must(setrlimit(number, &rl), "setrlimit");
	return before;
}

static void emit(long count)
{
	struct xsprof_stats stats = { .size = sizeof(stats) };
	uint32_t name = xsprof_name("identity");
	long i;

	for (i = 0; i < count; i++)
		xsprof_instant(name);
	must(xsprof_get_stats(&stats), "xsprof_get_stats");
	limit(RLIMIT_FSIZE, RLIM_INFINITY);
	printf("pid %d events %ld lost %llu attached %d\n", (int)getpid(), early + count,
	       (unsigned long long)stats.lost, stats.attached);
	fflush(stdout);
}

/* New processes get the namespaces of these kinds: goes on as a child. */
static void go_on_as_child(void)
{
	int status;
	pid_t pid = fork();

	must(pid < 0, "fork");
	if (!pid)
		return;
	must(waitpid(pid, &status, 0) != pid, "waitpid");
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
}

void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	must(fd < 0 || write(fd, text, strlen(text)) < 0, path);
	close(fd);
}

static void own_mounts(void)
{
	const char *shm = getenv("XSPROF_SHM_DIR");

	must(unshare(CLONE_NEWNS), "unshare");
	must(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), "mount");
	must(mount("none", shm ? shm : "/dev/shm", "tmpfs", 0, "size=1m"), "mount tmpfs");
}

static void own_time(void)
{
	must(unshare(CLONE_NEWTIME), "unshare");
	write_file("/proc/self/timens_offsets", "monotonic 5000 0\nboottime 5000 0\n");
	go_on_as_child();
}

/* "p.PID.*" */
static void find_own_file(void)
{
	DIR *dir = opendir(getenv("XSPROF_SESSION"));
	struct dirent *e;
	char mine[32];

	snprintf(mine, sizeof(mine), "p.%d.", (int)getpid());
	while (dir && (e = readdir(dir)))
		if (!strncmp(e->d_name, mine, strlen(mine)))
			snprintf(parents_file, sizeof(parents_file), "%.63s", e->d_name);
	if (dir)
		closedir(dir);
}

static void reuse(void)
{
	int fd, null = open("/dev/null", O_RDWR);

	for (fd = 3; fd < 1024; fd++)
		if (fd != null && fcntl(fd, F_GETFD) >= 0)
			must(dup2(null, fd) < 0, "dup2");
}

static void await(const char *path)
{
	struct stat st;

	while (stat(path, &st) || !st.st_size)
		usleep(1000);
}

static void orphan(void)
{
	pid_t parent = getppid();

	must(kill(recorder, SIGSTOP) || kill(parent, SIGKILL), "orphan");
	while (getppid() == parent)
		usleep(1000);
	orphaned = true;
}

static void pass_early(void)
{
	uint32_t name = xsprof_name("early");

	for (early = 0; early < 10; early++)
		xsprof_instant(name);
}

static void step(const char *what, const char *count)
{
	const char *value = strchr(what, '=') ? strchr(what, '=') + 1 : "";

	if (!strcmp(what, "setgid"))
		must(setgroups(0, NULL) || setgid(NOBODY), what);
	else if (!strcmp(what, "setuid"))
		must(setuid(NOBODY), what);
	else if (!strcmp(what, "user"))
		must(unshare(CLONE_NEWUSER), what);
	else if (!strcmp(what, "mount"))
		own_mounts();
	else if (!strcmp(what, "pid"))
		must(unshare(CLONE_NEWPID), what), go_on_as_child();
	else if (!strcmp(what, "time"))
		own_time();
	else if (!strncmp(what, "chroot=", 7))
		must(chroot(value) || chdir("/"), what);
	else if (!strcmp(what, "close"))
		must(close_range(3, ~0u, 0), what);
	else if (!strcmp(what, "early"))
		pass_early();
	else if (!strncmp(what, "ready=", 6))
		write_file(value, "");
	else if (!strncmp(what, "await=", 6))
		await(value);
	else if (!strncmp(what, "sleep=", 6))
		usleep(1000 * atoi(value));
	else if (!strcmp(what, "nofile"))
		limit(RLIMIT_NOFILE, 4);
	else if (!strcmp(what, "nofd"))
		limit(RLIMIT_NOFILE, 3);
	else if (!strcmp(what, "fsize"))
		limit(RLIMIT_FSIZE, 0);
	else if (!strcmp(what, "reuse"))
		reuse();
	else if (!strcmp(what, "probe"))
		probe(parents_file);
	else if (!strcmp(what, "folders"))
		make_folders();
	else if (!strcmp(what, "crowd"))
		make_crowd();
	else if (!strcmp(what, "slander"))
		slander();
	else if (!strcmp(what, "impersonate"))
		impersonate(parents_file);
	else if (!strcmp(what, "orphan"))
		orphan();
	else if (!strncmp(what, "grab=", 5))
		grab(value);
	else if (!strcmp(what, "exec"))
		must(execl(self, self, "emit", count, NULL), self);
	else if (strncmp(what, "late=", 5))
		must(1, what);
}

/* Stops the recorder: it must not see the process before the file exists. */
static const char *stop_recorder(int argc, char **argv)
{
	int i;

	for (i = 2; i < argc; i++)
		if (!strncmp(argv[i], "late=", 5)) {
			must(kill(getppid(), SIGSTOP), "SIGSTOP");
			return argv[i] + 5;
		}
	return NULL;
}

int main(int argc, char **argv)
{
	const char *late;
	int i, status;
	pid_t pid;

	if (argc < 3)
		return 97;
	self = argv[0];
	if (!strcmp(argv[1], "emit")) {
		emit(atol(argv[2]));
		return 0;
	}
	if (!strcmp(argv[1], "flood")) {
		flood(argv[2]);
		return 0;
	}
	recorder = getenv("RECORDER") ? atoi(getenv("RECORDER")) : getppid();
	emit(10);
	find_own_file();
	late = stop_recorder(argc, argv);
	pid = fork();
	must(pid < 0, "fork");
	if (!pid) {
		for (i = 2; i < argc; i++)
			step(argv[i], argv[1]);
		emit(atol(argv[1]));
		exit(0);
	}
	while (late && access(late, F_OK))
		usleep(1000);
	if (late)
		kill(getppid(), SIGCONT);
	must(waitpid(pid, &status, 0) != pid, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}
