// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces on demand of a program without its own client: the library's client creates a session of
 * all threads with the requested options, and saves its result. The test replaces the result: other
 * tests cover building and writing it.
 */
#include <sys/wait.h>

#include <xsprof/ondemand.h>
#include <xsprof/profiler.h>
#include <xsprof/result.h>
#include <xsprof/trace.h>

#include "profiler/fake.h"

/* What a session has recorded. */
struct xsprof_result {
	unsigned int	ops[3];		/* per thread */
	unsigned int	inputs;
	bool		shapes;
	bool		stack;
	uint32_t	activities;
	char		id[32];
};

static struct fake fake;
static char top[100];
static xsprof_name_t names[3];
static bool stop;

/* The library finds these three in the program. */
int xsprof_result_open(const char *path, const struct xsprof_result_options *opts,
		       struct xsprof_result **result)
{
	struct xsprof_result *r = calloc(1, sizeof(*r));
	const struct xsprof_event *ev;
	struct xsprof_trace *trace;
	int err;

	if (!r || xsprof_trace_open(path, NULL, &trace))
		tap_bail("%s: %s", path, xsprof_trace_error(NULL));
	r->shapes = opts->config->report_input_shapes;
	r->stack = opts->config->with_stack;
	r->activities = opts->activities;
	CHECK_EQ(opts->config->state, XSPROF_PROFILER_KINETO_ONDEMAND);
	CHECK_EQ(opts->nr_tids, 0);
	snprintf(r->id, sizeof(r->id), "%s",
		 opts->config->trace_id ? opts->config->trace_id : "none");
	while ((err = xsprof_trace_next(trace, &ev)) > 0) {
		struct xsprof_trace_op op;
		const char *name;

		if (ev->ticks < opts->from_ticks || !ev->name || !xsprof_trace_op(ev, &op))
			continue;
		name = xsprof_trace_name(trace, ev->producer, ev->name);
		if (!strncmp(name, "thread", 6) && name[6] >= '0' && name[6] <= '2')
			r->ops[name[6] - '0']++;
	}
	CHECK_EQ(err, 0);
	xsprof_trace_close(trace);
	*result = r;
	return 0;
}

int xsprof_result_save_as(struct xsprof_result *r, const char *path, const char *name,
			  uint64_t *events)
{
	FILE *f = fopen(path, "wx");

	if (!f)
		return -errno;
	/* Until it is complete the file has another name. */
	CHECK(!strncmp(name, top, strlen(top)) && strcmp(name, path));
	*events = r->ops[0] + r->ops[1] + r->ops[2];
	fprintf(f, "%d %d %d %d %d %u %s", r->ops[0] > 0, r->ops[1] > 0, r->ops[2] > 0, r->shapes,
		r->stack, r->activities, r->id);
	return fclose(f) ? -errno : 0;
}

void xsprof_result_free(struct xsprof_result *r)
{
	free(r);
}

static void *work(void *arg)
{
	unsigned int k = (uintptr_t)arg;
	struct xsprof_op op = { .name = names[k], .sequence = XSPROF_NO_SEQUENCE };

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		xsprof_op_begin(&op);
		usleep(500);
		xsprof_op_end();
		if (!k)
			xsprof_profiler_step();
	}
	return NULL;
}

static long long real_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000ll + ts.tv_nsec / 1000000;
}

/* Return: the contents of the file, once it exists. */
static const char *comes(const char *stem, pid_t pid)
{
	static char text[200];
	char path[200];

	snprintf(path, sizeof(path), "%s/%s_%d.json", top, stem, (int)pid);
	text[0] = '\0';
	for (unsigned int i = 0; i < FAKE_PATIENCE * 100; i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n;

		if (fd < 0) {
			usleep(10000);
			continue;
		}
		n = read(fd, text, sizeof(text) - 1);
		text[n > 0 ? n : 0] = '\0';
		close(fd);
		unlink(path);
		return text;
	}
	return "nothing came";
}

static void check(const char *stem, pid_t pid, const char *want)
{
	const char *text = comes(stem, pid);

	if (strcmp(text, want))
		tap_wrong("%s: %s, not %s", stem, text, want);
}

/* Runs until the trace has begun, and a little longer. */
static int program(void)
{
	struct xsprof_op op = { .name = xsprof_name("thread2"), .sequence = XSPROF_NO_SEQUENCE };

	while (xsprof_profiler_state() != XSPROF_PROFILER_KINETO_ONDEMAND)
		usleep(1000);
	for (unsigned int i = 0; i < 10; i++) {
		xsprof_op_begin(&op);
		xsprof_op_end();
	}
	return 0;
}

static void test_end(void)
{
	char *argv[] = { (char *)"ondemand-session", (char *)"program", NULL };
	int status = -1;
	pid_t pid;

	fake_configure(&fake, "ACTIVITIES_LOG_FILE=%s/end.json\nPROFILE_START_TIME=%lld\n"
		       "ACTIVITIES_DURATION_MSECS=3600000\n", top, real_ms());
	fflush(stdout);
	pid = fork();
	if (!pid) {
		setenv("KINETO_USE_DAEMON", "1", 1);
		execv("/proc/self/exe", argv);
		_exit(126);
	}
	waitpid(pid, &status, 0);
	CHECK_EQ(status, 0);
	/* The program has exited: the file exists now, or never. */
	check("end", pid, "0 0 1 0 0 5 none");
	tap_result("a program that ends first: what there is of the trace is saved");
}

