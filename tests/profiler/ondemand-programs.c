// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs with KINETO_USE_DAEMON in their environment, each in its own process: their requests,
 * messages and ends.
 *
 *	ondemand-programs path=0|1 torch=FILE	FILE: a library named like PyTorch's
 */
#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <xsprof/ondemand.h>

#include "profiler/demand.h"

static const char *torch;

static void say(char what)
{
	if (write(1, &what, 1) != 1)
		_exit(3);
}

/* Loads it before the library looks for it. */
__attribute__((constructor(101))) static void load(void)
{
	const char *name = getenv("XSPROF_TEST_LOAD");

	if (name && !dlopen(name, RTLD_NOW))
		_exit(125);
}

static bool ends_in_call;

static int told_start(void *data)
{
	(void)data;
	say('s');
	if (ends_in_call)
		exit(7);
	return 0;
}

static int told_stop(void *data)
{
	(void)data;
	say('p');
	return 0;
}

static int told_save(void *data, const char *path)
{
	(void)data;
	(void)path;
	say('v');
	return 0;
}

/* Waits for a byte, then exits normally. */
static int program(bool with_client)
{
	struct xsprof_client c = { .size = sizeof(c), .start = told_start, .stop = told_stop,
		.save = told_save };
	char byte;

	ends_in_call = with_client && getenv("XSPROF_TEST_EXIT");
	if (with_client && xsprof_register_client(&c))
		return 4;
	say('b');
	while (read(0, &byte, 1) == 1)
		say('m');
	return 0;
}

struct run {
	pid_t	pid;
	int	in, out, err;
};

