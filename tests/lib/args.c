// SPDX-License-Identifier: GPL-2.0-only
/*
 * Typed arguments: every type, every count, strings that fill a record and continue in others, and
 * the limit of their number.
 *
 *	session XSPROF_BUFFER_SIZE=1M args
 */
#include <xsprof/xsprof.h>

#include "ring/collect.h"

#define MAX_ARGS	2000

/* The arguments received, with strings reassembled. */
static struct {
	uint32_t	key;
	uint32_t	type;
	uint64_t	value;
	char		str[XSPROF_TEXT_MAX + 1];
	size_t		len;
	uint8_t		flags;	/* flags of the last piece */
} arg[MAX_ARGS];
static unsigned int args;

static void unpack(const struct collected *c)
{
	const char *byte = (const char *)c->slot;
	unsigned int at = XSPROF_SLOT_SIZE, end = c->n * XSPROF_SLOT_SIZE;
	struct xsprof_arg a;

	while (at + sizeof(a) <= end) {
		memcpy(&a, byte + at, sizeof(a));
		at += sizeof(a);
		if (!a.type)
			break;
		if (!(a.flags & XSPROF_ARGF_CONT)) {
			arg[args].key = a.key;
			arg[args].type = a.type;
			arg[args].value = a.value;
			arg[args].len = 0;
			args++;
		}
		CHECK(args > 0 && args < MAX_ARGS);
		arg[args - 1].flags = a.flags & ~XSPROF_ARGF_CONT;
		if (a.type != XSPROF_ARG_STR)
			continue;
		CHECK(at + a.len <= end && arg[args - 1].len + a.len <= XSPROF_TEXT_MAX);
		memcpy(arg[args - 1].str + arg[args - 1].len, byte + at, a.len);
		arg[args - 1].len += a.len;
		at += (a.len + 15u) & ~15u;
	}
}

/* Reads one record with its continuations. Return: the number of records. */
static unsigned int fetch(uint32_t type)
{
	unsigned int n = collect(getpid());

	args = 0;
	for (unsigned int i = 0; i < n; i++) {
		const struct collected *c = &got.rec[i];

		CHECK_EQ(c->type, i ? XSPROF_REC_ARGS : type);
		CHECK_EQ(!!(c->slot[0] >> 44 & XSPROF_RECF_MORE), i + 1 < n);
		unpack(c);
	}
	return n;
}

static void test_types(void)
{
	xsprof_name_t k = xsprof_name("key"), v = xsprof_name("value");
	const struct xsprof_kv kv[] = {
		xsprof_i64(k, -5), xsprof_u64(k, UINT64_MAX), xsprof_f64(k, 0.5),
		xsprof_bool(k, 7), xsprof_ptr(k, &k), xsprof_namev(k, v), xsprof_str(k, "text"),
		xsprof_str(k, ""), xsprof_str(k, NULL),
	};
	double half = 0.5;
	uint64_t bits;

	memcpy(&bits, &half, sizeof(bits));
	collect(getpid());
	xsprof_instant_args(v, kv, 9);
	CHECK_EQ(fetch(XSPROF_REC_INSTANT), 1);
	CHECK_EQ(args, 9);
	for (unsigned int i = 0; i < args; i++)
		CHECK_EQ(arg[i].key, k);
	CHECK(arg[0].type == XSPROF_ARG_I64 && (int64_t)arg[0].value == -5);
	CHECK(arg[1].type == XSPROF_ARG_U64 && arg[1].value == UINT64_MAX);
	CHECK(arg[2].type == XSPROF_ARG_F64 && arg[2].value == bits);
	CHECK(arg[3].type == XSPROF_ARG_BOOL && arg[3].value == 1);
	CHECK(arg[4].type == XSPROF_ARG_PTR && arg[4].value == (uintptr_t)&k);
	CHECK(arg[5].type == XSPROF_ARG_NAME && arg[5].value == v);
	CHECK(arg[6].type == XSPROF_ARG_STR && arg[6].len == 4 && !memcmp(arg[6].str, "text", 4));
	CHECK(arg[7].type == XSPROF_ARG_STR && !arg[7].len);
	CHECK(arg[8].type == XSPROF_ARG_STR && !arg[8].len);
	XSPROF_BEGIN_ARGS("value", xsprof_i64(k, 1));
	CHECK_EQ(fetch(XSPROF_REC_BEGIN), 1);
	CHECK_EQ(args, 1);
	xsprof_end_args(kv, 2);
	CHECK_EQ(fetch(XSPROF_REC_END), 1);
	CHECK_EQ(args, 2);
	xsprof_args(kv, 3);
	CHECK_EQ(fetch(XSPROF_REC_ARGS), 1);
	CHECK_EQ(args, 3);
	tap_result("every type of argument, on every record that takes them");
}

