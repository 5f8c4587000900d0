/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Looks at threads from outside at a tick: without asking them.
 */
#ifndef XSP_PYTHON_LOOK_H
#define XSP_PYTHON_LOOK_H

#include "collect/python/sample.h"

/* ---- look.c: what is recorded of a thread ---------------------------------------------------- */

void python_look_init(int category);
/* Records missed samples. @tid: 0: of each thread. */
void python_missed(uint32_t tid, uint32_t n);
/*
 * Records @ticks samples of a thread that does not hold the GIL since @turn; @now: CLOCK_MONOTONIC,
 * ns; @at_once: as of python_ask(). Return: false: it could not be read.
 */
bool python_look_at(struct python_entry *entry, uint32_t turn, uint32_t ticks, uint64_t now,
		    bool at_once);
/*
 * Records a sample, or a missed one, of the GIL's holder if it waits in the kernel: then it is not
 * asked. *@cpu_ns: its CPU time; 0: unknown. Return: false: it does not wait, as far as is known.
 */
bool python_look_waits(struct python_entry *entry, uint32_t tid, uint64_t now, uint64_t *cpu_ns);

/* ---- asleep.c: those that wait --------------------------------------------------------------- */

/*
 * Does a thread wait in the kernel? @turn: its turn; @cpu: its CPU time, ns. If it waits, and holds
 * the GIL or native frames are recorded, sets @entry->asleep; if it holds the GIL, the name and
 * line too.
 */
enum python_place python_asleep(struct python_entry *entry, uint32_t turn, uint64_t cpu,
				struct python_reading *reading);

#endif /* XSP_PYTHON_LOOK_H */
