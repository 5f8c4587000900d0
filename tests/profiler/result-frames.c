// SPDX-License-Identifier: GPL-2.0-only
/*
 * Results: names of the frames of ops' stacks. The addresses are the program's own: it is built
 * with debug information, with a function that is inlined into another.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/draw.h"
#include "common/tap.h"
#include "profiler/ops.h"

static uint64_t addresses[4];
static unsigned int inner_line, outer_line, top_line, begin_line, cxx_line;

/* Code after a symbol without a size may belong to another function. */
asm(".pushsection .text.unsized,\"ax\"\n.type unsized, %function\nunsized:\n.zero 64\n"
    ".popsection");
extern const char unsized[] __asm__("unsized");

/* Replaces the library's. */
uint32_t xsprof_op_wanted = 1;

__attribute__((noinline)) void xsprof_emit_op_begin(const struct xsprof_op *op)
{
	(void)op;
	addresses[2] = (uint64_t)__builtin_return_address(0);
}

static __attribute__((noinline)) uint64_t here(void)
{
	return (uint64_t)__builtin_return_address(0);
}

static inline __attribute__((always_inline)) void inlined(volatile int *n)
{
	addresses[0] = here(); inner_line = __LINE__;
	*n += 1;
}

__attribute__((noinline)) static void around(volatile int *n)
{
	inlined(n); outer_line = __LINE__;
	*n += 2;
}

__attribute__((noinline)) static void top(volatile int *n)
{
	addresses[1] = here(); top_line = __LINE__;
	around(n);
	*n += 4;
}

__attribute__((noinline)) static void begins(volatile int *n)
{
	struct xsprof_op op = { .scope = (uint32_t)*n };

	xsprof_op_begin(&op); begin_line = __LINE__;
	*n += 8;
}

/* A mangled name, as a C++ compiler makes it. */
__attribute__((noinline)) void of_cxx(volatile int *n) __asm__("_ZN5space6of_cxxEPVi");

void of_cxx(volatile int *n)
{
	addresses[3] = here(); cxx_line = __LINE__;
	*n += 16;
}

/* ---- what a recorder would have written ----------------------------------------------------- */

struct self {
	uint64_t	start;
	uint64_t	end;
	uint64_t	offset;
	char		id[80];
	char		path[4096];
};

/* The first object is the program. */
static int read_self(struct dl_phdr_info *info, size_t size, void *data)
{
	struct self *s = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const char *at = (const char *)(info->dlpi_addr + ph->p_vaddr);
		const char *end = at + ph->p_memsz;

		if (ph->p_type == PT_LOAD && ph->p_flags & PF_X) {
			s->start = (uint64_t)at;
			s->end = (uint64_t)end;
			s->offset = ph->p_offset;
		}
		while (ph->p_type == PT_NOTE && at + sizeof(ElfW(Nhdr)) <= end) {
			const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
			const unsigned char *id;

			at += sizeof(*note) + ((note->n_namesz + 3) & ~3u);
			id = (const unsigned char *)at;
			at += (note->n_descsz + 3) & ~3u;
			if (note->n_type != NT_GNU_BUILD_ID || note->n_descsz > 32)
				continue;
			for (unsigned int k = 0; k < note->n_descsz; k++)
				sprintf(s->id + 2 * k, "%02x", id[k]);
		}
	}
	return 1;
}

/* Makes a result whose only op has that stack, mapped from that file. */
static struct xsprof_result *with(struct ops *o, const struct self *s, const char *id,
				  const char *path, const uint64_t *address, size_t nr)
{
	char text[5000];

	ops_begin(o);
	snprintf(text, sizeof(text), "%llx-%llx %llx %s %s", (unsigned long long)s->start,
		 (unsigned long long)s->end, (unsigned long long)s->offset, id, path);
	/* An earlier mapping, which is gone. */
	ops_map(o, "0-ffffffffffffffff 0 - /gone");
	ops_map(o, text);
	ops_map(o, "this is no mapping");
	ops_stack(o, 1, address, nr, 0);
	ops_stacked(o, 1, 2000);
	return ops_result(o, NULL);
}

#define SELF(a)	((a) - s->start + s->offset)

