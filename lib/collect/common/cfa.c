// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Runs the call frame instructions of a function up to an address, and makes an unwind rule of the
 * result. Reads nothing but the instructions, which dwarf.c has checked to be readable.
 *
 * An unknown instruction makes the rule unknown; it is never skipped.
 */
#include "collect/common/cfa.h"

#ifdef __aarch64__
#define REG_FRAME	29u
#define REG_STACK	31u
#else
#define REG_FRAME	6u
#define REG_STACK	7u
#endif

#define STATES		8u	/* depth of DW_CFA_remember_state */
#define NO_REG		UINT32_MAX

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
	const struct dwarf_common *common;
	struct state		now;
	struct state		initial;
	struct state		kept[STATES];
	uint32_t		nr_kept;
	uint64_t		loc;
	uint64_t		at;
};

uint64_t dwarf_pointer(struct bytes *b, uint8_t encoding)
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
	const struct dwarf_common *c = m->common;
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
		m->loc = dwarf_pointer(b, c->encoding);
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

struct unwind_rule cfa_rule(const struct dwarf_common *common, struct bytes program, uint64_t begin,
			    uint64_t at)
{
	static const struct unwind_rule unknown = { .kind = UNWIND_UNKNOWN };
	struct machine m = { .common = common, .now.reg = NO_REG, .loc = begin, .at = at };

	if (!run(&m, common->program))
		return unknown;
	m.initial = m.now;
	m.loc = begin;
	return run(&m, program) ? rule_of(&m.now) : unknown;
}
