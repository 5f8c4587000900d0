// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finds a thread's position in its Python program: walks its frames and looks up their names.
 */
#include "collect/torch/native.h"
#include "collect/torch/python.h"

static bool ready;	/* set with release: ops of other threads may already run */

/* ---- the walk ------------------------------------------------------------------------------- */

/* @key: of the Python frames; @stack: of these and the native ones. */
struct walk {
	struct python_frames	frames;
	void			*module[PYTHON_MODULES];
	uint32_t		modules;
	uint64_t		key;
	uint64_t		stack;
};

static const char *innermost(const void *state)
{
	const char *frame = torch_ptr(state, python_layout.state);

	return python_layout.state_deep ? torch_ptr(frame, python_layout.state_inner) : frame;
}

static inline int place_in(const char *frame, const char *code)
{
	const struct python_layout *l = &python_layout;

	if (l->at_scale)
		return (int)torch_u32(frame, l->at) * l->at_scale;
	return (int)(torch_ptr(frame, l->at) - code - l->at_base);
}

static void add_module(struct walk *w, const char *frame)
{
	void *self = python_untagged(torch_u64(frame, python_layout.self));

	/* One call of a module goes through several functions: count the module once. */
	if (self && w->modules < PYTHON_MODULES &&
	    (!w->modules || w->module[w->modules - 1] != self))
		w->module[w->modules++] = self;
}

/* Walks with or without the GIL: see python.h. */
static void walk(const void *state, struct walk *w)
{
	const char *frame = innermost(state);
	uint64_t key = 0;

	w->frames.nr = w->frames.left = w->modules = 0;
	for (; frame; frame = torch_ptr(frame, python_layout.back)) {
		void *code = python_untagged(torch_u64(frame, python_layout.code));
		int at;

		/* A frame between C and Python may have no code object, or a special one. */
		if (!code || torch_ptr(code, sizeof(void *)) != python.code_type ||
		    code == __atomic_load_n(&python_entry, __ATOMIC_RELAXED))
			continue;
		at = place_in(frame, code);
		if (w->frames.nr < PYTHON_FRAMES)
			w->frames.frame[w->frames.nr++] = (struct python_frame){ code, at };
		else
			w->frames.left++;
		key = (key ^ ((uintptr_t)code + ((uint64_t)(uint32_t)at << 40))) *
		      0xd6e8feb86659fd93u;
		key ^= key >> 32;
		if (python_layout.self && python_is_call(code))
			add_module(w, frame);
	}
	w->key = key;
	w->stack = w->frames.native->nr ? torch_native_key(w->frames.native, key) : key;
}

/* ---- what is new ---------------------------------------------------------------------------- */

/* Called with the GIL. Starts no garbage collection and leaves no exception behind. */
static void look_up(const void *state, struct walk *w, struct python_place *place)
{
	bool collects = python.gc_disable && python.gc_disable(), more;
	void *type, *value, *trace;

	python.err_fetch(&type, &value, &trace);
	/* Another thread may have named the stack while we waited for the GIL. */
	place->stack = torch_user.stack_find(w->stack);
	more = !place->stack;
	/* Naming learnt about code objects (calls of modules): the walk has to be repeated. */
	while (more) {
		more = false;
		place->stack = python_stack(w->stack, &w->frames, &more);
		if (more)
			walk(state, w);
	}
	place->line = python_line(place->stack, w->stack);
	if (w->modules && !place->module)
		place->module = python_module(w->module, w->modules);
	python.err_restore(type, value, trace);
	if (collects)
		python.gc_enable();
}

/* Return: 0: no module, or its name has to be found. */
static xsprof_name_t known_module(const struct walk *w)
{
	xsprof_name_t name = 0;

	for (uint32_t i = w->modules; i--;) {
		name = python_module_known(w->module[i], i + 1 < w->modules);
		if (!name)
			return 0;
	}
	return name;
}

/*
 * Is there one interpreter only? A thread that holds the GIL of another interpreter would wait for
 * itself: up to 3.11 it is not visible which thread holds it.
 */
static bool may_wait(void)
{
	void *first = python.first_interpreter();

	return first && !python.next_interpreter(first);
}

/*
 * If the observer is registered while the program runs, it may see inner ops of an outer one that
 * it has not seen, and that outer op may hold a lock needed by the thread that has the GIL. So the
 * thread does not wait for the GIL until its position has changed. After the first registration the
 * first op is always an outermost one.
 */
static bool may_be_inner(uint64_t key, uint32_t now)
{
	static __thread uint64_t first __attribute__((tls_model("initial-exec")));
	static __thread uint32_t seen __attribute__((tls_model("initial-exec")));

	if (now <= 1)
		return false;
	if (seen != now) {
		seen = now;
		first = key;
	}
	if (first && first != key)
		first = 0;
	return first;
}

void torch_python_place(struct python_place *place, const struct native_stack *native,
			uint32_t registered)
{
	/* Not the general TLS model: it refers to glibc's dynamic linker by name. */
	static __thread bool busy __attribute__((tls_model("initial-exec")));
	struct walk w;
	void *state;
	bool inner;
	int lock;

	*place = (struct python_place){ 0 };
	/* During finalization thread states are freed, and a thread that takes the GIL is ended. */
	if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE) || python.finalizing())
		return;
	state = python.this_state();
	/* An op run by what is called here (if any) has no position. */
	if (!state || busy)
		return;
	w.frames.native = native;
	walk(state, &w);
	if (!w.frames.nr)
		return;
	place->stack = torch_user.stack_find(w.stack);
	place->line = python_line(place->stack, w.stack);
	place->module = known_module(&w);
	inner = may_be_inner(w.key, registered);
	if (__builtin_expect(!place->line || (w.modules && !place->module), 0) && !inner &&
	    may_wait()) {
		busy = true;
		lock = python.ensure();
		look_up(state, &w, place);
		python.release(lock);
		busy = false;
	}
	if (place->line == PYTHON_NO_LINE)
		place->line = 0;
}

bool torch_python_init(int category)
{
	const char *(*version)(void);
	void *type, *value, *trace, *state;
	bool found;

	if (!python_find(&version, "Py_GetVersion", NULL))
		return false;
	if (!python_functions_find()) {
		collect_say("Python: this version lacks required functions (3.9 has them): ops are "
			  "recorded without their lines and modules");
		return false;
	}
	if (strstr(version(), "free-threading")) {
		collect_say("Python: a build without the GIL: ops are recorded without their lines "
			  "and modules");
		return false;
	}
	state = python.this_state();
	if (!state || python.current_state() != state)
		return false;
	/* A debug build adds fields to each object: the known offsets do not apply. */
	if (strcmp(torch_ptr(python.code_type, PYTHON_TYPE_NAME), "code")) {
		collect_say("Python: unexpected layout of objects: ops are recorded without their "
			  "lines and modules");
		return false;
	}
	python_frames_init(category);
	python_modules_init(category);
	python.err_fetch(&type, &value, &trace);
	found = python_layout_find();
	python.err_restore(type, value, trace);
	__atomic_store_n(&ready, found, __ATOMIC_RELEASE);
	if (!found)
		collect_say("Python: unexpected layout of frames: ops are recorded without their "
			  "lines and modules");
	return found;
}
