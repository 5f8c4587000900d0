// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Formats a table as text: only columns with values, each as wide as needed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/table.h"

enum column {
	NAME, SELF_CPU_PART, SELF_CPU, CPU_PART, CPU, CPU_EACH, SELF_DEVICE_PART, SELF_DEVICE,
	DEVICE, DEVICE_EACH, CPU_MEMORY, SELF_CPU_MEMORY, DEVICE_MEMORY, SELF_DEVICE_MEMORY, CALLS,
	UNCERTAIN, ON, FLOPS, SHAPES, STACK, COLUMNS
};

static const char *const titles[COLUMNS] = {
	"Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg",
	"Self device %", "Self device", "Device total", "Device time avg", "CPU Mem",
	"Self CPU Mem", "Device Mem", "Self Device Mem", "# of Calls", "Uncertain", "Device",
	"Total FLOPs", "Input Shapes", "Source Location",
};

struct layout {
	const struct xsprof_table	*t;
	bool				shown[COLUMNS];
	size_t				width[COLUMNS];
};

/* ---- cells ---------------------------------------------------------------------------------- */

/* Writes @n thousandths as "12.345". */
static void put_thousandths(struct xsr_buf *b, uint64_t n, const char *unit)
{
	xsr_printf(b, "%" PRIu64 ".%03u%s", n / 1000, (unsigned int)(n % 1000), unit);
}

static void put_time(struct xsr_buf *b, uint64_t ns)
{
	if (ns < 1000000)
		put_thousandths(b, ns, "us");
	else if (ns < 1000000000)
		put_thousandths(b, ns / 1000, "ms");
	else
		put_thousandths(b, ns / 1000000, "s");
}

static void put_bytes(struct xsr_buf *b, int64_t bytes)
{
	static const char *const units[] = { "b", "Kb", "Mb", "Gb", "Tb", "Pb", "Eb" };
	double n = (double)bytes;
	unsigned int unit = 0;

	for (; (n >= 1024 || n <= -1024) && unit < 6; unit++)
		n /= 1024;
	if (unit)
		xsr_printf(b, "%.2f %s", n, units[unit]);
	else
		xsr_printf(b, "%" PRId64 " b", bytes);
}

static void put_part(struct xsr_buf *b, uint64_t n, uint64_t of)
{
	xsr_printf(b, "%.2f%%", of ? 100.0 * (double)n / (double)of : 0.0);
}

