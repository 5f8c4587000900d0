// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metadata to decode the tracer's events elsewhere: the layout of its sub-buffers, the formats of
 * the chosen events, names of tasks and functions.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "cli/tool.h"
#include "ftrace/local.h"

/* Reads a whole file, terminated by a zero byte; to be freed. NULL: see errno. */
static char *read_file(const char *dir, const char *name, size_t *len)
{
	size_t have = 0, room = 16384;
	char path[4096], *buf = NULL;
	ssize_t n = 1;
	int fd, err;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	while (n > 0) {
		char *more = realloc(buf, room + 1);

		if (!more) {
			n = -1;
			break;
		}
		buf = more;
		while (have < room && (n = read(fd, buf + have, room - have)) > 0)
			have += n;
		room *= 2;
	}
	err = errno;
	close(fd);
	if (n < 0) {
		free(buf);
		errno = err;
		return NULL;
	}
	buf[have] = '\0';
	if (len)
		*len = have;
	return buf;
}

bool ftrace_namespaced(void)
{
	struct stat st;

	/* The inode number of the initial pid namespace is part of the kernel's ABI, and unique. */
	return !stat("/proc/self/ns/pid", &st) && st.st_ino != 0xeffffffcu;
}

/* ---- the layout ---------------------------------------------------------------------------- */

/* "field: NAME;\toffset:N;\tsize:N;" of header_page. */
static bool header_field(const char *text, const char *field, uint32_t *offset, uint32_t *size)
{
	const char *at = text;
	char word[64];

	snprintf(word, sizeof(word), " %s;", field);
	at = strstr(text, word);
	return at && sscanf(at + strlen(word), " offset:%u; size:%u;", offset, size) == 2;
}

int ftrace_read_layout(struct ftrace *ft)
{
	uint32_t data_size, ignored;
	char *text = read_file(ft->dir, "events/header_page", NULL);
	bool good;

	if (!text)
		return -errno;
	good = header_field(text, "commit", &ft->commit_off, &ft->long_size) &&
	       header_field(text, "data", &ft->data_off, &data_size) &&
	       header_field(text, "timestamp", &ignored, &ignored);
	free(text);
	if (!good)
		return -EPROTO;
	ft->subbuf = ft->data_off + data_size;
	return 0;
}

/* ---- sections ------------------------------------------------------------------------------ */

/**
 * struct sections - a KERNEL chunk being filled
 * @cap: the capture
 * @buf: XSP_CAP_RAW_MAX bytes
 * @used: bytes used in @buf
 */
struct sections {
	struct xsp_cap	*cap;
	char		*buf;
	size_t		used;
};

static void flush(struct sections *s)
{
	struct xsprof_chunk chunk = {
		.type = XSPROF_CHUNK_KERNEL,
		.producer = XSPROF_NO_PRODUCER,
	};

	/* Errors are kept in the capture. */
	if (s->used)
		(void)xsp_cap_chunk(s->cap, &chunk, s->buf, s->used);
	s->used = 0;
}

#define SECTION_MAX	(XSP_CAP_RAW_MAX - sizeof(struct xsprof_cap_section) - 8)

static void add(struct sections *s, uint32_t kind, const char *text, size_t len)
{
	struct xsprof_cap_section section = { .kind = kind, .len = len };
	size_t whole = (len + 7) & ~(size_t)7;

	if (s->used + sizeof(section) + whole > XSP_CAP_RAW_MAX)
		flush(s);
	memcpy(s->buf + s->used, &section, sizeof(section));
	memcpy(s->buf + s->used + sizeof(section), text, len);
	memset(s->buf + s->used + sizeof(section) + len, 0, whole - len);
	s->used += sizeof(section) + whole;
}

/* Stores a long text of lines, in as many sections as needed. */
static void add_lines(struct sections *s, uint32_t kind, const char *text, size_t len)
{
	while (len) {
		size_t n = len;

		if (n > SECTION_MAX) {
			for (n = SECTION_MAX; n && text[n - 1] != '\n'; )
				n--;
			if (!n)
				n = SECTION_MAX;
		}
		add(s, kind, text, n);
		text += n;
		len -= n;
	}
}

