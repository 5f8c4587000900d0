// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Metrics of each kernel. CUPTI's range profiler is started before a launch and stopped after it,
 * in the program's thread that launches: the kernel runs alone, once per pass, and the launch
 * returns when the kernel is over. So the call identifies the kernel, and the profiler is off
 * between launches, for example when a graph is captured.
 *
 * A launch holds the lock of its context; launches in other contexts go on. Not measured, but
 * holding the lock, are kernels that wait for other kernels, which could not run meanwhile, and
 * graphs, which CUPTI cannot measure so. While a graph is captured, which allows no waits, none is.
 */
#include <pthread.h>
#include <stdlib.h>

#include "gpu/cupti/chip.h"

#define CONTEXTS	32u
#define FUNCTIONS	2048u
#define CUDA_INVALIDATED	901	/* the capture was invalidated */

/* READY: kernels can be measured; REFUSED: they cannot, and the user was told why. */
enum state { FREE, READY, REFUSED };

/* What a function of the driver or the runtime does. */
enum does { NOTHING, LAUNCHES, LAUNCHES_GRAPH, BEGINS_CAPTURE, ENDS_CAPTURE };

/**
 * struct context - a CUDA context in which kernels are launched
 * @lock: guards all members; the launching thread holds it throughout the launch
 * @context: the CUcontext; NULL: unused
 * @device: its device's number
 * @chip: what it measures
 */
struct context {
	pthread_mutex_t		lock;
	enum state		state;
	void			*context;
	uint32_t		device;
	struct cupti_chip	chip;
};

static const struct {
	const char	*prefix;
	enum does	does;
} functions[] = {
	{ "cuLaunchKernel", LAUNCHES }, { "cuLaunchCooperativeKernel", LAUNCHES },
	{ "cudaLaunchKernel", LAUNCHES }, { "cudaLaunchCooperativeKernel", LAUNCHES },
	{ "cuGraphLaunch", LAUNCHES_GRAPH },
	{ "cuStreamBeginCapture", BEGINS_CAPTURE }, { "cuStreamEndCapture", ENDS_CAPTURE },
};

/* What each function of the driver [0] and of the runtime [1] does, by its callback ID. */
static uint8_t what[2][FUNCTIONS];
static struct context contexts[CONTEXTS];
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;
static bool on, missing;
static uint32_t captures;

/* Per thread: correlations of its runtime and driver call; the context that it has locked. */
static __thread uint32_t outer;
static __thread uint32_t inner;	/* 0: the launch is not measured */
static __thread struct context *held;

/* ---- a context ------------------------------------------------------------------------------- */

/* The lock is held. @runs: the profiler was not stopped. */
static void close_context(struct context *c, bool runs, enum state state)
{
	struct cupti_pm_object run = {
		.size = CUPTI_SIZE(cupti_pm_object, object), .object = c->chip.profiler,
	};
	struct cupti_range_stop end = {
		.size = CUPTI_SIZE(cupti_range_stop, all), .profiler = c->chip.profiler,
	};

	if (c->chip.profiler && runs)
		(void)cupti_ranges.stop(&end);
	if (c->chip.profiler)
		(void)cupti_ranges.disable(&run);
	cupti_chip_close(&c->chip);
	c->state = state;
}

static void refuse(struct context *c, int err, bool runs)
{
	cupti_pm_tell(c->device, err);
	close_context(c, runs, REFUSED);
}

static int make_image(struct cupti_chip *chip)
{
	struct cupti_range_data_size bytes = {
		.size = CUPTI_SIZE(cupti_range_data_size, bytes), .profiler = chip->profiler,
		.names = chip->names, .nr = chip->nr, .ranges = 1, .nodes = 1,
	};
	int err = cupti_ranges.get_data_size(&bytes);

	return err ? err : cupti_chip_make_image(chip, bytes.bytes);
}

static int set_config(const struct cupti_chip *chip)
{
	struct cupti_range_config config = {
		.size = CUPTI_SIZE(cupti_range_config, target), .profiler = chip->profiler,
		.bytes = chip->bytes, .config = chip->config, .image_bytes = chip->image_bytes,
		.image = chip->image, .range = CUPTI_RANGE_AUTO, .replay = CUPTI_REPLAY_KERNEL,
		.ranges = 1, .levels = 1, .lowest = 1, .target = 1,
	};

	return cupti_ranges.set_config(&config);
}

static int enable(struct context *c)
{
	struct cupti_pm_enable enable = {
		.size = CUPTI_SIZE(cupti_pm_enable, object), .of = (uintptr_t)c->context,
	};
	int err = cupti_ranges.enable(&enable);

	c->chip.profiler = enable.object;
	return err;
}