/* Names may contain any byte: lines and columns must not break. */
static void put_text(struct xsr_buf *b, const char *s, size_t len)
{
	for (; len; s++, len--) {
		char c = (unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s;

		xsr_put(b, &c, 1);
	}
}

static void put_cell(const struct layout *l, const struct xsr_row *r, enum column column,
		     struct xsr_buf *b)
{
	const struct xsprof_table_row *row = &r->row, *total = &l->t->total;

	switch (column) {
	case NAME:
		put_text(b, row->name, strlen(row->name));
		break;
	case SELF_CPU_PART:
		put_part(b, row->self_cpu_ns, total->self_cpu_ns);
		break;
	case SELF_CPU:
		put_time(b, row->self_cpu_ns);
		break;
	case CPU_PART:
		/*
		 * Relative to the total of self times: sums of inclusive times count time
		 * repeatedly.
		 */
		put_part(b, row->cpu_ns, total->self_cpu_ns);
		break;
	case CPU:
		put_time(b, row->cpu_ns);
		break;
	case CPU_EACH:
		put_time(b, row->count > row->uncertain ?
			    row->cpu_ns / (row->count - row->uncertain) : 0);
		break;
	case SELF_DEVICE_PART:
		put_part(b, row->self_device_ns, total->self_device_ns);
		break;
	case SELF_DEVICE:
		put_time(b, row->self_device_ns);
		break;
	case DEVICE:
		put_time(b, row->device_ns);
		break;
	case DEVICE_EACH:
		put_time(b, row->device_ns / (row->count + !row->count));
		break;
	case CPU_MEMORY:
		put_bytes(b, row->cpu_memory);
		break;
	case SELF_CPU_MEMORY:
		put_bytes(b, row->self_cpu_memory);
		break;
	case DEVICE_MEMORY:
		put_bytes(b, row->device_memory);
		break;
	case SELF_DEVICE_MEMORY:
		put_bytes(b, row->self_device_memory);
		break;
	case CALLS:
		xsr_printf(b, "%" PRIu64, row->count);
		break;
	case UNCERTAIN:
		xsr_printf(b, "%" PRIu64, row->uncertain);
		break;
	case ON:
		xsr_printf(b, "%u:%u", r->device >> 16, r->device & 0xffff);
		break;
	case FLOPS:
		xsr_printf(b, "%" PRIu64, row->flops);
		break;
	case SHAPES:
		put_text(b, row->shapes, strlen(row->shapes));
		break;
	case STACK:
		put_text(b, row->stack, strcspn(row->stack, "\n"));
		break;
	case COLUMNS:
		break;
	}
}

/* ---- lines ---------------------------------------------------------------------------------- */

static void choose(struct layout *l)
{
	bool device = false, device_memory = false, memory = false;

	for (uint32_t i = 0; i < l->t->nr; i++) {
		const struct xsprof_table_row *row = &l->t->rows[i].row;

		device |= row->device_ns || row->self_device_ns;
		memory |= row->cpu_memory || row->self_cpu_memory;
		device_memory |= row->device_memory || row->self_device_memory;
	}
	for (int i = 0; i < COLUMNS; i++)
		l->shown[i] = true;
	for (int i = SELF_DEVICE_PART; i <= DEVICE_EACH; i++)
		l->shown[i] = device;
	l->shown[CPU_MEMORY] = l->shown[SELF_CPU_MEMORY] = memory;
	l->shown[DEVICE_MEMORY] = l->shown[SELF_DEVICE_MEMORY] = device_memory;
	l->shown[UNCERTAIN] = l->t->total.uncertain;
	l->shown[ON] = l->t->by & XSPROF_BY_DEVICE;
	l->shown[FLOPS] = l->t->total.flops;
	l->shown[SHAPES] = l->t->by & XSPROF_BY_SHAPE;
	l->shown[STACK] = l->t->by & XSPROF_BY_STACK;
}

static void put_padded(struct xsr_buf *b, const char *s, size_t len, size_t width, bool left)
{
	xsr_puts(b, b->len && b->s[b->len - 1] != '\n' ? "  " : "");
	if (left)
		xsr_put(b, s, len);
	for (size_t i = len; i < width; i++)
		xsr_put(b, " ", 1);
	if (!left)
		xsr_put(b, s, len);
}

static void end_line(struct xsr_buf *b)
{
	while (b->len && b->s[b->len - 1] == ' ')
		b->s[--b->len] = 0;
	xsr_puts(b, "\n");
}

/* Frames after the first are on lines of their own. */
static void put_frames(struct xsr_buf *b, const struct layout *l, const char *frames)
{
	size_t indent = 0;

	for (int i = 0; i < STACK; i++)
		indent += l->shown[i] ? l->width[i] + 2 : 0;
	while ((frames = strchr(frames, '\n'))) {
		frames++;
		for (size_t i = 0; i < indent; i++)
			xsr_put(b, " ", 1);
		put_text(b, frames, strcspn(frames, "\n"));
		end_line(b);
	}
}

static void put_rule(struct xsr_buf *b, const struct layout *l)
{
	for (int i = 0; i < COLUMNS; i++) {
		if (!l->shown[i])
			continue;
		xsr_puts(b, i ? "  " : "");
		for (size_t k = 0; k < l->width[i]; k++)
			xsr_put(b, "-", 1);
	}
	xsr_puts(b, "\n");
}

static bool is_text(int column)
{
	return column == NAME || column == SHAPES || column == STACK;
}

char *xsprof_table_text(const struct xsprof_table *t, size_t rows)
{
	struct layout l = { .t = t };
	struct xsr_buf b = { 0 }, cell = { 0 };
	size_t nr = rows && rows < t->nr ? rows : t->nr;

	choose(&l);
	for (int c = 0; c < COLUMNS; c++) {
		l.width[c] = strlen(titles[c]);
		for (size_t i = 0; i < nr && l.shown[c]; i++) {
			cell.len = 0;
			put_cell(&l, &t->rows[i], c, &cell);
			if (cell.len > l.width[c])
				l.width[c] = cell.len;
		}
	}
	put_rule(&b, &l);
	for (int c = 0; c < COLUMNS; c++)
		if (l.shown[c])
			put_padded(&b, titles[c], strlen(titles[c]), l.width[c], is_text(c));
	end_line(&b);
	put_rule(&b, &l);
	for (size_t i = 0; i < nr; i++) {
		for (int c = 0; c < COLUMNS; c++) {
			if (!l.shown[c])
				continue;
			cell.len = 0;
			put_cell(&l, &t->rows[i], c, &cell);
			put_padded(&b, cell.s ? cell.s : "", cell.len, l.width[c], is_text(c));
		}
		end_line(&b);
		if (l.shown[STACK])
			put_frames(&b, &l, t->rows[i].row.stack);
	}
	put_rule(&b, &l);
	xsr_puts(&b, "Self CPU time total: ");
	put_time(&b, t->total.self_cpu_ns);
	if (l.shown[SELF_DEVICE]) {
		xsr_puts(&b, "\nSelf device time total: ");
		put_time(&b, t->total.self_device_ns);
	}
	xsr_puts(&b, "\n");
	if (b.err || cell.err)
		xsr_buf_free(&b);
	xsr_buf_free(&cell);
	return b.s;
}
