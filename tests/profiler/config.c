// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kineto's configuration text: the meaning of each key, what is refused and at which place, and
 * which texts are requests.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xsprof/profiler.h>

#include "ondemand/kineto-config.h"
#include "ondemand/kineto-env.h"
#include "common/draw.h"
#include "common/tap.h"

static struct xsp_kineto_config c;
static struct xsp_kineto_error error;

/* Parses a copy without bytes after it, so that ASan and valgrind report a read past the end. */
static int parse_over(const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1);
	int err;

	memcpy(copy, text, len);
	err = xsp_kineto_config_parse(&c, copy, len, &error);
	free(copy);
	return err;
}

static int parse(const char *text)
{
	xsp_kineto_config_init(&c);
	return parse_over(text, strlen(text));
}

static void test_defaults(void)
{
	CHECK_EQ(parse(""), 0);
	CHECK(c.enabled && !c.asked && !c.shapes && !c.memory && !c.stack && !c.flops &&
	      !c.modules && !c.snapshot && !c.sync_events);
	CHECK_EQ(c.duration_ms, 500);
	CHECK_EQ(c.warmup_ms, 5000);
	CHECK_EQ(c.poll_ms, 5000);
	CHECK_EQ(c.gpu_buffer_mb, 128);
	CHECK_EQ(c.start_iteration, -1);
	CHECK_EQ(c.activities, 0);
	CHECK(!*c.file && !*c.trace_id);
	CHECK_EQ(c.unknown + c.ignored, 0);
	tap_result("what is not said has its default");
}

/* Sent by `dyno gputrace --log-file ... --duration-ms 700 --record-shapes --with-stacks`. */
static void test_by_time(void)
{
	CHECK_EQ(parse("\n"
		       "    ACTIVITIES_LOG_FILE=/var/tmp/xs_trace.json\n"
		       "PROFILE_START_TIME=0\n"
		       "ACTIVITIES_DURATION_MSECS=700\n"
		       "PROFILE_REPORT_INPUT_SHAPES=true\n"
		       "PROFILE_WITH_STACK=true\n"
		       "PROFILE_WITH_FLOPS=false\n"
		       "PROFILE_WITH_MODULES=false\n"
		       "    REQUEST_TRACE_ID=1571638714276790389\n"
		       "    "), 0);
	CHECK(c.asked && c.shapes && c.stack && !c.flops && !c.modules && !c.memory);
	CHECK_EQ(c.duration_ms, 700);
	CHECK_EQ(c.start_ms, 0);
	CHECK(!strcmp(c.file, "/var/tmp/xs_trace.json"));
	CHECK(!strcmp(c.trace_id, "1571638714276790389"));
	CHECK(!xsp_kineto_config_by_iteration(&c));
	CHECK_EQ(c.unknown, 0);
	tap_result("dyno's text for a duration");
}

/* The text for --iterations 5 --profile-start-iteration-roundup 100. */
static void test_by_iteration(void)
{
	CHECK_EQ(parse("\n"
		       "    ACTIVITIES_LOG_FILE=/var/tmp/xs_trace.json\n"
		       "PROFILE_START_ITERATION=0\n"
		       "PROFILE_START_ITERATION_ROUNDUP=100\n"
		       "ACTIVITIES_ITERATIONS=5\n"
		       "PROFILE_REPORT_INPUT_SHAPES=false\n"
		       "PROFILE_WITH_STACK=false\n"
		       "PROFILE_WITH_FLOPS=false\n"
		       "PROFILE_WITH_MODULES=false\n"
		       "    REQUEST_TRACE_ID=42\n"), 0);
	CHECK(c.asked);
	CHECK(xsp_kineto_config_by_iteration(&c));
	CHECK_EQ(c.start_iteration, 0);
	CHECK_EQ(c.roundup, 100);
	CHECK_EQ(c.iterations, 5);
	CHECK_EQ(parse("PROFILE_START_TIME=1\nPROFILE_START_ITERATION=7\nACTIVITIES_ITERATIONS=1"),
		 0);
	CHECK(xsp_kineto_config_by_iteration(&c));
	CHECK_EQ(parse("ACTIVITIES_ITERATIONS=5"), 0);
	CHECK(!xsp_kineto_config_by_iteration(&c));
	CHECK_EQ(parse("PROFILE_START_ITERATION=5"), 0);
	CHECK(!xsp_kineto_config_by_iteration(&c));
	CHECK_EQ(parse("PROFILE_START_ITERATION=5\nACTIVITIES_ITERATIONS=1\nPROFILE_MEMORY=1"), 0);
	CHECK(!xsp_kineto_config_by_iteration(&c));
	tap_result("dyno's text for iterations, which go before times");
}

