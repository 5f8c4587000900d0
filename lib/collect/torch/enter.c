// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Entry into a program. The library is preloaded, or loaded with RTLD_GLOBAL before libtorch, so
 * that it interposes two functions that PyTorch calls through the PLT:
 *
 * - initModule(), which Python's torch/_C.so calls while it is imported: libtorch is initialised,
 * no op has run yet, and no profiler would see the ops that layout.c makes.
 * - at::getStepCallbacksUnlessEmpty(), which every op calls: the entry for programs other than
 * Python, and later the place where the observer is added and removed.
 *
 * The static constructors of libtorch run too early to use it. A program that loads this library
 * after PyTorch calls xsprof_torch_attach(), and late.c binds PyTorch's calls.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#include <xsprof/torch.h>

#include "collect/torch/entry.h"
#include "collect/torch/inputs.h"
#include "collect/torch/late.h"
#include "collect/torch/native.h"
#include "collect/torch/open.h"
#include "collect/torch/python.h"

enum { NEW, BUSY, READY, OFF };

#define STEPS	_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE
#define TEXT_(x)	#x
#define TEXT(x)		TEXT_(x)

typedef void *steps_fn(void *ret, uint8_t scope);

static int state;
static steps_fn *real_steps;
static int category;
/* The program makes sessions of its own, which may ask for lines. */
static bool sessions;
static bool lines_tried;

/*
 * The word that tells whether ops are wanted; NULL until it is known whether they can be recorded.
 */
static const uint32_t *watched;

/* Parses XSPROF_TORCH: a detail, optionally followed by ",cstack". */
static enum torch_detail detail_wanted(bool *native)
{
	static const char *const words[] = {
		[TORCH_NAMES] = "names", [TORCH_SHAPES] = "shapes", [TORCH_ALL] = "all",
	};
	const char *text = getenv("XSPROF_TORCH");
	size_t len;

	*native = false;
	if (!text || !*text)
		return TORCH_NAMES;
	len = strcspn(text, ",");
	*native = !strcmp(text + len, ",cstack");
	if (text[len] && !*native)
		return TORCH_OFF;
	for (int i = TORCH_NAMES; i <= TORCH_ALL; i++)
		if (strlen(words[i]) == len && !memcmp(words[i], text, len))
			return (enum torch_detail)i;
	return TORCH_OFF;
}

/* Finds the layout of Python's frames. Once: a failure is final. */
static void find_lines(void)
{
	if (lines_tried ||
	    (torch_detail < TORCH_ALL && !sessions && !getenv("XSPROF_ONDEMAND")))
		return;
	lines_tried = true;
	/* A recorder that wants lines gets no frames of the interpreter in native stacks. */
	if (torch_python_init(category) && torch_detail >= TORCH_ALL)
		torch_native_skip(python.code_type);
}

/* Return: false: nothing is to be recorded in this process. */
static bool prepare(void)
{
	const char *wrong;
	bool native;

	torch_detail = detail_wanted(&native);
	if (torch_detail == TORCH_OFF || torch_user_open())
		return false;
	if (torch_api_find()) {
		collect_say("PyTorch: this version lacks functions for observers: its ops are not "
			  "recorded");
		return false;
	}
	wrong = torch_layout_find();
	if (wrong) {
		collect_say("PyTorch: unexpected location of %s: its ops are not recorded",
			  wrong);
		return false;
	}
	category = torch_user.category("torch");
	if (category < 0)
		category = 0;
	torch_names_init(category);
	torch_open_init();
	torch_inputs_init(category);
	torch_threads_init();
	torch_comms_init(category);
	torch_keywords_init(category);
	torch_groups_tell();
	if (getenv("XSPROF_ONDEMAND"))
		torch_iterations_observe();
	if (native)
		torch_native_init(category);
	/* A later session may want lines too. */
	find_lines();
	return true;
}

/*
 * Runs once per process. A second thread does not wait for the first: it may be in a constructor of
 * a library being loaded and hold the loader's lock, which the first thread needs.
 */
