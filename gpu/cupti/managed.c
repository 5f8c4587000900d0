// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Unified memory: what the driver moved between a CPU and devices, and why; and page faults, with
 * what the driver does about memory that several processors want.  Both are on request, as the
 * driver then tells of each, which slows it down.
 *
 * CUPTI refuses the counters while cuInit() runs, in which the collector is loaded.  So they are
 * configured in CUPTI's callback at the end of cuInit(), before the program can use the memory, and
 * where that does not come, by the collector's thread a moment later.
 */
#include <pthread.h>

#include "gpu/common/refused.h"
#include "gpu/cupti/managed.h"

#define ALL_DEVICES	2u
#define NOT_READY	13	/* these two: CUDA is being initialised */
#define NOT_INITIALIZED	15
#define ARGS		8u
#define MASKS		ARRAY_SIZE(((struct cupti_managed_masks *)0)->processors)
#define MASK_BITS	64u
#define LIST		200u	/* has room for the names of all counters */

enum key {
	KEY_ADDRESS, KEY_FROM, KEY_TO, KEY_CAUSE, KEY_ACCESS, KEY_GROUPS, KEY_INSTRUCTION,
	KEY_DEVICES, KEY_LAST_DEVICES = KEY_DEVICES + MASKS - 1, NR_KEYS,
};

static const uint32_t moves[] = { CUPTI_TO_DEVICE, CUPTI_TO_HOST, CUPTI_PEER };
static const uint32_t faults[] = {
	CUPTI_HOST_FAULT, CUPTI_DEVICE_FAULT, CUPTI_THRASHING, CUPTI_THROTTLING, CUPTI_REMOTE_MAP,
};

_Static_assert(CUPTI_HOST == XSPROF_NO_DEVICE, "records have its number");

static xsprof_name_t keys[NR_KEYS];

/*
 * Held while counters are configured: by the collector's thread, and by the program's in the
 * callback, which only tries: CUPTI may hold locks of its own there that the collector's thread
 * waits for.  That thread holds none of CUPTI's when it takes this one.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool later;		/* CUDA was not ready */
static uint32_t configured;	/* counters, by bits */
static bool dropped;

void cupti_managed_init(void)
{
	static const char *const texts[NR_KEYS] = {
		[KEY_ADDRESS] = "address", [KEY_FROM] = "fromDevice", [KEY_TO] = "toDevice",
		[KEY_CAUSE] = "cause", [KEY_ACCESS] = "access", [KEY_GROUPS] = "fault groups",
		[KEY_INSTRUCTION] = "instruction", [KEY_DEVICES] = "devices (mask)",
		"devices 64 to 127 (mask)", "devices 128 to 191 (mask)",
		"devices 192 to 255 (mask)", "devices 256 to 319 (mask)",
	};

	for (int i = 0; i < NR_KEYS; i++)
		keys[i] = xsprof_name(texts[i]);
}

static int configure(const uint32_t *counters, uint32_t nr, uint32_t on)
{
	struct cupti_managed_config configs[ARRAY_SIZE(moves) + ARRAY_SIZE(faults)];
	int err;

	for (uint32_t i = 0; i < nr; i++)
		configs[i] = (struct cupti_managed_config){
			.scope = ALL_DEVICES, .counter = counters[i], .on = on,
		};
	err = cupti.configure_managed ? cupti.configure_managed(configs, nr) : -1;
	for (uint32_t i = 0; i < nr && !err; i++)
		configured = (configured & ~(1u << counters[i])) | on << counters[i];
	return err;
}

static bool not_ready(int err)
{
	return err == NOT_READY || err == NOT_INITIALIZED;
}

/* A group of counters that the user asks for by one word. */
struct group {
	enum cupti_detail	word;
	const uint32_t		*counters;
	uint32_t		nr;
	const char		*what;
};

static const struct group groups[] = {
	{ CUPTI_DETAIL_MANAGED, moves, ARRAY_SIZE(moves), "moves of unified memory" },
	{ CUPTI_DETAIL_FAULTS, faults, ARRAY_SIZE(faults), "faults of unified memory" },
};

