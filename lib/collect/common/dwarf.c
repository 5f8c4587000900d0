// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reads an unwind rule from .eh_frame: searches the table of .eh_frame_hdr for the function's
 * entry, then runs its call frame instructions up to the address. Reads never leave the entry's
 * stated length, nor the mapped part of the object's segment, which is probed: table and entries
 * may be corrupt.
 *
 * An unknown instruction makes the rule unknown; it is never skipped.
 */
#include "collect/common/dwarf.h"

#ifdef __aarch64__
#define REG_FRAME	29u
#define REG_STACK	31u
#else
#define REG_FRAME	6u
#define REG_STACK	7u
#endif

#define STATES		8u	/* depth of DW_CFA_remember_state */
#define NO_REG		UINT32_MAX
#define ENTRY_MAX	(1u << 20)	/* bytes; bounds the time */
#define HEAD_MAX	20u	/* bytes of the table's header read; no table is shorter */

/* Pointer encodings: a format in the low four bits, and what the pointer is relative to. */
enum { PTR_ABS = 0x00, PTR_U4 = 0x03, PTR_S4 = 0x0b, PTR_S8 = 0x0c, PTR_PC = 0x10, PTR_DATA = 0x30,
       PTR_OMIT = 0xff };

static uint64_t pointer(struct bytes *b, uint8_t encoding)
{
	const uint64_t here = (uintptr_t)b->at;
	uint64_t v;

	switch (encoding & 0x0f) {
	case PTR_ABS:
	case PTR_S8:
		v = fixed(b, 8);
		break;
	case PTR_U4:
		v = fixed(b, 4);
		break;
	case PTR_S4:
		v = (uint64_t)(int64_t)(int32_t)fixed(b, 4);
		break;
	default:
		b->bad = true;
		return 0;
	}
	if ((encoding & 0xf0) == PTR_PC)
		v += here;
	else if (encoding & 0xf0)
		b->bad = true;
	return v;
}

/* ---- entries -------------------------------------------------------------------------------- */

/* A CIE: the part that entries (FDEs) of functions share. */
struct common {
	struct bytes	program;
	uint64_t	code_align;
	int64_t		data_align;
	uint32_t	back;		/* the return address column */
	uint8_t		encoding;	/* pointer encoding of the FDEs */
	bool		augmented;
	bool		signal;
};

/* The entry at @at after its length word. Empty for 64-bit DWARF, which is not supported. */
static struct bytes entry(const struct elf_object *object, uintptr_t at)
{
	struct bytes b = elf_readable(object, at);
	uint64_t size = elf_is_there(&b, 4) ? fixed(&b, 4) : 0;

	if (size < 4 || size > ENTRY_MAX || !elf_is_there(&b, size))
		return (struct bytes){ b.at, b.at, true };
	b.end = b.at + size;
	return b;
}

static bool read_common(const struct elf_object *object, uintptr_t at, struct common *c)
{
	struct bytes b = entry(object, at);
	const char *augmentation;
	uint64_t size;
	uint8_t version, encoding;

	if (fixed(&b, 4) || b.bad)
		return false;
	version = (uint8_t)fixed(&b, 1);
	augmentation = (const char *)b.at;
	while (fixed(&b, 1))
		;
	*c = (struct common){ .code_align = uleb(&b) };
	c->data_align = sleb(&b);
	c->back = (uint32_t)(version == 1 ? fixed(&b, 1) : uleb(&b));
	if (b.bad || (version != 1 && version != 3) ||
	    (*augmentation && *augmentation != 'z'))
		return false;
	c->augmented = *augmentation;
	if (c->augmented) {
		size = uleb(&b);
		if (b.bad || size > (uint64_t)(b.end - b.at))
			return false;
		c->program = (struct bytes){ b.at + size, b.end, false };
		b.end = b.at + size;
	} else {
		c->program = b;
	}
	for (; *augmentation; augmentation++) {
		switch (*augmentation) {
		case 'R':
			c->encoding = (uint8_t)fixed(&b, 1);
			break;
		case 'P':
			encoding = (uint8_t)fixed(&b, 1);
			pointer(&b, encoding & 0x0f);
			break;
		case 'L':
			fixed(&b, 1);
			break;
		case 'S':
			c->signal = true;
			break;
		default:	/* z: skipped above; B: arm64's key for signing return addresses */
			break;
		}
	}
	return !b.bad;
}

/* A row of the table: offsets, from the table, of a function and its entry. May be unaligned. */
struct row {
	int32_t	function;
	int32_t	entry;
};

/* Return: false if the row is not readable. */
static bool read_row(const struct bytes *table, uint64_t i, struct row *row)
{
	struct bytes b = { table->at + i * sizeof(*row), table->end, false };

	if (!elf_is_there(&b, sizeof(*row)))
		return false;
	memcpy(row, b.at, sizeof(*row));
	return true;
}

