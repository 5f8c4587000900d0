// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What the user wants beside what is always recorded: the words of XSPROF_GPU.
 */
#include <stdlib.h>

#include "gpu/cupti/local.h"

#define VARIABLE	"XSPROF_GPU"

static const char *const words[CUPTI_NR_DETAILS] = {
	[CUPTI_DETAIL_GRAPHS] = "graphs", [CUPTI_DETAIL_MEMORY] = "memory",
	[CUPTI_DETAIL_MANAGED] = "managed", [CUPTI_DETAIL_FAULTS] = "faults",
	[CUPTI_DETAIL_POOLS] = "pools", [CUPTI_DETAIL_JIT] = "jit",
	[CUPTI_DETAIL_LINKS] = "links", [CUPTI_DETAIL_SHARE] = "share",
	[CUPTI_DETAIL_QUEUED] = "queued",
};

static uint32_t wanted;

static void take(const char *word, size_t len)
{
	for (uint32_t i = 0; i < CUPTI_NR_DETAILS; i++) {
		if (strlen(words[i]) == len && !memcmp(words[i], word, len)) {
			wanted |= 1u << i;
			return;
		}
	}
	xsprof_say("%s: '%.*s' is unknown: expected graphs, memory, managed, faults, pools, jit, "
		   "links, share or queued: ignored", VARIABLE, (int)len, word);
}

void cupti_detail_init(void)
{
	const char *text = secure_getenv(VARIABLE);
	size_t len;

	for (; text && *text; text += len + (text[len] == ',')) {
		len = strcspn(text, ",");
		if (len)
			take(text, len);
	}
}

bool cupti_detail(enum cupti_detail what)
{
	return wanted >> what & 1;
}
