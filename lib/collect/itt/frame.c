// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Frames: iterations of a program's main loop, or of a runtime's parallel regions, named after
 * their domain. A submitted frame has begin and end from our clock (__itt_get_timestamp()) and
 * becomes a span.
 */
#include "collect/itt/names.h"

static uint64_t frame_id(xsprof_name_t domain, const struct itt_id *id)
{
	return id ? itt_id(domain, id) : 0;
}

static unsigned long long get_timestamp(void)
{
	return xsprof_now();
}
ITT_EXPORT(get_timestamp, get_timestamp);

static void frame_begin_v3(const struct itt_domain *domain, const struct itt_id *id)
{
	xsprof_name_t d = itt_domain_name(domain);

	xsprof_async_begin(d, frame_id(d, id));
}
ITT_EXPORT(frame_begin_v3, frame_begin_v3);

static void frame_end_v3(const struct itt_domain *domain, const struct itt_id *id)
{
	xsprof_name_t d = itt_domain_name(domain);

	xsprof_async_end(d, frame_id(d, id));
}
ITT_EXPORT(frame_end_v3, frame_end_v3);

static void frame_submit_v3(const struct itt_domain *domain, const struct itt_id *id,
			    unsigned long long begin, unsigned long long end)
{
	xsprof_name_t d = itt_domain_name(domain);

	if (!xsprof_wants(d))
		return;
	if (!end || end == ITT_TIMESTAMP_NONE)
		end = xsprof_now();
	if (!begin || begin > end)
		begin = end;
	xsprof_span(d, begin, end, frame_id(d, id), 0);
}
ITT_EXPORT(frame_submit_v3, frame_submit_v3);

/* ---- the older form: a handle in place of domain and id -------------------------------------- */

struct frame {
	struct frame	*next;
	xsprof_name_t	name;
};

static struct frame *frames;
static uint32_t nr_frames;

#define MAX_FRAMES	65536u

static struct frame *frame_create(const char *domain)
{
	xsprof_name_t name = itt_intern_domain(domain, domain ? domain : "frame");
	struct frame *f;

	itt_lock();
	for (f = frames; f && f->name != name; f = f->next)
		;
	if (!f && nr_frames < MAX_FRAMES) {
		f = itt_alloc(sizeof(*f));
		if (f) {
			f->name = name;
			f->next = frames;
			frames = f;
			nr_frames++;
		}
	}
	itt_unlock();
	if (!f)
		itt_miss(ITT_MISS_MEMORY);
	return f;
}
ITT_EXPORT(frame_create, frame_create);
ITT_EXPORT(frame_createA, frame_create);

static void frame_begin(const struct frame *frame)
{
	if (frame)
		xsprof_async_begin(frame->name, 0);
}
ITT_EXPORT(frame_begin, frame_begin);

static void frame_end(const struct frame *frame)
{
	if (frame)
		xsprof_async_end(frame->name, 0);
}
ITT_EXPORT(frame_end, frame_end);

const struct itt_entry itt_frame_entries[] = {
	ITT_ENTRY(get_timestamp, get_timestamp),
	ITT_ENTRY(frame_begin_v3, frame_begin_v3),
	ITT_ENTRY(frame_end_v3, frame_end_v3),
	ITT_ENTRY(frame_submit_v3, frame_submit_v3),
	ITT_ENTRY(frame_create, frame_create),
	ITT_ENTRY(frame_createA, frame_create),
	ITT_ENTRY(frame_begin, frame_begin),
	ITT_ENTRY(frame_end, frame_end),
	{ NULL, NULL }
};
