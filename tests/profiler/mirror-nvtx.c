// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranges forwarded to an NVTX tool, and to none: the calls and their arguments, how often a name is
 * passed, concurrent first uses, and forks. With the argument "no-forks" without forks of several
 * threads, which TSan cannot follow.
 */
#include <sys/mman.h>

#include <xsprof/mirror.h>

#include "forward/forward.h"
#include "profiler/mirror-case.h"

#define TOOL	"libnvtx-tool.so"
#define NVTX	XSP_MIRROR_NVTX

/* Called by the tool while it is being loaded. */
void test_in_load(void);
static void (*in_load)(void);

void test_in_load(void)
{
	if (in_load)
		in_load();
}

static void nobody(void)
{
	errno = ENOTTY;
	CHECK(!xsprof_nvtx_available());
	CHECK_EQ(xsprof_nvtx_range_push("a"), -ENOTCONN);
	xsp_mirror_push(NVTX, "b", 0);
	xsp_mirror_push(NVTX, NULL, xsprof_name("c"));
	xsp_mirror_pop(NVTX);
	xsprof_nvtx_mark("m");
	xsprof_nvtx_mark(NULL);
	CHECK_EQ(xsprof_nvtx_range_pop(), -ENOTCONN);
	CHECK_EQ(xsprof_nvtx_range_push(NULL), -EINVAL);
	CHECK_EQ(errno, ENOTTY);
}

/* The same, and the program's output has not one byte more. */
static void silent(void)
{
	int fd = memfd_create("outputs", MFD_CLOEXEC), out = dup(1), err = dup(2);
	struct stat st;

	fflush(stdout);
	dup2(fd, 1);
	dup2(fd, 2);
	nobody();
	dup2(out, 1);
	dup2(err, 2);
	CHECK(!fstat(fd, &st) && st.st_size == 0);
}

static void refused(void)
{
	nobody();
	CHECK(!mirror_tool());
}

static void in_order(void)
{
	errno = ENOTTY;
	CHECK(xsprof_nvtx_available());
	CHECK_EQ(xsprof_nvtx_range_push("outer"), 0);
	CHECK_EQ(xsprof_nvtx_range_push("inner"), 1);
	xsprof_nvtx_mark("point");
	CHECK_EQ(xsprof_nvtx_range_push("outer"), 2);
	CHECK_EQ(xsprof_nvtx_range_pop(), 2);
	CHECK_EQ(xsprof_nvtx_range_pop(), 1);
	CHECK_EQ(xsprof_nvtx_range_pop(), 0);
	CHECK_EQ(xsprof_nvtx_range_pop(), -EOPNOTSUPP);
	CHECK_EQ(xsprof_nvtx_range_push("point"), 0);
	xsprof_nvtx_mark("point");
	CHECK_EQ(errno, ENOTTY);
	EXPECT("init", "domain xsprof", "register outer", "push outer", "register inner",
	       "push inner", "register point", "mark point", "push outer", "pop 2", "pop 1",
	       "pop 0", "pop -1", "push point", "mark point");
}

static void as_texts(void)
{
	CHECK_EQ(xsprof_nvtx_range_push("a"), 0);
	CHECK_EQ(xsprof_nvtx_range_push("a"), 1);
	xsprof_nvtx_mark("m");
	CHECK_EQ(xsprof_nvtx_range_pop(), 1);
	EXPECT("init", "domain xsprof", "push-text a", "push-text a", "mark m", "pop 1");
}

static void plain_calls(void)
{
	CHECK(xsprof_nvtx_available());
	CHECK_EQ(xsprof_nvtx_range_push("a"), 0);
	CHECK_EQ(xsprof_nvtx_range_push("b"), 1);
	xsprof_nvtx_mark("m");
	CHECK_EQ(xsprof_nvtx_range_pop(), 1);
	CHECK_EQ(xsprof_nvtx_range_pop(), 0);
}