static void enter(void)
{
	int there = NEW;

	if (!__atomic_compare_exchange_n(&state, &there, BUSY, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return;
	there = prepare() ? READY : OFF;
	/* Release: a thread that sees READY also sees everything prepared. */
	__atomic_store_n(&state, there, __ATOMIC_RELEASE);
}

static int entered(void)
{
	int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);

	if (now != NEW)
		return now;
	enter();
	return __atomic_load_n(&state, __ATOMIC_ACQUIRE);
}

static steps_fn *find_steps(const void *caller)
{
	void *symbol = torch_real("/libtorch_cpu.so", TEXT(STEPS), caller);
	steps_fn *found;

	if (!symbol)
		abort();
	memcpy(&found, &symbol, sizeof(symbol));
	return found;
}

/*
 * Slow path of the first ops, and of ops at which the observer changes. Return: PyTorch's function.
 */
static __attribute__((noinline, cold)) steps_fn *look(const void *caller)
{
	static const uint32_t nothing;
	steps_fn *real = __atomic_load_n(&real_steps, __ATOMIC_RELAXED);
	int now;

	if (!real) {
		real = find_steps(caller);
		__atomic_store_n(&real_steps, real, __ATOMIC_RELAXED);
	}
	now = entered();
	/* Release: a thread that sees the word also sees the function. */
	if (now == READY || now == OFF)
		__atomic_store_n(&watched, now == READY ? torch_user.wanted : &nothing,
				 __ATOMIC_RELEASE);
	if (now == READY &&
	    (torch_wanted() != __atomic_load_n(&torch_observing, __ATOMIC_RELAXED) ||
	     (torch_wanted() && !torch_inputs_as_wanted())))
		torch_observe();
	return real;
}

/* Does the observer's presence match what is wanted? */
static inline bool as_wanted(void)
{
	/*
	 * Acquire: pairs with look(). Relaxed: an op that races with a change may or may not be
	 * seen.
	 */
	const uint32_t *word = __atomic_load_n(&watched, __ATOMIC_ACQUIRE);
	bool observing = __atomic_load_n(&torch_observing, __ATOMIC_RELAXED);

	return __builtin_expect(word && !__atomic_load_n(word, __ATOMIC_RELAXED) != observing &&
				(!observing || torch_inputs_as_wanted()), 1);
}

TORCH_EXPORT steps_fn STEPS;

/* Called by every op, with or without a recorder. */
#ifdef __aarch64__
static __attribute__((used)) steps_fn *steps_of_arm64(const void *caller)
{
	return as_wanted() ? __atomic_load_n(&real_steps, __ATOMIC_RELAXED) : look(caller);
}

/* x0 and x8 are passed on to PyTorch's function. */
TORCH_ASM(TEXT(STEPS), "\t.globl " TEXT(STEPS) "\n"
	  "\tstp x29, x30, [sp, #-32]!\n\t.cfi_def_cfa_offset 32\n"
	  "\t.cfi_offset 29, -32\n\t.cfi_offset 30, -24\n\tmov x29, sp\n"
	  "\tstp x0, x8, [sp, #16]\n\tmov x0, x30\n\tbl steps_of_arm64\n\tmov x16, x0\n"
	  "\tldp x0, x8, [sp, #16]\n\tldp x29, x30, [sp], #32\n"
	  "\t.cfi_restore 29\n\t.cfi_restore 30\n\t.cfi_def_cfa_offset 0\n\tbr x16\n");
#else
static __attribute__((noinline, cold)) void *look_first(void *ret, uint8_t scope,
							const void *caller)
{
	return look(caller)(ret, scope);
}

/* It needs no stack frame. */
TORCH_EXPORT void *STEPS(void *ret, uint8_t scope)
{
	if (as_wanted())
		return __atomic_load_n(&real_steps, __ATOMIC_RELAXED)(ret, scope);
	return look_first(ret, scope, __builtin_return_address(0));
}
#endif

TORCH_EXPORT void *initModule(void);

/* Other libraries export this name too: a call from one of them goes to that library's function. */
TORCH_EXPORT void *initModule(void)
{
	void *library = torch_library("/libtorch_python.so");
	void *theirs = library ? dlsym(library, "initModule") : NULL;
	void *symbol = torch_find_for(__builtin_return_address(0), "initModule");
	void *(*real)(void);

	if (!symbol)
		symbol = theirs ? theirs : dlsym(RTLD_NEXT, "initModule");
	if (!symbol)
		return NULL;
	if (symbol == theirs)
		entered();
	memcpy(&real, &symbol, sizeof(symbol));
	return real();
}

TORCH_EXPORT int xsprof_torch_attach(void)
{
	int err;

	sessions = true;
	if (!torch_library("/libtorch_cpu.so"))
		return -ENOENT;
	if (entered() != READY)
		return torch_detail == TORCH_OFF ? -EPERM : -ENOSYS;
	find_lines();
	err = torch_late_bind();
	if (err)
		collect_say("PyTorch: it was loaded earlier, and its calls cannot be redirected: "
			    "its ops are not recorded");
	return err;
}
