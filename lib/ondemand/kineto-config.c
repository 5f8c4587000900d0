// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Parses Kineto's configuration text: keys, values, and reasons to refuse a text. Owns no state.
 * The text comes from another process: it is bounded by its length only, and no byte of it is
 * trusted.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xsprof/profiler.h>

#include "ondemand/kineto-config.h"
#include "ondemand/kineto-env.h"

#define POLL_MIN_MS	10
#define POLL_MAX_MS	50000	/* a daemon forgets a process that has not polled for 60 s */

/* Part of the text; not terminated. */
struct piece {
	const char	*at;
	size_t		len;
};

enum kind {
	IGNORED,	/* known, but without effect here */
	BOOL,
	COUNT,		/* uint32_t */
	NUMBER,		/* int64_t, as most numbers of no more than 31 bits */
	TIME,		/* int64_t of 63 bits */
	SECONDS,	/* to ms; Kineto takes whole ones only, we take fractions */
	TEXT,
	FILE_NAME,
	TYPES,
};

#define AT(field)	offsetof(struct xsp_kineto_config, field)

static const struct key {
	const char	*name;
	uint32_t	kind;
	uint32_t	at;
	bool		asks;
} keys[] = {
	{ "ACTIVITIES_ENABLED", BOOL, AT(enabled), false },
	{ "ACTIVITY_TYPES", TYPES, AT(activities), false },
	{ "ACTIVITIES_LOG_FILE", FILE_NAME, AT(file), true },
	{ "ACTIVITIES_DURATION_SECS", SECONDS, AT(duration_ms), true },
	{ "ACTIVITIES_DURATION_MSECS", NUMBER, AT(duration_ms), true },
	{ "ACTIVITIES_WARMUP_PERIOD_SECS", SECONDS, AT(warmup_ms), false },
	{ "ACTIVITIES_WARMUP_ITERATIONS", COUNT, AT(warmup_iterations), false },
	{ "ACTIVITIES_ITERATIONS", COUNT, AT(iterations), true },
	{ "ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB", NUMBER, AT(gpu_buffer_mb), false },
	{ "ACTIVITIES_DISPLAY_CUDA_SYNC_WAIT_EVENTS", BOOL, AT(sync_events), false },
	{ "PROFILE_START_TIME", TIME, AT(start_ms), false },
	{ "PROFILE_START_ITERATION", NUMBER, AT(start_iteration), false },
	{ "PROFILE_START_ITERATION_ROUNDUP", NUMBER, AT(roundup), false },
	{ "PROFILE_REPORT_INPUT_SHAPES", BOOL, AT(shapes), false },
	{ "PROFILE_PROFILE_MEMORY", BOOL, AT(memory), false },
	{ "PROFILE_WITH_STACK", BOOL, AT(stack), false },
	{ "PROFILE_WITH_FLOPS", BOOL, AT(flops), false },
	{ "PROFILE_WITH_MODULES", BOOL, AT(modules), false },
	{ "PROFILE_MEMORY", BOOL, AT(snapshot), true },
	{ "PROFILE_MEMORY_DURATION_MSECS", NUMBER, AT(snapshot_ms), false },
	{ "CLIENT_INTERFACE_ENABLE_OP_INPUTS_COLLECTION", BOOL, AT(shapes), false },
	{ "PYTHON_STACK_TRACE", BOOL, AT(stack), false },
	{ "CUPTI_PM_SAMPLING_METRICS", TEXT, AT(metrics), false },
	{ "REQUEST_TRACE_ID", TEXT, AT(trace_id), false },
	{ "REQUEST_GROUP_TRACE_ID", TEXT, AT(group_id), false },
	{ "CUSTOM_CONFIG", TEXT, AT(custom), false },
	{ "ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS", SECONDS, AT(poll_ms), false },
	{ "CUPTI_PER_THREAD_BUFFER_ENABLED", IGNORED, 0, false },
	{ "CUPTI_PM_SAMPLING_DEVICE_ID", IGNORED, 0, false },
	{ "ROCTRACER_MAX_EVENTS", IGNORED, 0, false },
	{ "ENABLE_IPC_FABRIC", IGNORED, 0, false },
	{ "ENABLE_SIGUSR2", IGNORED, 0, false },
	{ "REQUEST_TIMESTAMP", IGNORED, 0, false },
	{ "VERBOSE_LOG_LEVEL", IGNORED, 0, false },
	{ "VERBOSE_LOG_MODULES", IGNORED, 0, false },
};