static void plain(void)
{
	plain_calls();
	EXPECT("init", "plain-push a", "plain-push b", "plain-mark m", "plain-pop 1",
	       "plain-pop 0");
}

static void no_domain(void)
{
	plain_calls();
	EXPECT("init", "domain xsprof", "plain-push a", "plain-push b", "plain-mark m",
	       "plain-pop 1", "plain-pop 0");
}

static void takes_nothing(void)
{
	CHECK(xsprof_nvtx_available());
	CHECK_EQ(xsprof_nvtx_range_push("a"), -EOPNOTSUPP);
	xsprof_nvtx_mark("m");
	CHECK_EQ(xsprof_nvtx_range_pop(), -EOPNOTSUPP);
	EXPECT("init");
}

static void no_levels(void)
{
	CHECK_EQ(xsprof_nvtx_range_push("a"), -EOPNOTSUPP);
	CHECK_EQ(xsprof_nvtx_range_pop(), -EOPNOTSUPP);
	EXPECT("init", "domain xsprof", "register a", "push a", "pop 0");
}

/* As ops pass names: by id, of which two may have one text, and by texts without an id. */
static void ids(void)
{
	uint32_t a = xsprof_name("a"), b = xsprof_name("eight by"), other;

	other = xsprof_name_in(xsprof_category("other"), "a");
	CHECK(a != other);
	for (int i = 0; i < 3; i++) {
		xsp_mirror_push(NVTX | XSP_MIRROR_ITT, "a", a);
		xsp_mirror_push(NVTX, "a", other);
		xsp_mirror_push(NVTX, NULL, b);
		xsp_mirror_push(NVTX, "a", 0);
		/* If the registry is full all names have one id. */
		xsp_mirror_push(NVTX, "x", XSPROF_NAME_FULL);
		xsp_mirror_push(NVTX, "y", XSPROF_NAME_FULL);
		for (int k = 0; k < 6; k++)
			xsp_mirror_pop(NVTX | XSP_MIRROR_ITT);
	}
	CHECK_EQ(mirror_count("register", "a"), 1);
	CHECK_EQ(mirror_count("register", NULL), 4);
	CHECK_EQ(mirror_count("push", "a"), 9);
	CHECK_EQ(mirror_count("push", "eight by"), 3);
	CHECK_EQ(mirror_count("push", "x"), 3);
	CHECK_EQ(mirror_count("push", "y"), 3);
	CHECK_EQ(mirror_count("pop", NULL), 18);
	/* A known id is enough: the text is not looked at again. */
	xsp_mirror_push(NVTX, "z", a);
	CHECK_EQ(mirror_count("push", "a"), 10);
	mirror_nothing_bad();
}

/* More names than are cached, and one that is too long: all are forwarded. */
static void many(void)
{
	static char text[3 * XSPROF_TEXT_MAX];
	char name[32];
	size_t told;

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 9000; i++) {
			snprintf(name, sizeof(name), "name %d", i);
			if (round)
				xsp_mirror_push(NVTX, name, xsprof_name(name));
			else
				xsprof_nvtx_range_push(name);
			if (xsprof_nvtx_range_pop())
				tap_wrong("%s: not level 0", name);
		}
	memset(text, 'l', sizeof(text) - 1);
	CHECK_EQ(xsprof_nvtx_range_push(text), 0);
	CHECK_EQ(xsprof_nvtx_range_push(text), 1);
	memset(text, 'l', TOOL_NAME - 1);
	text[TOOL_NAME - 1] = '\0';
	CHECK_EQ(mirror_count("push-text", text), 2);
	told = mirror_count("register", NULL);
	CHECK(told > 4000 && told <= 8192);
	CHECK_EQ(mirror_count("push", NULL), 2 * told);
	CHECK_EQ(mirror_count("push-text", NULL), 2 * (9000 - told) + 2);
	for (int i = 0; i < 9000; i += 100) {
		snprintf(name, sizeof(name), "name %d", i);
		CHECK_EQ(mirror_count("push", name) + mirror_count("push-text", name), 2);
		CHECK(mirror_count("register", name) <= 1);
	}
	mirror_nothing_bad();
}

