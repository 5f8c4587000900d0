// SPDX-License-Identifier: GPL-2.0-only
/*
 * The client side of dynolog's IPC: its messages, over both transports; no received message does
 * harm.
 *
 *	dynolog path=0|1 [rounds=N]	N rounds of random datagrams
 */
#include <sys/wait.h>

#include "ondemand/dynolog.h"
#include "ondemand/kineto-env.h"
#include "common/draw.h"
#include "profiler/fake.h"

static struct xsp_dynolog d;
static struct fake fake;
static char dir[100];
static char text[XSP_DYNOLOG_TEXT_MAX];

static int ask(size_t *len)
{
	int32_t pids[XSP_DYNOLOG_PIDS];
	uint32_t n = xsp_dynolog_pids(pids, XSP_DYNOLOG_PIDS);
	int err = xsp_dynolog_poll(&d, XSP_DYNOLOG_ACTIVITIES, pids, n, text, sizeof(text), len);

	/* Now we may read what the daemon noted before it answered. */
	pthread_mutex_lock(&fake.lock);
	pthread_mutex_unlock(&fake.lock);
	return err;
}

/*
 * Asks until there is an answer, however slow the machine: a late answer is not lost. Then drops
 * the answers to the later questions, so that they do not answer the next.
 */
static int answer(size_t *len)
{
	unsigned int heard = fake_count(&fake, &fake.requests), asked = 0;
	int err;
	char c;

	do
		err = ask(len);
	while (++asked < 600 && (err == -ETIMEDOUT || err == -EBADMSG));
	if (err || asked == 1)
		return err;
	fake_until(&fake, &fake.requests, heard + asked);
	while (recv(d.fd, &c, 1, MSG_DONTWAIT) >= 0)
		;
	return 0;
}

static int sign_in(int32_t gpu, int32_t *instances)
{
	int err = -ETIMEDOUT;

	for (unsigned int i = 0; i < 600 && err == -ETIMEDOUT; i++)
		err = xsp_dynolog_register(&d, gpu, instances);
	return err;
}