static void open_context(struct context *c)
{
	int err = cupti.get_device_id(c->context, &c->device);

	if (!err)
		err = cupti_chip_open(&c->chip, c->device, c->context);
	if (!err && !c->chip.nr) {
		/* The user was told about each metric that was left out. */
		close_context(c, false, REFUSED);
		return;
	}
	if (!err)
		err = enable(c);
	if (!err)
		err = make_image(&c->chip);
	if (!err)
		err = set_config(&c->chip);
	if (err) {
		refuse(c, err, false);
		return;
	}
	xsprof_say("GPU %u (%s): metrics of each kernel are measured: kernels run one at a time, "
		   "in %u pass%s each, and launches wait for them", c->device, c->chip.name,
		   c->chip.passes, c->chip.passes == 1 ? "" : "es");
	c->state = READY;
}

/* Return: the entry of @context, else a free one, else NULL. */
static struct context *place_of(void *context)
{
	struct context *free_one = NULL;

	for (struct context *c = contexts; c < contexts + CONTEXTS; c++) {
		if (c->context == context)
			return c;
		if (!c->context && !free_one)
			free_one = c;
	}
	return free_one;
}

/* Return: the entry of @context, locked; NULL: there is no room. */
static struct context *hold(void *context)
{
	struct context *c;