/* Kineto's activity types and our activities for them; 0: not available. */
static const struct {
	const char	*name;
	uint32_t	activity;
} types[] = {
	{ "cpu_op", XSPROF_ACTIVITY(CPU) },
	{ "user_annotation", XSPROF_ACTIVITY(CPU) },
	{ "cpu_instant_event", XSPROF_ACTIVITY(CPU) },
	{ "python_function", XSPROF_ACTIVITY(CPU) },
	{ "gpu_user_annotation", XSPROF_ACTIVITY(CUDA) },
	{ "gpu_memcpy", XSPROF_ACTIVITY(CUDA) },
	{ "gpu_memset", XSPROF_ACTIVITY(CUDA) },
	{ "kernel", XSPROF_ACTIVITY(CUDA) },
	{ "concurrent_kernel", XSPROF_ACTIVITY(CUDA) },
	{ "cuda_runtime", XSPROF_ACTIVITY(CUDA) },
	{ "cuda_driver", XSPROF_ACTIVITY(CUDA) },
	{ "cuda_sync", XSPROF_ACTIVITY(CUDA) },
	{ "cuda_event", XSPROF_ACTIVITY(CUDA) },
	{ "cuda_profiler_range", XSPROF_ACTIVITY(CUDA) },
	{ "overhead", XSPROF_ACTIVITY(CUDA) },
	{ "hardware_counters", XSPROF_ACTIVITY(CUDA) },
	{ "collective_comm", XSPROF_ACTIVITY(CUDA) },
	{ "mtia_runtime", XSPROF_ACTIVITY(MTIA) },
	{ "mtia_ccp_events", XSPROF_ACTIVITY(MTIA) },
	{ "mtia_insight", XSPROF_ACTIVITY(MTIA) },
	{ "mtia_counters", XSPROF_ACTIVITY(MTIA) },
	{ "xpu_runtime", XSPROF_ACTIVITY(XPU) },
	{ "xpu_driver", XSPROF_ACTIVITY(XPU) },
	{ "xpu_sync", XSPROF_ACTIVITY(XPU) },
	{ "xpu_scope_profiler", XSPROF_ACTIVITY(XPU) },
	{ "hpu_op", XSPROF_ACTIVITY(HPU) },
	{ "privateuse1_runtime", XSPROF_ACTIVITY(PRIVATEUSE1) },
	{ "privateuse1_driver", XSPROF_ACTIVITY(PRIVATEUSE1) },
	{ "external_correlation", 0 },
	{ "glow_runtime", 0 },
};

void xsp_kineto_config_init(struct xsp_kineto_config *c)
{
	memset(c, 0, sizeof(*c));
	c->enabled = true;
	c->warmup_ms = 5000;
	c->duration_ms = 500;
	c->snapshot_ms = 500;
	c->poll_ms = 5000;
	c->start_iteration = -1;
	c->gpu_buffer_mb = 128;
}

static bool is_blank(char x)
{
	return x == ' ' || x == '\t' || x == '\r' || x == '\v' || x == '\f';
}

static struct piece trimmed(struct piece p)
{
	while (p.len && is_blank(*p.at)) {
		p.at++;
		p.len--;
	}
	while (p.len && is_blank(p.at[p.len - 1]))
		p.len--;
	return p;
}

static bool is_word(struct piece p, const char *word)
{
	return p.len == strlen(word) && !strncasecmp(p.at, word, p.len);
}

/* Decimal digits only, up to @max. */
static const char *to_number(struct piece p, int64_t max, int64_t *to)
{
	int64_t v = 0;

	if (!p.len)
		return "a number is missing";
	for (size_t i = 0; i < p.len; i++) {
		if (!isdigit((unsigned char)p.at[i]))
			return "not a number";
		if (v > (max - (p.at[i] - '0')) / 10)
			return "the number is too large";
		v = v * 10 + (p.at[i] - '0');
	}
	*to = v;
	return NULL;
}