static void tell(int err, const char *what)
{
	if (err >= 0)
		gpu_refused("CUPTI: %s (%d): not recorded: %s", cupti_text(err), err, what);
	else if (cupti_sharing())
		gpu_refused("not recorded with --gpu-share: %s", what);
	else
		gpu_refused("this CUPTI has no counters of unified memory: not recorded: %s", what);
}

/* Sets @text to the names of the counters of @mask. */
static void list(char *text, uint32_t mask)
{
	static const char *const names[] = {
		[CUPTI_TO_DEVICE] = "moves to devices", [CUPTI_TO_HOST] = "moves to the host",
		[CUPTI_HOST_FAULT] = "page faults of CPUs",
		[CUPTI_DEVICE_FAULT] = "page faults of devices", [CUPTI_THRASHING] = "thrashing",
		[CUPTI_THROTTLING] = "throttling", [CUPTI_REMOTE_MAP] = "remote mapping",
		[CUPTI_PEER] = "moves between devices",
	};

	for (uint32_t i = 1; i < ARRAY_SIZE(names); i++) {
		if (!(mask >> i & 1))
			continue;
		text = stpcpy(text, names[i]);
		mask &= ~(1u << i);
		if (mask)
			text = stpcpy(text, ", ");
	}
}

/*
 * A device may have some counters of a group and not others, and CUPTI configures all or none:
 * where it refuses, each alone.  Return: 0: some are on; else CUPTI's error, or -1.
 */
static int enable_group(const struct group *g)
{
	int err = configure(g->counters, g->nr, 1), first = err, each;
	uint32_t left_out = 0, on = 0;
	char text[LIST];

	if (err <= 0 || not_ready(err))
		return err;
	for (uint32_t i = 0; i < g->nr; i++) {
		each = configure(&g->counters[i], 1, 1);
		if (each)
			left_out |= 1u << g->counters[i];
		else
			on++;
	}
	if (!on)
		return first;
	list(text, left_out);
	if (left_out)
		tell(first, text);
	return 0;
}

/* Return: false: CUDA is not ready: try again. */
static bool enable(void)
{
	bool any = false;
	int err;

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		if (!cupti_detail(groups[i].word))
			continue;
		err = enable_group(&groups[i]);
		if (not_ready(err))
			return false;
		if (err)
			tell(err, groups[i].what);
		any |= !err;
	}
	err = any ? cupti.enable(CUPTI_MANAGED) : 0;
	if (err && !not_ready(err))
		tell(err, "unified memory");
	return !not_ready(err);
}

static bool wanted(void)
{
	return !dropped && (cupti_detail(CUPTI_DETAIL_MANAGED) ||
			    cupti_detail(CUPTI_DETAIL_FAULTS));
}

void cupti_managed_attach(void *subscriber)
{
	if (wanted() && cupti.enable_callback)
		(void)cupti.enable_callback(1, subscriber, CUPTI_DOMAIN_RESOURCE,
					    CUPTI_INIT_FINISHED);
}

void cupti_managed_on(void)
{
	pthread_mutex_lock(&lock);
	later = wanted() && !enable();
	pthread_mutex_unlock(&lock);
}

void cupti_managed_later(void)
{
	pthread_mutex_lock(&lock);
	if (later)
		later = !enable();
	pthread_mutex_unlock(&lock);
}

/* Where the collector's thread has the lock, it tries itself, now or after its next period. */
void cupti_managed_ready(void)
{
	if (pthread_mutex_trylock(&lock))
		return;
	if (later)
		later = !enable();
	pthread_mutex_unlock(&lock);
}

void cupti_managed_off(void)
{
	pthread_mutex_lock(&lock);
	later = false;
	if (wanted())
		(void)cupti.disable(CUPTI_MANAGED);
	pthread_mutex_unlock(&lock);
}

bool cupti_managed_configured(void)
{
	bool is;

	pthread_mutex_lock(&lock);
	is = configured;
	pthread_mutex_unlock(&lock);
	return is;
}