static void add_info(struct sections *s, const struct ftrace *ft)
{
	struct utsname u;
	char text[512];
	int n;

	n = snprintf(text, sizeof(text), "clock=%s\nsubbuf_size=%u\ndata_offset=%u\n"
		     "commit_offset=%u\nlong_size=%u\nrelease=%s\npids=%s\n", ft->clock,
		     ft->subbuf, ft->data_off, ft->commit_off, ft->long_size,
		     uname(&u) ? "" : u.release, ftrace_namespaced() ? "namespace" : "kernel");
	add(s, XSPROF_SECTION_INFO, text, n);
}

/* Do events of this format print addresses as names of functions? */
static bool wants_symbols(const char *format)
{
	const char *at = strstr(format, "print fmt:");

	while (at && (at = strstr(at, "%p")) != NULL) {
		at += 2;
		if (*at == 's' || *at == 'S' || *at == 'f' || *at == 'F' || *at == 'B')
			return true;
	}
	return false;
}

/* Return: 0; 1: it needs symbols; or -errno. */
static int add_format(struct sections *s, const struct ftrace *ft, const char *name)
{
	char file[600], *format, *text;
	int n, r;

	snprintf(file, sizeof(file), "events/%s/format", name);
	format = read_file(ft->dir, file, NULL);
	if (!format)
		return -errno;
	n = asprintf(&text, "%.*s\n%s", (int)(strchr(name, '/') - name), name, format);
	r = n < 0 ? -ENOMEM : (size_t)n > SECTION_MAX ? -EFBIG : wants_symbols(format);
	free(format);
	if (r >= 0)
		add(s, XSPROF_SECTION_FORMAT, text, n);
	if (n >= 0)
		free(text);
	return r;
}

/* Only functions, no data: events name nothing else. */
static void add_symbols(struct sections *s)
{
	size_t len, used = 0;
	char *text = read_file("/proc", "kallsyms", &len), *at, *end;

	if (!text)
		return;
	/* Rewrites lines in place: they never become longer. */
	for (at = text; *at; at = end + 1) {
		char *type = strchr(at, ' ');

		end = strchrnul(at, '\n');
		if (type && type < end && strchr("tTwW", type[1]) && type[2] == ' ') {
			size_t address = type - at, name = end - type - 2;

			memmove(text + used, at, address);
			memmove(text + used + address, type + 2, name);
			used += address + name;
			text[used++] = '\n';
		}
		if (!*end)
			break;
	}
	/* If hidden (kptr_restrict) all addresses are 0, and useless. */
	if (strncmp(text, "0000000000000000 ", 17))
		add_lines(s, XSPROF_SECTION_SYMBOLS, text, used);
	free(text);
}

/* Return: 0 or -ENOMEM. */
int ftrace_write_meta(struct ftrace *ft, struct xsp_cap *cap)
{
	static const char *const own[] = { "ftrace/print", "ftrace/bprint", "ftrace/raw_data" };
	struct sections s = { .cap = cap, .buf = malloc(XSP_CAP_RAW_MAX) };
	bool symbols = false;
	size_t len;
	char *text;

	if (!s.buf)
		return -ENOMEM;
	add_info(&s, ft);
	for (uint32_t i = 0; i < ft->events.nr; i++) {
		int r = add_format(&s, ft, ft->events.names[i]);

		if (r < 0)
			tool_note("-e %s: cannot read its format, only its bytes can be shown: "
				  "%s", ft->events.names[i], strerror(-r));
		symbols |= r > 0;
	}
	/* Writes of programs to trace_marker are always recorded. */
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		(void)add_format(&s, ft, own[i]);
	text = read_file(ft->dir, "printk_formats", &len);
	if (text)
		add_lines(&s, XSPROF_SECTION_PRINTK, text, len);
	free(text);
	if (symbols)
		add_symbols(&s);
	flush(&s);
	free(s.buf);
	return 0;
}

