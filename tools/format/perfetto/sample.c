// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stack samples in Perfetto's own form: a track for each thread, and flame graphs of a selection.
 * If the thread was not simply running, its state is the innermost frame.
 *
 * They have their own writer, whose interned data is never cleared; it needs memory for the stacks
 * of the trace.
 */
#include <stdlib.h>

#include "base/map.h"
#include "format/common/stack.h"
#include "format/perfetto/packet.h"
#include "format/perfetto/sample.h"

/* Fields of TracePacketDefaults, PerfSampleDefaults and Timebase; of PerfSample. */
enum { DEFAULTS = 12, TIMEBASE = 1, FREQUENCY = 2, COUNTER = 4, TIMEBASE_NAME = 10, CPU_CLOCK = 1 };
enum { SAMPLE = 66, CPU = 1, PID = 2, TID = 3, CALLSTACK = 4, MODE = 5, USER = 2 };

/* Lists in InternedData, and fields of their entries. */
enum { FUNCTIONS = 5, FRAMES = 6, CALLSTACKS = 7, PATHS = 17, MAPPINGS = 19 };
enum { IID = 1, TEXT = 2, FRAME_FUNCTION = 2, FRAME_MAPPING = 3, STACK_FRAMES = 2, PATH_PARTS = 7 };

/* The only mapping, and its path: readers need one for each frame. */
#define MAPPING		1
#define TEXTS_MAX	256u	/* of a stack: 64 frames, and inlined functions */

/**
 * struct pf_samples - interned data
 * @frames: numbers of frames, by producer and name
 * @stacks: numbers of stacks, by producer, id and state of the thread
 * @next: the last number
 * @doing: frames for states of threads
 * @left_out: the frame for the frames that a stack left out
 */
struct pf_samples {
	struct xsp_map	frames;
	struct xsp_map	stacks;
	uint64_t	next;
	uint64_t	doing[8];
	uint64_t	left_out;
};

static char *open_data(struct xsp_out *out, char **data)
{
	*data = wire_open(pf_packet_open(out, 0, PF_SAMPLES, PF_NEEDED), PF_INTERNED);
	return *data;
}

static char *put_text(char *p, uint32_t list, uint64_t iid, const char *s, size_t len)
{
	char *start = wire_open(p, list);

	p = wire_u64(start, IID, iid);
	return wire_close(start, wire_text(p, TEXT, s, len < XSP_NAME_BYTES ? len :
					   XSP_NAME_BYTES));
}

static void begin(struct xsp_out *out)
{
	const char *hz = xsprof_trace_fact(out->trace, 0, "python.hz");
	char *p, *data, *start, *base;

	p = wire_u64(pf_packet_open(out, 0, PF_SAMPLES, PF_CLEARED), PF_FIRST, 1);
	data = wire_open(p, PF_DEFAULTS);
	p = wire_u64(data, PF_CLOCK, PF_MONOTONIC);
	start = wire_open(p, DEFAULTS);
	base = wire_open(start, TIMEBASE);
	p = wire_u64(base, FREQUENCY, hz ? strtoull(hz, NULL, 10) : 1);
	p = wire_u64(p, COUNTER, CPU_CLOCK);
	p = wire_close(base, pf_put_string(p, TIMEBASE_NAME, "samples"));
	pf_packet_close(out, wire_close(data, wire_close(start, p)));
	p = put_text(open_data(out, &data), PATHS, MAPPING, "python", 6);
	start = wire_open(p, MAPPINGS);
	p = wire_u64(wire_u64(start, IID, MAPPING), PATH_PARTS, MAPPING);
	pf_packet_close(out, wire_close(data, wire_close(start, p)));
}

/* Return: its number. */
static uint64_t add_frame(struct xsp_out *out, struct pf_samples *s, const char *name, size_t len)
{
	uint64_t iid = ++s->next;
	char *p, *data, *start;

	p = put_text(open_data(out, &data), FUNCTIONS, iid, name, len);
	start = wire_open(p, FRAMES);
	p = wire_u64(wire_u64(start, IID, iid), FRAME_FUNCTION, iid);
	p = wire_u64(p, FRAME_MAPPING, MAPPING);
	pf_packet_close(out, wire_close(data, wire_close(start, p)));
	return iid;
}

/* Return: 0: no memory. */
static uint64_t frame_of(struct xsp_out *out, struct pf_samples *s, uint32_t producer,
			 uint64_t frame)
{
	uint32_t name = frame & XSPROF_FRAME_NAMED ? (uint32_t)frame : 0;
	uint64_t key = (producer + 1ull) << 32 | name, *known = xsp_map_get(&s->frames, key), iid;
	const char *text = "?";
	size_t len = 1;

	if (known)
		return *known;
	if (name)
		text = xsprof_trace_name_len(out->trace, producer, name, &len);
	iid = add_frame(out, s, text, len);
	return xsp_map_set(&s->frames, key, iid) ? 0 : iid;
}