/* Skips the header of the table. Return: the number of rows; 0: no usable table. */
static uint64_t read_head(struct bytes *b)
{
	uint64_t version, start, count, form, nr;

	if (!elf_is_there(b, HEAD_MAX))
		return 0;
	version = fixed(b, 1);
	start = fixed(b, 1);
	count = fixed(b, 1);
	form = fixed(b, 1);
	/* The encoding that all linkers write for a sorted table. */
	if (version != 1 || form != (PTR_DATA | PTR_S4))
		return 0;
	pointer(b, start & 0x0f);
	nr = pointer(b, (uint8_t)count);
	return b->bad || nr > (uint64_t)(b->end - b->at) / sizeof(struct row) ? 0 : nr;
}

/* Return: the entry of the last function that begins at or before @at; 0: none. */
static uintptr_t search(const struct elf_object *object, uintptr_t index, uintptr_t at)
{
	struct bytes b = elf_readable(object, index);
	const int64_t want = (int64_t)(at - index);
	uint64_t low = 0, high = read_head(&b);
	struct row row;

	if (!high)
		return 0;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (!read_row(&b, middle, &row))
			return 0;
		if (row.function <= want)
			low = middle;
		else
			high = middle;
	}
	return read_row(&b, low, &row) && row.function <= want ? index + (uintptr_t)row.entry : 0;
}

/* ---- the program ---------------------------------------------------------------------------- */

enum { SAVED_NOT, SAVED_CFA, SAVED_FRAME, SAVED_ELSEWHERE, SAVED_NEVER };

struct saved {
	uint8_t		how;	/* enum, SAVED_* */
	int64_t		offset;	/* from the CFA, or from the frame pointer */
};

struct state {
	uint32_t	reg;		/* register of the CFA; NO_REG: an unsupported expression */
	bool		memory;		/* the CFA is the value in memory at register + offset */
	int64_t		cfa;
	struct saved	frame;
	struct saved	back;
};

struct machine {
	const struct common	*common;
	struct state		now;
	struct state		initial;
	struct state		kept[STATES];
	uint32_t		nr_kept;
	uint64_t		loc;
	uint64_t		at;
};

static void save(struct machine *m, uint64_t reg, uint8_t how, int64_t offset)
{
	/* Checked first: on arm64 the return address is in an ordinary register. */
	if (reg == m->common->back)
		m->now.back = (struct saved){ how, offset };
	else if (reg == REG_FRAME)
		m->now.frame = (struct saved){ how, offset };
}

static void restore(struct machine *m, uint64_t reg)
{
	if (reg == m->common->back)
		m->now.back = m->initial.back;
	else if (reg == REG_FRAME)
		m->now.frame = m->initial.frame;
}

/* Parses an expression "register + offset". @deref: followed by a load from that address. */
static bool simple(struct bytes *b, uint32_t *reg, int64_t *offset, bool *deref)
{
	uint64_t size = uleb(b);
	struct bytes e = { b->at, b->at + size, false };
	uint8_t op;

	skip(b, size);
	if (b->bad)
		return false;
	op = (uint8_t)fixed(&e, 1);
	*offset = sleb(&e);
	*deref = e.at != e.end && fixed(&e, 1) == 0x06;
	*reg = op - 0x70u;
	return !e.bad && e.at == e.end && op >= 0x70 && op <= 0x8f;
}

static void cfa_expression(struct machine *m, struct bytes *b)
{
	m->now.memory = false;
	if (!simple(b, &m->now.reg, &m->now.cfa, &m->now.memory))
		m->now.reg = NO_REG;
}

static void expression(struct machine *m, struct bytes *b)
{
	uint64_t reg = uleb(b);
	int64_t offset;
	uint32_t base;
	bool deref;

	if (simple(b, &base, &offset, &deref) && base == REG_FRAME && !deref)
		save(m, reg, SAVED_FRAME, offset);
	else
		save(m, reg, SAVED_ELSEWHERE, 0);
}

/* Instructions with a register operand, some with an offset after it. */
static bool of_register(struct machine *m, struct bytes *b, uint8_t op)
{
	const int64_t align = m->common->data_align;
	const uint64_t reg = uleb(b);

	switch (op) {
	case 0x05:
		save(m, reg, SAVED_CFA, (int64_t)uleb(b) * align);
		return true;
	case 0x06:
		restore(m, reg);
		return true;
	case 0x07:
		save(m, reg, SAVED_NEVER, 0);
		return true;
	case 0x08:
		save(m, reg, SAVED_NOT, 0);
		return true;
	case 0x09:
	case 0x14:
	case 0x15:
		uleb(b);
		save(m, reg, SAVED_ELSEWHERE, 0);
		return true;
	case 0x16:
		skip(b, uleb(b));
		save(m, reg, SAVED_ELSEWHERE, 0);
		return true;
	case 0x0c:
	case 0x12:
		m->now.cfa = op == 0x0c ? (int64_t)uleb(b) : sleb(b) * align;
		/* fall through */
	case 0x0d:
		m->now.memory = false;
		m->now.reg = (uint32_t)reg;
		return true;
	case 0x11:
		save(m, reg, SAVED_CFA, sleb(b) * align);
		return true;
	default:
		return false;
	}
}