static void test_counts(void)
{
	xsprof_name_t k = xsprof_name("key");
	struct xsprof_kv kv[200];

	for (unsigned int n = 0; n <= 200; n++) {
		if (n)
			kv[n - 1] = xsprof_u64(k, n * 1000);
		collect(getpid());
		xsprof_instant_args(k, kv, n);
		CHECK_EQ(fetch(XSPROF_REC_INSTANT), n <= 14 ? 1 : (n + 13) / 14);
		CHECK_EQ(args, n);
		for (unsigned int i = 0; i < args; i++)
			CHECK_EQ(arg[i].value, (i + 1) * 1000);
	}
	tap_result("0 to 200 arguments");
}

static void test_strings(void)
{
	static char text[XSPROF_TEXT_MAX + 200];
	xsprof_name_t k = xsprof_name("key");

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		text[i] = 'a' + i % 23;
	for (size_t len = 0; len < sizeof(text); len += len < 600 ? 1 : 97) {
		struct xsprof_kv kv[] = {
			xsprof_i64(k, 1), xsprof_str(k, text), xsprof_i64(k, 2),
		};
		size_t want = len < XSPROF_TEXT_MAX ? len : XSPROF_TEXT_MAX;

		kv[1].len = len;
		collect(getpid());
		xsprof_instant_args(k, kv, 3);
		CHECK(fetch(XSPROF_REC_INSTANT) <= 64);
		CHECK_EQ(args, 3);
		CHECK_EQ(arg[1].len, want);
		CHECK(!memcmp(arg[1].str, text, want));
		CHECK_EQ(arg[1].flags, len > want ? XSPROF_ARGF_CUT : 0);
		CHECK_EQ(arg[2].value, 2);
	}
	tap_result("strings of every length, cut after XSPROF_TEXT_MAX bytes, which a flag says");
}

/* More than 64 records: the rest is left out, and what remains is consistent. */
static void test_bound(void)
{
	static char text[XSPROF_TEXT_MAX + 1];
	xsprof_name_t k = xsprof_name("key");
	struct xsprof_kv kv[40];
	struct xsprof_stats stats = { .size = sizeof(stats) };

	memset(text, 'x', XSPROF_TEXT_MAX);
	for (unsigned int i = 0; i < 40; i++)
		kv[i] = xsprof_str(k, text);
	collect(getpid());
	xsprof_instant_args(k, kv, 40);
	CHECK_EQ(fetch(XSPROF_REC_INSTANT), 64);
	CHECK(args >= 3 && args < 40);
	CHECK_EQ(xsprof_get_stats(&stats), 0);
	CHECK_EQ(stats.lost, 0);
	/* An unknown type is skipped. */
	kv[0] = xsprof_i64(k, 1);
	kv[1].type = 0;
	kv[2].type = 99;
	kv[3] = xsprof_i64(k, 2);
	xsprof_instant_args(k, kv, 4);
	CHECK_EQ(fetch(XSPROF_REC_INSTANT), 1);
	CHECK_EQ(args, 2);
	tap_result("at most 64 records, and no argument of no type");
}

int main(void)
{
	test_types();
	test_counts();
	test_strings();
	test_bound();
	return tap_done();
}
