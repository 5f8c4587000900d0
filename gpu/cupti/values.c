// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Metrics of kernels that CUPTI has not reported yet: threads of the program put them here when
 * their launch is over, and the collector's thread takes them when it reads the kernel's record.
 */
#include <pthread.h>
#include <time.h>

#include "gpu/cupti/local.h"

/* Kernels that are measured in the time in which CUPTI keeps their records: a power of two. */
#define KEPT		4096u
/* A record comes when its kernel is over: then its counters are read, and nothing more. */
#define PATIENCE	2u

enum state { TAKEN, MEASURED_NOW, KNOWN };

/* The oldest is at @first; of more than there is room for the oldest are lost. */
static struct {
	pthread_mutex_t		lock;
	pthread_cond_t		known;
	uint64_t		first;
	uint64_t		next;
	enum state		state[KEPT];
	struct cupti_values	values[KEPT];
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER, .known = PTHREAD_COND_INITIALIZER };

/* Those of collectives wait for kernels of other devices, or of other processes. */
bool cupti_values_none(const char *kernel)
{
	return kernel && (strstr(kernel, "nccl") || strstr(kernel, "nvshmem"));
}

static bool is_of(const struct cupti_values *values, uint32_t correlation)
{
	return values->correlation[0] == correlation || values->correlation[1] == correlation;
}

/* Records come in about the order of launches.  Return: its place; KEPT: it has none. */
static uint32_t find(uint32_t correlation)
{
	for (uint64_t i = kept.first; i < kept.next; i++) {
		uint32_t at = (uint32_t)i & (KEPT - 1);

		if (kept.state[at] != TAKEN && is_of(&kept.values[at], correlation))
			return at;
	}
	return KEPT;
}

static void take(uint32_t at)
{
	kept.state[at] = TAKEN;
	while (kept.first < kept.next && kept.state[kept.first & (KEPT - 1)] == TAKEN)
		kept.first++;
}

void cupti_values_begin(const uint32_t correlation[2])
{
	uint32_t at;

	pthread_mutex_lock(&kept.lock);
	if (kept.next - kept.first == KEPT)
		take((uint32_t)kept.first & (KEPT - 1));
	at = (uint32_t)kept.next++ & (KEPT - 1);
	kept.state[at] = MEASURED_NOW;
	memcpy(kept.values[at].correlation, correlation, sizeof(kept.values[at].correlation));
	pthread_mutex_unlock(&kept.lock);
}

void cupti_values_end(const struct cupti_values *values)
{
	uint32_t at;

	pthread_mutex_lock(&kept.lock);
	at = find(values->correlation[0]);
	if (at != KEPT && values->nr) {
		kept.values[at] = *values;
		kept.state[at] = KNOWN;
	} else if (at != KEPT) {
		take(at);
	}
	pthread_cond_broadcast(&kept.known);
	pthread_mutex_unlock(&kept.lock);
}

bool cupti_values_take(uint32_t correlation, struct cupti_values *values)
{
	struct timespec until;
	uint32_t at;
	int err = 0;
	bool found;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE;
	pthread_mutex_lock(&kept.lock);
	for (at = find(correlation); at != KEPT && kept.state[at] == MEASURED_NOW && !err;
	     at = find(correlation))
		err = pthread_cond_timedwait(&kept.known, &kept.lock, &until);
	found = at != KEPT && kept.state[at] == KNOWN;
	if (found)
		*values = kept.values[at];
	if (at != KEPT)
		take(at);
	pthread_mutex_unlock(&kept.lock);
	return found;
}

void cupti_values_drop(uint32_t correlation)
{
	uint32_t at;

	pthread_mutex_lock(&kept.lock);
	at = find(correlation);
	/* One that is measured now stays: its thread ends it. */
	if (at != KEPT && kept.state[at] == KNOWN)
		take(at);
	pthread_mutex_unlock(&kept.lock);
}

/* Its locks may have been another thread's. */
void cupti_values_forget(void)
{
	pthread_mutex_init(&kept.lock, NULL);
	pthread_cond_init(&kept.known, NULL);
	kept.first = kept.next;
}