uint64_t ftrace_ticks(const struct ftrace *ft)
{
	if (!strcmp(ft->clock, "x86-tsc"))
		return xsp_ticks(XSPROF_CLOCK_TSC);
	return !strcmp(ft->clock, "mono_raw") ? xsp_clock_ns(CLOCK_MONOTONIC_RAW) :
	       !strcmp(ft->clock, "mono")     ? xsp_clock_ns(CLOCK_MONOTONIC) :
	       !strcmp(ft->clock, "boot")     ? xsp_clock_ns(CLOCK_BOOTTIME) : 0;
}

void ftrace_write_until(struct xsp_cap *cap, uint64_t ticks)
{
	char buf[sizeof(struct xsprof_cap_section) + 48], text[40];
	struct sections s = { .cap = cap, .buf = buf };

	if (!ticks)
		return;
	add(&s, XSPROF_SECTION_INFO, text,
	    (size_t)snprintf(text, sizeof(text), "until=%" PRIu64 "\n", ticks));
	flush(&s);
}

/* ---- tasks --------------------------------------------------------------------------------- */

/**
 * struct lines - a growing text
 * @text: malloc()ed
 * @len: its length in bytes
 * @room: its capacity
 */
struct lines {
	char	*text;
	size_t	len;
	size_t	room;
};

static void add_task(struct lines *l, uint32_t tid, uint32_t tgid, const char *comm)
{
	if (l->room - l->len < 128) {
		size_t room = l->room ? 2 * l->room : 65536;
		char *more = realloc(l->text, room);

		if (!more)
			return;
		l->text = more;
		l->room = room;
	}
	l->len += snprintf(l->text + l->len, l->room - l->len, "%" PRIu32 " %" PRIu32 " ", tid,
			   tgid);
	/* A task chooses its name: it must not look like another line. */
	for (int i = 0; i < 63 && comm[i]; i++)
		l->text[l->len++] = (unsigned char)comm[i] < ' ' ? '?' : comm[i];
	l->text[l->len++] = '\n';
}

/* "PID COMM" lines: the only source for tasks that have ended. */
static void add_saved(struct lines *l, const char *dir)
{
	char *comms = read_file(dir, "saved_cmdlines", NULL), *save = NULL;

	if (!comms)
		return;
	for (char *line = strtok_r(comms, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *comm = strchr(line, ' ');

		if (comm)
			add_task(l, strtoul(line, NULL, 10), 0, comm + 1);
	}
	free(comms);
}

static void add_saved_tgids(struct lines *l, const char *dir)
{
	char *tgids = read_file(dir, "saved_tgids", NULL), *save = NULL;

	if (!tgids)
		return;
	for (char *line = strtok_r(tgids, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		uint32_t tid, tgid;
		char comm[32];

		if (sscanf(line, "%" SCNu32 " %" SCNu32, &tid, &tgid) != 2 || !tgid)
			continue;
		/* The task lives, or its name is in the lines before. */
		if (!xsp_proc_comm(tgid, tid, comm))
			add_task(l, tid, tgid, comm);
	}
	free(tgids);
}

static void add_process(struct lines *l, uint32_t pid)
{
	char path[64], comm[32];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", pid);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		uint32_t tid = strtoul(entry->d_name, NULL, 10);

		if (tid && !xsp_proc_comm(pid, tid, comm))
			add_task(l, tid, pid, comm);
	}
	closedir(dir);
}

void ftrace_write_tasks(struct ftrace *ft, struct xsp_cap *cap)
{
	struct sections s = { .cap = cap, .buf = malloc(XSP_CAP_RAW_MAX) };
	DIR *dir = opendir("/proc");
	struct lines l = { 0 };
	struct dirent *entry;

	add_saved(&l, ft->dir);
	/* In a pid namespace the ids in /proc are not those of the tracer. */
	if (ftrace_namespaced()) {
		if (dir)
			closedir(dir);
		dir = NULL;
	} else {
		add_saved_tgids(&l, ft->dir);
	}
	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			add_process(&l, strtoul(entry->d_name, NULL, 10));
	if (dir)
		closedir(dir);
	if (s.buf && l.len) {
		add_lines(&s, XSPROF_SECTION_TASKS, l.text, l.len);
		flush(&s);
	}
	free(l.text);
	free(s.buf);
}
