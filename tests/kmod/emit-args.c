// SPDX-License-Identifier: GPL-2.0-only
/*
 * The arguments of EMIT: each field as printed, numbers digit by digit; hostile ones are refused,
 * or made harmless in the log.
 */
#include <math.h>
#include <sys/wait.h>

#include "emit.h"

FIXTURE(emit_args)
{
	struct dev	d;
};

FIXTURE_SETUP(emit_args)
{
	ASSERT_EQ(0, tracefs_open(16 << 10));
	ASSERT_EQ(0, dev_attach(&self->d, XSPROF_MODE_DISCARD, 16 << 10, 1));
	ASSERT_EQ(0, page_says(&self->d));
}

FIXTURE_TEARDOWN(emit_args)
{
	EXPECT_EQ(0, tracefs_close());
	/* Whoever it was that had it on. */
	EXPECT_EQ(0, page_says(&self->d));
	dev_close(&self->d);
}

static void keep_line(const struct tracefs_event *ev, void *arg)
{
	snprintf(arg, 1024, "%s", strstr(ev->line, ev->kind));
}

/* What the one event of the trace says, from its kind on. */
static const char *line(void)
{
	static char text[1024];

	text[0] = 0;
	if (tracefs_read(keep_line, text))
		return "?";
	tracefs_clear();
	return text;
}

/* Each field of each kind, as it is shown. */
TEST_F(emit_args, fields)
{
	struct xsprof_emit e;
	double v = -0.125;
	char want[256];

	ASSERT_EQ(0, tracefs_set("", true));
	EXPECT_EQ(ALL_KINDS, page_says(&self->d));
	ASSERT_EQ(0, tracefs_set("xsp_clock_sync", false));
	ASSERT_EQ(0, tracefs_clear());
	EXPECT_EQ(1, emit(self->d.fd, XSPROF_EMIT_BEGIN, UINT64_MAX, "step one", "torch"));
	EXPECT_STREQ("xsp_begin: step one category=torch ticks=18446744073709551615", line());
	EXPECT_EQ(1, emit(self->d.fd, XSPROF_EMIT_END, 0, "", ""));
	EXPECT_STREQ("xsp_end:  category= ticks=0", line());
	e = marker(XSPROF_EMIT_INSTANT, 7, "cold", "cache");
	e.aux = XSPROF_SCOPE_GLOBAL;
	e.value = 42;
	EXPECT_EQ(1, dev_call(self->d.fd, XSPROF_IOC_EMIT, &e));
	EXPECT_STREQ("xsp_instant: cold category=cache scope=global value=42 ticks=7", line());
	e = marker(XSPROF_EMIT_COUNTER, 8, "bytes", "mem");
	e.value = (uint64_t)INT64_MIN;
	EXPECT_EQ(1, dev_call(self->d.fd, XSPROF_IOC_EMIT, &e));
	EXPECT_STREQ("xsp_counter: bytes=-9223372036854775808 double=0 category=mem ticks=8",
		     line());
	e.flags = XSPROF_EMIT_DOUBLE;
	memcpy(&e.value, &v, 8);
	EXPECT_EQ(1, dev_call(self->d.fd, XSPROF_IOC_EMIT, &e));
	snprintf(want, sizeof(want), "xsp_counter: bytes=%lld double=1 category=mem ticks=8",
		 (long long)e.value);
	EXPECT_STREQ(want, line());
	e = marker(XSPROF_EMIT_GPU, 9, "gemm", "gpu");
	e.aux = XSPROF_GPU_MEMCPY;
	e.value = 77;
	e.begin = 100;
	e.end = 200;
	e.device = 1;
	e.stream = 3;
	e.clock = 2;
	EXPECT_EQ(1, dev_call(self->d.fd, XSPROF_IOC_EMIT, &e));
	EXPECT_STREQ("xsp_gpu_activity: gemm category=gpu kind=memcpy device=1 stream=3 "
		     "correlation=77 begin=100 end=200 clock=2 ticks=9", line());
	/* The shortest structure there is; a second has about as many ticks as the page says. */
	e = marker(XSPROF_EMIT_COMPLETE, 10, "forward", "torch");
	e.size = __builtin_offsetof(struct xsprof_emit, begin);
	e.value = self->d.ctl->clock.freq;
	EXPECT_EQ(1, dev_call(self->d.fd, XSPROF_IOC_EMIT, &e));
	snprintf(want, sizeof(want), "%s", line());
	EXPECT_EQ(&want[0], strstr(want, "xsp_complete: forward category=torch duration_ns="));
	EXPECT_NE(NULL, strstr(want, " ticks=10"));
	v = strtod(strchr(want, '=') + strlen("=torch duration_ns="), NULL);
	EXPECT_LT(fabs(v / 1e9 - 1), 0.05) {
		TH_LOG("%s", want);
	}
}