static void test_names(const struct self *s)
{
	const struct xsprof_profiler_event *ev;
	struct xsprof_result *r;
	char want[3][256];
	struct ops o;

	if (!*s->id)
		tap_note("no build id: which file it is is not tested");
	r = with(&o, s, *s->id ? s->id : "-", s->path, addresses, 2);
	ev = xsprof_result_event(r, 0);
	snprintf(want[0], sizeof(want[0]), "inlined at result-frames.c:%u", inner_line);
	snprintf(want[1], sizeof(want[1]), "around at result-frames.c:%u", outer_line);
	snprintf(want[2], sizeof(want[2]), "top at result-frames.c:%u", top_line);
#ifdef WITH_DW
	CHECK_EQ(xsprof_event_nr_frames(ev), 3);
	for (unsigned int i = 0; i < 3; i++)
		CHECK_STR(xsprof_event_frame(ev, i), want[i]);
	CHECK_STR(xsprof_event_frame(ev, 3), "");
	xsprof_result_free(r);
	ops_free(&o);
	/* The function that begins an op is not shown at the top; but further down it is. */
	r = with(&o, s, *s->id ? s->id : "-", s->path,
		 (uint64_t[]){ addresses[2], addresses[1], addresses[2] }, 3);
	ev = xsprof_result_event(r, 0);
	snprintf(want[0], sizeof(want[0]), "begins at result-frames.c:%u", begin_line);
	CHECK_EQ(xsprof_event_nr_frames(ev), 4);
	CHECK_STR(xsprof_event_frame(ev, 0), want[0]);
	CHECK_STR(xsprof_event_frame(ev, 1), want[2]);
	CHECK(!strncmp(xsprof_event_frame(ev, 2), "xsprof_op_begin at ", 19));
	CHECK_STR(xsprof_event_frame(ev, 3), want[0]);
	tap_result("functions, lines, what is inlined");
#else
	CHECK_EQ(xsprof_event_nr_frames(ev), 2);
	snprintf(want[0], sizeof(want[0]), "+0x%llx", (unsigned long long)SELF(addresses[0]));
	CHECK(strstr(xsprof_event_frame(ev, 0), want[0]));
	tap_result("places in files, for want of elfutils");
	tap_skip("functions, lines, what is inlined", "built without elfutils");
#endif
	xsprof_result_free(r);
	ops_free(&o);
}

static void test_symbols(const struct self *s)
{
	const struct xsprof_profiler_event *ev;
	struct xsprof_result *r;
	char want[4200];
	struct ops o;

	r = with(&o, s, "-", s->path, (uint64_t[]){ (uintptr_t)unsized + 32, addresses[3] }, 2);
	ev = xsprof_result_event(r, 0);
	CHECK_EQ(xsprof_event_nr_frames(ev), 2);
	snprintf(want, sizeof(want), "%s+0x%llx", s->path,
		 (unsigned long long)SELF((uintptr_t)unsized + 32));
	CHECK_STR(xsprof_event_frame(ev, 0), want);
	tap_result("a symbol without a size has no code");
#ifdef WITH_DW
	if (dlopen("libstdc++.so.6", RTLD_NOW)) {
		snprintf(want, sizeof(want), "space::of_cxx(int volatile*) at result-frames.c:%u",
			 cxx_line);
		CHECK_STR(xsprof_event_frame(ev, 1), want);
		tap_result("a name of C++ as people write it");
	} else {
		tap_skip("a name of C++ as people write it", "no libstdc++");
	}
#endif
	xsprof_result_free(r);
	ops_free(&o);
}

/* ---- what a hostile program would have written ---------------------------------------------- */

static uint64_t odd_number(const struct self *s)
{
	const uint64_t numbers[] = { 0, 1, 0x1000, s->start, s->end, addresses[0], INT64_MAX,
				     INT64_MAX - 0xfffu, UINT64_MAX };

	return numbers[draw(sizeof(numbers) / sizeof(numbers[0]))] + draw(3) - 1;
}

static const char *odd_word(const struct self *s, bool path)
{
	static char of_many[3000];
	const char *const ids[] = { "-", s->id, "00", "xyz", of_many };
	const char *const paths[] = { s->path, "/", "/dev/zero", "/proc/self/mem", "relative",
				      "/etc/passwd", "/nonexistent;with more", of_many };

	memset(of_many, '7', sizeof(of_many) - 1);
	return path ? paths[draw(sizeof(paths) / sizeof(paths[0]))] :
		      ids[draw(sizeof(ids) / sizeof(ids[0]))];
}

/* Tables of odd values: each address still has a text. */
static void test_hostile(const struct self *s)
{
	unsigned int frames = 0;
	char text[8000];

	for (unsigned int round = 0; round < 300; round++) {
		struct xsprof_result *r;
		uint64_t address[20];
		struct ops o;

		ops_begin(&o);
		for (unsigned int i = 0; i < 40; i++) {
			snprintf(text, sizeof(text), "%llx-%llx %llx %s %s",
				 (unsigned long long)odd_number(s),
				 (unsigned long long)odd_number(s),
				 (unsigned long long)odd_number(s), odd_word(s, false),
				 odd_word(s, true));
			if (!draw(8))
				text[draw(strlen(text))] = ' ';
			if (strlen(text) < XSPROF_TEXT_MAX)
				ops_map(&o, text);
		}
		for (unsigned int i = 0; i < 20; i++)
			address[i] = odd_number(s);
		ops_stack(&o, 1, address, 20, UINT32_MAX);
		ops_stacked(&o, 1, 2000);
		r = ops_result(&o, NULL);
		for (size_t i = 0; i < xsprof_event_nr_frames(xsprof_result_event(r, 0)); i++)
			frames += *xsprof_event_frame(xsprof_result_event(r, 0), i) != '\0';
		xsprof_result_free(r);
		ops_free(&o);
	}
	CHECK(frames >= 300 * 21);
	tap_result("hostile tables of mappings");
}

