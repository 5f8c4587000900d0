// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded before the library: counts the calls of xsprof_emit_instant() and passes them on, and
 * answers inline markers as XSPROF_TEST_ANSWER says; see inline.c.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <xsprof/inline.h>
#include <xsprof/xsprof.h>

XSPROF_API unsigned int answer_calls;

XSPROF_API void xsprof_emit_instant(xsprof_name_t name, uint32_t scope)
{
	static void (*next)(xsprof_name_t name, uint32_t scope);

	if (!next)
		next = (void (*)(xsprof_name_t, uint32_t))dlsym(RTLD_NEXT, "xsprof_emit_instant");
	answer_calls++;
	next(name, scope);
}

XSPROF_API const struct xsprof_inline *xsprof_inline_get(uint32_t version, size_t size)
{
	static struct xsprof_inline other;
	const struct xsprof_inline *(*next)(uint32_t version, size_t size);
	const char *answer = getenv("XSPROF_TEST_ANSWER");

	next = (const struct xsprof_inline *(*)(uint32_t, size_t))dlsym(RTLD_NEXT,
									"xsprof_inline_get");
	if (!answer || !next)
		return next ? next(version, size) : NULL;
	/* An answer that the caller must not accept has invalid addresses. */
	memset(&other, 0xff, sizeof(other));
	other.version = version;
	other.size = (uint32_t)size;
	if (!strcmp(answer, "none"))
		return NULL;
	if (!strcmp(answer, "version"))
		other.version = version + 1;
	else if (!strcmp(answer, "small"))
		other.size = (uint32_t)size - 1;
	else if (!strcmp(answer, "large"))
		/* The answer of a later library with the same interface. */
		return memcpy(&other, next(version, size), sizeof(other)),
		       other.size = (uint32_t)size + 64, &other;
	else if (!strcmp(answer, "ask-later"))
		return next(version + 1, size);
	else if (!strcmp(answer, "ask-small"))
		return next(version, size - 1);
	return &other;
}