/* Texts that would write lines of their own, or hang over the end. */
TEST_F(emit_args, texts)
{
	char text[4 * XSPROF_EMIT_TEXT_MAX], want[4 * XSPROF_EMIT_TEXT_MAX];
	struct xsprof_emit e;

	ASSERT_EQ(0, tracefs_set("xsp_begin", true));
	EXPECT_EQ(1, emit(self->d.fd, XSPROF_EMIT_BEGIN, 1,
			  "a\n root-1 [000] 0.1: sched_switch: \r\t\33[2J\177\302\233z", "b\nc"));
	EXPECT_STREQ("xsp_begin: a? root-1 [000] 0.1: sched_switch: ???[2J???z category=b?c "
		     "ticks=1", line());
	/* UTF-8 is left alone. */
	EXPECT_EQ(1, emit(self->d.fd, XSPROF_EMIT_BEGIN, 1, "\303\244\342\202\254\302\240", "c"));
	EXPECT_STREQ("xsp_begin: \303\244\342\202\254\302\240 category=c ticks=1", line());
	/* As long as can be; longer; inside a character. */
	for (unsigned int len = XSPROF_EMIT_TEXT_MAX - 2; len < XSPROF_EMIT_TEXT_MAX + 4; len++) {
		memset(text, 'x', len);
		text[len] = 0;
		snprintf(want, sizeof(want), "xsp_begin: %.*s%s category=c ticks=1",
			 XSPROF_EMIT_TEXT_MAX, text, len > XSPROF_EMIT_TEXT_MAX ? "..." : "");
		EXPECT_EQ(1, emit(self->d.fd, XSPROF_EMIT_BEGIN, 1, text, "c"));
		EXPECT_STREQ(want, line());
	}
	memset(text, 'x', sizeof(text));
	memcpy(text + XSPROF_EMIT_TEXT_MAX - 2, "\342\202\254\342\202\254", 7);
	snprintf(want, sizeof(want), "xsp_begin: %.*s... category=c ticks=1",
		 XSPROF_EMIT_TEXT_MAX - 2, text);
	EXPECT_EQ(1, emit(self->d.fd, XSPROF_EMIT_BEGIN, 1, text, "c"));
	EXPECT_STREQ(want, line());
	/* It ends at its first 0; what follows is not looked at. */
	e = marker(XSPROF_EMIT_BEGIN, 1, "short", "c");
	e.name_len = UINT32_MAX;
	EXPECT_EQ(1, dev_call(self->d.fd, XSPROF_IOC_EMIT, &e));
	EXPECT_STREQ("xsp_begin: short category=c ticks=1", line());
}

