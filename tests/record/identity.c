// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose child becomes another user, or goes to another place, before its first record.
 *
 *	identity COUNT STEP...		10 records here, then COUNT in a child that took the steps
 *	identity emit COUNT		COUNT records
 *	identity flood PID		connects to this recorder's socket, until that is gone;
 *					says so after FLOOD of these, and how many they were
 *
 * Steps, in their order: setgid, setuid, user, mount, pid, time (a namespace each; the time is
 * another one there), chroot=DIR, close (all descriptors but three), early (10 records),
 * ready=FILE (makes it), await=FILE (until something is in it), sleep=MS, late=FILE (the recorder,
 * which is the parent, is stopped until the file is there; taken before the child is made), reuse
 * (another file at the number of each of the library's descriptors), probe (what the library's
 * descriptor of the session lets this user do), folders (made in the session), crowd (3000 files
 * there that are no producers), slander (says there of process 1 that it is not recorded),
 * impersonate (its parent, there), orphan (stops the recorder, which is $RECORDER or the parent,
 * and kills its parent), grab=FILE (locks what it can there for good, in a process whose id is in
 * FILE), nofile (it can open one file at a time), nofd (none at all), fsize (it can write to
 * none until its records are passed), exec.
 * Each process says how many records it passed and what the library knows of them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <xsprof/xsprof.h>

#define NOBODY	65534
#define FLOOD	50

/* A leak check reads /proc, which another root has not, nor the environment that says so. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static const char *self;
static pid_t recorder;
static long early;		/* records passed in a step */
static bool orphaned;
static char parents_file[64];	/* in the session */

static void must(int failed, const char *what)
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

/* The namespaces of these kinds are those of children. */
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

static void write_file(const char *path, const char *text)
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

/* The library's descriptors are above the program's.  Return: whether one names the session. */
static int session_fd(void)
{
	const char *session = getenv("XSPROF_SESSION");
	char path[64], to[4096];
	int fd;

	for (fd = 3; fd < 1024; fd++) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, to, sizeof(to) - 1);
		if (n > 0 && (to[n] = '\0', !strcmp(to, session)))
			return fd;
	}
	return -1;
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

static void refused(int ret, int err, const char *what)
{
	printf("probe %s: %s\n", what, ret < 0 && errno == err ? "refused" : "permitted");
}

/* A connection to the next such socket in /proc/net/unix; -1: there are no more. */
static int next_recorder(FILE *list, const char *prefix)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	char line[512];

	while (list && fgets(line, sizeof(line), list)) {
		char *name = strstr(line, prefix);
		size_t len;
		int fd;

		if (!name)
			continue;
		len = strcspn(name, "\n");
		memcpy(un.sun_path, name, len);
		un.sun_path[0] = '\0';
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (!connect(fd, (struct sockaddr *)&un,
			     offsetof(struct sockaddr_un, sun_path) + len) || errno == EAGAIN)
			return fd;
		close(fd);
	}
	return -1;
}

/* Who does not know the recording's name cannot say anything of it: the recorder ignores that. */
static void forge(void)
{
	FILE *list = fopen("/proc/net/unix", "re");
	char message[100] = "forged";
	unsigned int sent = 0;
	int fd;

	while ((fd = next_recorder(list, "@xsprof.")) >= 0) {
		sent += write(fd, message, sizeof(message)) == sizeof(message);
		close(fd);
	}
	if (list)
		fclose(list);
	printf("probe forged notice: %s\n", sent ? "sent" : "not sent");
}

/* Connections that say nothing, so many at a time. */
static void flood(const char *pid)
{
	unsigned int n = 0, before;
	int open[512], fd;
	char prefix[64];

	snprintf(prefix, sizeof(prefix), "@xsprof.s.%s.", pid);
	memset(open, -1, sizeof(open));
	do {
		FILE *list = fopen("/proc/net/unix", "re");

		before = n;
		while ((fd = next_recorder(list, prefix)) >= 0) {
			close(open[n % 512]);
			open[n++ % 512] = fd;
			if (n == FLOOD) {
				puts("flooding");
				fflush(stdout);
			}
		}
		if (list)
			fclose(list);
	} while (n != before);
	printf("%u connections\n", n);
}

static void probe_recorder(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)recorder);
	refused(open(path, O_RDONLY | O_DIRECTORY), EACCES, "list the recorder's descriptors");
	forge();
}