	pthread_mutex_lock(&adding);
	c = place_of(context);
	if (c)
		__atomic_store_n(&c->context, context, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&adding);
	if (!c)
		return NULL;
	pthread_mutex_lock(&c->lock);
	if (__atomic_load_n(&c->context, __ATOMIC_RELAXED) == context)
		return c;
	/* It was freed before we had its lock. */
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/*
 * Ends CUPTI's object of @context before that is destroyed, as a new one may get the same address;
 * NULL: of all.
 */
static void free_places(const void *context)
{
	for (struct context *c = contexts; c < contexts + CONTEXTS; c++) {
		if (context && __atomic_load_n(&c->context, __ATOMIC_RELAXED) != context)
			continue;
		pthread_mutex_lock(&c->lock);
		pthread_mutex_lock(&adding);
		if (!context || c->context == context) {
			close_context(c, false, FREE);
			__atomic_store_n(&c->context, NULL, __ATOMIC_RELAXED);
		}
		pthread_mutex_unlock(&adding);
		pthread_mutex_unlock(&c->lock);
	}
}

/* ---- a launch -------------------------------------------------------------------------------- */

static bool start(struct context *c)
{
	struct cupti_pm_object run = {
		.size = CUPTI_SIZE(cupti_pm_object, object), .object = c->chip.profiler,
	};
	int err = cupti_ranges.start(&run);

	if (err)
		refuse(c, err, false);
	return !err;
}

static int read_values(struct context *c, struct cupti_values *values)
{
	struct cupti_range_data_info info = {
		.size = CUPTI_SIZE(cupti_range_data_info, ranges), .image = c->chip.image,
		.bytes = c->chip.image_bytes,
	};
	double numbers[CUPTI_METRICS];
	int err = cupti_ranges.get_data_info(&info);

	/* A launch that failed has no range. */
	if (err || !info.ranges)
		return err;
	err = cupti_chip_get_values(&c->chip, 0, numbers);
	if (err)
		return err;
	for (uint32_t i = 0; i < c->chip.nr; i++) {
		values->v[i].metric = c->chip.metrics[i];
		values->v[i].value = numbers[i];
	}
	values->passes = c->chip.passes;
	values->nr = c->chip.nr;
	return 0;
}

static int stop(struct context *c, struct cupti_values *values, bool *runs)
{
	struct cupti_range_stop run = {
		.size = CUPTI_SIZE(cupti_range_stop, all), .profiler = c->chip.profiler,
	};
	struct cupti_range_decode decode = {
		.size = CUPTI_SIZE(cupti_range_decode, dropped), .profiler = c->chip.profiler,
	};
	int err = cupti_ranges.stop(&run);

	*runs = err;
	if (!err)
		err = cupti_ranges.decode(&decode);
	/* A second range: the first may belong to another launch. */
	if (!err && !decode.dropped)
		err = read_values(c, values);
	return err ? err : cupti_chip_clear_image(&c->chip);
}

/* Relaxed: the lock of a context orders them, see before_launch(). */
static bool may_measure(void)
{
	return __atomic_load_n(&on, __ATOMIC_RELAXED) &&
	       !__atomic_load_n(&captures, __ATOMIC_RELAXED);
}

static void before_launch(const struct cupti_callback *call, bool graph)
{
	uint32_t ids[2] = { outer ? outer : call->correlation, call->correlation };
	bool measured = !graph && !cupti_values_none(call->symbol);
	struct context *c;

	if (held || !call->context || !may_measure())
		return;
	c = hold(call->context);
	if (!c)
		return;
	/* Check again under the lock: who turns measuring off takes it later, and waits for us. */
	if (may_measure() && c->state == FREE && measured)
		open_context(c);
	if (c->state != READY || !may_measure() || (measured && !start(c))) {
		pthread_mutex_unlock(&c->lock);
		return;
	}
	inner = measured ? call->correlation : 0;
	if (inner)
		cupti_values_begin(ids);
	held = c;
}

static void after_launch(void)
{
	struct cupti_values values = { .nr = 0 };
	struct context *c = held;
	bool runs = false;
	int err;

	if (!c)
		return;
	held = NULL;
	values.correlation[0] = outer ? outer : inner;
	values.correlation[1] = inner;
	err = inner ? stop(c, &values, &runs) : 0;
	if (err)
		refuse(c, err, runs);
	pthread_mutex_unlock(&c->lock);
	if (inner)
		cupti_values_end(&values);
}

/* Waits until the launches that have begun are over. */
static void wait_for_launches(void)
{
	for (struct context *c = contexts; c < contexts + CONTEXTS; c++) {
		if (c == held)
			continue;
		pthread_mutex_lock(&c->lock);
		pthread_mutex_unlock(&c->lock);
	}
}

/*
 * Counts captures. One that failed to begin does not count, and one that was invalidated has ended.
 * A call that fails in another way may not end its capture: then less is measured.
 */
static void captured(const struct cupti_callback *call, bool begins)
{
	uint32_t result = 0, n;
	bool ended;

	if (call->site == CUPTI_API_EXIT && call->result)
		memcpy(&result, call->result, sizeof(result));
	if (begins && call->site == CUPTI_API_ENTER) {
		__atomic_fetch_add(&captures, 1, __ATOMIC_RELAXED);
		wait_for_launches();
		return;
	}
	ended = begins ? result != 0 : !result || result == CUDA_INVALIDATED;
	if (call->site == CUPTI_API_ENTER || !ended)
		return;
	n = __atomic_load_n(&captures, __ATOMIC_RELAXED);
	while (n && !__atomic_compare_exchange_n(&captures, &n, n - 1, false, __ATOMIC_RELAXED,
						 __ATOMIC_RELAXED))
		;
}

void cupti_ranges_call(uint32_t domain, uint32_t id, const void *info)
{
	const struct cupti_callback *call = info;
	const struct cupti_resource *resource = info;

	if (domain == CUPTI_DOMAIN_RESOURCE) {
		if (id == CUPTI_CONTEXT_ENDS && cupti_metrics_by_kernel())
			free_places(resource->context);
		return;
	}
	switch (id < FUNCTIONS ? what[domain == CUPTI_DOMAIN_RUNTIME][id] : NOTHING) {
	case LAUNCHES:
	case LAUNCHES_GRAPH:
		if (domain == CUPTI_DOMAIN_RUNTIME)
			outer = call->site == CUPTI_API_ENTER ? call->correlation : 0;
		else if (call->site == CUPTI_API_ENTER)
			before_launch(call, what[0][id] == LAUNCHES_GRAPH);
		else
			after_launch();
		break;
	case BEGINS_CAPTURE:
	case ENDS_CAPTURE:
		captured(call, what[domain == CUPTI_DOMAIN_RUNTIME][id] == BEGINS_CAPTURE);
		break;
	default:
		break;
	}
}

/* ---- on and off ------------------------------------------------------------------------------ */

static void choose(void *subscriber, uint32_t domain)
{
	const char *name;

	for (uint32_t i = 1; i < FUNCTIONS; i++) {
		if (cupti.get_callback_name(domain, i, &name) || !name)
			break;
		for (size_t f = 0; f < ARRAY_SIZE(functions); f++) {
			if (strncmp(name, functions[f].prefix, strlen(functions[f].prefix)))
				continue;
			what[domain == CUPTI_DOMAIN_RUNTIME][i] = (uint8_t)functions[f].does;
			(void)cupti.enable_callback(1, subscriber, domain, i);
		}
	}
}

void cupti_ranges_init(void)
{
	for (uint32_t i = 0; i < CONTEXTS; i++)
		pthread_mutex_init(&contexts[i].lock, NULL);
}

/* The callbacks end with the subscriber. */
void cupti_ranges_attach(void *subscriber)
{
	static bool opened;

	if (!cupti_metrics_by_kernel() || !cupti.enable_callback)
		return;
	missing = opened ? missing : !cupti_ranges_open();
	opened = true;
	if (missing)
		return;
	choose(subscriber, CUPTI_DOMAIN_DRIVER);
	choose(subscriber, CUPTI_DOMAIN_RUNTIME);
	(void)cupti.enable_callback(1, subscriber, CUPTI_DOMAIN_RESOURCE, CUPTI_CONTEXT_ENDS);
}

void cupti_ranges_on(void)
{
	__atomic_store_n(&on, cupti_metrics_by_kernel() && !missing, __ATOMIC_RELAXED);
}

void cupti_ranges_off(void)
{
	__atomic_store_n(&on, false, __ATOMIC_RELAXED);
}

void cupti_ranges_settle(void)
{
	if (cupti_metrics_by_kernel())
		wait_for_launches();
}

/* The count of captures stays: one that is under way would not survive a measurement later. */
void cupti_ranges_detach(void)
{
	free_places(NULL);
}

/* In the child of a fork, in which CUPTI's objects are not to be used. */
void cupti_ranges_forget(void)
{
	cupti_ranges_off();
	memset(contexts, 0, sizeof(contexts));
	cupti_ranges_init();
	pthread_mutex_init(&adding, NULL);
	held = NULL;
	outer = 0;
	cupti_values_forget();
}
