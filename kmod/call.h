/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The calling convention of the device's ioctls, in one place: sized arguments in, sized
 * arguments out.
 */
#ifndef XSP_CALL_H
#define XSP_CALL_H

#include <xsprof/ioctl.h>

/*
 * The kernel's copy of any argument: size is the first word of every structure, value the argument
 * of a command without a structure.
 */
union xsp_argument {
	__u32			size;
	unsigned long		value;
	struct xsprof_attach	attach;
	struct xsprof_populate	populate;
	struct xsprof_control	control;
	struct xsprof_list	list;
	struct xsprof_open	open;
	struct xsprof_watch	watch;
	struct xsprof_events	events;
	struct xsprof_syncs	syncs;
	struct xsprof_emit	emit;
	struct xsprof_sched	sched;
};

/**
 * struct xsp_command - one command
 * @cmd: all bits of the command; they include whether the structure is copied back to the caller on
 *	success
 * @size: bytes of its structure, 0 for none
 * @call: executes it; @self is the object of the descriptor
 */
struct xsp_command {
	unsigned int	cmd;
	size_t		size;
	long		(*call)(void *self, union xsp_argument *arg);
};

long xsp_call(const struct xsp_command *commands, size_t nr, void *self, unsigned int cmd,
	      unsigned long arg);

#endif /* XSP_CALL_H */
