/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fields of records for formats that write them one by one: which fields a record has, their
 * order, and their keys. Each format has a writer for the kinds of values.
 */
#ifndef XSPROF_FORMAT_FIELDS_H
#define XSPROF_FORMAT_FIELDS_H

#include "format/common/out.h"

#define FMT_FIELDS	16u	/* limit per record */

enum fmt_field_kind {
	FMT_U64,	/* @value */
	FMT_I64,	/* @value, signed */
	FMT_HEX,	/* @value */
	FMT_WORD,	/* @word */
	FMT_NAME,	/* @word, @value bytes: bytes of the program, to be escaped */
	FMT_TIME,	/* @value, ns */
	FMT_RANGE,	/* from @value to @end, ns; without a key */
	FMT_DEVICE,	/* type @value >> 16, index @value & 0xffff */
};

/**
 * struct fmt_field - a field of a record
 * @json: its key in NDJSON, NULL: left out there
 * @text: its key in text, NULL: left out there
 * @kind: enum fmt_field_kind
 * @unset: it has no value: text leaves it out
 * @value: see @kind
 * @end: see @kind
 * @word: see @kind
 */
struct fmt_field {
	const char	*json;
	const char	*text;
	uint32_t	kind;
	bool		unset;
	uint64_t	value;
	uint64_t	end;
	const char	*word;
};

/*
 * Return: the number of fields. Not for records that formats write by themselves, for speed or as
 * they differ: ends, complete ranges, instants, counters, stacks, control, switches and producers.
 */
size_t fmt_fields(struct xsp_out *out, const struct xsprof_event *ev,
		  struct fmt_field fields[FMT_FIELDS]);

#endif /* XSPROF_FORMAT_FIELDS_H */
