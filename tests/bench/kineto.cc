// SPDX-License-Identifier: GPL-2.0-only
//
// The same op in libkineto's buffer of a program's own ops: built by run.sh out of libkineto's
// sources where LIBKINETO names them, and loaded by ops. Two readings of the clock, and what its
// clients set of an activity.
#include <ctime>
#include <memory>

#include <malloc.h>
#include <unistd.h>

#include <libkineto.h>

using libkineto::ActivityType;
using libkineto::CpuTraceBuffer;

static std::unique_ptr<CpuTraceBuffer> buffer = std::make_unique<CpuTraceBuffer>();
static const int32_t thread = gettid();

static int64_t now()
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

extern "C" __attribute__((visibility("default"))) void kineto_ops(long n)
{
	for (long i = 0; i < n; i++) {
		int64_t begin = now();

		buffer->emplace_activity(buffer->span, ActivityType::CPU_OP, "aten::conv2d");
		auto &act = CpuTraceBuffer::toRef(buffer->activities.back());

		act.startTime = begin;
		act.device = 1;
		act.resource = thread;
		act.threadId = thread;
		act.id = static_cast<int32_t>(i + 1);
		act.endTime = now();
	}
}

// Not timed: a trace ends, and the next one is as a program's first.
extern "C" __attribute__((visibility("default"))) void kineto_clear(void)
{
	buffer = std::make_unique<CpuTraceBuffer>();
	malloc_trim(0);
}