static unsigned int descriptors(void)
{
	unsigned int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void test_talk(void)
{
	int32_t instances = 0;
	size_t len = 1;

	CHECK_EQ(sign_in(3, &instances), 0);
	CHECK_EQ(instances, 1);
	CHECK_EQ(answer(&len), 0);
	CHECK_EQ(len, 0);
	CHECK_EQ(fake.gpu, 3);
	CHECK_EQ(fake.pid, getpid());
	CHECK_EQ(fake.job, 4711);
	CHECK_EQ(fake.pids[0], getpid());
	CHECK_EQ(fake.nr_pids > 1 ? fake.pids[1] : getppid(), getppid());
	CHECK(fake.nr_pids <= 11);
	CHECK_EQ(fake.wrong, 0);
	CHECK_EQ(strlen(fake.name), 16 + 36);
	CHECK(!strncmp(fake.name, "dynoconfigclient", 16));
	CHECK(fake.name[16 + 14] == '4' && strchr("89ab", fake.name[16 + 19]));
	tap_result("registers, and asks with its ancestors");

	fake_configure(&fake, "A=1\nB=2");
	CHECK_EQ(answer(&len), 0);
	CHECK(len == 7 && !memcmp(text, "A=1\nB=2", 7));
	CHECK_EQ(answer(&len), 0);
	CHECK_EQ(len, 0);
	tap_result("a configuration is handed out once");

	CHECK_EQ(xsp_dynolog_poll(&d, 2, fake.pids, 0, text, sizeof(text), &len), -EINVAL);
	CHECK_EQ(xsp_dynolog_poll(&d, 2, fake.pids, XSP_DYNOLOG_PIDS + 1, text, sizeof(text),
				  &len), -EINVAL);
	CHECK_EQ(xsp_dynolog_poll(&d, 2, fake.pids, 1, text, 100, &len), -EINVAL);
	CHECK_EQ(fake.wrong, 0);
	tap_result("no question without a process is sent: there is no answer to it");
}

static const struct lie {
	const char	*what;
	size_t		len;	/* size of the datagram */
	size_t		size;	/* size in its header */
	const char	*type;
	bool		bad;	/* counted as bad; else just no answer to our question */
} lies[] = {
	{ "nothing at all", 0, 0, "req", true },
	{ "one byte", 1, 0, "req", true },
	{ "a header less a byte", 39, 0, "req", true },
	{ "less than it says", 50, 11, "req", true },
	{ "more than it says", 50, 9, "req", true },
	{ "no end of it", 50, SIZE_MAX, "req", true },
	{ "a length that wraps", 50, SIZE_MAX - 29, "req", true },
	{ "a type without an end", 50, 10, "0123456789abcdef0123456789abcdef", true },
	{ "another type", 50, 10, "cfg", false },
	{ "no type", 50, 10, "", false },
	{ "the answer to something else", 44, 4, "ctxt", false },
	{ "64 KiB and a byte", 40 + 65537, 65537, "req", true },
	{ "more than a socket holds for us", 40 + 150000, 150000, "req", true },
};

static void test_lies(void)
{
	static char bytes[200000];
	unsigned int fds = descriptors();
	size_t len;

	for (unsigned int i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct fake_head h = { .size = lies[i].size };
		uint64_t bad = d.bad;

		memset(bytes, 'A', sizeof(bytes));
		memcpy(h.type, lies[i].type, strnlen(lies[i].type, sizeof(h.type)));
		memcpy(bytes, &h, sizeof(h));
		fake_lies(&fake, bytes, lies[i].len, false);
		len = 1;
		if (!ask(&len) || len)
			tap_wrong("%s: taken", lies[i].what);
		fake_configure(&fake, "A=%u", i);
		CHECK_EQ(answer(&len), 0);
		CHECK_EQ(len, i < 10 ? 3 : 4);
		if (d.bad - bad != lies[i].bad)
			tap_wrong("%s: counted %u times", lies[i].what,
				  (unsigned int)(d.bad - bad));
	}
	tap_result("answers that are no answers: %zu kinds, and it goes on",
		   sizeof(lies) / sizeof(lies[0]));

	{
		struct fake_head h = { .size = 65536, .type = "req" };

		memcpy(bytes, &h, sizeof(h));
		fake_lies(&fake, bytes, sizeof(h) + 65536, false);
		CHECK_EQ(answer(&len), 0);
		CHECK_EQ(len, 65536);
		h.size = 4;
		memcpy(bytes, &h, sizeof(h));
		fake_lies(&fake, bytes, sizeof(h) + 4, true);
		CHECK_EQ(answer(&len), 0);
		CHECK_EQ(len, 4);
	}
	CHECK_EQ(descriptors(), fds);
	tap_result("64 KiB are taken; descriptors that are sent along are not");

	{
		struct fake_head h = { .size = 5, .type = "ctxt" };
		int32_t instances = 7;

		memcpy(bytes, &h, sizeof(h));
		pthread_mutex_lock(&fake.lock);
		fake.mute = true;
		pthread_mutex_unlock(&fake.lock);
		CHECK_EQ(xsp_dynolog_register(&d, 0, &instances), -ETIMEDOUT);
		pthread_mutex_lock(&fake.lock);
		fake.lie = bytes;
		fake.lie_len = sizeof(h) + 5;
		fake.lie_with_fd = false;
		fake_lie(&fake);
		fake.mute = false;
		pthread_mutex_unlock(&fake.lock);
		CHECK_EQ(xsp_dynolog_register(&d, 0, &instances), -EBADMSG);
		CHECK_EQ(instances, 7);
		CHECK_EQ(sign_in(0, &instances), 0);
	}
	tap_result("an answer to \"ctxt\" of another length");
}

static void test_late(void)
{
	size_t len;

	/* The daemon gets the question and does not answer in time; the text comes later. */
	pthread_mutex_lock(&fake.lock);
	fake.mute = true;
	pthread_mutex_unlock(&fake.lock);
	CHECK_EQ(ask(&len), -ETIMEDOUT);
	pthread_mutex_lock(&fake.lock);
	fake.mute = false;
	fake_send(&fake, "req", "LATE=1", 6);
	pthread_mutex_unlock(&fake.lock);
	CHECK_EQ(answer(&len), 0);
	CHECK(len == 6 && !memcmp(text, "LATE=1", 6));
	CHECK_EQ(answer(&len), 0);
	CHECK_EQ(len, 0);
	tap_result("a configuration that comes late is not lost");
}

/* Another user's process writes to our socket. Return: its status, 77 if it cannot be another's. */
static int send_as_other(const char *msg, size_t len)
{
	int status = 0, fd;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (setgid(65534) || setuid(65534))
			_exit(77);
		_exit(sendto(fd, msg, len, 0, (struct sockaddr *)&fake.client,
			     fake.client_len) != (ssize_t)len);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void test_stranger(void)
{
	const char *name = "messages of another user are not heard";
	struct fake_head h = { .size = 4, .type = "req" };
	char msg[sizeof(h) + 4];
	uint64_t bad = d.bad;
	size_t len;
	int status;

	memcpy(msg, &h, sizeof(h));
	memcpy(msg + sizeof(h), "EVIL", 4);
	status = send_as_other(msg, sizeof(msg));
	if (status == 77 << 8) {
		tap_skip(name, "we can be no other user");
		return;
	}
	CHECK_EQ(status, 0);
	CHECK_EQ(answer(&len), 0);
	CHECK_EQ(len, 0);
	CHECK_EQ(d.bad - bad, 1);
	d.daemon_uid = 65534;
	CHECK_EQ(send_as_other(msg, sizeof(msg)), 0);
	CHECK_EQ(answer(&len), 0);
	CHECK_EQ(len, 4);
	d.daemon_uid = (uid_t)-1;
	tap_result("%s, unless XSPROF_DAEMON_UID names him", name);
}

static void test_random(unsigned int rounds)
{
	static char bytes[70000];
	unsigned int fds = descriptors(), taken = 0;
	struct timespec end, now;
	size_t len;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += 20;
	for (unsigned int i = 0; i < rounds; i++) {
		struct fake_head h = { .size = draw(300), .type = "req" };
		size_t n = draw(4) ? sizeof(h) + h.size : draw(sizeof(bytes));

		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec >= end.tv_sec)
			break;
		for (size_t k = 0; k < sizeof(h) + 400; k++)
			bytes[k] = draw(256);
		if (!draw(4))
			((char *)&h)[draw(sizeof(h))] ^= 1 << draw(8);
		if (draw(8))
			memcpy(bytes, &h, sizeof(h));
		fake_lies(&fake, bytes, n, !draw(3));
		/* A refused datagram takes time: the answer might still come. */
		if (!ask(&len))
			taken++;
		CHECK(len <= sizeof(text));
	}
	pthread_mutex_lock(&fake.lock);
	fake.has_lie = false;
	pthread_mutex_unlock(&fake.lock);
	fake_configure(&fake, "LAST=1");
	/* A datagram still under way may be a text too. */
	for (unsigned int i = 0; i < 10; i++)
		if (!answer(&len) && len == 6 && !memcmp(text, "LAST=1", 6))
			break;
	CHECK_EQ(len, 6);
	CHECK(taken > 0);
	CHECK_EQ(descriptors(), fds);
	tap_result("random datagrams");
}

static void test_life(void)
{
	struct stat st;
	char own[200];
	size_t len;

	fake_end(&fake);
	CHECK(ask(&len) < 0);
	if (*dir) {
		CHECK(!stat(d.own.sun_path, &st) && S_ISSOCK(st.st_mode));
		CHECK_EQ(st.st_mode & 0777, 0666);
	}
	CHECK(fake_start(&fake, *dir ? dir : NULL));
	CHECK_EQ(answer(&len), 0);
	tap_result("a daemon that goes, and comes again");

	snprintf(own, sizeof(own), "%s", d.own.sun_path);
	CHECK(xsp_dynolog_usable(&d));
	close(d.fd);
	CHECK(!xsp_dynolog_usable(&d));
	xsp_dynolog_close(&d);
	CHECK_EQ(d.fd, -1);
	CHECK(!*own || access(own, F_OK));
	tap_result("its socket is gone, and known to be");
}

/*
 * The folder belongs to another user, who replaces the socket, as soon as it is bound, by a link to
 * a file of ours. The program is linked with --wrap=bind.
 */
static const char *planted;
static int (*plant)(const char *file, const char *path);

int __real_bind(int fd, const struct sockaddr *addr, socklen_t len);
int __wrap_bind(int fd, const struct sockaddr *addr, socklen_t len);

int __wrap_bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	const char *path = ((const struct sockaddr_un *)addr)->sun_path;
	int err = __real_bind(fd, addr, len);

	if (!err && planted && (unlink(path) || plant(planted, path)))
		tap_bail("%s: %s", path, strerror(errno));
	return err;
}