static void test_keys(void)
{
	CHECK_EQ(parse("ACTIVITIES_ENABLED = no # and why\n"
		       "\tACTIVITIES_DURATION_SECS\t=\t3\r\n"
		       "ACTIVITIES_WARMUP_PERIOD_SECS=0.25\n"
		       "ACTIVITIES_WARMUP_ITERATIONS=4\n"
		       "ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB=64\n"
		       "ACTIVITIES_DISPLAY_CUDA_SYNC_WAIT_EVENTS=t\n"
		       "PROFILE_START_TIME=1700000000000\n"
		       "PROFILE_PROFILE_MEMORY=Y\n"
		       "PROFILE_WITH_FLOPS=1\n"
		       "PROFILE_WITH_MODULES=TRUE\n"
		       "PROFILE_MEMORY=yes\n"
		       "PROFILE_MEMORY_DURATION_MSECS=1500\n"
		       "CLIENT_INTERFACE_ENABLE_OP_INPUTS_COLLECTION=true\n"
		       "PYTHON_STACK_TRACE=true\n"
		       "CUPTI_PM_SAMPLING_METRICS=a,b\n"
		       "REQUEST_GROUP_TRACE_ID=g\n"
		       "CUSTOM_CONFIG=x=y;z=1\n"
		       "ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS=7\n"), 0);
	CHECK(!c.enabled && c.sync_events && c.memory && c.flops && c.modules && c.snapshot &&
	      c.shapes && c.stack && c.asked);
	CHECK_EQ(c.duration_ms, 3000);
	CHECK_EQ(c.warmup_ms, 250);
	CHECK_EQ(c.warmup_iterations, 4);
	CHECK_EQ(c.gpu_buffer_mb, 64);
	CHECK_EQ(c.start_ms, 1700000000000);
	CHECK_EQ(c.snapshot_ms, 1500);
	CHECK_EQ(c.poll_ms, 7000);
	CHECK(!strcmp(c.metrics, "a,b") && !strcmp(c.group_id, "g"));
	CHECK(!strcmp(c.custom, "x=y;z=1"));
	tap_result("keys, blanks and comments");

	CHECK_EQ(parse("ACTIVITIES_DURATION_SECS=3\nACTIVITIES_DURATION_MSECS=20\n"), 0);
	CHECK_EQ(c.duration_ms, 20);
	CHECK_EQ(parse("ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS=0"), 0);
	CHECK_EQ(c.poll_ms, 10);
	CHECK_EQ(parse("ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS=3600"), 0);
	CHECK_EQ(c.poll_ms, 50000);
	tap_result("the last word counts; the daemon is asked before it forgets");

	CHECK_EQ(parse("NEWER_KEY=1\nVERBOSE_LOG_LEVEL=2\nENABLE_IPC_FABRIC=what\n"
		       "activities_enabled=0"), 0);
	CHECK_EQ(c.unknown, 2);
	CHECK_EQ(c.ignored, 2);
	CHECK(c.enabled && !c.asked);
	tap_result("keys that are not known are counted and passed by");
}

static void test_types(void)
{
	CHECK_EQ(parse("ACTIVITY_TYPES=cpu_op, KERNEL ,,gpu_memcpy"), 0);
	CHECK_EQ(c.activities, XSPROF_ACTIVITY(CPU) | XSPROF_ACTIVITY(CUDA));
	CHECK_EQ(parse("ACTIVITY_TYPES=xpu_runtime,mtia_runtime,hpu_op,privateuse1_runtime"), 0);
	CHECK_EQ(c.activities, XSPROF_ACTIVITY(XPU) | XSPROF_ACTIVITY(MTIA) |
		 XSPROF_ACTIVITY(HPU) | XSPROF_ACTIVITY(PRIVATEUSE1));
	CHECK_EQ(parse("ACTIVITY_TYPES="), 0);
	CHECK_EQ(c.activities, 0);
	CHECK_EQ(parse("ACTIVITY_TYPES=cpu_op,of_tomorrow"), 0);
	CHECK_EQ(c.activities, XSPROF_ACTIVITY(CPU));
	CHECK_EQ(c.unknown, 1);
	CHECK_EQ(parse("ACTIVITY_TYPES=kernal"), -EINVAL);
	tap_result("activity types");
}

