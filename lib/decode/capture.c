// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The first pass over a capture: steps from header to header and passes each chunk to chunks.c.
 * Skips damaged parts up to the next valid header.
 */
#include <errno.h>
#include <string.h>

#include "base/crc32c.h"
#include "decode/local.h"

static void cut_off(struct xsprof_trace *t, uint64_t off)
{
	t->found.truncated = true;
	if (!(t->flags & XSPROF_TRACE_FOLLOW))
		xst_warn(t, XST_WARN_TRUNCATED,
			 "ends inside a chunk: read up to offset %llu, %llu bytes left out",
			 (unsigned long long)off, (unsigned long long)(t->file.src.size - off));
}

/* Return: 1: one chunk handled, 0: the end, or -errno. */
static int step(struct xsprof_trace *t)
{
	struct xsprof_chunk chunk;
	uint64_t next;
	int r;

	if (t->found.scanned >= t->file.src.size)
		return 0;
	r = xst_chunk_header(&t->file, t->found.scanned, &chunk);
	if (r < 0 && r != -ENODATA)
		return r;
	if (r == -ENODATA ||
	    (r == 1 && t->file.src.size - t->found.scanned - sizeof(chunk) < chunk.stored)) {
		cut_off(t, t->found.scanned);
		return 0;
	}
	if (r == 1) {
		r = xst_chunk_add(t, t->found.scanned, &chunk);
		t->found.scanned = xst_chunk_next(t->found.scanned, &chunk);
		return r ? r : 1;
	}
	next = xst_chunk_search(&t->file, t->found.scanned + 8);
	if (!next) {
		cut_off(t, t->found.scanned);
		return 0;
	}
	t->found.bad_index++;
	xst_warn(t, XST_WARN_CHUNK,
		 "damaged at offset %llu: continuing with the next chunk, %llu bytes further",
		 (unsigned long long)t->found.scanned,
		 (unsigned long long)(next - t->found.scanned));
	t->found.scanned = next;
	return 1;
}

static void set_horizon(struct xsprof_trace *t)
{
	t->reading.horizon = UINT64_MAX;
	if (!(t->flags & XSPROF_TRACE_FOLLOW) || t->found.has_end)
		return;
	t->reading.horizon = t->found.settled;
}

int xst_capture_scan(struct xsprof_trace *t)
{
	int r;

	t->found.truncated = false;
	do {
		r = step(t);
	} while (r > 0);
	if (r < 0)
		return t->error[0] ? r : xst_fail(t, r, "%s", strerror(-r));
	t->found.truncated |= !t->found.has_end;
	t->found.no_room |= t->found.has_end && xst_found_no_room(t);
	set_horizon(t);
	r = xst_ends_settle(t);
	if (!r && xst_tids_settle(t))
		r = xst_fail(t, -ENOMEM, "no memory for the command's number");
	return r ? r : xst_clocks_fit(t);
}

/* ---- the header -------------------------------------------------------------------------- */

int xst_capture_open(struct xsprof_trace *t)
{
	struct xsprof_cap_header header;
	int err;

	err = xst_source_read(&t->file.src, 0, &header, sizeof(header));
	if (err)
		return xst_fail(t, -EINVAL, "is truncated within its first %zu bytes: nothing to "
				"read",
				sizeof(header));
	t->found.scanned = sizeof(header);
	if (header.magic != XSPROF_CAP_MAGIC ||
	    xsp_crc32c(0, &header, offsetof(struct xsprof_cap_header, crc)) != header.crc) {
		t->found.bad_index++;
		xst_warn(t, XST_WARN_CHUNK, "the file's header is damaged: continuing without it");
	} else if (header.major != XSPROF_CAP_MAJOR) {
		return xst_fail(t, -EPROTONOSUPPORT,
				"has format %u.%u, but this xsprof reads %u.x: use the version "
				"that wrote it", header.major, header.minor,
				XSPROF_CAP_MAJOR);
	} else if (header.header_size < sizeof(header) || header.header_size % 8) {
		return xst_fail(t, -EINVAL, "has a header of %u bytes, which is invalid",
				header.header_size);
	} else {
		t->found.scanned = header.header_size;
	}
	err = xst_capture_scan(t);
	if (err)
		return err;
	if (!t->found.has_end && !(t->flags & XSPROF_TRACE_FOLLOW))
		xst_warn(t, XST_WARN_TRUNCATED,
			 "has no END chunk: its recorder still runs, or was killed "
			 "('xsprof recover')");
	return 0;
}
