// SPDX-License-Identifier: GPL-2.0-only
/*
 * Facts and their index: a lookup gives the same as a search of all facts from the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/draw.h"
#include "common/tap.h"
#include "decode/facts.h"

/* Keys of a few words and dots: many are equal, or differ in one place. */
static void make_key(char *key)
{
	static const char *const words[] = { "stream", "0", "1", "7", "17", "", "a.b" };
	uint64_t n = 1 + draw(5);

	*key = '\0';
	for (uint64_t i = 0; i < n; i++) {
		strcat(key, i ? "." : "");
		strcat(key, words[draw(sizeof(words) / sizeof(words[0]))]);
	}
	if (!*key)
		strcpy(key, "x");
}

static const char *slow_get(const struct xst_facts *facts, const char *key)
{
	for (uint32_t i = facts->nr; i; i--)
		if (!strcmp(facts->list[i - 1].key->s, key))
			return facts->list[i - 1].value->s;
	return NULL;
}

static void add(struct xst_facts *facts, struct xsp_pool *pool, const char *key, uint32_t value)
{
	char text[160];
	int len = snprintf(text, sizeof(text), "%s=%u", key, value);

	CHECK_EQ(xst_facts_add(facts, pool, text, (size_t)len), 0);
}

static void check_all(const struct xst_facts *facts)
{
	char key[128];

	for (uint32_t i = 0; i < facts->nr; i++)
		CHECK(xst_facts_get(facts, facts->list[i].key->s) ==
		      slow_get(facts, facts->list[i].key->s));
	for (int i = 0; i < 20; i++) {
		make_key(key);
		CHECK(xst_facts_get(facts, key) == slow_get(facts, key));
	}
}

static void test_found(void)
{
	struct xst_facts facts = { 0 };
	struct xsp_pool pool = { 0 };
	char key[128];

	CHECK(!xst_facts_get(&facts, "x"));
	for (uint32_t i = 0; i < 2000; i++) {
		make_key(key);
		add(&facts, &pool, key, i);
		if (i < 40 || i % 97 == 0)
			check_all(&facts);
	}
	check_all(&facts);
	xst_facts_free(&facts);
	xsp_pool_free(&pool);
	tap_result("what is found is the latest of its key, few facts or many");
}

/* Uses memory within the budget. */
static void test_memory(void)
{
	struct xst_facts facts = { 0 };
	struct xsp_pool pool = { 0 };
	char key[64];

	for (uint32_t i = 0; i < XST_MAX_FACTS; i++) {
		snprintf(key, sizeof(key), "stream.%u.0.%u", i, i);
		add(&facts, &pool, key, i);
		if (i > 32)
			CHECK(facts.room * sizeof(*facts.list) +
			      facts.nr_places * sizeof(*facts.places) <=
			      (size_t)facts.nr * XST_FACT_BYTES);
	}
	CHECK_EQ(xst_facts_add(&facts, &pool, "one=more", 8), -E2BIG);
	for (uint32_t i = 0; i < XST_MAX_FACTS; i += 997) {
		snprintf(key, sizeof(key), "stream.%u.0.%u", i, i);
		CHECK_EQ(atoi(xst_facts_get(&facts, key)), (int)i);
	}
	CHECK(!xst_facts_get(&facts, "one"));
	xst_facts_free(&facts);
	xsp_pool_free(&pool);
	tap_result("as many facts as there may be take the memory that is counted for them");
}

static void test_refused(void)
{
	struct xst_facts facts = { 0 };
	struct xsp_pool pool = { 0 };

	CHECK_EQ(xst_facts_add(&facts, &pool, "none", 4), -EINVAL);
	CHECK_EQ(xst_facts_add(&facts, &pool, "=value", 6), -EINVAL);
	CHECK_EQ(xst_facts_add(&facts, &pool, "empty=", 6), 0);
	/* The host's facts may contain any byte. */
	CHECK_EQ(xst_facts_add(&facts, &pool, "zero\0more=1", 11), 0);
	CHECK(!strcmp(xst_facts_get(&facts, "empty"), ""));
	CHECK(!strcmp(xst_facts_get(&facts, "zero"), "1"));
	for (uint32_t i = 0; i < 40; i++)
		add(&facts, &pool, "again", i);
	CHECK(!strcmp(xst_facts_get(&facts, "zero"), "1"));
	CHECK(!strcmp(xst_facts_get(&facts, "again"), "39"));
	CHECK_EQ(facts.nr, 42);
	xst_facts_free(&facts);
	xsp_pool_free(&pool);
	tap_result("what is no fact, has no value or a zero byte");
}

int main(void)
{
	test_found();
	test_memory();
	test_refused();
	return tap_done();
}
