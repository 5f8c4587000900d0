// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Forwards ranges to other tools on request. tool.c loads a tool; nvtx.c and itt.c call it.
 */
#include <string.h>

#include "forward/forward.h"
#include "forward/itt.h"
#include "forward/nvtx.h"
#include "ring/state.h"

/* Pushes a name given by its number; the registry's texts are not terminated. */
static __attribute__((noinline)) void push_number(unsigned int which, uint32_t id)
{
	char name[XSPROF_TEXT_MAX + 1];
	const char *text;
	uint32_t len;

	text = xsp_name_text(id, &len);
	if (len > XSPROF_TEXT_MAX)
		len = XSPROF_TEXT_MAX;
	memcpy(name, text, len);
	name[len] = '\0';
	xsp_mirror_push(which, name, id);
}

/**
 * xsp_mirror_push() - forward the begin of a range of this thread
 * @which: XSP_MIRROR_*, the tools to call
 * @name: its name, NULL for that of @name_id
 * @name_id: an id that has this name, 0 for none
 *
 * Skips tools that are not loaded. Keeps errno.
 */
void xsp_mirror_push(unsigned int which, const char *name, uint32_t name_id)
{
	/* This id is shared by all names that did not fit: it does not identify the name. */
	if ((name_id & XSPROF_NAME_MASK) == XSPROF_NAME_FULL && name)
		name_id = 0;
	if (unlikely(!name)) {
		push_number(which, name_id);
		return;
	}
	if (which & XSP_MIRROR_NVTX)
		xsp_nvtx_push(name, name_id);
	if (which & XSP_MIRROR_ITT)
		xsp_itt_push(name, name_id);
}

/**
 * xsp_mirror_pop() - forward the end of this thread's innermost range
 * @which: as at its begin
 */
void xsp_mirror_pop(unsigned int which)
{
	if (which & XSP_MIRROR_ITT)
		xsp_itt_pop();
	if (which & XSP_MIRROR_NVTX)
		xsp_nvtx_pop();
}