static void *race_main(void *arg)
{
	char name[32];

	pthread_barrier_wait(&mirror_barrier);
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		if (xsprof_nvtx_range_push("outer") != 0)
			tap_wrong("%s: not level 0", "outer");
		xsp_mirror_push(NVTX, name, xsprof_name(name));
		xsp_mirror_pop(NVTX);
		if (xsprof_nvtx_range_pop() != 0)
			tap_wrong("%s: not level 0", "pop");
	}
	return arg;
}

static void races(void)
{
	char name[32];

	mirror_race(race_main);
	CHECK_EQ(mirror_count("init", NULL), 1);
	CHECK_EQ(mirror_count("domain", NULL), 1);
	CHECK_EQ(mirror_count("register", NULL), 51);
	CHECK_EQ(mirror_count("register", "outer"), 1);
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		CHECK_EQ(mirror_count("register", name), 1);
		CHECK_EQ(mirror_count("push", name) + mirror_count("push-text", name), THREADS);
	}
	CHECK_EQ(mirror_count("pop", NULL), THREADS * 100);
	mirror_nothing_bad();
}

/* ---- while it is being loaded --------------------------------------------------------------- */

static void in_load_call(void)
{
	CHECK(!xsprof_nvtx_available());
	CHECK_EQ(xsprof_nvtx_range_push("too early"), -ENOTCONN);
}

static void comes_back(void)
{
	in_load = in_load_call;
	CHECK_EQ(xsprof_nvtx_range_push("a"), 0);
	EXPECT("init", "domain xsprof", "register a", "push a");
}

static pthread_barrier_t twice[2];

static void in_load_wait(void)
{
	pthread_barrier_wait(&twice[0]);
	pthread_barrier_wait(&twice[1]);
}

static void *load_main(void *arg)
{
	CHECK_EQ(xsprof_nvtx_range_push("loader's"), 0);
	return arg;
}

/* Runs @meanwhile while another thread is loading the tool. */
static void while_loading(void (*meanwhile)(void))
{
	pthread_t thread;

	in_load = in_load_wait;
	pthread_barrier_init(&twice[0], NULL, 2);
	pthread_barrier_init(&twice[1], NULL, 2);
	pthread_create(&thread, NULL, load_main, NULL);
	pthread_barrier_wait(&twice[0]);
	meanwhile();
	pthread_barrier_wait(&twice[1]);
	pthread_join(thread, NULL);
}

/* Return: the child's status, 0 if its checks passed. */
static int child_of(void (*run)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		run();
		fflush(stdout);
		_exit(tap_bad != 0);
	}
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static void fork_now(void)
{
	CHECK_EQ(child_of(nobody), 0);
}

static void fork_while_loading(void)
{
	while_loading(fork_now);
	CHECK_EQ(xsprof_nvtx_range_push("parent's"), 0);
	EXPECT("init", "domain xsprof", "register loader's", "push loader's",
	       "register parent's", "push parent's");
}

/* The load waits for this thread, as it might for the loader's lock; this thread must not wait. */
static void not_for_ever(void)
{
	while_loading(nobody);
	CHECK_EQ(xsprof_nvtx_range_push("late"), 0);
	EXPECT("init", "domain xsprof", "register loader's", "push loader's", "register late",
	       "push late");
}

/* ---- afterwards ----------------------------------------------------------------------------- */

static void in_child(void)
{
	CHECK(xsprof_nvtx_available());
	CHECK_EQ(xsprof_nvtx_range_push("a"), 1);
	CHECK_EQ(xsprof_nvtx_range_push("child's"), 2);
	EXPECT("init", "domain xsprof", "register a", "push a", "push a", "register child's",
	       "push child's");
}

