// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the addresses of the needed functions in the target process. It stops no thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "inject/local.h"

#define PYTHON_FROM	0x03090000u
#define PYTHON_TO	0x030f0000u	/* the first unsupported version */

bool target_read(const struct target *t, uint64_t from, void *to, size_t len)
{
	return pread(t->mem, to, len, (off_t)from) == (ssize_t)len;
}

bool target_write(const struct target *t, uint64_t to, const void *from, size_t len)
{
	return pwrite(t->mem, from, len, (off_t)to) == (ssize_t)len;
}

/* ---- what it has mapped ---------------------------------------------------------------------- */

/* A mapping of /proc/PID/maps. */
struct mapping {
	uint64_t	begin;
	uint64_t	end;
	uint64_t	offset;
	uint64_t	inode;
	dev_t		dev;
	char		flags[8];
	char		path[PATH_MAX];
};

static bool next_mapping(FILE *f, struct mapping *m)
{
	char line[PATH_MAX + 128];
	unsigned int major, minor;
	int at = 0;

	if (!fgets(line, sizeof(line), f))
		return false;
	memset(m, 0, sizeof(*m));
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &m->begin,
		   &m->end, m->flags, &m->offset, &major, &minor, &m->inode, &at) < 7)
		return false;
	m->dev = makedev(major, minor);
	line[strcspn(line, "\n")] = '\0';
	snprintf(m->path, sizeof(m->path), "%s", line + at);
	return true;
}

static FILE *open_maps(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	return fopen(path, "re");
}

bool target_has_room(const struct target *t, uint64_t from, uint64_t to)
{
	static struct mapping m;
	FILE *f = open_maps(t->pid);
	bool has = false;

	while (f && !has && next_mapping(f, &m))
		has = to > m.begin && to <= m.end && m.flags[0] == 'r' && m.flags[1] == 'w' &&
		      (from >= m.begin || !strcmp(m.path, "[stack]"));
	if (f)
		fclose(f);
	return has;
}

/* Compares the device number of the mapping: some file systems have another in stat(). */
static bool is_mapped_as(int fd, const struct mapping *m)
{
	void *at = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	FILE *f = at == MAP_FAILED ? NULL : open_maps(getpid());
	static struct mapping own;
	bool same = false;

	while (f && next_mapping(f, &own))
		if (own.begin == (uint64_t)(uintptr_t)at)
			same = own.dev == m->dev && own.inode == m->inode;
	if (f)
		fclose(f);
	if (at != MAP_FAILED)
		munmap(at, 1);
	return same;
}

