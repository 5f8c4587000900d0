// SPDX-License-Identifier: GPL-2.0-only
/*
 * The JSON of PyTorch's profiler, which its tools load: the library writes it.
 */
#include "export/kineto/kineto.h"
#include "format/common/out.h"

static char *name_text(const struct xsprof_trace *trace, uint32_t producer, uint32_t name, char *p)
{
	size_t len;
	const char *s = xsprof_trace_name_len(trace, producer, name, &len);

	memcpy(p, s, len < XSP_NAME_BYTES ? len : XSP_NAME_BYTES);
	return p + (len < XSP_NAME_BYTES ? len : XSP_NAME_BYTES);
}

static int kineto_start(struct xsp_out *out)
{
	const struct xsprof_result_options opts = { .pid = out->pid };
	struct xsr_kineto *k;
	int ret = xsr_kineto_new(out->trace, &opts, &out->buf, &k);

	out->priv = k;
	return ret;
}

static void kineto_event(struct xsp_out *out, const struct xsp_view *view)
{
	xsr_kineto_event(out->priv, view->ev);
}

static void kineto_finish(struct xsp_out *out)
{
	xsr_kineto_finish(out->priv, out->buf.path ? out->buf.path : "");
	xsr_kineto_free(out->priv);
	out->priv = NULL;
}

const struct xsp_format xsp_format_kineto = {
	.name		= "kineto",
	.name_text	= name_text,
	.key_text	= name_text,
	.start		= kineto_start,
	.event		= kineto_event,
	.finish		= kineto_finish,
};
