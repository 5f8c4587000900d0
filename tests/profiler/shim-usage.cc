// SPDX-License-Identifier: GPL-2.0-only
/*
 * A profiler written for PyTorch's kineto_shim, with only the namespace changed. TAP.
 *
 *	shim-usage [FOLDER]
 */
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <unistd.h>

#include <xsprof/kineto.hpp>

namespace kineto = xsprof::profiler::impl::kineto;
using xsprof::libkineto::ActivityType;

static int tests, failures;

static void result(bool ok, const char *what)
{
	failures += !ok;
	std::cout << (ok ? "ok " : "not ok ") << ++tests << " " << what << std::endl;
}

static int64_t now()
{
	return std::chrono::duration_cast<std::chrono::nanoseconds>(
		std::chrono::system_clock::now().time_since_epoch()).count();
}

/* Returns the errno that @f throws, 0 for none. */
template <typename F> static int thrown(F f)
{
	try {
		f();
	} catch (const std::system_error &e) {
		return e.code().value();
	}
	return 0;
}

static std::string text_of(const std::string &path)
{
	std::ifstream file(path);
	std::stringstream all;

	all << file.rdbuf();
	std::remove(path.c_str());
	return all.str();
}

static void used(const std::string &path)
{
	xsprof::profiler::impl::ExperimentalConfig config;
	const int64_t start = now();

	config.profiler_metrics = { "a.sum", "b.avg" };
	kineto::prepareTrace(/*cpuOnly=*/true, { xsprof::profiler::impl::ActivityType::CPU },
			     config);
	kineto::startTrace();
	kineto::recordThreadInfo();
	kineto::pushCorrelationId(17);
	kineto::pushUserCorrelationId(18);
	usleep(2000);
	kineto::popUserCorrelationId();
	kineto::popCorrelationId();
	kineto::logInvariantViolation("a", "b", "c", "d");
	xsprof::autograd::profiler::addMetadataJson("extra", "[1]");

	kineto::TraceWrapper cpu(start, "PyTorch Profiler");
	auto mm = cpu.addCPUActivity("aten::mm", ActivityType::CPU_OP, kineto::kineto_ids(), 17,
				     now() - 500000, now());
	kineto::addMetadata(mm, "Input Dims", "[[2, 3]]");
	result(thrown([&] { kineto::addMetadata(mm, "bad", "{"); }) == EINVAL,
	       "metadata that is no JSON");
	cpu.transferCpuTrace(now());
	result(!cpu, "transferred: there is no trace any more");
	result(thrown([&] { cpu.transferCpuTrace(now()); }) == EINVAL &&
	       thrown([&] { cpu.addCPUActivity("late", ActivityType::CPU_OP, {}, 0, 1, 2); }) ==
	       EINVAL, "and nothing to add to");

	auto trace = kineto::stopTrace();
	result(static_cast<bool>(trace), "a trace");
	trace.save(path);
	result(thrown([&] { trace.save(path); }) == EALREADY, "saved once");
	result(thrown([&] { kineto::ActivityTraceWrapper().save(path); }) == ENODATA,
	       "no trace to save");

	std::string json = text_of(path);
	auto has = [&](const char *part) { return json.find(part) != std::string::npos; };

	result(has("\"cat\":\"cpu_op\",\"name\":\"aten::mm\"") &&
	       has("\"External id\":17,\"Input Dims\":[[2, 3]]"), "the activity");
	result(has("\"cat\":\"Trace\",\"name\":\"PyTorch Profiler\"") && has("\"Op count\":1"),
	       "its span");
	result(has("\"name\":\"thread_info\""), "the thread");
	result(has("CUPTI_PROFILER_METRICS=a.sum,b.avg"), "the options");
	result(has("\"invariant_violations\": [{\"assertion\": \"a\"") && has("\"extra\": [1]"),
	       "what was said of it");
}

int main(int argc, char **argv)
{
	std::string folder = argc > 1 ? argv[1] : "/tmp";

	result(thrown([] { kineto::startTrace(); }) == ENODATA, "nothing was prepared");
	result(thrown([] { kineto::stopTrace(); }) == ENOENT, "no trace to stop");
	result(thrown([] { kineto::prepareTrace(false, {}); }) == EINVAL, "nothing to trace");
	result(xsprof::autograd::profiler::deviceTypeFromActivity(ActivityType::GPU_MEMCPY) ==
	       XSPROF_DEVICE_CUDA &&
	       std::string(toString(ActivityType::CONCURRENT_KERNEL)) == "kernel" &&
	       !*toString(ActivityType::ENUM_COUNT), "types");
	used(folder + "/xsprof-shim-usage-" + std::to_string(getpid()) + ".json");
	std::cout << "1.." << tests << std::endl;
	return failures != 0;
}
