// SPDX-License-Identifier: GPL-2.0-only
/*
 * The JSON of PyTorch's profiler, for its tools: the library writes it.
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

/* The time shown is known at the first event. */
static bool begin(struct xsp_out *out)
{
	const struct xsprof_result_options opts = {
		.pid = out->pid, .from_ns = out->from_ns,
		.to_ns = out->to_ns == UINT64_MAX ? 0 : out->to_ns,
	};
	struct xsr_kineto *k;
	int ret;

	if (out->priv)
		return true;
	ret = xsr_kineto_new(out->trace, &opts, &out->buf, &k);
	out->priv = k;
	if (ret && !out->buf.err)
		out->buf.err = -ret;
	return !ret;
}

static void kineto_event(struct xsp_out *out, const struct xsp_view *view)
{
	if (begin(out))
		xsr_kineto_event(out->priv, view->ev);
}

static void kineto_finish(struct xsp_out *out)
{
	if (!begin(out))
		return;
	xsr_kineto_finish(out->priv, out->buf.path ? out->buf.path : "");
	out->left_out = xsr_kineto_left_out(out->priv);
	xsr_kineto_free(out->priv);
	out->priv = NULL;
}

const struct xsp_format xsp_format_kineto = {
	.name		= "kineto",
	.name_text	= name_text,
	.key_text	= name_text,
	.event		= kineto_event,
	.cuts		= true,
	.finish		= kineto_finish,
};
