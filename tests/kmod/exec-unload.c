// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module is unloaded while processes execute programs: its hook is removed, and the producers
 * of its last processes end by their exec.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "dev.h"
#include "module.h"

static int load(const char *path)
{
	int err = module_load(path, "");

	while (!err && access(XSPROF_DEVICE_PATH, F_OK))
		sched_yield();
	return err;
}

/* Executes all the time.  Return: its pid. */
static pid_t busy(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		pid = fork();
		if (!pid) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
}

/* Its hook goes with it, while others execute, and producers of its last processes end by that. */
TEST(module_goes)
{
	const char *path = getenv("XSPROF_MODULE");
	uint64_t rounds = env_figure(10, 2);
	int status, err;
	pid_t other;

	if (!path || access(path, R_OK))
		SKIP(return, "XSPROF_MODULE names no module that can be read");
	other = busy();
	for (uint64_t i = 0; i < rounds; i++) {
		pid_t pid = fork();

		if (!pid) {
			for (unsigned int k = 0; k < 50; k++) {
				struct dev d;

				if (dev_attach(&d, XSPROF_MODE_DISCARD, 1, 1) ||
				    dev_ring_open(&d, d.nr))
					_exit(1);
			}
			execl("/bin/true", "true", NULL);
			_exit(2);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_EQ(0, status);
		while ((err = module_unload()) == -EWOULDBLOCK)	/* its files are on their way out */
			sched_yield();
		ASSERT_EQ(0, err);
		ASSERT_EQ(0, load(path));
	}
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

TEST_HARNESS_MAIN
