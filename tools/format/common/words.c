// SPDX-License-Identifier: GPL-2.0-only
/*
 * Words for the numbers in a trace, the same in every output.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "format/common/out.h"

#define WORD(table, i) \
	((i) < sizeof(table) / sizeof((table)[0]) && (table)[i] ? (table)[i] : "?")

const char *xsp_word_type(uint16_t type)
{
	static const char *const words[] = {
		[XSPROF_REC_INVALID] = "invalid",
		[XSPROF_REC_BEGIN] = "begin",
		[XSPROF_REC_END] = "end",
		[XSPROF_REC_COMPLETE] = "complete",
		[XSPROF_REC_INSTANT] = "instant",
		[XSPROF_REC_COUNTER_I64] = "counter",
		[XSPROF_REC_COUNTER_F64] = "counter",
		[XSPROF_REC_ASYNC_BEGIN] = "async-begin",
		[XSPROF_REC_ASYNC_INSTANT] = "async-instant",
		[XSPROF_REC_ASYNC_END] = "async-end",
		[XSPROF_REC_FLOW_START] = "flow-start",
		[XSPROF_REC_FLOW_STEP] = "flow-step",
		[XSPROF_REC_FLOW_END] = "flow-end",
		[XSPROF_REC_CORR_PUSH] = "corr-push",
		[XSPROF_REC_CORR_POP] = "corr-pop",
		[XSPROF_REC_ALLOC] = "alloc",
		[XSPROF_REC_FREE] = "free",
		[XSPROF_REC_ARGS] = "args",
		[XSPROF_REC_STEP] = "step",
		[XSPROF_REC_SPAN] = "span",
		[XSPROF_REC_SYNC] = "sync",
		[XSPROF_REC_CONTROL] = "control",
		[XSPROF_REC_CLOCK] = "clock",
		[XSPROF_REC_GPU] = "gpu",
		[XSPROF_REC_STACK] = "stack",
		[XSPROF_REC_RELATION] = "relation",
		[XSPROF_REC_SAMPLE] = "sample",
		[XSPROF_REC_SCHED_IN] = "sched-in",
		[XSPROF_REC_SCHED_OUT] = "sched-out",
		[XSPROF_REC_SCHED_WAKE] = "sched-wake",
		[XSPROF_REC_SCHED_MIGRATE] = "sched-migrate",
		[XSPROF_EV_LOST] = "lost",
		[XSPROF_EV_PRODUCER] = "producer",
		[XSPROF_EV_EXIT] = "exit",
	};

	return WORD(words, type);
}

const char *xsp_word_scope(uint32_t scope)
{
	static const char *const words[] = { "thread", "process", "global" };

	return WORD(words, scope);
}

const char *xsp_word_sync(uint32_t op)
{
	static const char *const words[] = {
		NULL, "create", "prepare", "cancel", "acquired", "releasing", "destroy", "rename",
	};

	return WORD(words, op);
}

const char *xsp_word_sample(uint32_t how)
{
	static const char *const words[] = { "missed", "runs", "native", "lock", "off" };

	return WORD(words, how);
}

const char *xsp_word_control(uint32_t op)
{
	static const char *const words[] = { NULL, "enable", "pause", "resume", "switch" };

	return WORD(words, op);
}

const char *xsp_words_off(const struct xsprof_trace *trace, const struct xsprof_event *ev)
{
	static char words[512];
	size_t n = 0;

	words[0] = '\0';
	/* A pause affects all categories, and is shown as such. */
	if (ev->aux == XSPROF_CONTROL_PAUSE)
		return words;
	for (uint32_t i = 0; i < XSPROF_MAX_CATEGORIES; i++) {
		const char *name = xsprof_trace_category(trace, ev->producer,
							 i << XSPROF_NAME_SHIFT);

		if (ev->value >> i & 1 || !strcmp(name, "?"))
			continue;
		if (n + strlen(name) + sizeof(", ...") > sizeof(words)) {
			strcpy(words + n, n ? ", ..." : "...");
			break;
		}
		n += (size_t)sprintf(words + n, "%s%s", n ? ", " : "", name);
	}
	return words;
}

const char *xsp_word_gpu(uint32_t kind)
{
	static const char *const words[] = {
		NULL, "kernel", "memcpy", "memset", "sync", "runtime", "driver", "overhead",
		"graph", "unrecorded", "alloc", "free", "node", "metrics", "custom",
		"fault",
	};

	return WORD(words, kind);
}

const char *xsp_word_sched(uint32_t who)
{
	static const char *const words[] = {
		"none", "idle", "thread", "process", "kernel", "irq", "other",
	};

	return WORD(words, who);
}

const char *xsp_word_of_end(uint32_t how)
{
	return how == XSPROF_HOW_KILLED ? "signal" : "status";
}

const char *xsp_word_how(uint32_t how)
{
	static const char *const words[] = {
		"unknown", "exited", "killed", "exec", "vanished", "running",
	};

	return WORD(words, how);
}

const char *xsp_word_arg(uint8_t type)
{
	static const char *const words[] = {
		NULL, "i64", "u64", "f64", "bool", "ptr", "name", "str", "tensor", "i64s", "f64s",
		"list", "none", "i32s",
	};

	return WORD(words, type);
}

const char *xsp_word_op(uint32_t scope)
{
	static const char *const words[] = {
		"function", "backward-function", "torchscript-function", "kernel-function-dtype",
		"custom-class", "build-feature", "lite-interpreter", "user-scope",
		"static-runtime-op", "static-runtime-model",
	};

	return WORD(words, scope);
}

const char *xsp_word_clock(uint32_t kind)
{
	static const char *const words[] = { "none", "tsc", "cntvct", "mono-raw" };

	return WORD(words, kind);
}

const char *xsp_word_ring(uint32_t kind)
{
	static const char *const words[] = { "none", "rseq", "lock", "kernel" };

	return WORD(words, kind);
}

const char *xsp_word_mode(uint32_t mode)
{
	static const char *const words[] = { "discard", "overwrite" };

	return WORD(words, mode);
}