int main(int argc, char **argv)
{
	struct xsprof_profiler_config config = { .size = sizeof(config),
		.state = XSPROF_PROFILER_CPU };
	struct xsprof_result *own = NULL;
	unsigned int handed;
	pthread_t thread[3];
	char path[200];
	FILE *conf;

	if (argc > 1 && !strcmp(argv[1], "program"))
		return program();
	strcpy(top, "/tmp/xsprof-demand.XXXXXX");
	if (!mkdtemp(top))
		tap_bail("%s: %s", top, strerror(errno));
	snprintf(path, sizeof(path), "%s/conf", top);
	conf = fopen(path, "w");
	if (!conf || fputs("ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS=0.02\n"
			   "ACTIVITIES_WARMUP_PERIOD_SECS=0\n", conf) < 0 || fclose(conf))
		tap_bail("%s: %s", path, strerror(errno));
	setenv("KINETO_CONFIG", path, 1);
	setenv("KINETO_ONDEMAND_TRACE_DIR", top, 1);
	unsetenv("KINETO_IPC_SOCKET_DIR");
	fake_alone();
	if (!fake_start(&fake, NULL)) {
		printf("1..0 # SKIP another daemon has the name \"dynolog\" here\n");
		return 77;
	}
	test_end();
	for (unsigned int i = 0; i < 3; i++) {
		char name[] = "thread0";

		name[6] += i;
		names[i] = xsprof_name(name);
		pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)i);
	}
	CHECK_EQ(xsprof_ondemand_init(), 0);

	fake_configure(&fake, "ACTIVITIES_LOG_FILE=%s/time.json\nPROFILE_START_TIME=%lld\n"
		       "ACTIVITIES_DURATION_MSECS=200\nPROFILE_REPORT_INPUT_SHAPES=true\n"
		       "PROFILE_WITH_STACK=true\nREQUEST_TRACE_ID=id7\nACTIVITY_TYPES=cpu_op\n",
		       top, real_ms());
	check("time", getpid(), "1 1 1 1 1 1 id7");
	tap_result("by time: ops of all threads, with what was asked for");

	fake_configure(&fake, "ACTIVITIES_LOG_FILE=%s/steps.json\nPROFILE_START_ITERATION=0\n"
		       "PROFILE_START_ITERATION_ROUNDUP=10\nACTIVITIES_ITERATIONS=20\n"
		       "ACTIVITIES_WARMUP_ITERATIONS=2\n", top);
	check("steps", getpid(), "1 1 1 0 0 5 none");
	tap_result("by iterations of xsprof_profiler_step()");

	/* The program's own session goes on, and the request gets none. */
	CHECK_EQ(xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0), 0);
	handed = fake_configure(&fake, "ACTIVITIES_LOG_FILE=%s/none.json\nPROFILE_START_TIME=%lld\n"
				"ACTIVITIES_DURATION_MSECS=1\n", top, real_ms());
	fake_until(&fake, &fake.handed, handed);
	fake_more(&fake, &fake.idle, 2);
	CHECK_EQ(xsprof_profiler_state(), XSPROF_PROFILER_CPU);
	CHECK_EQ(xsprof_disable_profiler(NULL), 0);
	fake_configure(&fake, "ACTIVITIES_LOG_FILE=%s/after.json\nPROFILE_START_TIME=%lld\n"
		       "ACTIVITIES_DURATION_MSECS=200\n", top, real_ms());
	check("after", getpid(), "1 1 1 0 0 5 none");
	snprintf(path, sizeof(path), "%s/none_%d.json", top, (int)getpid());
	CHECK(access(path, F_OK));
	tap_result("a session of the program's own goes first");

	/* The reverse: during the request's session the program's calls are refused. */
	fake_configure(&fake, "ACTIVITIES_LOG_FILE=%s/theirs.json\nPROFILE_START_TIME=%lld\n"
		       "ACTIVITIES_DURATION_MSECS=3600000\n", top, real_ms());
	while (xsprof_profiler_state() != XSPROF_PROFILER_KINETO_ONDEMAND)
		usleep(1000);
	CHECK_EQ(xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0), -EBUSY);
	CHECK_EQ(xsprof_toggle_collection(false, 0), -EBUSY);
	CHECK_EQ(xsprof_disable_profiler(&own), -EBUSY);
	CHECK(!own);
	CHECK_EQ(xsprof_profiler_state(), XSPROF_PROFILER_KINETO_ONDEMAND);
	/* But the program may cancel the request. */
	CHECK_EQ(xsprof_ondemand_cancel(), 0);
	while (xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0) == -EBUSY)
		usleep(1000);
	CHECK_EQ(xsprof_profiler_state(), XSPROF_PROFILER_CPU);
	CHECK_EQ(xsprof_disable_profiler(NULL), 0);
	snprintf(path, sizeof(path), "%s/theirs_%d.json", top, (int)getpid());
	CHECK(access(path, F_OK));
	tap_result("one that was asked for from outside is not the program's to end");

	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	fake_end(&fake);
	snprintf(path, sizeof(path), "%s/conf", top);
	unlink(path);
	CHECK(!rmdir(top));
	return tap_done();
}
