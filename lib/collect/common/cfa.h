/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Call frame instructions of an entry in .eh_frame.
 */
#ifndef XSPROF_COLLECT_CFA_H
#define XSPROF_COLLECT_CFA_H

#include "collect/common/bytes.h"
#include "collect/common/native.h"

/* A CIE: the part that entries (FDEs) of functions share. */
struct dwarf_common {
	struct bytes	program;
	uint64_t	code_align;
	int64_t		data_align;
	uint32_t	back;		/* the return address column */
	uint8_t		encoding;	/* pointer encoding of the FDEs */
	bool		augmented;
	bool		signal;
};

/* Pointer encodings: a format in the low four bits, and what the pointer is relative to. */
enum { PTR_ABS = 0x00, PTR_U4 = 0x03, PTR_S4 = 0x0b, PTR_S8 = 0x0c, PTR_PC = 0x10, PTR_DATA = 0x30,
       PTR_OMIT = 0xff };

/* Reads a pointer; an unsupported @encoding sets @b->bad. */
uint64_t dwarf_pointer(struct bytes *b, uint8_t encoding);

/*
 * The rule at address @at of the function that begins at @begin, by the instructions of its CIE and
 * of its FDE, @program.
 */
struct unwind_rule cfa_rule(const struct dwarf_common *common, struct bytes program, uint64_t begin,
			    uint64_t at);

#endif /* XSPROF_COLLECT_CFA_H */