/* The same for a text of fmt_stack_texts(): keys of names never have these upper bits. */
static uint64_t text_of(struct xsp_out *out, struct pf_samples *s, const char *text)
{
	uint64_t key = ~(uint64_t)(uintptr_t)text, *known = xsp_map_get(&s->frames, key), iid;

	if (known)
		return *known;
	iid = add_frame(out, s, text, strlen(text));
	return xsp_map_set(&s->frames, key, iid) ? 0 : iid;
}

/* Its state, if it was not simply running. */
static uint64_t doing(struct xsp_out *out, struct pf_samples *s, uint32_t how)
{
	static const char *const words[] = {
		[XSPROF_SAMPLE_NATIVE] = "[without the GIL]",
		[XSPROF_SAMPLE_LOCK] = "[waits for the GIL]",
		[XSPROF_SAMPLE_OFF] = "[off CPU]",
	};

	if (how >= sizeof(words) / sizeof(words[0]) || !words[how])
		return 0;
	if (!s->doing[how])
		s->doing[how] = add_frame(out, s, words[how], strlen(words[how]));
	return s->doing[how];
}

/* Return: its number, 0: there is no such stack, or no memory. */
static uint64_t stack_of(struct xsp_out *out, struct pf_samples *s, uint32_t producer,
			 const struct xsprof_trace_sample *sample)
{
	uint64_t key = (producer + 1ull) << 36 | (uint64_t)sample->how << 32 | sample->stack;
	uint64_t *known = xsp_map_get(&s->stacks, key), iid[TEXTS_MAX + 2];
	uint32_t n = 0, left_out;
	const char *const *texts;
	const uint64_t *frame;
	char *p, *data, *start;
	size_t nr;

	if (known)
		return *known;
	frame = xsprof_trace_stack(out->trace, producer, sample->stack, &nr, &left_out);
	texts = fmt_stack_texts(out->trace, &out->frames, producer, sample->stack, &nr);
	if (!frame)
		return 0;
	/*
	 * Stacks in a file may be longer than those that xsprof records: keep the innermost frames,
	 * which come first.
	 */
	if (nr > TEXTS_MAX) {
		nr = TEXTS_MAX;
		left_out = 1;
	}
	if (left_out && !s->left_out)
		s->left_out = add_frame(out, s, "[...]", 5);
	if (left_out)
		iid[n++] = s->left_out;
	while (nr) {
		--nr;
		iid[n] = texts ? text_of(out, s, texts[nr]) :
				 frame_of(out, s, producer, frame[nr]);
		if (!iid[n++])
			return 0;
	}
	iid[n] = doing(out, s, sample->how);
	n += iid[n] != 0;
	if (!n || xsp_map_set(&s->stacks, key, ++s->next))
		return 0;
	p = open_data(out, &data);
	start = wire_open(p, CALLSTACKS);
	p = wire_u64(start, IID, s->next);
	/* The outermost first. */
	for (uint32_t i = 0; i < n; i++)
		p = wire_u64(p, STACK_FRAMES, iid[i]);
	pf_packet_close(out, wire_close(data, wire_close(start, p)));
	return s->next;
}

bool pf_sample(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	struct perfetto *pf = pf_of(out);
	struct xsprof_trace_sample sample;
	uint64_t stack;
	char *p, *start;
	uint32_t len;

	if (!xsprof_trace_sample(ev, &sample) || sample.how == XSPROF_SAMPLE_MISSED)
		return false;
	if (!pf->samples) {
		pf->samples = calloc(1, sizeof(*pf->samples));
		if (!pf->samples)
			return false;
		pf->samples->next = MAPPING;
		begin(out);
	}
	stack = stack_of(out, pf->samples, ev->producer, &sample);
	if (!stack)
		return false;
	/* Names the thread. */
	(void)pf_thread_track(out, view->thread, &len);
	p = pf_packet_open(out, ev->ns, PF_SAMPLES, PF_NEEDED);
	/* As in a damaged capture: a sample without a time is another one's to a reader. */
	if (!ev->ns)
		p = wire_u64(p, PF_TIMESTAMP, 0);
	start = wire_open(p, SAMPLE);
	p = ev->cpu < 0 ? start : wire_u64(start, CPU, (uint64_t)ev->cpu);
	p = wire_u64(wire_u64(p, PID, ev->pid), TID, sample.thread);
	p = wire_u64(wire_u64(p, CALLSTACK, stack), MODE, USER);
	pf_packet_close(out, wire_close(start, p));
	return true;
}

void pf_samples_free(struct pf_samples *samples)
{
	if (!samples)
		return;
	xsp_map_free(&samples->frames);
	xsp_map_free(&samples->stacks);
	free(samples);
}
