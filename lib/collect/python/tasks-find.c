// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finds where asyncio keeps the current task, and a task its name and its coroutine, with tasks of
 * our own that never run. No version number is used.
 *
 * It needs a Python that has imported asyncio, which may be at any time. So it is done when the
 * first coroutine was met on a stack: in a pending call, which Python makes in its main thread; or,
 * if that thread only waits, in any thread that collects garbage.
 */
#include <stdlib.h>
#include <string.h>

#include "collect/common/say.h"
#include "collect/python/sample.h"

#define AGAIN		1000000000ull	/* ns until the next try, in a program without asyncio */
#define TASK_SPAN	64u		/* words searched of a task */
#define COROUTINE_SPAN	16u		/* of a coroutine */
#define STATE_SPAN	128u		/* of a thread's state */
#define DICT_SPAN	8u		/* of a dict */
#define KEYS_SPAN	24u		/* of its keys and values */
#define PROBES		2u

/* Candidates; each call removes those that do not fit. */
static struct {
	bool			coroutine[TASK_SPAN];
	bool			name[TASK_SPAN];
	bool			frame[COROUTINE_SPAN];
	bool			state[STATE_SPAN];
	bool			keys[DICT_SPAN];
	intptr_t		inside;		/* offset of its frame; 0: a pointer */
	void			*loops;
	bool			missing;	/* asyncio is not imported */
	uint32_t		calls;
	bool			wrong;
	struct python_reading	*reading;
} probe;

/* The attributes of one call's argument. */
struct told {
	void	*task;
	void	*coroutine;
	void	*name;
	void	*loop;
	void	*pair;		/* a dict { loop: task } */
	void	*loops;		/* asyncio's own; NULL: it has none */
};

/* ---- what is where --------------------------------------------------------------------------- */

/* Keeps the words that are @value. Return: false: none is left. */
static bool look_for(bool *is, const uintptr_t *word, uint32_t nr, const void *value)
{
	bool any = false;

	for (uint32_t i = 0; i < nr; i++) {
		is[i] = word[i] == (uintptr_t)value && (!probe.calls || is[i]);
		any |= is[i];
	}
	return any;
}

/* Objects are smaller than what is searched: their end may be the end of a mapping. */
static uint32_t peek_words(uintptr_t *word, const void *at, uint32_t nr)
{
	while (nr && !sample_peek(word, at, nr * sizeof(*word)))
		nr /= 2;
	return nr;
}

static bool look_in_task(const struct told *told)
{
	uintptr_t word[TASK_SPAN];
	uint32_t nr = peek_words(word, told->task, TASK_SPAN);

	return look_for(probe.coroutine, word, nr, told->coroutine) &&
	       look_for(probe.name, word, nr, told->name);
}

/* The calling function is the coroutine. */
static bool look_in_coroutine(const struct told *told)
{
	struct python_reading *r = probe.reading;
	uintptr_t word[COROUTINE_SPAN];
	intptr_t inside;
	uint32_t nr;

	if (!python_read_frames(r, python.this_state()) || !r->nr)
		return false;
	inside = (intptr_t)(r->frame[0] - (uintptr_t)told->coroutine);
	inside = inside > 0 && inside < 512 ? inside : 0;
	if (probe.calls && inside != probe.inside)
		return false;
	probe.inside = inside;
	nr = peek_words(word, told->coroutine, COROUTINE_SPAN);
	return inside || look_for(probe.frame, word, nr, (const void *)r->frame[0]);
}

/* Finds a word that leads to the pair. */
static bool look_in_dict(const struct told *told)
{
	uintptr_t word[DICT_SPAN], entry[KEYS_SPAN];
	bool any = false, here;
	uint32_t nr = peek_words(word, told->pair, DICT_SPAN), keys;

	for (uint32_t i = 2; i < nr; i++) {
		keys = word[i] < PYTHON_PAGE ? 0 :
		       peek_words(entry, (const void *)word[i], KEYS_SPAN);
		here = false;
		for (uint32_t k = 1; k < keys; k++)
			here |= entry[k - 1] == (uintptr_t)told->loop &&
				entry[k] == (uintptr_t)told->task;
		probe.keys[i] = here && (!probe.calls || probe.keys[i]);
		any |= probe.keys[i];
	}
	return any;
}