static void fork_after(void)
{
	CHECK_EQ(xsprof_nvtx_range_push("a"), 0);
	CHECK_EQ(child_of(in_child), 0);
	CHECK_EQ(xsprof_nvtx_range_pop(), 0);
	EXPECT("init", "domain xsprof", "register a", "push a", "pop 0");
}

static bool stop;

static void *push_main(void *arg)
{
	char name[32];

	for (int i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED) && i < 9000; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		xsprof_nvtx_range_push(name);
		xsprof_nvtx_range_pop();
	}
	return arg;
}

/* Includes a name that the other thread was registering: no thread does so here; nothing waits. */
static void push_all(void)
{
	char name[32];

	CHECK(xsprof_nvtx_available());
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		CHECK_EQ(xsprof_nvtx_range_push(name), 0);
		CHECK_EQ(xsprof_nvtx_range_pop(), 0);
		CHECK(mirror_count("register", name) <= 1);
	}
	CHECK(mirror_count("pop", NULL) >= 100);
	mirror_nothing_bad();
}

static void fork_beside(void)
{
	pthread_t thread;

	CHECK(xsprof_nvtx_available());
	pthread_create(&thread, NULL, push_main, NULL);
	for (int i = 0; i < 10; i++)
		CHECK_EQ(child_of(push_all), 0);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	mirror_nothing_bad();
}

int main(int argc, char **argv)
{
	char ours[] = "/tmp/xsprof-mirror.XXXXXX", link[64], path[2 * PATH_MAX];

	mirror_start("NVTX_INJECTION64_PATH");
	mirror_case("nobody listens", NULL, NULL, silent);
	mirror_case("an empty path", "", NULL, silent);
	mirror_case("a folder", "/", NULL, silent);
	mirror_case("a path where nothing is", "/nonexistent/tool.so", NULL, silent);
	mirror_case("a file that is no library", "/proc/self/status", NULL, silent);
	mirror_case("a library that is no tool", "libitt-tool.so", NULL, refused);
	mirror_case("a tool that refuses", TOOL, "refuse", refused);
	mirror_case("ranges and marks in order, with levels", TOOL, NULL, in_order);
	mirror_case("a tool that registers no strings", TOOL, "texts", as_texts);
	mirror_case("a tool that knows no domains", TOOL, "core", plain);
	mirror_case("a tool that knows attributes alone", TOOL, "ex", plain);
	mirror_case("a tool that gives no domain", TOOL, "nodomain", no_domain);
	mirror_case("a tool that takes nothing", TOOL, "nothing", takes_nothing);
	mirror_case("a tool that counts no levels", TOOL, "levels", no_levels);
	mirror_case("names by ids", TOOL, NULL, ids);
	mirror_case("more names than are kept", TOOL, NULL, many);
	mirror_case("8 threads at once", TOOL, NULL, races);
	mirror_case("a tool that comes back while it is loaded", TOOL, NULL, comes_back);
	mirror_case("who waits does not wait for ever", TOOL, NULL, not_for_ever);
	mirror_case("a fork afterwards", TOOL, NULL, fork_after);
	if (argc < 2 || strcmp(argv[1], "no-forks")) {
		mirror_case("a fork while it is loaded", TOOL, NULL, fork_while_loading);
		mirror_case("forks while names are told", TOOL, NULL, fork_beside);
	}

	/* A file with the name of our own collector gets no calls. */
	if (!mkdtemp(ours))
		tap_bail("%s: %s", ours, strerror(errno));
	snprintf(link, sizeof(link), "%s/libxsprof-nvtx.so", ours);
	snprintf(path, sizeof(path), "%s/" TOOL, mirror_dir);
	if (symlink(path, link))
		tap_bail("%s: %s", link, strerror(errno));
	mirror_case("a collector of our own", link, NULL, refused);
	unlink(link);
	rmdir(ours);
	return tap_done();
}