static void run(struct run *r, const char *what, const char *env, const char *value)
{
	int in[2], out[2], err[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		tap_bail("pipe");
	fflush(stdout);
	r->pid = fork();
	if (!r->pid) {
		char *argv[] = { (char *)"ondemand", (char *)what, NULL };

		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(err[1], 2);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setenv("KINETO_USE_DAEMON", "1", 1);
		if (env)
			setenv(env, value, 1);
		execv("/proc/self/exe", argv);
		_exit(126);
	}
	close(in[0]);
	close(out[1]);
	close(err[1]);
	r->in = in[1];
	r->out = out[0];
	r->err = err[0];
}

static char heard(struct run *r)
{
	char c = 0;

	return read(r->out, &c, 1) == 1 ? c : 0;
}

/* Return: its status; *said: the number of bytes on standard error. */
static int ended(struct run *r, char *said, size_t room)
{
	int status = -1;
	size_t at = 0;
	ssize_t n;

	close(r->in);
	while ((n = read(r->err, said + at, room - 1 - at)) > 0)
		at += n;
	said[at] = '\0';
	waitpid(r->pid, &status, 0);
	close(r->out);
	close(r->err);
	return status;
}

static void test_programs(void)
{
	static char said[10000];
	unsigned int requests;
	struct run r;

	run(&r, "program", NULL, NULL);
	CHECK_EQ(heard(&r), 'b');
	until_asks(r.pid);
	CHECK_EQ(sockets(), by_path);
	CHECK_EQ(ended(&r, said, sizeof(said)), 0);
	CHECK(!*said);
	CHECK_EQ(sockets(), 0);
	tap_result("KINETO_USE_DAEMON: asks from the start, in silence, and leaves no socket");

	requests = fake_count(&fake, &fake.requests);
	run(&r, "program", "XSPROF_ONDEMAND", "0");
	CHECK_EQ(heard(&r), 'b');
	CHECK_EQ(write(r.in, "", 1), 1);
	CHECK_EQ(heard(&r), 'm');
	CHECK_EQ(ended(&r, said, sizeof(said)), 0);
	CHECK_EQ(fake_count(&fake, &fake.requests), requests);
	tap_result("XSPROF_ONDEMAND=0: does not");

	/* A client of the program's own is polled for nevertheless. */
	requests = fake_count(&fake, &fake.requests);
	setenv("KINETO_LOG_LEVEL", "1", 1);
	run(&r, "program", "XSPROF_TEST_LOAD", torch);
	CHECK_EQ(heard(&r), 'b');
	CHECK_EQ(read(r.err, said, 40), 40);
	CHECK(!strncmp(said, "xsprof: on-demand: Kineto is in the process", 40));
	CHECK_EQ(ended(&r, said, sizeof(said)), 0);
	CHECK_EQ(fake_count(&fake, &fake.requests), requests);
	unsetenv("KINETO_LOG_LEVEL");
	run(&r, "program-client", "XSPROF_TEST_LOAD", torch);
	CHECK_EQ(heard(&r), 'b');
	until_asks(r.pid);
	CHECK_EQ(ended(&r, said, sizeof(said)), 0);
	tap_result("where PyTorch's profiler is in the process the library leaves it to that");

	run(&r, "program", "KINETO_LOG_LEVEL", "0");
	CHECK_EQ(heard(&r), 'b');
	until_asks(r.pid);
	requests = fake_configure(&fake, "no\x1b[31msense\nACTIVITIES_LOG_FILE=/etc/passwd");
	fake_until(&fake, &fake.handed, requests);
	until_asks(r.pid);
	requests = fake_configure(&fake, "ACTIVITIES_LOG_FILE=/etc/größe\x1b[31m.json");
	fake_until(&fake, &fake.handed, requests);
	until_asks(r.pid);
	CHECK_EQ(ended(&r, said, sizeof(said)), 0);
	CHECK(strstr(said, "xsprof: dynolog: registered"));
	CHECK(strstr(said, "xsprof: on-demand: line 1 of the request: not KEY=VALUE"));
	CHECK(strstr(said, "/etc/größe?[31m.json"));
	CHECK(!strchr(said, 0x1b));
	tap_result("KINETO_LOG_LEVEL: says why a request is refused, and writes to no terminal");

	run(&r, "program", "KINETO_LOG_LEVEL", "0");
	CHECK_EQ(heard(&r), 'b');
	until_asks(r.pid);
	close(r.err);
	r.err = open("/dev/null", O_RDONLY);
	requests = fake_configure(&fake, "nonsense");
	fake_until(&fake, &fake.handed, requests);
	until_asks(r.pid);
	CHECK_EQ(ended(&r, said, sizeof(said)), 0);
	tap_result("KINETO_LOG_LEVEL: a standard error that nobody reads ends no program");

	run(&r, "program-client", NULL, NULL);
	CHECK_EQ(heard(&r), 'b');
	until_asks(r.pid);
	fake_configure(&fake, "ACTIVITIES_LOG_FILE=%s/exit.json\nPROFILE_START_TIME=%lld\n"
		       "ACTIVITIES_DURATION_MSECS=3600000\n", traces, real_ms());
	CHECK_EQ(heard(&r), 's');
	CHECK_EQ(ended(&r, said, sizeof(said)), 0);
	CHECK_EQ(heard(&r), 0);
	CHECK_EQ(entries(traces), 2);
	tap_result("a program that ends while its client records does not call it again");

	run(&r, "program-client", "XSPROF_TEST_EXIT", "1");
	CHECK_EQ(heard(&r), 'b');
	until_asks(r.pid);
	fake_configure(&fake, "ACTIVITIES_LOG_FILE=%s/exit.json\nPROFILE_START_TIME=%lld\n"
		       "ACTIVITIES_DURATION_MSECS=3600000\n", traces, real_ms());
	CHECK_EQ(heard(&r), 's');
	CHECK_EQ(heard(&r), 0);
	CHECK_EQ(ended(&r, said, sizeof(said)), 7 << 8);
	CHECK_EQ(sockets(), 0);
	tap_result("a client that ends the program from the library's own thread");
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strncmp(argv[1], "program", 7))
		return program(argv[1][7]);
	torch = arg_text(argc, argv, "torch");
	if (!torch)
		tap_bail("torch=FILE is missing");
	if (!demand_begin(arg_number(argc, argv, "path", 0))) {
		printf("1..0 # SKIP another daemon has the name \"dynolog\" here\n");
		return 77;
	}
	test_programs();
	demand_end();
	CHECK_EQ(sockets(), 0);
	return tap_done();
}