static bool look_in_state(const struct told *told)
{
	uintptr_t word[STATE_SPAN];
	uint32_t nr = peek_words(word, python.this_state(), STATE_SPAN);

	return look_for(probe.state, word, nr, told->task);
}

/* Python has a reference to each of them elsewhere. */
static void *attribute(void *object, const char *name)
{
	void *value = python.attribute(object, name);

	if (value)
		python.decref(value);
	else
		python.err_clear();
	return value == python.none ? NULL : value;
}

/* Called by a coroutine of ours; None: asyncio is not imported. */
static void *called(void *self, void *argument)
{
	struct told told = { 0 };

	(void)self;
	probe.missing = argument == python.none;
	if (!probe.missing) {
		told.task = attribute(argument, "task");
		told.coroutine = attribute(argument, "coroutine");
		told.name = attribute(argument, "name");
		told.loop = attribute(argument, "loop");
		told.pair = attribute(argument, "pair");
		told.loops = attribute(argument, "loops");
		probe.loops = told.loops;
		probe.wrong |= !told.task || !told.coroutine || !told.name || !told.loop ||
			       !told.pair || !look_in_task(&told) || !look_in_coroutine(&told) ||
			       !(told.loops ? look_in_dict(&told) : look_in_state(&told));
		probe.calls++;
	}
	python.incref(python.none);
	return python.none;
}

static struct python_callee method = { "xsprof", called, PYTHON_METH_O, NULL };

/*
 * The tasks belong to an event loop that does nothing. Where the current task is in the thread's
 * state, it is ours for a moment, without anything else of this thread between.
 */
static const char program[] =
	"import sys\n"
	"m = sys.modules.get('_asyncio')\n"
	"class Loop:\n"
	"    def get_debug(self):\n"
	"        return False\n"
	"    def call_soon(self, *args, **kwargs):\n"
	"        pass\n"
	"    def call_exception_handler(self, context):\n"
	"        pass\n"
	"class Told:\n"
	"    pass\n"
	"async def coroutine(told):\n"
	"    xsprof(told)\n"
	"def run(coroutine):\n"
	"    try:\n"
	"        coroutine.send(None)\n"
	"    except StopIteration:\n"
	"        pass\n"
	"def probe(name):\n"
	"    told = Told()\n"
	"    told.name = name\n"
	"    told.loop = Loop()\n"
	"    told.coroutine = coroutine(told)\n"
	"    told.task = m.Task(told.coroutine, loop=told.loop, name=name)\n"
	"    told.task._log_destroy_pending = False\n"
	"    told.pair = {told.loop: told.task}\n"
	"    told.loops = getattr(m, '_current_tasks', None)\n"
	"    if told.loops is not None:\n"
	"        run(told.coroutine)\n"
	"        return\n"
	"    loop = m._get_running_loop()\n"
	"    task = None if loop is None else m._swap_current_task(loop, None)\n"
	"    try:\n"
	"        m._set_running_loop(told.loop)\n"
	"        m._swap_current_task(told.loop, told.task)\n"
	"        run(told.coroutine)\n"
	"    finally:\n"
	"        m._swap_current_task(told.loop, None)\n"
	"        m._set_running_loop(loop)\n"
	"        if loop is not None:\n"
	"            m._swap_current_task(loop, task)\n"
	"if m is None:\n"
	"    xsprof(None)\n"
	"else:\n"
	"    probe(''.join(['xsprof-', 'one']))\n"
	"    probe(''.join(['xsprof-', 'other']))\n";

static uint32_t offset_of(const bool *is, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (is[i])
			return (uint32_t)(i * sizeof(uintptr_t));
	return 0;
}

/* Return: the word before the digit at @at, with sign and number of digits; 0: it is not there. */
static uint64_t look_in_number(void *(*make)(long number), int32_t number, uint32_t at)
{
	void *object = make(number);
	uint64_t tag = 0;
	int32_t digit = 0;

	if (!object)
		return 0;
	if (!sample_peek(&digit, (const char *)object + at, sizeof(digit)) || digit != number ||
	    !sample_peek(&tag, (const char *)object + at - sizeof(tag), sizeof(tag)))
		tag = 0;
	python.decref(object);
	return tag;
}