static void refused(const char *text, unsigned int line)
{
	if (parse(text) != -EINVAL)
		tap_wrong("taken: %s", text);
	if (error.line != line)
		tap_wrong("line %u and not %u: %s", error.line, line, text);
	CHECK(error.what && *error.what);
}

static void test_refused(void)
{
	static const char *const bools[] = { "n", "y", "no", "yes", "f", "t", "false", "true", "0",
		"1", "False", "YES" };
	char text[2000];

	for (unsigned int i = 0; i < 12; i++) {
		snprintf(text, sizeof(text), "PROFILE_WITH_STACK=%s", bools[i]);
		CHECK_EQ(parse(text), 0);
		CHECK_EQ(c.stack, i < 10 ? i & 1 : i == 11);
	}
	refused("\n\nnonsense\n", 3);
	refused("=1", 1);
	refused("ACTIVITIES_ITERATIONS=5\n  \nACTIVITIES_DURATION_MSECS\n", 3);
	refused("PROFILE_WITH_STACK=2", 1);
	refused("PROFILE_WITH_STACK=", 1);
	refused("PROFILE_WITH_STACK=truely", 1);
	refused("ACTIVITIES_ITERATIONS=-1", 1);
	refused("ACTIVITIES_ITERATIONS=0x10", 1);
	refused("ACTIVITIES_ITERATIONS=2147483648", 1);
	refused("ACTIVITIES_DURATION_MSECS=", 1);
	refused("ACTIVITIES_DURATION_MSECS=12 13", 1);
	refused("ACTIVITIES_DURATION_SECS=1.2345", 1);
	refused("ACTIVITIES_DURATION_SECS=.5", 1);
	refused("ACTIVITIES_DURATION_SECS=1.-5", 1);
	refused("PROFILE_START_TIME=9223372036854775808", 1);
	refused("PROFILE_START_TIME=-5", 1);
	refused("PROFILE_START_ITERATION=-1", 1);
	memset(text, 'x', sizeof(text));
	memcpy(text, "REQUEST_TRACE_ID=", 17);
	text[sizeof(text) - 1] = '\0';
	refused(text, 1);
	CHECK_EQ(parse("PROFILE_START_TIME=9223372036854775807"), 0);
	CHECK_EQ(parse("ACTIVITIES_ITERATIONS=2147483647"), 0);
	tap_result("lines that make no sense are told by their number");
}

static void test_bytes(void)
{
	static char big[XSP_KINETO_TEXT_MAX + 1];

	xsp_kineto_config_init(&c);
	CHECK_EQ(parse_over("ACTIVITIES_ITERATIONS=5\0\0", 25), 0);
	CHECK_EQ(c.iterations, 5);
	xsp_kineto_config_init(&c);
	CHECK_EQ(parse_over("ACTIVITIES_ITERATIONS\0=5", 24), -EINVAL);
	memset(big, '\n', sizeof(big));
	xsp_kineto_config_init(&c);
	CHECK_EQ(parse_over(big, XSP_KINETO_TEXT_MAX), 0);
	CHECK_EQ(parse_over(big, XSP_KINETO_TEXT_MAX + 1), -E2BIG);
	CHECK_EQ(parse("\xff\xfe=\x80"), 0);
	CHECK_EQ(c.unknown, 1);
	tap_result("bytes that are no text, and too much of it");
}

static void test_start(void)
{
	const int64_t now = 1800000000000;
	int64_t at = 0;

	CHECK_EQ(parse("ACTIVITIES_WARMUP_PERIOD_SECS=3"), 0);
	CHECK_EQ(xsp_kineto_config_start(&c, now, &at), 0);
	CHECK_EQ(at, now + 5000);
	c.start_ms = now + 12345;
	CHECK_EQ(xsp_kineto_config_start(&c, now, &at), 0);
	CHECK_EQ(at, now + 12345);
	c.start_ms = now - 10000;
	CHECK_EQ(xsp_kineto_config_start(&c, now, &at), 0);
	c.start_ms = now - 10001;
	CHECK_EQ(xsp_kineto_config_start(&c, now, &at), -ETIME);
	c.start_ms = 1;
	CHECK_EQ(xsp_kineto_config_start(&c, now, &at), -ETIME);
	c.start_ms = now + XSP_KINETO_DAY_MS + 1;
	CHECK_EQ(xsp_kineto_config_start(&c, now, &at), -ERANGE);
	c.start_ms = INT64_MAX;
	CHECK_EQ(xsp_kineto_config_start(&c, now, &at), -ERANGE);
	tap_result("when it begins");
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		tap_bail("%s: %s", path, strerror(errno));
	close(fd);
}

