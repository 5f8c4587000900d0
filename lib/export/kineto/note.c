// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Writes an annotation on a stream's track, as long as the stream's work for it. link.c and user.c
 * assign work to annotations.
 */
#include "export/kineto/local.h"

void xsr_kineto_gpu_note(struct xsr_kineto *k, const struct xsr_gpu_note *note)
{
	uint64_t begin = note->begin, end = note->end + 1;
	struct xsp_track *track = xsr_kineto_stream(k, note->producer, note->device, note->stream,
						    false);
	const struct xsprof_event ev = { .producer = note->producer };
	char *p;

	/* Slightly longer on both sides: it must sort outside of its first kernel. */
	begin -= begin != 0;
	if (track)
		track = xsr_kineto_beside(k, &ev, track, begin, end);
	if (!track)
		return;
	p = put_lit(xsr_writer_open(&k->w),
		    "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":");
	if (note->is_step)
		p = xsr_writer_step_name(&k->w, note->producer, note->name, note->step, p);
	else
		p = xsr_writer_name(&k->w, note->producer, note->name, p);
	*p++ = ',';
	p = xsr_kineto_ts(k, xsr_kineto_track(k, track, p), begin);
	p = xsr_kineto_dur(k, p, begin, end);
	if (note->external) {
		p = put_u64(put_lit(p, ",\"args\":{\"External id\":"), note->external);
		*p++ = '}';
	}
	*p++ = '}';
	k->w.buf->p = p;
}
