// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the collector fills a static part's table and adopts its lists: every length met in real
 * programs, any order, unknown names, several parts in one process, and tables and lists that
 * no sane part would have.  Run under `xsprof record` with argument "recording", and without a
 * recorder with "idle", where every function must become the part's own null.
 */
#include "common/tap.h"
#include "part.h"

static part_init_t init;
static bool recording;
static struct part part, second;

static bool in_collector(void *func)
{
	Dl_info info;

	return dladdr(func, &info) && strstr(info.dli_fname, "libxsprof-itt.so");
}

static bool is_unknown(const char *name)
{
	return strstr(name, "__itt_unknown") || strstr(name, "__other");
}

/* The table must have our functions where we know the name, and the part's null elsewhere. */
static bool table_is_right(const struct part *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool ours = recording && !is_unknown(p->list[i].name);

		if (ours ? !in_collector(p->func[i]) : p->func[i] != (void *)part_null_func) {
			printf("# entry %zu of %zu, %s: wrong\n", i, n, p->list[i].name);
			return false;
		}
	}
	return true;
}

static void shuffle(const char **names, size_t n)
{
	for (size_t i = n - 1; i > 0; i--) {
		size_t k = (size_t)rand() % (i + 1);
		const char *t = names[i];

		names[i] = names[k];
		names[k] = t;
	}
}

static void test_lengths(void)
{
	static const char *const unknown[] = {
		"__itt_unknown", "__itt_unknown_task_begin", "__other", "__itt_unknown_ex",
	};
	const char *names[PART_NR];
	bool good = true;

	srand(1);
	for (size_t len = 147; len <= 156; len++)
		for (int round = 0; round < 20; round++) {
			memcpy(names, part_apis, sizeof(names));
			shuffle(names, PART_NR);
			part_reset(&part);
			for (size_t i = 0; i < len; i++)
				part_set(&part, i, i % 40 == 7 ? unknown[i / 40] : names[i]);
			init(&part.global, -1);
			good = good && table_is_right(&part, len);
		}
	tap_ok("tables of 147 to 156 entries, shuffled, unknown names among them", good);

	part_fill(&part);
	init(&part.global, 0x1414);
	tap_ok("every function, though a part names few groups", table_is_right(&part, PART_NR));
	init(&part.global, -1);
	tap_ok("the same part again", table_is_right(&part, PART_NR));
	part_reset(&part);
	init(&part.global, -1);
	tap_ok("an empty table", !part.func[0]);
}

static void test_malformed(void)
{
	bool good = true;

	init(NULL, -1);
	part_fill(&part);
	part.global.magic[3] ^= 1;
	init(&part.global, -1);
	for (size_t i = 0; i < PART_NR; i++)
		good = good && part.func[i] == (void *)part_init_func;
	tap_ok("another magic: untouched", good);

	part_fill(&part);
	part.global.major = 4;
	init(&part.global, -1);
	tap_ok("another major version: untouched", part.func[0] == (void *)part_init_func);

	part_fill(&part);
	part.global.api_list = NULL;
	init(&part.global, -1);
	tap_ok("no table", part.func[0] == (void *)part_init_func);

	part_fill(&part);
	part.list[5].func = NULL;
	part.list[6].null = NULL;
	init(&part.global, -1);
	tap_ok("an entry with no place for the function; one with no null",
	       part.func[5] == (void *)part_init_func && in_collector(part.func[7]) == recording &&
	       (recording || !part.func[6]));

	part_reset(&part);
	for (size_t i = 0; i < PART_MAX; i++)
		part_set(&part, i, part_apis[i % PART_NR]);
	init(&part.global, -1);
	tap_ok("a table without an end", part.func[PART_MAX - 1] == (void *)part_init_func);
}