/* Records are off already: where CUPTI refuses, there is nothing else to be done. */
void cupti_managed_drop(void)
{
	pthread_mutex_lock(&lock);
	dropped = true;
	for (uint32_t counter = 1; counter <= CUPTI_PEER; counter++)
		if (configured >> counter & 1)
			(void)configure(&counter, 1, 0);
	pthread_mutex_unlock(&lock);
}

void cupti_managed_end(void)
{
	pthread_mutex_lock(&lock);
	if (later)
		gpu_refused("CUDA was not ready for it until recording stopped: unified memory is "
			    "not recorded");
	pthread_mutex_unlock(&lock);
}

static struct xsprof_kv text_of(enum key key, const char *const *texts, size_t nr, uint32_t n)
{
	return xsprof_str(keys[key], texts[n < nr ? n : 0]);
}

static struct xsprof_kv address_of(const struct cupti_managed *m)
{
	return xsprof_ptr(keys[KEY_ADDRESS], (const void *)(uintptr_t)m->address);
}

static size_t put_ends(const struct cupti_managed *m, struct xsprof_kv *kv)
{
	size_t n = 0;

	if (m->from != CUPTI_HOST)
		kv[n++] = xsprof_i64(keys[KEY_FROM], m->from);
	if (m->to != CUPTI_HOST)
		kv[n++] = xsprof_i64(keys[KEY_TO], m->to);
	return n;
}

static void put_moved(const struct cupti_managed *m)
{
	static const char *const names[] = {
		[CUPTI_TO_DEVICE] = "Unified Memory HtoD", [CUPTI_TO_HOST] = "Unified Memory DtoH",
		[CUPTI_PEER] = "Unified Memory DtoD",
	};
	static const char *const causes[] = {
		"unknown", "user", "coherence", "prefetch", "eviction", "access counters",
	};
	struct xsprof_device_activity a;
	struct xsprof_kv kv[ARGS];
	size_t n = 0;

	if (!cupti_work(&a, XSPROF_GPU_MEMCPY, xsprof_name_in(cupti_category(), names[m->counter]),
			m->start, m->end, 0))
		return;
	/* The driver moves it for whichever context wants it, in no stream. */
	a.device = m->counter == CUPTI_TO_DEVICE ? m->to : m->from;
	a.bytes = m->value;
	kv[n++] = address_of(m);
	kv[n++] = text_of(KEY_CAUSE, causes, ARRAY_SIZE(causes), m->flags);
	if (m->counter == CUPTI_PEER)
		n += put_ends(m, kv + n);
	cupti_put(&a, kv, n);
}

/*
 * The devices that want the memory.  With older versions they are known where there are fewer than
 * 32, which the record does not tell.
 */
static void get_masks(const struct cupti_managed *m, uint64_t masks[MASKS])
{
	memset(masks, 0, MASKS * sizeof(*masks));
	if (cupti_version < CUPTI_PROCESSORS)
		masks[0] = m->from;
	else
		memcpy(masks, ((const struct cupti_managed_masks *)m)->processors,
		       MASKS * sizeof(*masks));
}

/* Thrashing is told once: of the host if it takes part, else of the first device. */
static bool first_of(const struct cupti_managed *m, uint32_t *device)
{
	uint64_t masks[MASKS];
	uint32_t i = 0;

	*device = CUPTI_HOST;
	if (m->flags & CUPTI_IN_HOST)
		return true;
	get_masks(m, masks);
	while (i < MASKS && !masks[i])
		i++;
	if (i < MASKS)
		*device = i * MASK_BITS + (uint32_t)__builtin_ctzll(masks[i]);
	return i < MASKS;
}

