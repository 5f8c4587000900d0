// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a recorder sleeps when no records, or only a few, have come for a while: not so long
 * that a burst overflows a ring, and not shorter than necessary. Checks the sleep that the drain
 * asks for, not measured time. TAP.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "capture/writer.h"
#include "common/tap.h"
#include "drain/drain.h"
#include "read/recording.h"
#include "record/sim.h"

#define MS		1000000u
#define BURST		4000000u	/* slots per second: PyTorch ops with inputs */
#define SILENCE		(600 * MS)	/* the drain counts 200 ms as silence */

/*
 * Makes steps as the drain asks, with @records records before each. Return: the longest sleep that
 * it asked for, in ns.
 */
static uint64_t longest(struct xsp_drain *d, struct sim *sim, uint32_t records)
{
	uint32_t name = records ? sim_name(sim, "few") : 0;
	uint64_t most = 0, slept = 0;

	while (slept < SILENCE) {
		uint64_t ns;

		for (uint32_t i = 0; i < records; i++)
			if (!sim_put(sim, 0, name, 1, 0, false))
				tap_wrong("a ring is full");
		ns = xsp_drain_step(d);
		const struct timespec ts = { .tv_nsec = (long)(ns < SILENCE ? ns : SILENCE) };

		if (ns > most)
			most = ns;
		slept += (uint64_t)ts.tv_nsec;
		nanosleep(&ts, NULL);
	}
	return most;
}

static void sleeps(uint64_t ring, uint32_t records, uint64_t least, uint64_t at_most,
		   const char *name)
{
	struct xsp_recording session;
	struct xsp_drain *d = NULL;
	struct xsp_cap cap;
	struct sim sim;
	const char *object;
	uint64_t ns;
	int fd = memfd_create("capture", MFD_CLOEXEC);

	if (fd < 0 || xsp_recording_create(&session, "pid 1\n", true, &object) ||
	    xsp_cap_create(&cap, fd, NULL))
		tap_bail("a session and a capture");
	setenv("XSPROF_SESSION", session.path, 1);
	sim_open(&sim, 2, ring, XSPROF_MODE_DISCARD, 0);
	if (xsp_drain_open(session.dirfd, &cap, NULL, NULL, 0, &d))
		tap_bail("a drain");
	ns = longest(d, &sim, records);
	if (ns < least || ns > at_most)
		tap_wrong("%llu ns, not %llu to %llu", (unsigned long long)ns,
			  (unsigned long long)least, (unsigned long long)at_most);
	tap_result("%s", name);
	xsp_drain_close(d);
	xsp_cap_free(&cap);
	close(fd);
	xsp_recording_remove(&session);
	xsp_recording_close(&session);
}

int main(void)
{
	uint64_t slots = (4u << 20) / XSPROF_SLOT_SIZE;

	sleeps(4u << 20, 0, 10 * MS, slots / 2 * 1000000000u / BURST, "rings of 4 MiB");
	sleeps(64u << 20, 0, 40 * MS, 50 * MS, "rings of 64 MiB");
	sleeps(64u << 10, 0, 0, 2 * MS, "rings of 64 KiB");
	sleeps(4u << 20, 20, 10 * MS, slots / 2 * 1000000000u / BURST, "a few records");
	/* At up to ten times that rate. */
	sleeps(4u << 20, 1000, 0, slots / 2 * 1000000000u / (10 * BURST), "many records");
	return tap_done();
}