/* @theirs: the ring file of the parent, whose user was another one */
static void probe(const char *theirs)
{
	int dir = session_fd();

	must(dir < 0, "the session's descriptor");
	printf("probe descriptor: %s\n",
	       fcntl(dir, F_GETFD) == FD_CLOEXEC ? "closed by exec" : "kept by exec");
	refused(openat(dir, ".", O_RDONLY | O_DIRECTORY), EACCES, "list");
	refused(openat(dir, "lock", O_RDWR), EACCES, "write the lock");
	refused(unlinkat(dir, "lock", 0), EPERM, "remove the lock");
	refused(openat(dir, theirs, O_RDONLY), EACCES, "read another's rings");
	refused(unlinkat(dir, theirs, 0), EPERM, "remove another's rings");
	refused(renameat(dir, theirs, dir, "x"), EPERM, "rename another's rings");
	refused(fchmodat(dir, ".", 0777, 0), EPERM, "change the session's mode");
	refused(openat(dir, "../..", O_PATH), EACCES, "go up");
	probe_recorder();
}

/* What would stay if only files were removed, or folders as far down as a path reaches. */
static void make_folders(void)
{
	int dir = session_fd(), fd;

	must(dir < 0, "the session's descriptor");
	must(mkdirat(dir, "a", 0700) || mkdirat(dir, "a/b", 0), "mkdir");
	fd = openat(dir, "a/file", O_WRONLY | O_CREAT, 0);
	must(fd < 0, "a/file");
	close(fd);
	dir = openat(dir, ".", O_PATH);
	for (int i = 0; i < 3000; i++) {
		must(mkdirat(dir, "deep", 0777), "mkdir deep");
		fd = openat(dir, "deep", O_PATH);
		must(fd < 0, "deep");
		close(dir);
		dir = fd;
	}
	close(dir);
}

static void make_crowd(void)
{
	int dir = session_fd(), fd;
	char name[32];

	must(dir < 0, "the session's descriptor");
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "p.%d.%d.0", 4190000 + i, i);
		fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
		must(fd < 0, name);
		close(fd);
	}
}

static void slander(void)
{
	int dir = session_fd(), fd;

	must(dir < 0, "the session's descriptor");
	fd = openat(dir, "e.1.0.0", O_WRONLY | O_CREAT | O_EXCL, 0600);
	must(fd < 0 || write(fd, "hello", 5) != 5, "e.1.0.0");
	close(fd);
}

/* A file of our own that says that it is our parent's, which is of another user. */
static void impersonate(const char *theirs)
{
	int dir = session_fd(), fd = -1, copy;
	struct xsprof_ctl *ctl = NULL;
	unsigned long long start = 0;
	char name[64], link[300];
	struct stat st = { 0 };
	unsigned int pid = 0;

	for (int i = 3; i < 1024 && fd < 0; i++) {
		ssize_t n;

		snprintf(name, sizeof(name), "/proc/self/fd/%d", i);
		n = readlink(name, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = '\0';
		if (strstr(link, "/p.") && !fstat(i, &st) && st.st_uid == NOBODY)
			fd = i;
	}
	must(fd < 0 || sscanf(theirs, "p.%u.%llu.", &pid, &start) != 2, "our own file");
	ctl = malloc(st.st_size);
	must(!ctl || pread(fd, ctl, st.st_size, 0) != st.st_size, "reading it");
	ctl->pid = pid;
	ctl->start_time = start;
	ctl->seq = 7;
	snprintf(name, sizeof(name), "p.%u.%llu.7", pid, start);
	copy = openat(dir, name, O_CREAT | O_EXCL | O_RDWR, 0600);
	must(copy < 0 || write(copy, ctl, st.st_size) != st.st_size, name);
	close(copy);
	free(ctl);
	/* Until the recorder has seen through it; one that stands still will. */
	for (int i = 0; i < 1000 && !orphaned && !faccessat(dir, name, F_OK, 0); i++)
		usleep(20000);
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

/* From now on, and as soon as nobody else has the lock. */
static void grab(const char *file)
{
	int fd = openat(session_fd(), "lock", O_RDONLY);
	char text[16];

	must(fd < 0, "the lock");
	if (fork())
		return;
	close_range(0, 2, 0);
	snprintf(text, sizeof(text), "%d", (int)getpid());
	write_file(file, text);
	flock(fd, LOCK_EX);
	for (;;)
		pause();
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

/* What is to be in the capture is not seen by the recorder before the file is there. */
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