static void test_link(bool second)
{
	char folder[] = "/tmp/xsprof-ipc.XXXXXX";
	struct sockaddr_un secret = { .sun_family = AF_UNIX };
	struct stat st;
	int fd;

	if (!mkdtemp(folder))
		tap_bail("%s: %s", folder, strerror(errno));
	snprintf(secret.sun_path, sizeof(secret.sun_path), "%s/secret", folder);
	if (second)
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	else
		fd = open(secret.sun_path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	CHECK(!second || !__real_bind(fd, (struct sockaddr *)&secret, sizeof(secret)));
	CHECK(!chmod(secret.sun_path, 0600));
	close(fd);
	setenv("KINETO_IPC_SOCKET_DIR", folder, 1);
	xsp_kineto_env_read();
	planted = secret.sun_path;
	plant = second ? link : symlink;
	CHECK(xsp_dynolog_open(&d) < 0);
	planted = NULL;
	CHECK_EQ(d.fd, -1);
	CHECK(!stat(secret.sun_path, &st) && (st.st_mode & 0777) == 0600);
	unlink(secret.sun_path);
	CHECK(!rmdir(folder));
	tap_result("%s in the socket's place: no other file's mode changes",
		   second ? "another socket's second name" : "a link");
}

static void test_no_room(void)
{
	char deep[200];

	memset(deep, 'x', sizeof(deep));
	deep[0] = '/';
	deep[sizeof(deep) - 1] = '\0';
	setenv("KINETO_IPC_SOCKET_DIR", deep, 1);
	xsp_kineto_env_read();
	CHECK_EQ(xsp_dynolog_open(&d), -ENAMETOOLONG);
	setenv("KINETO_IPC_SOCKET_DIR", "/nonexistent", 1);
	xsp_kineto_env_read();
	CHECK_EQ(xsp_dynolog_open(&d), -ENOENT);
	CHECK_EQ(d.fd, -1);
	tap_result("folders that cannot hold a socket");
}

int main(int argc, char **argv)
{
	bool path = arg_number(argc, argv, "path", 0);
	unsigned int rounds = arg_number(argc, argv, "rounds", 100);

	setenv("SLURM_JOB_ID", "4711", 1);
	unsetenv("XSPROF_DAEMON_UID");
	unsetenv("KINETO_IPC_SOCKET_DIR");
	if (path) {
		strcpy(dir, "/tmp/xsprof-ipc.XXXXXX");
		if (!mkdtemp(dir) || chmod(dir, 0755))
			tap_bail("%s: %s", dir, strerror(errno));
		setenv("KINETO_IPC_SOCKET_DIR", dir, 1);
	} else {
		fake_alone();
	}
	xsp_kineto_env_read();
	if (!fake_start(&fake, path ? dir : NULL)) {
		printf("1..0 # SKIP another daemon has the name \"dynolog\" here\n");
		return 77;
	}
	CHECK_EQ(xsp_dynolog_open(&d), 0);
	test_talk();
	test_lies();
	test_late();
	test_stranger();
	test_random(rounds);
	test_life();
	test_link(false);
	test_link(true);
	test_no_room();
	fake_end(&fake);
	if (path)
		rmdir(dir);
	return tap_done();
}