/* Opens the file as the process sees it, if it is still the mapped one. */
static int open_mapped(pid_t pid, const struct mapping *m)
{
	struct stat st;
	int found = file_find(pid, m->path, &st), fd;

	if (found < 0)
		return found;
	fd = st.st_ino == m->inode ? file_open(found) : -ESTALE;
	close(found);
	if (fd >= 0 && st.st_dev != m->dev && !is_mapped_as(fd, m)) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

/* Symbols to find in all files. */
enum { DLOPEN, DLSYM, DLERROR, ERRNO, SYSCALL, RUNTIME, INITIALIZED, PENDING, VERSION, NR_SYMBOLS };

struct search {
	struct target	*t;
	bool		replaced;	/* a mapped file was replaced or removed */
	bool		musl;
	bool		any;
	bool		free_threaded;
	bool		too_much;	/* its files exceed the limit */
	uint64_t	budget;		/* bytes that may still be read */
	uint64_t	version;
};

/* From 3.13 on Python's state begins with data for debuggers. */
static bool is_free_threaded(const struct target *t, uint64_t runtime)
{
	struct { char cookie[8]; uint64_t version, free_threaded; } head;

	return target_read(t, runtime, &head, sizeof(head)) &&
	       !memcmp(head.cookie, "xdebugpy", sizeof(head.cookie)) && head.free_threaded;
}

static void take_file(struct search *s, const struct mapping *m)
{
	struct symbol symbols[NR_SYMBOLS] = {
		[DLOPEN] = { "dlopen", 0, 0 },
		[DLSYM] = { "dlsym", 0, 0 },
		[DLERROR] = { "dlerror", 0, 0 },
		[ERRNO] = { "__errno_location", 0, 0 },
		[SYSCALL] = { "syscall", 0, 0 },
		[RUNTIME] = { "_PyRuntime", 0, 0 },
		[INITIALIZED] = { "Py_IsInitialized", 0, 0 },
		[PENDING] = { "Py_AddPendingCall", 0, 0 },
		[VERSION] = { "Py_Version", 0, 0 },
	};
	const char *name = strrchr(m->path, '/') + 1;
	bool libc = !strncmp(name, "libc.so", 7) || !strncmp(name, "libc-2", 6);
	uint64_t begin, restorer = 0, base;
	struct target *t = s->t;
	unsigned long version = 0;
	int fd, err;

	s->musl |= !!strstr(name, "ld-musl");
	fd = open_mapped(t->pid, m);
	if (fd < 0) {
		s->replaced = true;
		return;
	}
	err = symbols_find(fd, symbols, NR_SYMBOLS, &begin, libc ? &restorer : NULL, &s->budget);
	s->too_much |= err == -EFBIG;
	if (!err) {
		base = m->begin - begin;
		/* The program may define functions with these names. */
		if (libc || !strncmp(name, "libdl", 5)) {
			if (symbols[DLOPEN].value)
				t->dlopen = base + symbols[DLOPEN].value;
			if (symbols[DLSYM].value)
				t->dlsym = base + symbols[DLSYM].value;
			if (symbols[DLERROR].value)
				t->dlerror = base + symbols[DLERROR].value;
			if (symbols[ERRNO].value)
				t->errno_at = base + symbols[ERRNO].value;
			if (symbols[SYSCALL].value)
				t->system_call = base + symbols[SYSCALL].value;
			if (restorer)
				t->restorer = base + restorer;
		}
		if (symbols[RUNTIME].value && symbols[PENDING].value &&
		    symbols[INITIALIZED].value) {
			s->any = true;
			t->initialized = base + symbols[INITIALIZED].value;
			t->add_pending = base + symbols[PENDING].value;
			t->add_pending_size = symbols[PENDING].size;
			s->free_threaded = is_free_threaded(t, base + symbols[RUNTIME].value);
			if (symbols[VERSION].value &&
			    target_read(t, base + symbols[VERSION].value, &version,
					sizeof(version)))
				s->version = version;
		}
	}
	close(fd);
}

static int look_at_maps(struct search *s, char *why)
{
	char last[PATH_MAX] = "";
	struct mapping m;
	FILE *f = open_maps(s->t->pid);

	if (!f)
		return inject_refuse(why, -errno, "/proc/%d/maps: %s", (int)s->t->pid,
				     strerror(errno));
	while (!s->too_much && next_mapping(f, &m)) {
		/* The first mapping of each file is its base. */
		if (*m.path != '/' || m.offset || !strcmp(m.path, last))
			continue;
		strcpy(last, m.path);
		take_file(s, &m);
	}
	fclose(f);
	return 0;
}

/* ---- what forbids it ------------------------------------------------------------------------- */

/* In another mount namespace the path may not exist, or be another file. */
static int check_library(pid_t pid, const char *library, char *why)
{
	struct stat here, there;
	int fd;

	if (stat(library, &here))
		return inject_refuse(why, -errno, "%s: %s", library, strerror(errno));
	fd = file_find(pid, library, &there);
	if (fd >= 0)
		close(fd);
	if (fd == -EACCES || fd == -EPERM)
		return inject_refuse_ptrace(pid, -fd, why);
	if (fd < 0 || here.st_ino != there.st_ino || here.st_dev != there.st_dev)
		return inject_refuse(why, -ENOENT, "it has another file system (a container): %s "
				     "is missing there, or is another file: run xsprof "
				     "inside", library);
	return 0;
}

static int check_found(const struct search *s, char *why)
{
	const struct target *t = s->t;

	if (s->too_much)
		return inject_refuse(why, -EFBIG, "it has mapped too many or too large files to "
				     "search them for Python: start it with 'xsprof record "
				     "COMMAND'");
	if (!s->any && s->replaced)
		return inject_refuse(why, -ESTALE, "no Python was found in it, and some of its "
				     "files have been replaced (by an update): restart it");
	if (!s->any)
		return inject_refuse(why, -ENOEXEC, "it contains no Python, or a static one "
				     "without symbols: load the kernel module (modprobe xsprof), "
				     "or start it with 'xsprof record COMMAND'");
	if (s->musl)
		return inject_refuse(why, -ENOEXEC, "its C library is musl, and the libraries here "
				     "are for glibc");
	if (s->version && (s->version < PYTHON_FROM || s->version >= PYTHON_TO))
		return inject_refuse(why, -ENOTSUP, "its Python is %u.%u; supported are 3.9 to "
				     "3.14", (unsigned int)(s->version >> 24),
				     (unsigned int)(s->version >> 16 & 0xff));
	if (s->free_threaded)
		return inject_refuse(why, -ENOTSUP, "its Python is a free-threaded build: the GIL, "
				     "which shows the running thread, is missing: run it with a "
				     "build that has the GIL");
	if (!t->dlopen || !t->dlsym || !t->dlerror || !t->errno_at || !t->restorer ||
	    !t->system_call)
		return inject_refuse(why, -ENOEXEC, "its C library is not supported: it has no "
				     "dlopen()");
	return 0;
}

static int open_memory(struct target *t, char *why)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)t->pid);
	t->mem = open(path, O_RDWR | O_CLOEXEC);
	return t->mem < 0 ? inject_refuse_ptrace(t->pid, errno, why) : 0;
}

int target_open(struct target *t, pid_t pid, const char *library, char *why)
{
	struct search s = { .t = t, .budget = SYMBOLS_BUDGET };
	int err = process_check(pid, why);

	memset(t, 0, sizeof(*t));
	t->pid = pid;
	t->mem = -1;
	if (err)
		return err;
	err = check_library(pid, library, why);
	if (!err)
		err = open_memory(t, why);
	if (!err)
		err = look_at_maps(&s, why);
	if (!err)
		err = check_found(&s, why);
	if (err)
		target_close(t);
	/* Of one that ends meanwhile, nothing is found where it should be. */
	return err ? process_ended(pid, err, why) : 0;
}

void target_close(struct target *t)
{
	if (t->mem >= 0)
		close(t->mem);
	t->mem = -1;
}
