/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kinds of the kernel's events that are formatted here, as the kernel itself prints them.
 */
#ifndef XSPROF_OUT_KERNEL_PRINT_H
#define XSPROF_OUT_KERNEL_PRINT_H

#include <stdint.h>
#include <string.h>

#define KERNEL_COMM	16	/* bytes of a task's name in an event */

/* How a kind is printed. */
enum printer {
	BY_NOBODY,		/* the trace does not describe the event */
	BY_LIBRARY,
	SWITCH,
	WAKEUP,
	MIGRATE,
	SYS_ENTER,
	SYS_EXIT,
	VECTOR,
	SOFTIRQ,
	PRINTERS
};

static inline uint32_t xsp_kernel_get32(const char *data, uint16_t at)
{
	uint32_t v;

	memcpy(&v, data + at, sizeof(v));
	return v;
}

/*
 * Formats an event of a kind of @printer, above BY_LIBRARY; its fields, already checked, are at the
 * offsets @at in @data, in the order of the recipe. Return: the end.
 */
char *xsp_kernel_print(enum printer printer, const char *data, const uint16_t *at, char *p);

#endif /* XSPROF_OUT_KERNEL_PRINT_H */
