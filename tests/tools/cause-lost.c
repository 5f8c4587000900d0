// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cause machine when switches are missing: lost with a part of a CPU's events, by the kernel,
 * or left out by a filter. What cannot be known is unknown; what other events prove is known. TAP.
 */
#include "tools/cause-hand.h"

static void losses(void)
{
	struct cause_who who = task(9);
	struct cause *c = fresh();

	cause_switch(c, 0, 1000, 0, CAUSE_STATE_RUN, 5);
	cause_switch(c, 1, 1000, 0, CAUSE_STATE_RUN, 6);
	cause_seen(c, 0, 1000);
	cause_begin(c, 1050, 5);
	cause_seen(c, 0, 1100);
	cause_begin(c, 1150, 5);
	cause_begin(c, 1160, 5);
	cause_lost(c, 0, 1200);
	cause_hear(c, 0, 1200);
	result("a range in a loss", IS(c, 5, 1160, 1210, true, W { 50, CAUSE_UNKNOWN },));
	cause_switch(c, 0, 1300, 5, CAUSE_STATE_SLEEP, 0);
	result("one that began in it", IS(c, 5, 1150, 1310, true, W
		{ 50, CAUSE_UNKNOWN }, { 100, CAUSE_CPU }, { 10, CAUSE_BLOCKED },));
	result("what was running after it was so since", IS(c, 5, 1050, 1310, true, W
		{ 50 + 100, CAUSE_CPU }, { 100, CAUSE_UNKNOWN }, { 10, CAUSE_BLOCKED },));
	result("another CPU's tasks", IS(c, 6, 1000, 1310, false, W { 310, CAUSE_CPU },));
	cause_seen(c, 0, 1310);
	cause_lost(c, 0, 1400);
	cause_hear(c, 0, 1400);
	cause_wakeup(c, 1500, 5, 0, &who);
	cause_switch(c, 0, 1510, 0, CAUSE_STATE_RUN, 5);
	result("what was asleep after it was so since", IS(c, 5, 1300, 1520, false, W
		{ 10 + 100, CAUSE_BLOCKED }, { 90, CAUSE_UNKNOWN }, { 10, CAUSE_RUNNABLE },
		{ 10, CAUSE_CPU },));
	cause_seen(c, 0, 1510);
	cause_lost(c, 0, 1600);
	cause_hear(c, 0, 1600);
	cause_marker(c, 0, 1620, 5);
	result("a marker says that it runs", IS(c, 5, 1510, 1630, false, W
		{ 90, CAUSE_UNKNOWN }, { 30, CAUSE_CPU },));
	cause_free(c);
}

/* A loss is reported when it begins, and ends with that CPU's next event. */
static void long_loss(void)
{
	struct cause_who who = task(9);
	struct cause *c = fresh();

	cause_switch(c, 1, 900, 0, CAUSE_STATE_RUN, 7);
	cause_switch(c, 1, 1000, 7, CAUSE_STATE_SLEEP, 6);
	cause_switch(c, 0, 1000, 0, CAUSE_STATE_RUN, 5);
	cause_seen(c, 0, 1000);
	cause_begin(c, 1050, 5);
	cause_lost(c, 0, 1000);
	cause_marker(c, 0, 1200, 5);
	cause_begin(c, 1200, 5);
	cause_marker(c, 0, 1300, 5);
	result("between markers in a loss nothing is known", IS(c, 5, 1200, 1300, true, W
		{ 100, CAUSE_UNKNOWN },));
	cause_wakeup(c, 1350, 8, 1, &who);
	cause_hear(c, 0, 1400);
	cause_switch(c, 0, 1450, 5, CAUSE_STATE_SLEEP, 0);
	result("nor before its end of what is seen after it", IS(c, 5, 1050, 1460, true, W
		{ 350, CAUSE_UNKNOWN }, { 50, CAUSE_CPU }, { 10, CAUSE_BLOCKED },));
	cause_wakeup(c, 1500, 7, 1, &who);
	result("nor of who slept elsewhere", IS(c, 7, 900, 1510, false, W
		{ 100, CAUSE_CPU }, { 400, CAUSE_UNKNOWN }, { 100, CAUSE_BLOCKED },
		{ 10, CAUSE_RUNNABLE },));
	cause_switch(c, 1, 1520, 6, CAUSE_STATE_DISK, 7);
	cause_seen(c, 1, 1520);
	cause_lost(c, 1, 1520);
	cause_marker(c, 1, 1600, 6);
	cause_hear(c, 1, 1700);
	cause_wakeup(c, 1800, 6, 0, &who);
	result("nor in what one sleeps that ran meanwhile", IS(c, 6, 1520, 1810, false, W
		{ 280, CAUSE_UNKNOWN }, { 10, CAUSE_RUNNABLE },));
	result("who ran elsewhere did", IS(c, 6, 1000, 1510, false, W { 510, CAUSE_CPU },));
	result("who was woken elsewhere was", IS(c, 8, 1300, 1400, false, W
		{ 50, CAUSE_UNKNOWN }, { 50, CAUSE_RUNNABLE },));
	cause_free(c);
}

