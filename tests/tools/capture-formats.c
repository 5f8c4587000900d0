// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel events with random formats. The output of each depends on its data: the length of an
 * array, the offset of a text, the choice of a text. The data are random too, and may point outside
 * the event.
 */
#include <stdio.h>
#include <string.h>

#include "common/draw.h"
#include "tools/capture-tracer.h"

#define KINDS	40u
#define FIRST	1000u

/* What each conversion prints, and its argument. */
static const struct {
	const char	*conversion;
	const char	*of;
} parts[] = {
	{ "%d", "REC->a" },
	{ "%08x", "REC->a & ~0xff" },
	{ "%llu", "REC->b >> (REC->a & 63)" },
	{ "%lld", "(long long)REC->b - REC->a" },
	{ "%u", "(REC->a * 3 + 1) % 7" },
	{ "%u", "100 / REC->a" },
	{ "%u", "100 % REC->a" },
	{ "%d", "REC->bytes[REC->a]" },
	{ "%d", "((int *)__get_dynamic_array(list))[REC->a]" },
	{ "%u", "__get_dynamic_array_len(list)" },
	{ "%s", "REC->text" },
	{ "%.*s", "REC->a, REC->text" },
	{ "%s", "__get_str(word)" },
	{ "%s", "REC->b ? __get_str(word) : \"none\"" },
	{ "%s", "(char *)REC->b" },
	{ "%c", "REC->a" },
	{ "%s", "__print_flags(REC->a, \"|\", { 1, \"one\" }, { 2, \"two\" }, { 128, \"8\" })" },
	{ "%s", "__print_symbolic(REC->b, { 0, \"zero\" }, { -1, \"all\" }, { 7, \"seven\" })" },
	{ "%s", "__print_hex(__get_dynamic_array(list), __get_dynamic_array_len(list))" },
	{ "%s", "__print_hex(__get_dynamic_array(list), REC->a)" },
	{ "%s", "__print_hex_str(REC->bytes, REC->a & 15)" },
	{ "%s", "__print_array(__get_dynamic_array(list), REC->a, 1)" },
	{ "%s", "__print_array(__get_dynamic_array(list), REC->a & 7, 4)" },
	{ "%s", "__print_array(REC->bytes, 8, 8)" },
	{ "%s", "__print_array(__get_dynamic_array(list), __get_dynamic_array_len(list), REC->a)" },
	{ "%*ph", "REC->a, REC->bytes" },
	{ "%8phC", "REC->bytes" },
	{ "%pM", "REC->bytes" },
	{ "%pI4", "&REC->a" },
	{ "%pI6c", "__get_dynamic_array(list)" },
	{ "%pU", "REC->bytes" },
	{ "%pS", "(void *)REC->b" },
	{ "%p", "(void *)REC->b" },
	{ "%s", "__get_bitmask(list)" },
};

#define PARTS	(sizeof(parts) / sizeof(parts[0]))

static void describe_kind(uint32_t kind)
{
	char text[4096], conversions[512] = "", of[2048] = "";

	for (uint32_t i = draw(4) + 1; i; i--) {
		uint32_t part = draw(PARTS);

		strcat(strcat(conversions, " "), parts[part].conversion);
		strcat(strcat(of, ", "), parts[part].of);
	}
	snprintf(text, sizeof(text), "drawn\nname: drawn_%u\nID: %u\n" COMMON
		 FIELD("unsigned int", "a", 8, 4, 0)
		 FIELD("__data_loc char[]", "word", 12, 4, 0)
		 FIELD("u64", "b", 16, 8, 0)
		 FIELD("u8", "bytes[8]", 24, 8, 0)
		 FIELD("char", "text[8]", 32, 8, 0)
		 FIELD("__data_loc unsigned char[]", "list", 40, 4, 0)
		 "\nprint fmt: \"a=%%u%s\", REC->a%s\n", kind, FIRST + kind, conversions, of);
	section(XSPROF_SECTION_FORMAT, text);
}

/* Length and offset of 64 bytes that begin at 48: mostly within them. */
static uint32_t location(void)
{
	switch (draw(8)) {
	case 0:
		return draw(0x10000) << 16 | draw(0x10000);
	case 1:
		return 0;
	default:
		return draw(32) << 16 | (48 + draw(32));
	}
}

static uint32_t value(void)
{
	static const uint32_t values[] = {
		0, 1, 2, 7, 8, 9, 64, 255, 4096, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff,
	};

	/* Mostly small ones: others print little or nothing. */
	return draw(3) ? draw(10) : values[draw(sizeof(values) / sizeof(values[0]))];
}

void cap_make_formats(uint32_t seed, uint32_t events)
{
	static struct cpu c = { .cpu = 0 };
	uint64_t t = T(10);

	draw_seed = seed;
	cap_host("hostname=formats\nkernel=6.1.0\n");
	cap_clock(T(0), T(0) + events * 2000ull + 1000000000u);
	describe();
	for (uint32_t i = 0; i < KINDS; i++)
		describe_kind(i);
	describe_more();
	for (uint32_t i = 0; i < events; i++, t += 1000) {
		struct event e = event((uint16_t)(FIRST + draw(KINDS)), 100);

		add32(&e, value());
		add32(&e, location());
		add32(&e, value());
		add32(&e, draw(2) ? 0 : 0xffffffff);
		/* Bytes and text; then the locations' targets, which some events lack. */
		for (uint32_t w = 0; w < 4; w++)
			add32(&e, draw(4) ? draw(0x7fffffff) : 0);
		add32(&e, location());
		for (uint32_t w = draw(8) ? 17 : draw(17); w; w--)
			add32(&e, draw(4) ? draw(0x7fffffff) : 0);
		emit(&c, t, &e);
	}
	close_cpu(&c, 0);
	cap_end(t + 1);
}
