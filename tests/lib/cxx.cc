// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library in C++17: the macros, scopes left by exceptions, thread_local destructors, static
 * objects before and after main.
 *
 *	session XSPROF_BUFFER_SIZE=256k cxx
 */
#include <xsprof/xsprof.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

#include <unistd.h>

namespace {

unsigned int tests, failures;

void result(bool ok, const char *name)
{
	failures += !ok;
	std::printf("%sok %u %s\n", ok ? "" : "not ", ++tests, name);
}

uint64_t slots()
{
	xsprof_stats s{};

	s.size = sizeof(s);
	xsprof_get_stats(&s);
	return s.slots;
}

struct Static {
	uint64_t before;
	Static() : before(slots()) { XSPROF_INSTANT("static constructor"); }
	~Static() { XSPROF_INSTANT("static destructor"); }
} object;

struct Local {
	~Local()
	{
		XSPROF_SCOPE("thread_local destructor");
		XSPROF_INSTANT("inside");
	}
	int touched = 0;
};

thread_local Local local;

void thrower(int depth)
{
	XSPROF_SCOPE("thrower");
	if (!depth)
		throw std::runtime_error("out");
	thrower(depth - 1);
}

template <typename T> void templated(T v)
{
	XSPROF_INSTANT_ARGS("template", xsprof_i64(XSPROF_NAME("v"), (int64_t)v));
}

} // namespace

int main()
{
	uint64_t at;

	if (!xsprof_enabled()) {
		std::printf("Bail out! not attached: run it under session\n");
		return 99;
	}
	result(slots() == object.before + 1, "a static object's constructor");
	at = slots();
	try {
		thrower(9);
	} catch (const std::exception &) {
	}
	result(slots() == at + 20, "10 scopes left by an exception");
	at = slots();
	std::thread([] { local.touched = 1; }).join();
	result(slots() == at + 3, "a thread_local object's destructor");
	at = slots();
	templated(1);
	templated(2.0);
	for (int i = 0; i < 3; i++) {
		XSPROF_SCOPE("loop");
		if (i == 1)
			continue;
	}
	[] { XSPROF_SCOPE("lambda"); }();
	result(slots() == at + 4 + 6 + 2, "templates, loops, lambdas");
	at = slots();
	{
		std::string text(100, 'x');

		XSPROF_BEGIN_ARGS("args", xsprof_str(XSPROF_NAME("s"), text.c_str()),
				  xsprof_f64(XSPROF_NAME("d"), 1.5));
		XSPROF_END();
	}
	result(slots() > at + 2, "arguments");
	std::printf("1..%u\n", tests);
	return failures != 0;
}
