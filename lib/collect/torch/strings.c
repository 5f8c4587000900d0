// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Strings among the inputs of ops. libtorch makes a string for us, which shows the offset of the
 * text; an input is read only if its object has the same class.
 */
#include "collect/torch/inputs.h"

#define PROBE	"xsprof-probe"

/* Is there a std::string of libtorch with our text? @at may hold anything. */
static bool is_ours(const char *at)
{
	struct torch_text t = { 0 };
	char text[sizeof(PROBE)];

	if (torch_old_texts())
		t.data = torch_ptr(at, 0);
	else
		memcpy(&t, at, sizeof(t));
	if (!collect_peek(text, t.data, sizeof(text)) || memcmp(text, PROBE, sizeof(text)))
		return false;
	if (!torch_old_texts())
		/* Short strings are stored inside the object. */
		return t.data == at + offsetof(struct torch_text, own) &&
		       t.len == sizeof(PROBE) - 1;
	return collect_peek(&t.len, t.data - OLD_TEXT_LEN, sizeof(t.len)) &&
	       t.len == sizeof(PROBE) - 1;
}

void torch_strings_find(void)
{
	static bool asked;
	const char *made;

	if (__atomic_load_n(&asked, __ATOMIC_RELAXED) || !torch_api.string_new)
		return;
	/* Never freed: the destructor is inlined into its users. */
	made = torch_api.string_new(PROBE).object;
	for (uint16_t at = 16; made && at <= 24; at += 8) {
		if (!is_ours(made + at))
			continue;
		__atomic_store_n(&torch_layout.text_class, torch_u64(made, 0), __ATOMIC_RELAXED);
		__atomic_store_n(&torch_layout.text, at, __ATOMIC_RELAXED);
		break;
	}
	/* Threads that race here find the same. */
	__atomic_store_n(&asked, true, __ATOMIC_RELAXED);
}

bool torch_string_read(const char *value, struct xsprof_input *to)
{
	const char *object = torch_ptr(value, 0);
	const char *text;
	size_t len;

	if (!TORCH_FOUND(text) || torch_u64(object, 0) != TORCH_FOUND(text_class))
		return false;
	len = torch_text(object + TORCH_FOUND(text), &text);
	/* A text longer than a record is cut by the library; one with a 0 byte is not text. */
	if (memchr(text, 0, len))
		return false;
	*to = (struct xsprof_input){ .kind = XSPROF_INPUT_STR, .u.str = text };
	return true;
}