/* The processor that had the fault.  Return: false: the record does not tell. */
static bool place_of(const struct cupti_managed *m, uint32_t *device)
{
	switch (m->counter) {
	case CUPTI_THRASHING:
		return first_of(m, device);
	case CUPTI_DEVICE_FAULT:
		*device = m->from;
		break;
	case CUPTI_THROTTLING:
		*device = m->flags & CUPTI_IN_HOST ? CUPTI_HOST : m->from;
		break;
	case CUPTI_REMOTE_MAP:
		*device = m->to;
		break;
	default:
		*device = CUPTI_HOST;
	}
	return true;
}

static size_t put_masks(const struct cupti_managed *m, struct xsprof_kv *kv)
{
	uint64_t masks[MASKS];
	size_t n = 0;

	get_masks(m, masks);
	for (uint32_t i = 0; i < MASKS; i++)
		if (masks[i])
			kv[n++] = xsprof_u64(keys[KEY_DEVICES + i], masks[i]);
	return n;
}

static size_t put_details(const struct cupti_managed *m, struct xsprof_kv *kv)
{
	static const char *const accesses[] = { "unknown", "read", "write", "atomic", "prefetch" };
	static const char *const causes[] = {
		"unknown", "coherence", "thrashing", "policy", "out of memory", "eviction",
	};
	size_t n = 0;

	switch (m->counter) {
	case CUPTI_HOST_FAULT:
		kv[n++] = text_of(KEY_ACCESS, accesses, ARRAY_SIZE(accesses), m->flags);
		kv[n++] = xsprof_ptr(keys[KEY_INSTRUCTION], (const void *)(uintptr_t)m->value);
		break;
	case CUPTI_DEVICE_FAULT:
		kv[n++] = text_of(KEY_ACCESS, accesses, ARRAY_SIZE(accesses), m->flags);
		kv[n++] = xsprof_u64(keys[KEY_GROUPS], m->value);
		break;
	case CUPTI_THRASHING:
		n += put_masks(m, kv + n);
		break;
	case CUPTI_REMOTE_MAP:
		kv[n++] = text_of(KEY_CAUSE, causes, ARRAY_SIZE(causes), m->flags);
		n += put_ends(m, kv + n);
		break;
	}
	return n;
}

/* Only faults of devices and throttling last; CUPTI leaves the ends of others undefined. */
static void put_fault(const struct cupti_managed *m)
{
	static const char *const names[] = {
		[CUPTI_HOST_FAULT] = "Unified Memory CPU Page Fault",
		[CUPTI_DEVICE_FAULT] = "Unified Memory GPU Page Fault",
		[CUPTI_THRASHING] = "Unified Memory Thrashing",
		[CUPTI_THROTTLING] = "Unified Memory Throttling",
		[CUPTI_REMOTE_MAP] = "Unified Memory Remote Mapping",
	};
	bool lasts = m->counter == CUPTI_DEVICE_FAULT || m->counter == CUPTI_THROTTLING;
	struct xsprof_device_activity a;
	struct xsprof_kv kv[ARGS];
	uint32_t device;

	if (!place_of(m, &device)) {
		cupti_miss(CUPTI_MISS_UNKNOWN, 1);
		return;
	}
	if (!cupti_work(&a, XSPROF_GPU_FAULT, xsprof_name_in(cupti_category(), names[m->counter]),
			m->start, lasts ? m->end : m->start, 0))
		return;
	a.device = device;
	if (m->counter == CUPTI_THRASHING || m->counter == CUPTI_REMOTE_MAP)
		a.bytes = m->value;
	kv[0] = address_of(m);
	cupti_put(&a, kv, 1 + put_details(m, kv + 1));
}

void cupti_managed(const struct cupti_managed *m)
{
	switch (m->counter) {
	case CUPTI_TO_DEVICE:
	case CUPTI_TO_HOST:
	case CUPTI_PEER:
		put_moved(m);
		break;
	case CUPTI_HOST_FAULT:
	case CUPTI_DEVICE_FAULT:
	case CUPTI_THRASHING:
	case CUPTI_THROTTLING:
	case CUPTI_REMOTE_MAP:
		put_fault(m);
		break;
	default:
		cupti_miss(CUPTI_MISS_UNKNOWN, 1);
	}
}
