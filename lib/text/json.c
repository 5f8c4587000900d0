// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Writes parts of JSON: see json.h.
 */
#include <math.h>
#include <string.h>

#include "text/json.h"
#include "text/utf8.h"

#define SAFE	9007199254740992u	/* 2^53 */

char *xsp_json_double(char *p, double v)
{
	if (isfinite(v))
		return xsp_put_double(p, v);
	*p++ = '"';
	p = xsp_put_double(p, v);
	*p++ = '"';
	return p;
}

char *xsp_json_safe_u64(char *p, uint64_t v)
{
	if (v <= SAFE)
		return put_u64(p, v);
	*p++ = '"';
	p = put_u64(p, v);
	*p++ = '"';
	return p;
}

char *xsp_json_safe_i64(char *p, int64_t v)
{
	if (v >= -(int64_t)SAFE && v <= (int64_t)SAFE)
		return put_i64(p, v);
	*p++ = '"';
	p = put_i64(p, v);
	*p++ = '"';
	return p;
}

char *xsp_json_hex(char *p, const void *bytes, size_t len)
{
	const unsigned char *s = bytes;
	size_t i;

	*p++ = '"';
	for (i = 0; i < len; i++) {
		*p++ = "0123456789abcdef"[s[i] >> 4];
		*p++ = "0123456789abcdef"[s[i] & 15];
	}
	*p++ = '"';
	return p;
}

char *xsp_json_field(char *p, const char *key, const char *s, size_t len)
{
	size_t key_len = strlen(key);
	bool altered = false;

	*p++ = '"';
	memcpy(p, key, key_len);
	p = put_lit(p + key_len, "\":");
	p = json_string(p, s, len, &altered);
	if (!altered)
		return p;
	p = put_lit(p, ",\"");
	memcpy(p, key, key_len);
	p = put_lit(p + key_len, "_hex\":");
	return xsp_json_hex(p, s, len);
}

void xsp_json_print(FILE *file, const char *s, size_t len)
{
	char piece[XSP_ESCAPE_MAX * 512];
	size_t n;

	fputc('"', file);
	while (len) {
		n = xsp_utf8_piece(s, len, 508);
		fwrite(piece, 1, (size_t)(xsp_escape_json(piece, s, n, NULL) - piece), file);
		s += n;
		len -= n;
	}
	fputc('"', file);
}

void xsp_json_put_valid(struct xsp_buf *buf, const char *json, size_t len)
{
	char piece[XSP_ESCAPE_MAX * 256];
	size_t n;

	for (; len; json += n, len -= n) {
		n = xsp_utf8_piece(json, len, 250);
		xsp_buf_put(buf, piece, (size_t)(xsp_escape_valid_json(piece, json, n) - piece));
	}
}