static void test_lists(void)
{
	static struct itt_domain d[3] = {
		{ .name = "first", .next = &d[1] }, { .name = NULL, .next = &d[2] },
		{ .name = "third", .flags = 1 },
	};
	static struct itt_string s[3] = {
		{ .text = "one", .next = &s[1] }, { .text = NULL, .next = &s[2] },
		{ .text = "three" },
	};
	static struct itt_counter c[2] = {
		{ .name = "bytes", .domain = "first", .type = ITT_TYPE_U64, .next = &c[1],
		  .extra2 = (void *)0x5555 },
		{ .name = NULL, .type = 77 },
	};

	part_fill(&part);
	part.global.domain_list = d;
	part.global.string_list = s;
	part.global.counter_list = c;
	init(&part.global, -1);
	tap_ok("domains made before are enabled and known",
	       !recording ||
	       (d[0].flags && d[1].flags && d[2].flags && d[0].extra2 && d[1].extra2));
	tap_ok("strings made before are known, each by its own number",
	       !recording || (s[0].extra2 && s[1].extra2 && s[0].extra2 != s[1].extra2));

	d[2].next = &d[0];
	s[2].next = &s[1];
	c[1].next = &c[1];
	init(&part.global, -1);
	tap_ok("lists that are circles", true);
	d[2].next = NULL;
	s[2].next = NULL;

	part_fill(&part);
	part.global.build = 20111111;
	part.global.counter_list = (void *)1;	/* memory after an older, shorter global */
	init(&part.global, -1);
	tap_ok("a global from before there was a list of counters", table_is_right(&part, PART_NR));
}

static void test_two_parts(void)
{
	struct itt_domain *(*domain[2])(const char *name);
	struct itt_string *(*string[2])(const char *text);

	part_fill(&part);
	part_fill(&second);
	init(&part.global, -1);
	init(&second.global, -1);
	tap_ok("two parts in one process",
	       table_is_right(&part, PART_NR) && table_is_right(&second, PART_NR));
	if (!recording)
		return;
	domain[0] = (void *)part_func(&part, "__itt_domain_create");
	domain[1] = (void *)part_func(&second, "__itt_domain_createA");
	string[0] = (void *)part_func(&part, "__itt_string_handle_create");
	string[1] = (void *)part_func(&second, "__itt_string_handle_createA");
	tap_ok("a domain of one name is one domain",
	       domain[0]("d") && domain[0]("d") == domain[1]("d") &&
	       domain[0]("d") != domain[0]("e") && domain[0]("d")->flags &&
	       !strcmp(domain[0]("e")->name, "e") && !domain[0](NULL));
	tap_ok("a string of one text is one handle",
	       string[0]("s") && string[0]("s") == string[1]("s") &&
	       string[0]("s") != string[0]("t") &&
	       !strcmp(string[0]("t")->text, "t") && !string[0](NULL));
}

static void test_answers(void)
{
	unsigned long long (*now)(void) = (void *)part_func(&part, "__itt_get_timestamp");
	void *(*caller)(void) = (void *)part_func(&part, "__itt_stack_caller_create");
	unsigned long long a = now(), b = now();

	tap_ok("the clock answers and does not go back", a && b >= a);
	tap_ok("a stack's handle is never NULL", caller() && caller() != caller());
}

/* For parts that look up each function: all are exported, and are those of the table. */
static void test_exports(void *lib)
{
	const char *(*version)(void) = (void *)dlsym(lib, "__itt_api_version");
	bool good = true;

	for (size_t i = 0; i < PART_NR; i++)
		if (!dlsym(lib, part_apis[i])) {
			printf("# %s: not exported\n", part_apis[i]);
			good = false;
		}
	tap_ok("every function is exported by its name", good);
	tap_ok("the collector tells its version", version && strstr(version(), "ITT-API-Version"));
	tap_ok("the collector can be told goodbye", dlsym(lib, "__itt_api_fini") != NULL);
}

int main(int argc, char **argv)
{
	void *lib = part_open();

	if (argc != 2)
		return 2;
	recording = !strcmp(argv[1], "recording");
	init = (part_init_t)dlsym(lib, "__itt_api_init");
	if (!init) {
		printf("Bail out! no __itt_api_init\n");
		return 1;
	}
	test_lengths();
	test_malformed();
	test_lists();
	test_two_parts();
	if (recording)
		test_answers();
	test_exports(lib);
	return tap_done();
}
