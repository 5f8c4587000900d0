// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What is recorded of a thread at a tick that can be read from outside: its state, and its stack.
 */
#include "collect/python/look.h"
#include "collect/python/native.h"

static xsprof_name_t name_missed;	/* in the category of all samples */

static struct python_reading reading;

void python_look_init(int category)
{
	name_missed = python_user.name(category, "sample missed");
}

void python_missed(uint32_t tid, uint32_t n)
{
	python_user.sample(name_missed, tid, n, XSPROF_SAMPLE_MISSED, 0);
}

/* Was it on a CPU for more than one @part of the time since it was last looked at? */
static bool ran(const struct python_entry *entry, uint64_t cpu, uint64_t now, uint32_t part)
{
	return entry->at_ns && cpu > entry->cpu_ns &&
	       cpu - entry->cpu_ns > (now - entry->at_ns) / part;
}

static void looked(struct python_entry *entry, uint64_t cpu, uint64_t now)
{
	entry->cpu_ns = cpu;
	entry->at_ns = now;
}

/*
 * Has it run all the time since it took the GIL, by what it told then? A thread may wait with the
 * GIL as soon as it has it: a part of that time is not enough.
 */
static bool ran_since(const struct python_entry *entry, uint32_t turn, uint64_t cpu, uint64_t now)
{
	uint64_t took_cpu = __atomic_load_n(&entry->took_cpu_ns, __ATOMIC_RELAXED);
	uint64_t took = __atomic_load_n(&entry->took_ns, __ATOMIC_RELAXED);
	int64_t since = (int64_t)(now - took), ran = (int64_t)(cpu - took_cpu);

	/* Acquire: the turn is loaded after both, which are of this one if it has not changed. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&entry->turn, __ATOMIC_RELAXED) == turn && since > 0 &&
	       since - ran < since / 8;
}

/* State of a thread that neither holds the GIL nor waits for it. *@stack: its stack. */
static uint32_t how(struct python_entry *entry, uint32_t turn, uint64_t cpu, uint64_t now,
		    uint32_t *stack)
{
	bool most = ran(entry, cpu, now, 2);

	looked(entry, cpu, now);
	*stack = entry->stack;
	if (most)
		return XSPROF_SAMPLE_NATIVE;
	switch (python_asleep(entry, turn, cpu, &reading)) {
	case PYTHON_RUNS:
		return XSPROF_SAMPLE_NATIVE;
	case PYTHON_WAITS:
		*stack = entry->asleep ? entry->asleep : entry->stack;
		break;
	case PYTHON_PLACE_UNKNOWN:
		break;
	}
	return XSPROF_SAMPLE_OFF;
}

/* Return: false: its frames could not be read. */
static bool read_thread(struct python_entry *entry, uint32_t turn)
{
	if (entry->seen == turn)
		return true;
	entry->seen = 1;
	if (!__atomic_load_n(&entry->state, __ATOMIC_RELAXED)) {
		entry->stack = 0;
		entry->seen = turn;
		return true;
	}
	if (!python_entry_read(entry, turn, &reading, NULL, 0, &entry->name, &entry->stack))
		return false;
	entry->line = reading.line;
	entry->seen = turn;
	return true;
}

static void record(const struct python_entry *entry, uint32_t stack, uint32_t did, uint32_t ticks)
{
	for (uint32_t i = 0; i < ticks; i++)
		python_user.sample(entry->name, entry->tid, stack, did, entry->line);
}

bool python_look_at(struct python_entry *entry, uint32_t turn, uint32_t ticks, uint64_t now,
		    bool at_once)
{
	uint32_t did, stack;
	uint64_t cpu;

	if (turn & 1 || !read_thread(entry, turn))
		return false;
	if (entry->stack && __atomic_load_n(&entry->waits, __ATOMIC_RELAXED)) {
		record(entry, entry->stack, XSPROF_SAMPLE_LOCK, ticks);
		__atomic_store_n(&entry->tell, true, __ATOMIC_RELAXED);
		return true;
	}
	cpu = entry->stack ? python_cpu_of(entry->tid) : 0;
	/* It has no frames, or has ended. */
	if (!entry->stack || (!cpu && python_thread_ended(entry->tid)))
		return true;
	did = how(entry, turn, cpu, now, &stack);
	if (did == XSPROF_SAMPLE_NATIVE && python_native && ticks == 1 &&
	    python_outside_ask(entry, turn, now, at_once))
		return true;
	record(entry, stack, did, ticks);
	return true;
}

bool python_look_waits(struct python_entry *entry, uint32_t tid, uint64_t now, uint64_t *cpu_ns)
{
	uint32_t turn = __atomic_load_n(&entry->turn, __ATOMIC_ACQUIRE);
	/*
	 * A thread that takes turns with others has the share of one of them. With record -p turns
	 * are not seen.
	 */
	uint32_t part = python_late || turn == entry->held ? 2 : 8;
	bool told = turn != entry->held && __atomic_load_n(&entry->took, __ATOMIC_RELAXED) == turn;
	uint64_t cpu = python_cpu_of(tid);
	bool runs = told ? ran_since(entry, turn, cpu, now) : ran(entry, cpu, now, part);

	*cpu_ns = cpu;
	entry->held = turn;
	if (!(turn & 1) || !cpu || runs ||
	    python_asleep(entry, turn, cpu, &reading) != PYTHON_WAITS)
		return false;
	looked(entry, cpu, now);
	if (entry->unread)
		python_missed(tid, 1);
	else if (entry->asleep)
		python_user.sample(entry->name, tid, entry->asleep, XSPROF_SAMPLE_RUNS,
				   entry->line);
	return true;
}
