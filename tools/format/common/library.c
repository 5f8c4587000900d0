// SPDX-License-Identifier: GPL-2.0-only
/*
 * See library.h. Each kind of event has its own handle, so one format cannot affect another.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "format/common/library.h"

#define BEHIND		65536u		/* zero bytes after it, for reads beyond the end */

/**
 * struct xsp_library - one kind
 * @tep: a handle that knows only this kind
 * @seq: output buffer
 */
struct xsp_library {
	struct tep_handle	*tep;
	struct trace_seq	seq;
};

/* A copy of the current event, followed by zeros. */
static uint8_t event[XSP_LIBRARY_EVENT + BEHIND];

/* Do events of this kind print addresses as function names? */
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
 * Do they refer to strings by address? The string of trace_printk() is a format, which would be
 * expanded with data of the event: excluded.
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
	/* Duplicates are harmless. */
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
	/* If it cannot parse the format it prints field by field. */
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

/* ---- the handle ---------------------------------------------------------------------------- */

int xsp_library_open(struct xsp_symbols *symbols, const struct xsprof_kernel_event *kind,
		     struct xsp_library **out)
{
	struct xsp_library *lib = calloc(1, sizeof(*lib));

	*out = NULL;
	if (!lib)
		return -ENOMEM;
	lib->tep = make_handle(kind);
	if (!lib->tep) {
		free(lib);
		return -ENOMEM;
	}
	trace_seq_init(&lib->seq);
	/* Without symbols addresses are printed as numbers. */
	if (wants_symbols(kind))
		(void)tep_set_function_resolver(lib->tep, find_function, symbols);
	if (wants_texts(kind))
		xsp_symbols_texts(symbols, add_text, lib->tep);
	*out = lib;
	return 0;
}

const char *xsp_library_print(struct xsp_library *lib, const void *data, size_t size, size_t *len)
{
	const char *text;
	size_t n;

	memcpy(event, data, size);
	memset(event + size, 0, XSP_LIBRARY_EVENT - size);
	print(lib->tep, &lib->seq, event, size);
	text = lib->seq.buffer;
	n = strnlen(text, lib->seq.buffer_size < XSP_LIBRARY_TEXT ? lib->seq.buffer_size :
								    XSP_LIBRARY_TEXT);
	while (n && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	*len = n;
	return text;
}
