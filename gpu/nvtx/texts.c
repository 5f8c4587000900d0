// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Texts of field names, which later schemas that nest this one need.  They are never freed.  The
 * memory comes from mmap(), as a program may call NVTX from its malloc().
 */
#include <sys/mman.h>

#include "gpu/nvtx/schema.h"

#define BYTES	(64u << 10)

const char *nvtx_text_join(const char *outer, const char *text)
{
	static char *at, *end;
	size_t outer_len = strnlen(outer, XSPROF_TEXT_MAX);
	size_t len = strnlen(text, XSPROF_TEXT_MAX), room = outer_len + len + 2;
	char *to;

	if ((size_t)(end - at) < room) {
		to = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (to == MAP_FAILED)
			return NULL;
		at = to;
		end = at + BYTES;
	}
	to = at;
	at = mempcpy(at, outer, outer_len);
	if (outer_len)
		*at++ = '.';
	at = mempcpy(at, text, len);
	*at++ = 0;
	return to;
}