static void test_base(void)
{
	char dir[] = "/tmp/xsprof-config.XXXXXX", path[100];

	if (!mkdtemp(dir))
		tap_bail("mkdtemp");
	snprintf(path, sizeof(path), "%s/conf", dir);
	setenv("KINETO_CONFIG", path, 1);
	xsp_kineto_env_read();
	CHECK_EQ(xsp_kineto_config_base(&c, &error), 0);
	CHECK_EQ(c.duration_ms, 500);
	write_file(path, "ACTIVITIES_DURATION_MSECS=77\nACTIVITIES_LOG_FILE=/tmp/base.json\n");
	CHECK_EQ(xsp_kineto_config_base(&c, &error), 0);
	CHECK_EQ(c.duration_ms, 77);
	CHECK(!c.asked);
	CHECK_EQ(parse_over("PROFILE_WITH_STACK=1", 20), 0);
	CHECK(!c.asked && c.stack && !strcmp(c.file, "/tmp/base.json"));
	CHECK_EQ(parse_over("ACTIVITIES_DURATION_MSECS=78", 28), 0);
	CHECK(c.asked && c.duration_ms == 78);
	write_file(path, "ACTIVITIES_DURATION_MSECS=77\nnonsense\n");
	CHECK_EQ(xsp_kineto_config_base(&c, &error), -EINVAL);
	CHECK_EQ(error.line, 2);
	CHECK_EQ(c.duration_ms, 500);
	CHECK_EQ(truncate(path, 1 << 20), 0);
	CHECK_EQ(xsp_kineto_config_base(&c, &error), -E2BIG);
	unlink(path);
	/* The pipe has no writer: a parser that opens it hangs here. */
	CHECK_EQ(mkfifo(path, 0600), 0);
	CHECK_EQ(xsp_kineto_config_base(&c, &error), -EINVAL);
	unlink(path);
	setenv("KINETO_CONFIG", dir, 1);
	xsp_kineto_env_read();
	CHECK(xsp_kineto_config_base(&c, &error) < 0);
	rmdir(dir);
	tap_result("the machine's file is what requests are read over");
}

/* Parses random sequences of valid pieces and random bytes. */
static void test_random(unsigned int rounds)
{
	static const char *const piece[] = { "ACTIVITIES_LOG_FILE", "ACTIVITY_TYPES",
		"ACTIVITIES_DURATION_MSECS", "ACTIVITIES_DURATION_SECS", "PROFILE_START_TIME",
		"PROFILE_START_ITERATION", "PROFILE_WITH_STACK", "REQUEST_TRACE_ID",
		"ACTIVITIES_ITERATIONS", "=", "=", "=", "\n", "\n", "\n", " ", "#", ",", ".", "-",
		"true", "cpu_op", "kernel", "9", "2147483647", "9223372036854775807", "0", "1.5",
		"/tmp/", "..", "\r", "\t" };
	static char text[XSP_KINETO_TEXT_MAX + 100];
	unsigned int taken = 0, refusals = 0;
	int64_t at;

	for (unsigned int i = 0; i < rounds; i++) {
		size_t len = 0, n = draw(draw(50) ? 12 : 6000);

		while (n-- && len < sizeof(text) - 100) {
			const char *p = piece[draw(sizeof(piece) / sizeof(piece[0]))];

			if (!draw(10)) {
				text[len++] = draw(256);
				continue;
			}
			memcpy(text + len, p, strlen(p));
			len += strlen(p);
		}
		xsp_kineto_config_init(&c);
		if (parse_over(text, len)) {
			refusals++;
			CHECK(error.what && error.line > 0 && error.line <= len + 1);
			continue;
		}
		taken++;
		CHECK(c.duration_ms >= 0 && c.poll_ms >= 10 && c.poll_ms <= 50000);
		CHECK(memchr(c.file, 0, sizeof(c.file)) && memchr(c.trace_id, 0, 1024));
		xsp_kineto_config_by_iteration(&c);
		xsp_kineto_config_start(&c, 1800000000000, &at);
	}
	CHECK(taken > rounds / 50 && refusals > rounds / 50);
	tap_result("random texts");
}

int main(int argc, char **argv)
{
	test_defaults();
	test_by_time();
	test_by_iteration();
	test_keys();
	test_types();
	test_refused();
	test_bytes();
	test_start();
	test_base();
	test_random(arg_number(argc, argv, "rounds", 20000));
	return tap_done();
}