/* Seconds with up to three decimals. */
static const char *to_ms(struct piece p, int64_t *to)
{
	const char *point = memchr(p.at, '.', p.len), *why;
	int64_t ms = 0, s = 0;

	if (point) {
		struct piece part = { point + 1, p.len - (point + 1 - p.at) };

		if (part.len > 3)
			return "seconds allow at most three decimal places";
		why = to_number(part, 999, &ms);
		if (why)
			return why;
		for (size_t i = part.len; i < 3; i++)
			ms *= 10;
		p.len = point - p.at;
	}
	why = to_number(p, INT32_MAX, &s);
	if (!why)
		*to = s * 1000 + ms;
	return why;
}

static const char *to_bool(struct piece p, bool *to)
{
	static const char *const word[] = { "n", "y", "no", "yes", "f", "t", "false", "true", "0",
		"1" };

	for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++)
		if (is_word(p, word[i])) {
			*to = i & 1;
			return NULL;
		}
	return "neither true nor false";
}

static const char *to_text(struct piece p, char *to, size_t room)
{
	if (p.len >= room)
		return "the value is too long";
	memcpy(to, p.at, p.len);
	to[p.len] = '\0';
	return NULL;
}

/* "cpu_op, kernel": unknown types are skipped unless all are unknown. */
static const char *to_types(struct piece p, struct xsp_kineto_config *c)
{
	unsigned int known = 0, unknown = 0;
	uint32_t set = 0;

	while (p.len) {
		const char *comma = memchr(p.at, ',', p.len);
		struct piece one = { p.at, comma ? (size_t)(comma - p.at) : p.len };
		size_t i, n = sizeof(types) / sizeof(types[0]);

		p.at += one.len + !!comma;
		p.len -= one.len + !!comma;
		one = trimmed(one);
		if (!one.len)
			continue;
		for (i = 0; i < n && !is_word(one, types[i].name); i++)
			;
		if (i < n)
			set |= types[i].activity;
		known += i < n;
		unknown += i == n;
	}
	if (unknown && !known)
		return "unknown activity type";
	c->activities = set;
	c->unknown += unknown;
	return NULL;
}

static const char *set_key(struct xsp_kineto_config *c, const struct key *k, struct piece value)
{
	void *to = (char *)c + k->at;
	const char *why = NULL;
	int64_t v;

	switch (k->kind) {
	case IGNORED:
		c->ignored++;
		break;
	case BOOL:
		why = to_bool(value, to);
		break;
	case COUNT:
		why = to_number(value, INT32_MAX, &v);
		if (!why)
			*(uint32_t *)to = v;
		break;
	case NUMBER:
		why = to_number(value, INT32_MAX, to);
		break;
	case TIME:
		why = to_number(value, INT64_MAX, to);
		break;
	case SECONDS:
		why = to_ms(value, to);
		break;
	case TEXT:
		why = to_text(value, to, XSP_KINETO_VALUE_MAX);
		break;
	case FILE_NAME:
		why = to_text(value, to, sizeof(c->file));
		break;
	case TYPES:
		why = to_types(value, c);
		break;
	}
	c->asked |= k->asks;
	return why;
}

static const char *parse_line(struct xsp_kineto_config *c, struct piece line)
{
	const char *end = memchr(line.at, '#', line.len), *eq;
	struct piece key, value;

	if (memchr(line.at, '\0', line.len))
		return "a zero byte";
	if (end)
		line.len = end - line.at;
	line = trimmed(line);
	if (!line.len)
		return NULL;
	eq = memchr(line.at, '=', line.len);
	if (!eq)
		return "not KEY=VALUE";
	key = trimmed((struct piece){ line.at, eq - line.at });
	value = trimmed((struct piece){ eq + 1, line.len - (eq + 1 - line.at) });
	if (!key.len)
		return "not KEY=VALUE";
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (key.len == strlen(keys[i].name) && !memcmp(key.at, keys[i].name, key.len))
			return set_key(c, &keys[i], value);
	c->unknown++;
	return NULL;
}

