// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CUDA program that does a known number of each thing, and prints the counts: a line "kind name
 * count" each. With "launch N" it prints the cost of launching an empty kernel, in ns of the
 * thread's CPU time and of the clock: the least of several rounds of N.
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

#include <cuda_runtime.h>
#include <unistd.h>

#define CHECK(call) do { \
	cudaError_t err_ = (call); \
	if (err_ != cudaSuccess) { \
		fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(err_)); \
		exit(1); \
	} \
} while (0)

namespace ns {
template <typename T> __global__ void scale(T *v, T by, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		v[i] *= by;
}
}

__global__ void empty() {}

__global__ void spin(long long cycles)
{
	long long start = clock64();

	while (clock64() - start < cycles)
		;
}

enum { STREAMS = 4, N = 1 << 20 };

/* Repetitions; "small" does less. */
static int each = 250, copied = 50, graphed = 20, launched = 1000;

static void streams()
{
	std::vector<cudaStream_t> s(STREAMS);
	float *v;

	CHECK(cudaMalloc(&v, N * sizeof(*v)));
	for (auto &one : s)
		CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
	for (int i = 0; i < each; i++)
		for (auto &one : s)
			ns::scale<float><<<N / 256, 256, 0, one>>>(v, 1.0f, N);
	for (auto &one : s)
		CHECK(cudaStreamSynchronize(one));
	for (auto &one : s)
		CHECK(cudaStreamDestroy(one));
	CHECK(cudaFree(v));
	printf("kernel scale %d\n", STREAMS * each);
	printf("sync Stream_Sync %d\n", STREAMS);
}

static void copies()
{
	char *pinned, *device, *pageable = static_cast<char *>(calloc(1, N));

	CHECK(cudaMallocHost(&pinned, N));
	CHECK(cudaMalloc(&device, N));
	for (int i = 0; i < copied; i++) {
		CHECK(cudaMemcpyAsync(device, pinned, N, cudaMemcpyHostToDevice));
		CHECK(cudaMemcpyAsync(pinned, device, N, cudaMemcpyDeviceToHost));
		CHECK(cudaMemcpy(device, pageable, N, cudaMemcpyHostToDevice));
		CHECK(cudaMemset(device, 1, N));
	}
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFree(device));
	CHECK(cudaFreeHost(pinned));
	free(pageable);
	printf("memcpy HtoD_Pinned %d\nmemcpy DtoH_Pinned %d\nmemcpy HtoD_Pageable %d\n"
	       "memset Device %d\n", copied, copied, copied, copied);
}

static void graphs()
{
	cudaStream_t s;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	double *v;

	CHECK(cudaMalloc(&v, N * sizeof(*v)));
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < 10; i++)
		ns::scale<double><<<N / 256, 256, 0, s>>>(v, 1.0, N);
	CHECK(cudaStreamEndCapture(s, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < graphed; i++)
		CHECK(cudaGraphLaunch(exec, s));
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaStreamDestroy(s));
	CHECK(cudaFree(v));
	printf("kernel scale_in_graph %d\ncall cudaGraphLaunch %d\n", graphed * 10, graphed);
}

/* Waits of one stream for another, with one event that is recorded again each time. */
static void events()
{
	cudaStream_t from, to;
	cudaEvent_t event;

	CHECK(cudaStreamCreate(&from));
	CHECK(cudaStreamCreate(&to));
	CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	for (int i = 0; i < copied; i++) {
		empty<<<1, 1, 0, from>>>();
		CHECK(cudaEventRecord(event, from));
		CHECK(cudaStreamWaitEvent(to, event, 0));
		empty<<<1, 1, 0, to>>>();
	}
	CHECK(cudaEventSynchronize(event));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaEventDestroy(event));
	CHECK(cudaStreamDestroy(from));
	CHECK(cudaStreamDestroy(to));
	printf("kernel empty %d\nsync Stream_Wait_Event %d\n", 2 * copied, copied);
}

/* Memory of the default pool, in the order of a stream. */
static void pools(int n)
{
	cudaStream_t s;
	void *v[4];

	CHECK(cudaStreamCreate(&s));
	for (int i = 0; i < n; i++) {
		for (auto &one : v)
			CHECK(cudaMallocAsync(&one, N, s));
		CHECK(cudaMemsetAsync(v[0], 0, N, s));
		for (auto &one : v)
			CHECK(cudaFreeAsync(one, s));
	}
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaStreamDestroy(s));
	printf("alloc %d\nfree %d\nmemset %d\n", 4 * n, 4 * n, n);
}

/* A few MiB of managed memory, so that the driver moves pages. */
static void managed()
{
	float *v;

	CHECK(cudaMallocManaged(&v, N * sizeof(*v)));
	for (int i = 0; i < N; i++)
		v[i] = 1;
	ns::scale<float><<<N / 256, 256>>>(v, 2.0f, N);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFree(v));
	printf("kernel scale_managed 1\n");
}

static void threads()
{
	std::vector<std::thread> v;

	for (int t = 0; t < 4; t++)
		v.emplace_back([] {
			cudaStream_t s;

			CHECK(cudaStreamCreate(&s));
			for (int i = 0; i < launched; i++)
				empty<<<1, 1, 0, s>>>();
			CHECK(cudaStreamSynchronize(s));
			CHECK(cudaStreamDestroy(s));
		});
	for (auto &one : v)
		one.join();
	printf("kernel empty %d\n", 4 * launched);
}

static double now(clockid_t clock);

