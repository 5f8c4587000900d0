// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes launches and waits that bound the error of a device's clock, or show that it has one.
 */
#include <string.h>
#include <unistd.h>

#include "tests/gpu/program.h"
#include "tests/gpu/stand-in.h"

static void launch(uint32_t stream)
{
	stand_in_kernel(stand_in_call(false, 1), stream, "_Z4axpyPKfPfi", 0);
}

static void launch_many(long n)
{
	for (long i = 0; i < n; i++)
		launch(7);
}

/* Kernels that begin 100 ns before their calls, at the same time, and later. */
static void launch_early(long before, long with, long later)
{
	stand_in.early = true;
	stand_in.early_ns = 100;
	launch_many(before);
	stand_in.early_ns = 0;
	launch_many(with);
	stand_in.early = false;
	launch_many(later);
}

/* Launches kernels in two streams and waits for one, @n times, 100 ms apart. */
static void launch_and_wait(long n)
{
	stand_in_device(3);
	for (long i = 0; i < n; i++, usleep(100000)) {
		launch(7);
		launch(8);
		stand_in_sync(stand_in_call(false, 4), 7, 3);
	}
}

/* The kernel ends after the wait for it has returned, by the device's clock. */
static void launch_late(void)
{
	uint32_t c = stand_in_call(false, 1);

	usleep(1000);
	stand_in_sync(stand_in_call(false, 4), 7, 3);
	usleep(1000);
	stand_in_kernel(c, 7, "_Z4axpyPKfPfi", 0);
}

/* It has a device and launches nothing there. */
static void idle(void)
{
	stand_in_device(3);
	sleep(2);
}

bool program_clock(const char *what, long n)
{
	if (!strcmp(what, "clock"))
		launch_and_wait(n);
	else if (!strcmp(what, "late"))
		launch_late();
	else if (!strcmp(what, "no-launch"))
		stand_in_kernel(0, 7, "_Z4axpyPKfPfi", 0);
	else if (!strcmp(what, "idle"))
		idle();
	else if (!strcmp(what, "early"))
		launch_early(7, 3, 90);
	else
		return false;
	return true;
}