/* Only some switches are recorded, as with --filter-tree. */
static void not_all(void)
{
	struct cause_who who = task(9);
	struct cause *c = fresh();

	nr_told = 0;
	cause_hook(c, tell, NULL);
	cause_switch(c, 0, 1000, 0, CAUSE_STATE_RUN, 5);
	cause_watch(c, 5);
	cause_switch(c, 0, 1100, 5, CAUSE_STATE_SLEEP, 6);
	cause_wakeup(c, 1200, 5, 0, &who);
	cause_switch(c, 0, 1300, 7, CAUSE_STATE_RUN, 5);
	result("who left a CPU was there, who came long before may not have been",
	       nr_told == 3 && told_is(2, 1200, 1300, CAUSE_RUNNABLE, 7) &&
	       told[2].partial == CAUSE_OTHERS_BEFORE);
	cause_switch(c, 0, 1400, 5, CAUSE_STATE_RUN, 6);
	cause_switch(c, 0, 1500, 7, CAUSE_STATE_RUN, 5);
	result("who took it away was there", nr_told == 5 &&
	       told_is(4, 1400, 1500, CAUSE_RUNNABLE, 6) &&
	       told[4].partial == CAUSE_OTHERS_AFTER);
	cause_switch(c, 0, 1600, 5, CAUSE_STATE_SLEEP, 0);
	cause_wakeup(c, 1700, 5, 0, &who);
	cause_switch(c, 0, 1800, 7, CAUSE_STATE_RUN, 5);
	result("a CPU that somebody leaves was not idle", nr_told == 8 &&
	       told_is(7, 1700, 1800, CAUSE_RUNNABLE, 7) &&
	       told[7].partial == CAUSE_OTHERS_BEFORE);
	cause_switch(c, 0, 1900, 5, CAUSE_STATE_SLEEP, 0);
	cause_runs(c, 0, 2000, 8);
	cause_wakeup(c, 2000, 5, 0, &who);
	cause_switch(c, 0, 2100, 7, CAUSE_STATE_RUN, 5);
	result("an event says who is there", nr_told == 11 &&
	       told_is(10, 2000, 2100, CAUSE_RUNNABLE, 8) &&
	       told[10].partial == CAUSE_OTHERS_AFTER);
	cause_switch(c, 0, 2200, 5, CAUSE_STATE_SLEEP, 0);
	cause_runs(c, 0, 2201, 5);
	cause_wakeup(c, 2300, 5, 0, &who);
	cause_switch(c, 0, 2400, 0, CAUSE_STATE_RUN, 5);
	result("but not one of who just left", nr_told == 14 &&
	       told_is(12, 2200, 2300, CAUSE_BLOCKED, 9) &&
	       told_is(13, 2300, 2400, CAUSE_RUNNABLE, 0) && !told[13].partial &&
	       told[13].who.context == CAUSE_IN_TASK);
	cause_free(c);
}