/**
 * xsp_kineto_config_parse() - parse a text over the values in @c
 * @c: from xsp_kineto_config_init(), or an earlier text; invalid after an error
 * @text: need not be terminated
 * @len: its length
 * @error: filled in on error
 *
 * Unknown keys are counted and skipped, as newer daemons have more. If a key is repeated, the last
 * value counts.
 *
 * Return: 0; -EINVAL; -E2BIG.
 */
int xsp_kineto_config_parse(struct xsp_kineto_config *c, const char *text, size_t len,
			    struct xsp_kineto_error *error)
{
	error->line = 0;
	error->what = "more than 64 KiB of text";
	if (len > XSP_KINETO_TEXT_MAX)
		return -E2BIG;
	/* It may include the terminator of a C string. */
	while (len && !text[len - 1])
		len--;
	while (len) {
		const char *nl = memchr(text, '\n', len);
		struct piece line = { text, nl ? (size_t)(nl - text) : len };

		error->line++;
		error->what = parse_line(c, line);
		if (error->what)
			return -EINVAL;
		text += line.len + !!nl;
		len -= line.len + !!nl;
	}
	if (c->poll_ms < POLL_MIN_MS)
		c->poll_ms = POLL_MIN_MS;
	if (c->poll_ms > POLL_MAX_MS)
		c->poll_ms = POLL_MAX_MS;
	return 0;
}

/* Reads a regular file completely, to be freed; does not wait for a fifo in its place. */
static int read_all(const char *path, char **text, size_t *len)
{
	int fd, err = 0;
	struct stat st;
	ssize_t n;

	/* The name could not be allocated. */
	if (!path)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EINVAL;
	*len = 0;
	*text = err ? NULL : malloc(XSP_KINETO_TEXT_MAX + 1);
	if (!err && !*text)
		err = -ENOMEM;
	while (!err && *len <= XSP_KINETO_TEXT_MAX) {
		n = read(fd, *text + *len, XSP_KINETO_TEXT_MAX + 1 - *len);
		if (n < 0 && errno != EINTR)
			err = -errno;
		if (!n)
			break;
		*len += n > 0 ? n : 0;
	}
	if (err)
		free(*text);
	close(fd);
	return err;
}

/**
 * xsp_kineto_config_base() - defaults, overridden by this machine's configuration file
 * @c: filled in; the defaults only on error
 * @error: filled in on error
 *
 * The file is KINETO_CONFIG, or /etc/libkineto.conf. It need not exist.
 *
 * Return: 0 or a negative errno.
 */
int xsp_kineto_config_base(struct xsp_kineto_config *c, struct xsp_kineto_error *error)
{
	char *text = NULL;
	size_t len = 0;
	int err;

	error->line = 0;
	error->what = "cannot be read";
	xsp_kineto_config_init(c);
	err = read_all(xsp_kineto_env.config, &text, &len);
	if (err)
		return err == -ENOENT ? 0 : err;
	err = xsp_kineto_config_parse(c, text, len, error);
	free(text);
	if (err)
		xsp_kineto_config_init(c);
	c->asked = false;
	return err;
}

/* Does it begin and end with iterations? They take precedence over times. */
bool xsp_kineto_config_by_iteration(const struct xsp_kineto_config *c)
{
	return c->iterations && (c->start_iteration >= 0 || c->roundup > 0) && !c->snapshot;
}

/**
 * xsp_kineto_config_start() - the start time of a request
 * @c: the request
 * @now_ms: since 1970
 * @start_ms: set
 *
 * Return: 0; -ETIME: too long ago; -ERANGE: more than a day ahead.
 */
int xsp_kineto_config_start(const struct xsp_kineto_config *c, int64_t now_ms, int64_t *start_ms)
{
	int64_t start = c->start_ms ? c->start_ms : now_ms + c->warmup_ms + XSP_KINETO_LEAD_MS;

	if (now_ms - start > XSP_KINETO_LATE_MS)
		return -ETIME;
	if (start - now_ms > XSP_KINETO_DAY_MS)
		return -ERANGE;
	*start_ms = start;
	return 0;
}