static void test_others(const struct self *s)
{
	unsigned long long at = SELF(addresses[0]);
	const struct xsprof_profiler_event *ev;
	struct xsprof_result *r;
	char want[4200];
	struct ops o;

	r = with(&o, s, "0123456789abcdef", s->path, addresses, 1);
	ev = xsprof_result_event(r, 0);
	CHECK_EQ(xsprof_event_nr_frames(ev), 1);
#ifdef WITH_DW
	snprintf(want, sizeof(want), "?? (%s+0x%llx)", s->path, at);
	CHECK_STR(xsprof_event_frame(ev, 0), want);
#endif
	xsprof_result_free(r);
	ops_free(&o);
	for (unsigned int i = 0; i < 4; i++) {
		static const char *const paths[] = { "/nonexistent", "relative", "/dev/zero",
						     "/etc/passwd" };

		r = with(&o, s, "-", paths[i], addresses, 1);
		snprintf(want, sizeof(want), "%s+0x%llx", paths[i], at);
		CHECK_STR(xsprof_event_frame(xsprof_result_event(r, 0), 0), want);
		xsprof_result_free(r);
		ops_free(&o);
	}
	tap_result("another file, or none");
}

/*
 * A program without debug information: the library does not look for it in a folder where another
 * user may have put files, but does where only root and the user can.
 */
static void test_beside(const struct self *s)
{
	static const char what[] = "what is beside a file where others can put something";
	static const struct {
		uid_t	file;
		uid_t	folder;
		mode_t	mode;
		bool	link;	/* a link to the file from another user's folder */
		bool	opened;
	} ways[] = {
		{ 0, 0, 0755, false, true }, { 1, 0, 0755, false, false },
		{ 0, 1, 0755, false, false }, { 0, 0, 0777, false, false },
		{ 0, 0, 01777, false, false }, { 0, 1, 0755, true, false },
	};
	char elsewhere[] = "/tmp/xsprof-frames.XXXXXX", moved[64];
	char dir[] = "/tmp/xsprof-frames.XXXXXX", path[64], beside[80], command[5000];
	char events[4096];

	if (geteuid()) {
		tap_skip(what, "not root");
		return;
	}
	if (!mkdtemp(dir) || !mkdtemp(elsewhere))
		tap_bail("mkdtemp: %s", strerror(errno));
	snprintf(path, sizeof(path), "%s/program", dir);
	snprintf(beside, sizeof(beside), "%s.debug", path);
	snprintf(command, sizeof(command), "objcopy --strip-all '%s' %s", s->path, path);
	if (system(command) || mkfifo(beside, 0600))
		tap_bail("%s", command);
	snprintf(moved, sizeof(moved), "%s/program", elsewhere);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		int hold = open(beside, O_RDWR), in = inotify_init1(IN_NONBLOCK);
		struct xsprof_result *r;
		struct ops o;

		CHECK(hold >= 0 && inotify_add_watch(in, beside, IN_OPEN) >= 0);
		CHECK(!ways[i].link || (!rename(path, moved) && !symlink(moved, path)));
		CHECK(!chown(path, ways[i].file, 0) && !chown(dir, ways[i].folder, 0) &&
		      !chmod(dir, ways[i].mode));
		r = with(&o, s, "-", path, addresses, 1);
		CHECK_EQ(xsprof_event_nr_frames(xsprof_result_event(r, 0)), 1);
#ifdef WITH_DW
		CHECK_EQ(read(in, events, sizeof(events)) > 0, ways[i].opened);
#else
		(void)events;
#endif
		xsprof_result_free(r);
		ops_free(&o);
		close(in);
		close(hold);
	}
	unlink(beside);
	unlink(path);
	unlink(moved);
	rmdir(dir);
	rmdir(elsewhere);
	tap_result("%s", what);
}

int main(void)
{
	struct self self = { 0 };
	volatile int n = 0;
	ssize_t len;

	top(&n);
	begins(&n);
	of_cxx(&n);
	dl_iterate_phdr(read_self, &self);
	len = readlink("/proc/self/exe", self.path, sizeof(self.path) - 1);
	if (len <= 0)
		tap_bail("/proc/self/exe: %s", strerror(errno));
	test_names(&self);
	test_symbols(&self);
	test_hostile(&self);
	test_others(&self);
	test_beside(&self);
	return tap_done();
}