/* Some kernels lose switches, mostly those out of idle. */
static void by_the_kernel(void)
{
	struct cause_who who = task(9);
	struct cause *c = fresh();

	cause_switch(c, 0, 1000, 0, CAUSE_STATE_RUN, 5);
	cause_switch(c, 0, 1100, 5, CAUSE_STATE_SLEEP, 0);
	cause_runs(c, 0, 1200, 0);
	cause_wakeup(c, 1200, 5, 0, &who);
	cause_runs(c, 0, 1300, 5);
	result("who left speaks for itself again when another has been heard of",
	       IS(c, 5, 1000, 1400, true, W { 200, CAUSE_CPU }, { 100, CAUSE_BLOCKED },
		  { 100, CAUSE_RUNNABLE },));
	cause_switch(c, 0, 1400, 5, CAUSE_STATE_SLEEP, 0);
	cause_wakeup(c, 1500, 5, 0, &who);
	cause_marker(c, 0, 1400 + CAUSE_CLOCKS_NS, 5);
	result("a marker that the clocks may have misplaced is no proof",
	       IS(c, 5, 1400, 1600 + CAUSE_CLOCKS_NS, true, W { 100, CAUSE_BLOCKED },
		  { 100 + CAUSE_CLOCKS_NS, CAUSE_RUNNABLE },));
	cause_marker(c, 0, 1700 + CAUSE_CLOCKS_NS, 5);
	result("another one is", IS(c, 5, 1500, 1800 + CAUSE_CLOCKS_NS, true, W
		{ 200 + CAUSE_CLOCKS_NS, CAUSE_RUNNABLE }, { 100, CAUSE_CPU },));
	cause_marker(c, 0, 2000 + CAUSE_CLOCKS_NS, 77);
	cause_marker(c, 0, 2000 + 3 * CAUSE_CLOCKS_NS, 77);
	result("of one that nobody saw on a CPU it takes no other's away",
	       IS(c, 5, 1800 + CAUSE_CLOCKS_NS, 3000 + 3 * CAUSE_CLOCKS_NS, true, W
		{ 1200 + 2 * CAUSE_CLOCKS_NS, CAUSE_CPU },));
	cause_free(c);

	c = fresh();
	cause_switch(c, 0, 1000, 0, CAUSE_STATE_RUN, 5);
	cause_switch(c, 0, 1100, 5, CAUSE_STATE_SLEEP, 6);
	cause_switch(c, 1, 1200, 0, CAUSE_STATE_RUN, 8);
	result("each comes after another", !cause_get_stats(c)->missed);
	cause_switch(c, 0, 1300, 7, CAUSE_STATE_RUN, 5);
	result("but one that was not recorded", cause_get_stats(c)->missed == 1);
	cause_free(c);
}

/* The tracer's events end while one task runs, one sleeps, and one waits for an unknown CPU. */
static void end_of_all(void)
{
	struct cause_who who = task(9);
	struct cause *c = fresh();

	cause_switch(c, 0, 900, 0, CAUSE_STATE_RUN, 6);
	cause_switch(c, 0, 1000, 6, CAUSE_STATE_SLEEP, 5);
	cause_wakeup(c, 1000, 7, -1, &who);
	cause_begin(c, 1010, 5);
	cause_end(c, 1100, 1400);
	result("the end of all events: of a task that ran", IS(c, 5, 1010, 1400, true, W
		{ 90, CAUSE_CPU }, { 300, CAUSE_UNKNOWN },));
	result("of one that slept", IS(c, 6, 1000, 1400, false, W
		{ 100, CAUSE_BLOCKED }, { 300, CAUSE_UNKNOWN },));
	result("of one that waited", IS(c, 7, 1000, 1400, false, W
		{ 100, CAUSE_RUNNABLE }, { 300, CAUSE_UNKNOWN },));
	cause_end(c, 1100, 1900);
	result("and of a range that began later", cause_get_stats(c)->after == 800 &&
	       IS(c, 5, 1300, 1900, false, W { 600, CAUSE_UNKNOWN },));
	cause_free(c);
}

int main(void)
{
	losses();
	long_loss();
	not_all();
	by_the_kernel();
	end_of_all();
	return results_end();
}
