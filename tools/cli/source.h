/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The capture that dump, report and info read: how it is opened, what is said on stderr about
 * it, and the exit status that follows from its state.
 */
#ifndef XSPROF_SOURCE_H
#define XSPROF_SOURCE_H

#include <stdbool.h>

#include <xsprof/trace.h>

#define XSP_INPUT	"xsprof.data"	/* what `record` writes when it is not told a name */
#define XSP_DAMAGED	3		/* exit status: decoded, but the file is cut or damaged */

/**
 * struct xsp_source - an open capture
 * @trace: the trace
 * @path: as messages name it
 * @quiet: the decoder's warnings are not shown
 */
struct xsp_source {
	struct xsprof_trace	*trace;
	const char		*path;
	bool			quiet;
};

/* Return: 0, or TOOL_FAILED after a message. */
int xsp_source_open(struct xsp_source *source, const char *path, uint32_t flags, bool quiet);
/* Says why the last call failed.  Return: TOOL_FAILED. */
int xsp_source_error(const struct xsp_source *source, int ret);
/*
 * One line on stderr when anything was lost or damaged.  Return: 0 or XSP_DAMAGED: what the
 * recording itself lost and counted is no fault of the file.
 */
int xsp_source_losses(const struct xsp_source *source);
void xsp_source_close(struct xsp_source *source);

#endif /* XSPROF_SOURCE_H */
