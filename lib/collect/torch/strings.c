// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Strings among the inputs of ops. Libtorch makes one for us, which shows the offset of the text;
 * an input is read only if its object has the same class. The first is done once, with the lock of
 * verify.c, before any other thread reads one.
 */
#include "collect/torch/local.h"

#define PROBE	"xsprof-probe"

void torch_strings_find(void)
{
	struct torch_text text = { .len = sizeof(PROBE) - 1, .own = PROBE };
	static bool asked;
	const char *made = NULL;

	if (asked || !torch_api.string_new)
		return;
	asked = true;
	text.data = text.own;
	/* It stays: what would give it back is inlined into its users. */
	torch_api.string_new(&made, &text);
	for (uint16_t at = 16; made && at <= 24; at += 8) {
		/* A short one has its text in itself. */
		if (torch_ptr(made, at) != made + at + offsetof(struct torch_text, own) ||
		    torch_u64(made, at + 8) != sizeof(PROBE) - 1 ||
		    memcmp(torch_ptr(made, at), PROBE, sizeof(PROBE)))
			continue;
		torch_layout.text = at;
		torch_layout.text_class = torch_u64(made, 0);
		return;
	}
}

bool torch_string_read(const char *value, struct xsprof_input *to)
{
	const char *object = torch_ptr(value, 0);
	const char *text;
	uint64_t len;

	if (!torch_layout.text || torch_u64(object, 0) != torch_layout.text_class)
		return false;
	text = torch_ptr(object, torch_layout.text);
	len = torch_u64(object, torch_layout.text + 8);
	/* One that is longer than a record keeps is told of as cut; one with a 0 is no text. */
	if (memchr(text, 0, len))
		return false;
	*to = (struct xsprof_input){ .kind = XSPROF_INPUT_STR, .u.str = text };
	return true;
}