/* Four threads that make all kinds of calls, for @seconds. */
static void storm(int seconds)
{
	double end = now(CLOCK_MONOTONIC) + seconds * 1e9;
	std::vector<std::thread> v;

	for (int t = 0; t < 4; t++)
		v.emplace_back([end] {
			cudaGraph_t graph;
			cudaGraphExec_t exec;
			cudaEvent_t event;
			cudaStream_t s;
			char *device, *pinned;

			CHECK(cudaStreamCreate(&s));
			CHECK(cudaEventCreate(&event));
			CHECK(cudaMalloc(&device, N));
			CHECK(cudaMallocHost(&pinned, N));
			CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
			for (int i = 0; i < 10; i++)
				empty<<<1, 1, 0, s>>>();
			CHECK(cudaStreamEndCapture(s, &graph));
			CHECK(cudaGraphInstantiate(&exec, graph, 0));
			while (now(CLOCK_MONOTONIC) < end) {
				for (int i = 0; i < 100; i++)
					empty<<<1, 1, 0, s>>>();
				CHECK(cudaGraphLaunch(exec, s));
				CHECK(cudaMemcpyAsync(device, pinned, 4096, cudaMemcpyHostToDevice,
						      s));
				CHECK(cudaMemsetAsync(device, 0, 4096, s));
				CHECK(cudaEventRecord(event, s));
				CHECK(cudaStreamWaitEvent(s, event, 0));
				CHECK(cudaStreamSynchronize(s));
			}
			CHECK(cudaGraphExecDestroy(exec));
			CHECK(cudaGraphDestroy(graph));
			CHECK(cudaEventDestroy(event));
			CHECK(cudaFree(device));
			CHECK(cudaFreeHost(pinned));
			CHECK(cudaStreamDestroy(s));
		});
	for (auto &one : v)
		one.join();
	printf("storm is over\n");
}

static double now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return static_cast<double>(ts.tv_sec) * 1e9 + static_cast<double>(ts.tv_nsec);
}

/* The queue never gets full: each round begins with an idle device. */
static void launches(int n, int rounds)
{
	std::vector<double> cpu, wall;

	for (int r = 0; r < rounds; r++) {
		CHECK(cudaDeviceSynchronize());
		double c = now(CLOCK_THREAD_CPUTIME_ID), w = now(CLOCK_MONOTONIC);

		for (int i = 0; i < n; i++)
			empty<<<1, 1>>>();
		cpu.push_back((now(CLOCK_THREAD_CPUTIME_ID) - c) / n);
		wall.push_back((now(CLOCK_MONOTONIC) - w) / n);
	}
	CHECK(cudaDeviceSynchronize());
	std::sort(cpu.begin(), cpu.end());
	std::sort(wall.begin(), wall.end());
	printf("launch cpu_ns %.1f median %.1f wall_ns %.1f median %.1f\n", cpu[0], cpu[rounds / 2],
	       wall[0], wall[rounds / 2]);
}

/* One kernel at a time, each waited for, for @seconds: to compare the clocks. */
static void ticking(int seconds)
{
	double end = now(CLOCK_MONOTONIC) + seconds * 1e9;
	int n = 0;

	while (now(CLOCK_MONOTONIC) < end) {
		spin<<<1, 1>>>(20000);
		CHECK(cudaDeviceSynchronize());
		usleep(5000);
		n++;
	}
	printf("kernel spin %d\n", n);
}

/* The least cost of a launch in each second: before, during and after a recording. */
static void rounds(int seconds)
{
	for (int s = 0; s < seconds; s++) {
		double end = now(CLOCK_MONOTONIC) + 1e9, least = 1e9;

		while (now(CLOCK_MONOTONIC) < end) {
			CHECK(cudaDeviceSynchronize());
			double c = now(CLOCK_THREAD_CPUTIME_ID);

			for (int i = 0; i < 5000; i++)
				empty<<<1, 1>>>();
			least = std::min(least, (now(CLOCK_THREAD_CPUTIME_ID) - c) / 5000);
		}
		printf("second %d launch cpu_ns %.1f\n", s, least);
		fflush(stdout);
	}
}

static long resident()
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) >> 10);
}

/* Memory of the process and of the device while it launches @n kernels, or graphs of ten. */
static void grow(int n, bool in_graphs)
{
	size_t free_bytes, total;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaStream_t s;

	CHECK(cudaStreamCreate(&s));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < 10; i++)
		empty<<<1, 1, 0, s>>>();
	CHECK(cudaStreamEndCapture(s, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < n; i++) {
		if (in_graphs)
			CHECK(cudaGraphLaunch(exec, s));
		else
			empty<<<1, 1>>>();
		if (i % 10000)
			continue;
		CHECK(cudaDeviceSynchronize());
		if (i % (n / 5 / 10000 * 10000))
			continue;
		CHECK(cudaMemGetInfo(&free_bytes, &total));
		printf("launches %d resident %ld kB device %zu kB\n", i, resident(),
		       (total - free_bytes) >> 10);
	}
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaStreamDestroy(s));
}

/* The same for a Python program. */
extern "C" __attribute__((visibility("default"))) void launch_cost(int n, int rounds)
{
	launches(n, rounds);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "all";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (!strcmp(what, "launch")) {
		launches(n, argc > 3 ? atoi(argv[3]) : 50);
	} else if (!strcmp(what, "rounds")) {
		rounds(n);
	} else if (!strcmp(what, "storm")) {
		storm(n);
	} else if (!strcmp(what, "managed")) {
		for (int i = 0; i < 100; i++, usleep(20000))
			managed();
	} else if (!strncmp(what, "grow", 4)) {
		grow(n, !strcmp(what, "grow-graphs"));
	} else if (!strcmp(what, "pools")) {
		pools(n);
	} else if (!strcmp(what, "tick")) {
		ticking(n);
	} else {
		if (!strcmp(what, "small")) {
			each = 3;
			copied = graphed = 2;
			launched = 5;
		}
		streams();
		copies();
		graphs();
		events();
		managed();
		threads();
	}
	return 0;
}
