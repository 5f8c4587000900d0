// SPDX-License-Identifier: GPL-2.0-only
/*
 * See library.h.  A kind has a handle of its own, so that what was tried is what is used: nothing
 * that another format left behind is in it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event-parse.h>

#include "format/common/library.h"

#define PRINT_MAX	8192u		/* bytes of what is printed of one event */
#define EVENT_MAX	4096u		/* bytes of an event */
#define BEHIND		65536u		/* zeros behind it: what reads too far finds them */
#define TRIES		24
#define TRY_SECONDS	2
#define TRY_BYTES	(256ul << 20)

/**
 * struct xsp_library - one kind
 * @tep: it knows that kind and no other
 * @seq: what it prints into
 * @data: a copy of the event, with nothing behind it
 */
struct xsp_library {
	struct tep_handle	*tep;
	struct trace_seq	seq;
	uint8_t			*data;
};

/* Do events of this kind print addresses as names of functions? */
static bool wants_symbols(const struct xsprof_kernel_event *kind)
{
	const char *at = kind->format;

	while ((at = strstr(at, "%p")) != NULL) {
		at += 2;
		if (strchr("sSfFB", *at) && *at)
			return true;
	}
	return false;
}

static char *find_function(void *symbols, unsigned long long *addr, char **module)
{
	uint64_t at = *addr;
	const char *name = xsp_symbols_function(symbols, &at);

	(void)module;
	*addr = at;
	return (char *)name;
}

/*
 * Do they name texts by their address?  What trace_printk() left is no text but a format, which
 * would be filled in with whatever the event holds.
 */
static bool wants_texts(const struct xsprof_kernel_event *kind)
{
	for (uint32_t i = 0; i < kind->nr_fields && strcmp(kind->system, "ftrace"); i++)
		if (kind->fields[i].size == 8 && strstr(kind->fields[i].type, "char") &&
		    strchr(kind->fields[i].type, '*'))
			return true;
	return false;
}

static void add_text(void *tep, uint64_t addr, const char *text)
{
	/* Twice in the list is no matter. */
	(void)tep_register_print_string(tep, text, addr);
}

static struct tep_handle *make_handle(const struct xsprof_kernel_event *kind)
{
	struct tep_handle *tep = tep_alloc();

	if (!tep)
		return NULL;
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(tep, 8);
	tep_set_file_bigendian(tep, TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(tep, TEP_LITTLE_ENDIAN);
	/* What it cannot parse it keeps, and prints field by field. */
	(void)tep_parse_event(tep, kind->format, kind->format_len, kind->system);
	return tep;
}

static void print(struct tep_handle *tep, struct trace_seq *seq, void *data, size_t size)
{
	struct tep_record record = {
		.size = size, .record_size = size, .data = data, .ref_count = 1,
	};

	trace_seq_reset(seq);
	tep_print_event(tep, seq, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(seq);
}

/* ---- the trial ----------------------------------------------------------------------------- */

/* Bytes of an event that has all of its fields. */
static size_t least(const struct xsprof_kernel_event *kind)
{
	size_t size = 8;

	for (uint32_t i = 0; i < kind->nr_fields; i++)
		if ((size_t)kind->fields[i].offset + kind->fields[i].size > size)
			size = (size_t)kind->fields[i].offset + kind->fields[i].size;
	return size;
}

/* An event as bad as one can be that is let through: dynamic fields lie inside it. */
static void make_event(const struct xsprof_kernel_event *kind, uint8_t *data, size_t size, int try)
{
	uint32_t state = 12345 + try;

	for (size_t i = 0; i < size; i++) {
		state = state * 1103515245 + 12345;
		data[i] = try == 0 ? 0 : try == 1 ? 0xff : state >> 16;
	}
	memcpy(data, (uint16_t[]){ kind->id }, 2);
	for (uint32_t i = 0; i < kind->nr_fields; i++) {
		const struct xsprof_kernel_field *f = &kind->fields[i];
		uint32_t at = state % size, len = (state >> 8) % (size - at);

		if (f->flags & XSPROF_KFIELD_DYNAMIC)
			memcpy(data + f->offset, (uint32_t[]){ len << 16 | at }, 4);
	}
}

static void __attribute__((noreturn)) try_it(const struct xsprof_kernel_event *kind)
{
	struct rlimit cpu = { TRY_SECONDS, TRY_SECONDS }, none = { 0, 0 }, room;
	size_t page = sysconf(_SC_PAGESIZE), size = least(kind), whole;
	struct tep_handle *tep;
	struct trace_seq seq;
	uint8_t *map;

	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_CPU, &cpu);
	if (!getrlimit(RLIMIT_DATA, &room) && room.rlim_cur > TRY_BYTES) {
		room.rlim_cur = TRY_BYTES;
		setrlimit(RLIMIT_DATA, &room);
	}
	whole = (EVENT_MAX + BEHIND + page - 1) / page * page;
	/* As an event is printed later; and what reads further ends the process. */
	map = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED || mprotect(map + whole, page, PROT_NONE) || size > EVENT_MAX)
		_exit(1);
	trace_seq_init(&seq);
	tep = make_handle(kind);
	for (int try = 0; tep && try < TRIES; try++) {
		size_t n = size + (try % 3) * 100 > EVENT_MAX ? size : size + (try % 3) * 100;

		make_event(kind, map, n, try);
		memset(map + n, 0, EVENT_MAX - n);
		print(tep, &seq, map, n);
	}
	_exit(tep ? 0 : 1);
}

static bool survives(const struct xsprof_kernel_event *kind)
{
	int status = -1;
	pid_t pid;

	pid = fork();
	if (!pid)
		try_it(kind);
	if (pid < 0)
		return false;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0;
}

/* ---- the handle ---------------------------------------------------------------------------- */

int xsp_library_open(struct xsp_symbols *symbols, const struct xsprof_kernel_event *kind,
		     struct xsp_library **out)
{
	struct xsp_library *lib;

	*out = NULL;
	if (!survives(kind))
		return -EPROTO;
	lib = calloc(1, sizeof(*lib));
	if (!lib)
		return -ENOMEM;
	lib->data = calloc(1, EVENT_MAX + BEHIND);
	lib->tep = lib->data ? make_handle(kind) : NULL;
	if (!lib->tep) {
		free(lib->data);
		free(lib);
		return -ENOMEM;
	}
	trace_seq_init(&lib->seq);
	/* Without them addresses are numbers. */
	if (wants_symbols(kind))
		(void)tep_set_function_resolver(lib->tep, find_function, symbols);
	if (wants_texts(kind))
		xsp_symbols_texts(symbols, add_text, lib->tep);
	*out = lib;
	return 0;
}

void xsp_library_close(struct xsp_library *lib)
{
	if (!lib)
		return;
	trace_seq_destroy(&lib->seq);
	tep_free(lib->tep);
	free(lib->data);
	free(lib);
}

const char *xsp_library_print(struct xsp_library *lib, const struct xsprof_event *ev, size_t *len)
{
	const char *text;
	size_t n;

	if (ev->rec_size > EVENT_MAX)
		return NULL;
	memcpy(lib->data, ev->rec, ev->rec_size);
	memset(lib->data + ev->rec_size, 0, EVENT_MAX - ev->rec_size);
	print(lib->tep, &lib->seq, lib->data, ev->rec_size);
	text = lib->seq.buffer;
	n = strnlen(text, lib->seq.buffer_size < PRINT_MAX ? lib->seq.buffer_size : PRINT_MAX);
	while (n && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	*len = n;
	return text;
}
