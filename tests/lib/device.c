// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library on the device: the kernel has what a process wrote, whatever happens to the process.
 * Also which processes use the device.
 *
 *	session XSPROF_BACKEND=device XSPROF_BUFFER_SIZE=256k device
 */
#include <signal.h>

#include "lib/device.h"

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
		/* A daemon: writes nothing until its parent has ended. */
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

/* It writes to memory that is mapped; what the kernel refuses to such a child is counted. */
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

/* Return: the backend that this environment selects. */
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

/* Other sizes than the environment's: the first producer is replaced at once. */
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

int main(int argc, char **argv)
{
	name = xsprof_name("number");
	if (argc > 1 && !strcmp(argv[1], "after-exec")) {
		numbers(30, 60);
		return 0;
	}
	if (argc > 1)
		return !strcmp(argv[1], "who") ? who() : init();
	if (!open_device())
		return tap_done();
	test_killed();
	test_children();
	test_exec();
	test_shared();
	test_closed();
	test_choice();
	test_init();
	return tap_done();
}
