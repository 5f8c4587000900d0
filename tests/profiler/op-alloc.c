// SPDX-License-Identifier: GPL-2.0-only
/*
 * After a warm-up nothing on the path of ops allocates: not an op, whatever is recorded of it, no
 * memory report, no marker between them. The program replaces the allocator and mmap(), to count
 * this thread's calls.
 *
 *	op-alloc	TAP
 *	op-alloc bench	one line for the benchmarks: calls in a million ops
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <sys/mman.h>

#include <xsprof/profiler.h>

#include "common/tap.h"

#define OPS	1000000L
#define WARM	20000L		/* more than a ring can hold */

static __thread unsigned long calls;

/* ---- the allocator: glibc's, counted -------------------------------------------------------- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *p);

void *malloc(size_t size)
{
	calls++;
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	calls++;
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	calls++;
	return __libc_realloc(p, size);
}

void *memalign(size_t align, size_t size)
{
	calls++;
	return __libc_memalign(align, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	return memalign(align, size);
}

int posix_memalign(void **p, size_t align, size_t size)
{
	*p = memalign(align, size);
	return *p ? 0 : ENOMEM;
}

void free(void *p)
{
	calls += p != NULL;
	__libc_free(p);
}

/* With the library's own symbol names. */
void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	static void *(*next)(void *, size_t, int, int, int, off_t);

	calls++;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "mmap");
	return next(addr, len, prot, flags, fd, off);
}

int fallocate(int fd, int mode, off_t off, off_t len)
{
	static int (*next)(int, int, off_t, off_t);

	calls++;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "fallocate");
	return next(fd, mode, off, len);
}

/* ---- ops ------------------------------------------------------------------------------------ */

static const int64_t sizes[] = { 2, 3, 4, 5 }, strides[] = { 60, 20, 5, 1 };
static const int64_t wide[] = { 1ll << 40, -1, 3 };
static const double reals[] = { 0.5, 1e300 };
static struct xsprof_tensor tensor[2];

static const struct xsprof_input inputs[] = {
	{ .kind = XSPROF_INPUT_TENSOR, .u.tensor = tensor },
	{ .kind = XSPROF_INPUT_TENSOR, .u.tensor = tensor + 1 },
	{ .kind = XSPROF_INPUT_TENSORS, .n = 2, .u.tensor = tensor },
	{ .kind = XSPROF_INPUT_I64, .u.i64 = -5 },
	{ .kind = XSPROF_INPUT_F64, .u.f64 = 0.5 },
	{ .kind = XSPROF_INPUT_BOOL, .u.i64 = 1 },
	{ .kind = XSPROF_INPUT_STR, .u.str = "mean" },
	{ .kind = XSPROF_INPUT_I64S, .n = 3, .u.i64s = wide },
	{ .kind = XSPROF_INPUT_F64S, .n = 2, .u.f64s = reals },
	{ .kind = XSPROF_INPUT_NONE },
	{ .kind = XSPROF_INPUT_BOOLS, .n = 2, .u.bools = (const bool[]){ true, false } },
};

static struct xsprof_kv kwargs[2];
static struct xsprof_op op[3];
static xsprof_name_t name;

static void make_ops(void)
{
	name = xsprof_name("marker");
	for (int i = 0; i < 2; i++)
		tensor[i] = (struct xsprof_tensor){
			.sizes = i ? wide : sizes, .strides = i ? NULL : strides,
			.ndim = i ? 3 : 4, .dtype = xsprof_name("float"), .id = 9,
			.storage_id = 8, .numel = 120, .itemsize = 4,
		};
	kwargs[0] = (struct xsprof_kv){
		.key = xsprof_name("groups"), .type = XSPROF_ARG_I64, .u.i64 = 4,
	};
	kwargs[1] = (struct xsprof_kv){
		.key = xsprof_name("mode"), .type = XSPROF_ARG_STR, .len = 4, .u.str = "mean",
	};
	op[0] = (struct xsprof_op){
		.name = xsprof_name("aten::relu"), .sequence = XSPROF_NO_SEQUENCE,
	};
	op[1] = op[0];
	op[1].nr_inputs = 2;
	op[1].inputs = inputs;
	op[2] = op[1];
	op[2].sequence = 7;
	op[2].nr_inputs = sizeof(inputs) / sizeof(*inputs);
	op[2].nr_kwargs = 2;
	op[2].kwargs = kwargs;
	op[2].module = "net.encoder.0";
}

static void run(long n)
{
	for (long i = 0; i < n; i++) {
		const struct xsprof_op *o = &op[i % 16 ? i % 2 : 2];

		xsprof_op_begin(o);
		if (i % 4 == 0) {
			xsprof_begin(name);
			xsprof_report_memory_usage((void *)(0x1000 + i), 512, 1 << 20, 1 << 21, 0);
			xsprof_end();
		}
		xsprof_op_end();
	}
}

/* Return: calls while ops ran. */
static __attribute__((noinline)) unsigned long count(long n)
{
	unsigned long before = calls;

	run(n);
	return calls - before;
}

static void begin(void)
{
	static const struct xsprof_profiler_config config = {
		.size = sizeof(config), .state = XSPROF_PROFILER_KINETO,
		.report_input_shapes = true, .profile_memory = true, .with_stack = true,
		.with_modules = true, .buffer_size = 256 << 10,
	};
	int err = xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0);

	if (err)
		tap_bail("a session: %s", strerror(-err));
}

static uint64_t slots(void)
{
	struct xsprof_stats st = { .size = sizeof(st) };

	xsprof_get_stats(&st);
	return st.slots;
}

/* Stay on one CPU: the first record on a CPU makes its ring, which is not tested here. */
static void stay(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		tap_bail("sched_setaffinity: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	static const long ops[] = { WARM, OPS };
	unsigned long first, n = 0, before = calls;
	uint64_t written = 0;

	stay();
	make_ops();
	begin();
	first = calls - before;
	/* Once to warm up, from the same place: each stack is written once. */
	for (int i = 0; i < 2; i++) {
		written = slots();
		n = count(ops[i]);
	}
	written = slots() - written;
	if (argc > 1 && !strcmp(argv[1], "bench")) {
		printf("op_allocs\tcalls\t%lu\t%lu\t%lu\n", n, n, n);
		return xsprof_disable_profiler(NULL) ? 1 : 0;
	}
	if (!first)
		tap_wrong("the library's calls are not seen");
	tap_result("the library's calls are counted: %lu for a session's begin", first);
	if (n)
		tap_wrong("%lu calls", n);
	/* An op with its stack takes two slots, its end one. */
	if (written < 3 * OPS)
		tap_wrong("%llu slots written", (unsigned long long)written);
	tap_note("%llu slots written", (unsigned long long)written);
	tap_result("none in %ld ops with all that is kept of them", OPS);
	before = calls;
	if (xsprof_profiler_add_metadata("key", "value") || calls == before)
		tap_wrong("what does allocate is not seen");
	tap_result("what does allocate is seen");
	if (xsprof_disable_profiler(NULL))
		tap_wrong("the session's end");
	tap_result("the session ends");
	return tap_done();
}
