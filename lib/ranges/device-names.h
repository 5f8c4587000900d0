/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Names of devices, contexts and streams from their collectors: facts of their process, see
 * format.rst.
 */
#ifndef XSP_RANGES_DEVICE_NAMES_H
#define XSP_RANGES_DEVICE_NAMES_H

#include <xsprof/trace.h>

#define XSP_DEVICE_KIND		24u	/* bytes, including the terminator */
#define XSP_DEVICE_NUMBERS	1024u	/* limit of device numbers */

/* The name from the collector; NULL: none. */
const char *xsp_context_name(const struct xsprof_trace *trace, uint32_t producer, uint32_t device,
			     uint32_t context);
const char *xsp_stream_name(const struct xsprof_trace *trace, uint32_t producer, uint32_t device,
			    uint32_t context, uint32_t stream);

/*
 * The text that a description has for @key, as in "uuid"; not terminated. NULL: none.
 * @facts: may be NULL
 */
const char *xsp_device_fact(const char *facts, const char *key, size_t *len);

/**
 * xsp_device_word() - the word before a device's number: "GPU", "OpenCL device"
 * @facts: the collector's description, or NULL
 * @number: device number, which implies the kind if @facts does not state it
 * @text: buffer for it
 *
 * Return: @text, or a constant.
 */
const char *xsp_device_word(const char *facts, uint32_t number, char text[XSP_DEVICE_KIND + 8]);

#endif /* XSP_RANGES_DEVICE_NAMES_H */
