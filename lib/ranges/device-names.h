/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Names that collectors give to devices, contexts and streams: facts of their process, see
 * format.rst.
 */
#ifndef XSP_RANGES_DEVICE_NAMES_H
#define XSP_RANGES_DEVICE_NAMES_H

#include <xsprof/trace.h>

#define XSP_DEVICE_KIND		24u	/* bytes, with its end */
#define XSP_DEVICE_NUMBERS	1024u	/* that devices have */

/* As its collector named it; NULL: it did not. */
const char *xsp_context_name(const struct xsprof_trace *trace, uint32_t producer, uint32_t device,
			     uint32_t context);
const char *xsp_stream_name(const struct xsprof_trace *trace, uint32_t producer, uint32_t device,
			    uint32_t context, uint32_t stream);
/* Of whichever context: the one that was named last. */
const char *xsp_stream_name_of_any(const struct xsprof_trace *trace, uint32_t producer,
				   uint32_t device, uint32_t stream);

/**
 * xsp_device_word() - what a device is called before its number: "GPU", "OpenCL device"
 * @facts: what its collector said of it, or NULL
 * @number: its number, which tells the kind where @facts do not
 * @text: room for it
 *
 * Return: @text, or a constant.
 */
const char *xsp_device_word(const char *facts, uint32_t number, char text[XSP_DEVICE_KIND + 8]);

#endif /* XSP_RANGES_DEVICE_NAMES_H */
