// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recognizes records of the GIL, and reads their arguments.
 */
#include <string.h>

#include <xsprof/python-names.h>

#include "base/hash.h"
#include "cause/gil-record.h"

enum gil_record gil_record_of(struct gil_names *names, const struct xsprof_trace *trace,
			      uint32_t producer, uint32_t name)
{
	uint64_t key = (uint64_t)producer << 32 | name;
	uint32_t at = (uint32_t)xsp_hash_mix(key) % GIL_NAMES;
	const char *text;
	enum gil_record what;

	if (names->v[at].what != GIL_NOT_SEEN && names->v[at].key == key)
		return names->v[at].what;
	text = xsprof_trace_name(trace, producer, name);
	what = !strcmp(text, XSPROF_GIL_WAIT) ? GIL_WAIT :
	       !strcmp(text, XSPROF_GIL_TAKEN) ? GIL_TAKEN :
	       !strcmp(text, XSPROF_GIL_HELD) ? GIL_HELD :
	       !strcmp(text, XSPROF_PYTHON_COLLECTION) ? GIL_COLLECTION : GIL_OTHER;
	if (what != GIL_OTHER &&
	    strcmp(xsprof_trace_category(trace, producer, name), XSPROF_PYTHON_CATEGORY))
		what = GIL_OTHER;
	names->v[at].key = key;
	names->v[at].what = what;
	return what;
}

uint64_t gil_record_lock(const struct xsprof_trace *trace, const struct xsprof_event *ev,
			 uint32_t *holder)
{
	uint64_t number = ev->type == XSPROF_REC_SPAN ? ev->value : 0;
	struct xsprof_trace_arg arg;
	size_t pos = 0;

	*holder = 0;
	while (xsprof_trace_args(ev, &pos, &arg)) {
		const char *key = xsprof_trace_name(trace, ev->producer, arg.key);

		if (arg.type != XSPROF_ARG_U64)
			continue;
		if (!strcmp(key, XSPROF_GIL_KEY_HOLDER))
			*holder = (uint32_t)arg.u.u64;
		else if (!strcmp(key, XSPROF_GIL_KEY_LOCK))
			number = arg.u.u64;
	}
	return (uint64_t)ev->producer << 32 | (uint32_t)number;
}

bool gil_record_untaken(const struct xsprof_trace *trace, const struct xsprof_event *ev)
{
	struct xsprof_trace_arg arg;
	size_t pos = 0;

	while (xsprof_trace_args(ev, &pos, &arg))
		if (arg.type == XSPROF_ARG_U64 && !arg.u.u64 &&
		    !strcmp(xsprof_trace_name(trace, ev->producer, arg.key), XSPROF_GIL_KEY_TAKEN))
			return true;
	return false;
}
