// SPDX-License-Identifier: GPL-2.0-only
/*
 * Under a debugger each step acts as a preemption and aborts every sequence. A marker still ends:
 * its record goes to a lock ring. The debugger detaches after any number of steps, with or without
 * a signal whose handler also writes: each record is written once, or is counted as lost.
 *
 *	session XSPROF_BUFFER_SIZE=16k bounded [stride=N] [upto=STEPS] [slots=N]
 */
#include "tracee.h"

#define STEPS_MAX	20000

static struct rd rd;
static uint64_t seen[3];		/* records of each stream since the last check */
static uint64_t locked;

static void take(struct rd_ring *r, const uint64_t *slot, unsigned int n, void *arg)
{
	unsigned int id;
	uint64_t seq;

	(void)arg;
	if (rd_type(slot) == XSPROF_REC_LOST)
		return;
	if (!stream_check(slot, n, &id, &seq) || id > 2) {
		rd_wrong(r, "torn record");
		return;
	}
	seen[id]++;
	locked += r->w->kind == XSPROF_RING_LOCK;
}

static uint64_t look(void)
{
	memset(seen, 0, sizeof(seen));
	rd_drain_all(&rd, take, NULL);
	return rd_all_drops(&rd);
}

/*
 * Tests one record of @n slots: steps @steps times, then lets the child run, with signal @sig.
 * Return: the steps made before the record ended.
 */
static unsigned int one(pid_t pid, unsigned int n, unsigned int steps, int sig)
{
	uint64_t signals, drops;
	unsigned int made = 0;

	tracee->now.slots = n;
	tracee_continue(pid, 0);
	drops = look();
	signals = tracee->signals;
	while (made < steps && tracee->phase != TRACEE_DONE) {
		tracee_step(pid, 0);
		made += tracee->phase == TRACEE_INSIDE;
		if (made == STEPS_MAX)
			return made;
	}
	tracee_continue(pid, sig);
	drops = look() - drops;
	signals = tracee->signals - signals;
	if (seen[1] > 1 || seen[2] > signals || seen[1] + seen[2] + drops != 1 + signals)
		tap_wrong("%u slots, let go after %u steps%s: written %llu times, its handler's "
			  "%llu times of %llu, %llu counted as lost", n, made,
			  sig ? " with a signal" : "", (unsigned long long)seen[1],
			  (unsigned long long)seen[2], (unsigned long long)signals,
			  (unsigned long long)drops);
	return made;
}

int main(int argc, char **argv)
{
	unsigned int stride = arg_number(argc, argv, "stride", 7), most = 0, cases = 0;
	unsigned int upto = arg_number(argc, argv, "upto", STEPS_MAX);
	unsigned int slots = arg_number(argc, argv, "slots", XSPROF_RECORD_SLOTS);
	bool endless = false;
	pid_t pid;

	stream_init();
	pid = tracee_start(&rd);
	tracee->plain = 1;
	for (unsigned int n = 1; n <= slots && !endless; n++) {
		unsigned int made = one(pid, n, STEPS_MAX, 0);

		endless = made == STEPS_MAX;
		if (endless)
			tap_wrong("%u slots: not done after %u steps", n, made);
		most = made > most ? made : most;
	}
	tap_note("at most %u steps, %llu records in lock rings", most, (unsigned long long)locked);
	CHECK_EQ(locked, slots);
	tap_result("single step ends, in a lock ring");
	if (endless)
		return tap_done();
	if (most > upto)
		most = upto;
	for (unsigned int k = 0; k < most; k += stride, cases++)
		one(pid, 1 + k % slots, k, 0);
	tap_result("let go after any number of steps: %u cases", cases);
	for (unsigned int k = cases = 0; k < most; k += stride, cases++)
		one(pid, 1 + k % slots, k, SIGUSR1);
	tap_result("let go with a signal: %u cases", cases);
	tracee_end(pid, &rd);
	return tap_done();
}
