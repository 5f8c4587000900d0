// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranges forwarded to an ITT collector, to none, and not to xsprof's own: the calls and their
 * arguments, how often a name is passed, and concurrent first uses.
 */
#include <xsprof/mirror.h>

#include "forward/forward.h"
#include "profiler/mirror-case.h"

#define TOOL	"libitt-tool.so"
#define PLAIN	"libitt-plain.so"
#define ITT	XSP_MIRROR_ITT

static void nobody(void)
{
	errno = ENOTTY;
	CHECK(!xsprof_itt_is_available());
	CHECK_EQ(xsprof_itt_range_push("a"), -ENOTCONN);
	xsp_mirror_push(ITT, "b", 0);
	xsp_mirror_push(ITT, NULL, xsprof_name("c"));
	xsp_mirror_pop(ITT);
	xsprof_itt_mark("m");
	xsprof_itt_mark(NULL);
	CHECK_EQ(xsprof_itt_range_pop(), -ENOTCONN);
	CHECK_EQ(xsprof_itt_range_push(NULL), -EINVAL);
	CHECK_EQ(errno, ENOTTY);
}

static void refused(void)
{
	nobody();
	CHECK(!mirror_tool());
}

static void calls(void)
{
	errno = ENOTTY;
	CHECK(xsprof_itt_is_available());
	CHECK_EQ(xsprof_itt_range_push("outer"), 0);
	CHECK_EQ(xsprof_itt_range_push("inner"), 0);
	xsprof_itt_mark("point");
	CHECK_EQ(xsprof_itt_range_push("outer"), 0);
	CHECK_EQ(xsprof_itt_range_pop(), 0);
	CHECK_EQ(xsprof_itt_range_pop(), 0);
	CHECK_EQ(xsprof_itt_range_pop(), 0);
	xsprof_itt_mark("point");
	CHECK_EQ(errno, ENOTTY);
}

static void marks(void)
{
	CHECK(xsprof_itt_is_available());
	xsprof_itt_mark("m");
	xsprof_itt_mark("m");
	EXPECT("init", "domain xsprof", "string m", "mark-create m", "mark m", "mark m");
}

#define TASKS(...) \
	"domain xsprof", "string outer", "begin outer", "string inner", "begin inner", \
	"string point", __VA_ARGS__, "begin outer", "end", "end", "end"

static void in_order(void)
{
	calls();
	EXPECT("init", TASKS("mark-create point", "mark point"), "mark point");
}

static void plain(void)
{
	calls();
	EXPECT(TASKS("mark-create point", "mark point"), "mark point");
}

static void markers(void)
{
	calls();
	EXPECT("init", TASKS("marker point"), "marker point");
}

/* The tool makes no objects, so it reads ours; a mark is a task of length 0. */
static void few(void)
{
	calls();
	EXPECT("init", "begin outer", "begin inner", "begin point", "end", "begin outer", "end",
	       "end", "end", "begin point", "end");
}

static void off(void)
{
	void (*tool_switch)(int);

	CHECK(xsprof_itt_is_available());
	CHECK_EQ(xsprof_itt_range_push("a"), 0);
	CHECK_EQ(xsprof_itt_range_pop(), 0);
	EXPECT("init", "domain xsprof");
	tool_switch = (void (*)(int))dlsym(mirror_tool(), "tool_switch");
	tool_switch(1);
	CHECK_EQ(xsprof_itt_range_push("a"), 0);
	CHECK_EQ(xsprof_itt_range_pop(), 0);
	EXPECT("init", "domain xsprof", "string a", "begin a", "end");
}

static void ids(void)
{
	uint32_t a = xsprof_name("a"), b = xsprof_name("eight by");

	for (int i = 0; i < 3; i++) {
		xsp_mirror_push(ITT | XSP_MIRROR_NVTX, "a", a);
		xsp_mirror_push(ITT, NULL, b);
		xsprof_itt_range_push("a");
		for (int k = 0; k < 3; k++)
			xsp_mirror_pop(ITT | XSP_MIRROR_NVTX);
	}
	CHECK_EQ(mirror_count("string", NULL), 2);
	CHECK_EQ(mirror_count("begin", "a"), 6);
	CHECK_EQ(mirror_count("begin", "eight by"), 3);
	CHECK_EQ(mirror_count("end", NULL), 9);
	mirror_nothing_bad();
}

/* More names than are cached: the tool makes handles for the others each time. */
static void many(void)
{
	char name[32];
	size_t told;

	for (int i = 0; i < 9000; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		xsprof_itt_range_push(name);
		xsprof_itt_range_pop();
	}
	CHECK_EQ(mirror_count("string", NULL), 9000);
	CHECK_EQ(mirror_count("begin", NULL), 9000);
	for (int i = 0; i < 9000; i += 100) {
		snprintf(name, sizeof(name), "name %d", i);
		CHECK_EQ(mirror_count("begin", name), 1);
		xsprof_itt_range_push(name);
		CHECK_EQ(mirror_count("begin", name), 2);
	}
	told = mirror_count("string", NULL) - 9000;
	CHECK(told < 60);
	mirror_nothing_bad();
}

static void *race_main(void *arg)
{
	char name[32];

	pthread_barrier_wait(&mirror_barrier);
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		xsprof_itt_range_push("outer");
		xsp_mirror_push(ITT, name, xsprof_name(name));
		xsprof_itt_mark("mark");
		xsp_mirror_pop(ITT);
		xsprof_itt_range_pop();
	}
	return arg;
}