/* Arguments that are refused, whoever traces. */
TEST_F(emit_args, hostile)
{
	static const uint64_t bad[] = {
		1, 4096, 0x7fffffffffffull, 0x800000000000ull, 0xffff888000000000ull,
		0xffffffff81000000ull, UINT64_MAX,
	};
	char *page = mmap(NULL, 2 * self->d.page, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct seen s = { 0 };
	struct xsprof_emit e;
	uint64_t good = 0;
	struct dev r;
	int fd, status;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, page);
	munmap(page + self->d.page, self->d.page);
	for (int on = 0; on < 2; on++) {
		ASSERT_EQ(0, tracefs_set("", on));
		for (unsigned int k = 0; k < XSPROF_EMIT_KINDS; k++) {
			for (unsigned int bit = 0; bit < 32; bit++) {
				e = marker(k, 1, "n", "c");
				e.flags = 1u << bit;
				if (k != XSPROF_EMIT_COUNTER || e.flags != XSPROF_EMIT_DOUBLE) {
					EXPECT_EQ(-EINVAL,
						  dev_call(self->d.fd, XSPROF_IOC_EMIT, &e));
				}
				e = marker(k, 1, "n", "c");
				e.reserved = 1u << bit;
				EXPECT_EQ(-EINVAL, dev_call(self->d.fd, XSPROF_IOC_EMIT, &e));
				e = marker(k, 1, "n", "c");
				e.aux = 4u << bit;
				if (k != XSPROF_EMIT_GPU && e.aux) {
					EXPECT_EQ(-EINVAL,
						  dev_call(self->d.fd, XSPROF_IOC_EMIT, &e));
				}
				e = marker(k, 1, "n", "c");
				e.stream = 1u << bit;
				if (k != XSPROF_EMIT_GPU) {
					EXPECT_EQ(-EINVAL,
						  dev_call(self->d.fd, XSPROF_IOC_EMIT, &e));
				}
				e = marker(k, 1, "n", "c");
				e.value = 1u << bit;
				if (k <= XSPROF_EMIT_END) {
					EXPECT_EQ(-EINVAL,
						  dev_call(self->d.fd, XSPROF_IOC_EMIT, &e));
				}
				e = marker(k, 1, "n", "c");
				e.kind = XSPROF_EMIT_KINDS + (1u << bit) - 1;
				EXPECT_EQ(-EINVAL, dev_call(self->d.fd, XSPROF_IOC_EMIT, &e));
			}
			for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
				e = marker(k, 1, "n", "c");
				e.name = bad[i];
				EXPECT_EQ(on ? -EFAULT : 0,
					  dev_call(self->d.fd, XSPROF_IOC_EMIT, &e));
				e = marker(k, 1, "n", "c");
				e.category = bad[i];
				e.category_len = UINT32_MAX;
				EXPECT_EQ(on ? -EFAULT : 0,
					  dev_call(self->d.fd, XSPROF_IOC_EMIT, &e));
			}
			/* Where nothing is said, nothing is looked at. */
			e = marker(k, 1, "", "");
			e.name = UINT64_MAX;
			EXPECT_EQ(on, dev_call(self->d.fd, XSPROF_IOC_EMIT, &e));
			good += on;
			/* To the last byte of a page, and one further. */
			memset(page, 'p', self->d.page);
			e = marker(k, 1, "", "");
			e.name = (uintptr_t)page + self->d.page - 100;
			e.name_len = 100;
			EXPECT_EQ(on, dev_call(self->d.fd, XSPROF_IOC_EMIT, &e));
			good += on;
			e.name_len = 101;
			EXPECT_EQ(on ? -EFAULT : 0, dev_call(self->d.fd, XSPROF_IOC_EMIT, &e));
			page[self->d.page - 1] = 0;
			EXPECT_EQ(on, dev_call(self->d.fd, XSPROF_IOC_EMIT, &e));
			good += on;
		}
	}
	/* Not of a process that was given the descriptor, an open that is nothing, a reader. */
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid)
		_exit(emit(self->d.fd, XSPROF_EMIT_BEGIN, 1, "n", "c") == -EPERM ? 0 : 1);
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	fd = dev_open();
	ASSERT_GE(fd, 0);
	EXPECT_EQ(-ENODEV, emit(fd, XSPROF_EMIT_BEGIN, 1, "n", "c"));
	ASSERT_EQ(0, dev_read_id(&r, fd, self->d.id, 0));
	EXPECT_EQ(-ENOTTY, emit(r.fd, XSPROF_EMIT_BEGIN, 1, "n", "c"));
	dev_close(&r);
	close(fd);
	ASSERT_EQ(0, tracefs_set("", false));
	tracefs_read(see, &s);
	EXPECT_EQ(good, total(&s));
	munmap(page, self->d.page);
}

TEST_HARNESS_MAIN