/* Ints of one digit; that word of a small one, of which Python has only one object, may differ. */
static void find_number(struct python_tasks *t)
{
	void *(*make)(long number) = NULL;

	t->number = 24;
	if (python_find(&make, "PyLong_FromLong", NULL) &&
	    python_find(&t->number_type, "PyLong_Type", NULL)) {
		t->number_has[0] = look_in_number(make, 0x12345678, t->number);
		t->number_has[1] = look_in_number(make, 7, t->number);
	}
	if (!t->number_has[0] || !t->number_has[1])
		t->number = 0;
}

static bool take_found(struct python_tasks *t)
{
	t->coroutine = offset_of(probe.coroutine, TASK_SPAN);
	t->name = offset_of(probe.name, TASK_SPAN);
	t->frame_inside = probe.inside;
	t->frame = probe.inside ? (uint32_t)probe.inside : offset_of(probe.frame, COROUTINE_SPAN);
	t->keys = offset_of(probe.keys, DICT_SPAN);
	t->state = offset_of(probe.state, STATE_SPAN);
	t->loops = probe.loops;
	/* It is kept as long as we read it. */
	if (probe.loops)
		python.incref(probe.loops);
	find_number(t);
	return t->coroutine && t->name && t->frame && (t->loops ? t->keys : t->state);
}

/* ---- when ------------------------------------------------------------------------------------ */

static bool swap(int from, int to)
{
	return __atomic_compare_exchange_n(&python_tasks_state, &from, to, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

static bool is(int state)
{
	return __atomic_load_n(&python_tasks_state, __ATOMIC_RELAXED) == state;
}

static void drop(void *object)
{
	if (object)
		python.decref(object);
}

/* Called with the GIL, in any thread. Return: false: an exception of the program is set. */
static bool find(void)
{
	void *type, *value, *trace;
	int found = PYTHON_TASKS_OFF;
	bool ran, ours;

	if (!swap(PYTHON_TASKS_ASKED, PYTHON_TASKS_BUSY))
		return true;
	memset(&probe, 0, sizeof(probe));
	probe.reading = malloc(sizeof(*probe.reading));
	if (!probe.reading)
		return true;
	memset(probe.reading, 0, sizeof(*probe.reading));
	python.err_fetch(&type, &value, &trace);
	ran = python_run(program, &method);
	ours = ran || python_run_failed();
	if (ours)
		python.err_restore(type, value, trace);
	else
		drop(type), drop(value), drop(trace);
	free(probe.reading);
	/* The program's exception ended ours: later again. */
	if (!ours || (ran && probe.missing))
		found = PYTHON_TASKS_NEW;
	else if (ran && !probe.wrong && probe.calls == PROBES && take_found(&python_tasks))
		found = PYTHON_TASKS_READY;
	else
		collect_say("Python: tasks of asyncio are not as they are expected to be: samples "
			    "do not name them");
	/* Release: who sees READY sees what was found. */
	__atomic_store_n(&python_tasks_state, found, __ATOMIC_RELEASE);
	return ours;
}

static int call(void *unused)
{
	(void)unused;
	return find() ? 0 : -1;
}

bool python_tasks_collects(void)
{
	return !is(PYTHON_TASKS_ASKED) || find();
}

static int (*add_pending)(int (*call)(void *), void *argument);

void python_tasks_find_init(void)
{
	if (!python_find(&add_pending, "Py_AddPendingCall", NULL))
		__atomic_store_n(&python_tasks_state, PYTHON_TASKS_OFF, __ATOMIC_RELAXED);
}

void python_tasks_look(uint64_t now)
{
	static uint64_t next;

	if (!is(PYTHON_TASKS_WANTED) || now < next ||
	    !swap(PYTHON_TASKS_WANTED, PYTHON_TASKS_ASKED))
		return;
	next = now + AGAIN;
	/* The queue of pending calls is full: try later. */
	if (add_pending(call, NULL))
		(void)swap(PYTHON_TASKS_ASKED, PYTHON_TASKS_WANTED);
}

void python_tasks_again(void)
{
	__atomic_store_n(&python_tasks_state, PYTHON_TASKS_NEW, __ATOMIC_RELAXED);
}

/* In a forked child: another thread of the parent may have been in it, or the call may be lost. */
void python_tasks_forked(void)
{
	if (python_tasks_state != PYTHON_TASKS_READY && python_tasks_state != PYTHON_TASKS_OFF)
		python_tasks_state = PYTHON_TASKS_NEW;
}
