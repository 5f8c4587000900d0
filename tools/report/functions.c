// SPDX-License-Identifier: GPL-2.0-only
/*
 * xsprof report --by function: the functions in which sampled threads were, and with thread the
 * functions of each thread. Reads the trace once, and keeps rows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "format/common/stack.h"
#include "report/functions.h"
#include "result/frames.h"

/* A thread, and the number by which its rows are found; 0: rows are of all threads. */
struct of_thread {
	struct xsp_key	key;
	uint64_t	number;
};

/* Return: 0 or -ENOMEM. */
static int of_thread(struct functions *f, uint32_t producer, uint32_t tid, struct of_thread *t)
{
	uint64_t key = (producer + 1ull) << 32 | tid, *at;

	*t = (struct of_thread){ .number = 0 };
	if (!(f->report->by & REPORT_BY_THREAD))
		return 0;
	t->key = (struct xsp_key){ .producer = producer + 1, .tid = tid + 1ull };
	at = xsp_map_get(&f->threads, key);
	t->number = at ? *at : f->nr_threads + 1;
	if (at)
		return 0;
	f->nr_threads++;
	return xsp_map_set(&f->threads, key, t->number);
}

/* Return: NULL: no memory. */
static struct function *row_of(struct functions *f, const struct of_thread *thread, uint32_t word)
{
	uint64_t key = thread->number << 32 | (word + 1), *at = xsp_map_get(&f->by_word, key);
	static const struct of_thread nobody;
	struct function *rows;

	if (at)
		return &f->rows[*at];
	if (f->nr >= FUNCTION_ROWS - 1 && key != 1) {
		/* Count each sample once. The number of samples so far identifies it. */
		f->full += f->full_at != functions_all(f->samples);
		f->full_at = functions_all(f->samples);
		return row_of(f, &nobody, 0);
	}
	if (f->nr == f->room) {
		f->room = f->room ? 2 * f->room : 256;
		rows = realloc(f->rows, f->room * sizeof(*rows));
		if (!rows)
			return NULL;
		f->rows = rows;
	}
	if (xsp_map_set(&f->by_word, key, f->nr))
		return NULL;
	f->rows[f->nr] = (struct function){ .word = word, .thread = thread->key };
	return &f->rows[f->nr++];
}

static uint32_t word_of(struct functions *f, uint32_t producer, uint32_t name)
{
	uint32_t text = 0, category = 0;

	if (name)
		xsp_groups_words(f->report->groups, producer, name, &text, &category);
	return text;
}

/*
 * A recursive function counts once per sample. @inner: no function of Python is inside of it.
 */
static int add_total(struct functions *f, const struct of_thread *thread, uint32_t word,
		     uint32_t how, uint64_t number, bool inner)
{
	struct function *row = row_of(f, thread, word);

	if (!row)
		return -ENOMEM;
	if (row->seen != number)
		row->total[how]++;
	row->seen = number;
	if (inner && row->seen_c != number)
		row->with_c[how]++;
	if (inner)
		row->seen_c = number;
	return 0;
}

static uint32_t word_of_text(struct functions *f, const char *text)
{
	return xsp_groups_intern_name(f->report->groups, text, strlen(text));
}

static int add(struct functions *f, const struct xsprof_event *ev)
{
	struct xsprof_trace_sample sample;
	const char *const *texts;
	const uint64_t *frame;
	struct function *row;
	uint32_t left = 0, word, name;
	struct of_thread thread;
	bool inner = true;
	uint64_t number;
	size_t nr = 0;
	int ret = 0;

	if (!xsprof_trace_sample(ev, &sample) || sample.how >= FUNCTION_HOWS ||
	    !xsp_filter_thread(&f->report->filter, ev->pid, sample.thread))
		return 0;
	if (sample.how == XSPROF_SAMPLE_MISSED) {
		f->samples[sample.how] += sample.missed;
		f->ticks += sample.thread ? 0 : sample.missed;
		return 0;
	}
	if (of_thread(f, ev->producer, sample.thread, &thread))
		return -ENOMEM;
	number = functions_all(f->samples) + 1;
	f->samples[sample.how]++;
	frame = xsprof_trace_stack(f->report->source.trace, ev->producer, sample.stack, &nr,
				   &left);
	texts = fmt_stack_texts(f->report->source.trace, &f->frames, ev->producer, sample.stack,
				&nr);
	/* The innermost function of Python; the innermost frame may be a C function. */
	name = word_of(f, ev->producer, ev->name);
	row = row_of(f, &thread, texts && nr ? word_of_text(f, texts[0]) : name);
	if (!row)
		return -ENOMEM;
	row->self[sample.how]++;
	f->no_stack += !frame;
	f->cut += left != 0;
	if (!frame)
		return add_total(f, &thread, name, sample.how, number, true);
	for (size_t i = 0; i < nr && !ret; i++) {
		word = texts ? word_of_text(f, texts[i]) :
		       word_of(f, ev->producer, (uint32_t)frame[i]);
		ret = add_total(f, &thread, word, sample.how, number, inner);
		inner = inner && word != name;
	}
	return ret;
}

/* The sampling rate that the process recorded. */
static void take_hz(struct functions *f, uint32_t producer)
{
	const char *text = xsprof_trace_fact(f->report->source.trace, producer, "python.hz");
	uint64_t hz = text ? strtoull(text, NULL, 10) : 0;

	if (hz && f->hz && f->hz != hz)
		f->hz = UINT64_MAX;
	else if (hz)
		f->hz = hz;
}

static int one(void *data, const struct xsprof_event *ev)
{
	struct functions *f = data;

	return ev->type == XSPROF_REC_SAMPLE && xsp_filter_time(&f->report->filter, ev->ns) ?
	       add(f, ev) : 0;
}

int functions_run(struct report *report)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	struct functions f = { .report = report };
	int status;

	if (xsp_groups_new(report->source.trace, false, false, &report->groups))
		return tool_error("%s", strerror(ENOMEM));
	status = report_read(report, true, one, &f);
	(void)xsprof_trace_get_info(report->source.trace, &info);
	for (uint32_t i = 0; i < info.producers; i++)
		take_hz(&f, i);
	if (f.hz == UINT64_MAX)
		f.hz = 0;
	if (!status && !functions_all(f.samples) && !f.samples[XSPROF_SAMPLE_MISSED])
		status = tool_error(xsp_filter_given(&report->filter) ?
				    "%s: no sample matches the filters: leave out --pid, --tid, "
				    "--from or --to" :
				    "%s: has no stack samples: record Python with --python, and "
				    "with the category python",
				    report->source.path);
	if (!status) {
		if (report->json)
			functions_print_json(&f);
		else
			functions_print(&f);
		status = tool_finish(0);
	}
	xsp_groups_free(report->groups);
	report->groups = NULL;
	xsr_frames_free(f.frames);
	xsp_map_free(&f.by_word);
	xsp_map_free(&f.threads);
	free(f.rows);
	if (!status)
		status = xsp_source_losses(&report->source);
	return status;
}