static void races(void)
{
	char name[32];

	mirror_race(race_main);
	CHECK_EQ(mirror_count("init", NULL), 1);
	CHECK_EQ(mirror_count("domain", NULL), 1);
	CHECK_EQ(mirror_count("begin", "outer"), THREADS * 50);
	CHECK_EQ(mirror_count("mark-create", NULL), 1);
	/* While one thread creates the mark, the others send markers. */
	CHECK_EQ(mirror_count("mark", "mark") + mirror_count("marker", "mark"), THREADS * 50);
	CHECK(mirror_count("mark", "mark") > 0);
	CHECK_EQ(mirror_count("end", NULL), THREADS * 100);
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		CHECK_EQ(mirror_count("begin", name), THREADS);
		CHECK(mirror_count("string", name) >= 1);
	}
	mirror_nothing_bad();
}

static void races_few(void)
{
	mirror_race(race_main);
	CHECK_EQ(mirror_count("init", NULL), 1);
	CHECK_EQ(mirror_count("begin", NULL), THREADS * 150);
	CHECK_EQ(mirror_count("end", NULL), THREADS * 150);
	mirror_nothing_bad();
}

static void fork_after(void)
{
	int status = -1;
	pid_t pid;

	CHECK_EQ(xsprof_itt_range_push("a"), 0);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		CHECK_EQ(xsprof_itt_range_push("a"), 0);
		EXPECT("init", "domain xsprof", "string a", "begin a", "begin a");
		fflush(stdout);
		_exit(tap_bad != 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	EXPECT("init", "domain xsprof", "string a", "begin a");
}

/* Our own library is not loaded as a tool, unless the program has loaded it. */
static void own(void)
{
	CHECK(!access(getenv("INTEL_LIBITTNOTIFY64"), R_OK));
	nobody();
	CHECK(!mirror_tool());
}

/*
 * The same under another name, and recording, so that it would accept calls. The end checks that it
 * can be loaded.
 */
static void own_renamed(void)
{
	char file[PATH_MAX];

	snprintf(file, sizeof(file), "%s.capture", getenv("INTEL_LIBITTNOTIFY64"));
	setenv("XSPROF_RECORD", file, 1);
	nobody();
	if (!dlopen(getenv("INTEL_LIBITTNOTIFY64"), RTLD_LAZY))
		tap_wrong("%s", dlerror());
}

/* Our own collector, as xsprof record names it, and through links with other names. */
static void own_collector(void)
{
	char lib[2 * PATH_MAX], path[3 * PATH_MAX], dir[] = "/tmp/xsprof-mirror.XXXXXX", link[64];
	const char *variant = getenv("XSPROF_VARIANT");
	char user[64];

	snprintf(lib, sizeof(lib), "%s/../../lib", mirror_dir);
	snprintf(path, sizeof(path), "%s/libxsprof-itt.so", lib);
	if (access(path, R_OK)) {
		tap_skip("our own collector", "it is not built");
		return;
	}
	mirror_case("our own collector", path, NULL, own);
	if (variant && !strcmp(variant, "valgrind")) {
		tap_skip("our own collector under another name",
			 "to valgrind, how the loader reads $ORIGIN is an error");
		return;
	}
	if (!mkdtemp(dir))
		tap_bail("%s: %s", dir, strerror(errno));
	snprintf(link, sizeof(link), "%s/collector.so", dir);
	snprintf(user, sizeof(user), "%s/libxsprof-user.so.0", dir);
	if (symlink(path, link))
		tap_bail("%s: %s", link, strerror(errno));
	snprintf(path, sizeof(path), "%s/libxsprof-user.so.0", lib);
	if (symlink(path, user))
		tap_bail("%s: %s", user, strerror(errno));
	mirror_case("our own collector under another name", link, NULL, own_renamed);
	snprintf(path, sizeof(path), "%s.capture", link);
	if (unlink(path))
		tap_wrong("%s: %s: it did not record", path, strerror(errno));
	tap_result("our own collector did record");
	unlink(link);
	unlink(user);
	rmdir(dir);
}

int main(void)
{
	mirror_start("INTEL_LIBITTNOTIFY64");
	mirror_case("nobody listens", NULL, NULL, nobody);
	mirror_case("a path where nothing is", "/nonexistent/tool.so", NULL, nobody);
	mirror_case("a file that is no library", "/proc/self/status", NULL, nobody);
	mirror_case("a library that is no collector", "libnvtx-tool.so", NULL, refused);
	mirror_case("a collector without tasks", TOOL, "notasks", nobody);
	mirror_case("a collector that gives no domain", TOOL, "nodomain", nobody);
	mirror_case("tasks and marks in order", TOOL, NULL, in_order);
	mirror_case("a mark twice", TOOL, NULL, marks);
	mirror_case("functions by name", PLAIN, NULL, plain);
	mirror_case("a collector without marks", TOOL, "markers", markers);
	mirror_case("a collector that makes no objects", TOOL, "few", few);
	mirror_case("a domain that is switched off, and on", TOOL, "off", off);
	mirror_case("names by ids", TOOL, NULL, ids);
	mirror_case("more names than are kept", TOOL, NULL, many);
	mirror_case("8 threads at once", TOOL, NULL, races);
	mirror_case("8 threads at once, with objects of ours", TOOL, "few", races_few);
	mirror_case("a fork afterwards", TOOL, NULL, fork_after);
	own_collector();
	return tap_done();
}