/* Return: false for an unknown instruction. */
static bool step(struct machine *m, struct bytes *b)
{
	const struct common *c = m->common;
	uint8_t op = (uint8_t)fixed(b, 1);

	switch (op & 0xc0) {
	case 0x40:
		m->loc += (op & 0x3f) * c->code_align;
		return true;
	case 0x80:
		save(m, op & 0x3f, SAVED_CFA, (int64_t)uleb(b) * c->data_align);
		return true;
	case 0xc0:
		restore(m, op & 0x3f);
		return true;
	}
	switch (op) {
	case 0x00:
		return true;
	case 0x01:
		m->loc = pointer(b, c->encoding);
		return true;
	case 0x02:
	case 0x03:
	case 0x04:
		m->loc += fixed(b, 1u << (op - 2)) * c->code_align;
		return true;
	case 0x0a:
		if (m->nr_kept == STATES)
			return false;
		m->kept[m->nr_kept++] = m->now;
		return true;
	case 0x0b:
		if (!m->nr_kept)
			return false;
		m->now = m->kept[--m->nr_kept];
		return true;
	case 0x0e:
	case 0x13:
		m->now.cfa = op == 0x0e ? (int64_t)uleb(b) : sleb(b) * c->data_align;
		return true;
	case 0x0f:
		cfa_expression(m, b);
		return true;
	case 0x10:
		expression(m, b);
		return true;
	case 0x2d:	/* arm64: toggles the signing of the return address, which walk.c strips */
		return true;
	case 0x2e:	/* size of arguments: needed for exceptions only */
		uleb(b);
		return true;
	default:
		return of_register(m, b, op);
	}
}

static bool run(struct machine *m, struct bytes program)
{
	while (program.at != program.end && m->loc <= m->at)
		if (!step(m, &program) || program.bad)
			return false;
	return true;
}

/* Converts to words. Return: false if it does not fit into a rule. */
static bool in_words(int64_t offset, int16_t *words)
{
	*words = (int16_t)(offset / 8);
	return !(offset % 8) && *words && *words != UNWIND_LOST && *words * 8 == offset;
}

static struct unwind_rule rule_of(const struct state *s)
{
	struct unwind_rule rule = { .kind = UNWIND_UNKNOWN };

	if (s->back.how == SAVED_NEVER) {
		rule.kind = UNWIND_END;
		return rule;
	}
	rule.cfa = (int32_t)s->cfa;
	if (s->back.how != SAVED_CFA || !in_words(s->back.offset, &rule.back) ||
	    s->cfa >= 1 << 23 || s->cfa < -(1 << 23) ||
	    (s->reg != REG_FRAME && (s->reg != REG_STACK || s->memory)))
		return rule;
	rule.at_frame = s->frame.how == SAVED_FRAME;
	if (rule.at_frame && !s->frame.offset)
		rule.frame = 0;
	else if (s->frame.how != SAVED_NOT && (s->frame.how > SAVED_FRAME ||
					       !in_words(s->frame.offset, &rule.frame)))
		rule.frame = UNWIND_LOST;
	rule.kind = s->memory ? UNWIND_MEMORY : s->reg == REG_STACK ? UNWIND_STACK : UNWIND_FRAME;
	return rule;
}

uintptr_t dwarf_function(const struct elf_object *object, const void *index, uintptr_t at)
{
	uintptr_t found = search(object, (uintptr_t)index, at), link;
	uint64_t begin, size, back;
	struct common common;
	struct bytes b;

	if (!found)
		return 0;
	b = entry(object, found);
	link = (uintptr_t)b.at;
	back = fixed(&b, 4);
	if (b.bad || !back || !read_common(object, link - back, &common))
		return 0;
	begin = pointer(&b, common.encoding);
	size = pointer(&b, common.encoding & 0x0f);
	return b.bad || at < begin || at - begin >= size ? 0 : (uintptr_t)begin;
}

struct unwind_rule dwarf_rule(const struct elf_object *object, const void *index, uintptr_t at)
{
	static const struct unwind_rule unknown = { .kind = UNWIND_UNKNOWN };
	uintptr_t found = search(object, (uintptr_t)index, at), link;
	struct machine m = { .at = at };
	uint64_t begin, size, back;
	struct common common;
	struct bytes b;

	if (!found)
		return unknown;
	b = entry(object, found);
	link = (uintptr_t)b.at;
	back = fixed(&b, 4);
	if (b.bad || !back || !read_common(object, link - back, &common) || common.signal)
		return unknown;
	begin = pointer(&b, common.encoding);
	size = pointer(&b, common.encoding & 0x0f);
	/* The address is between two functions. */
	if (b.bad || at < begin || at - begin >= size)
		return unknown;
	if (common.augmented)
		skip(&b, uleb(&b));
	m.common = &common;
	m.now.reg = NO_REG;
	m.loc = begin;
	if (!run(&m, common.program))
		return unknown;
	m.initial = m.now;
	m.loc = begin;
	if (b.bad || !run(&m, b))
		return unknown;
	return rule_of(&m.now);
}
