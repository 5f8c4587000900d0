// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Interposes the C library functions that Python's GIL is built on. Each calls the C library's
 * function and returns its result; for a condition that is not a GIL's, nearly all, it does nothing
 * else. They have the symbol versions of the C library: a program linked with older versions
 * bypasses them.
 *
 * And those with which a thread changes its signal mask: a sampled thread is noted, as whoever asks
 * it by a signal must know.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collect/common/say.h"
#include "collect/python/local.h"

#ifdef __x86_64__
#define VERSION	"GLIBC_2.3.2"
#else
#define VERSION	"GLIBC_2.17"
#endif

#define HOOK	__attribute__((visibility("default")))

/* Weak: musl programs are preloaded too; musl has no symbol versions and no dlvsym(). */
extern void *dlvsym(void *handle, const char *name, const char *version) __attribute__((weak));

static int (*real_init)(pthread_cond_t *cond, const pthread_condattr_t *attr);
static int (*real_destroy)(pthread_cond_t *cond);
static int (*real_signal)(pthread_cond_t *cond);
static int (*real_wait)(pthread_cond_t *cond, pthread_mutex_t *mutex);
static int (*real_timedwait)(pthread_cond_t *cond, pthread_mutex_t *mutex,
			     const struct timespec *until);
static int (*real_thread_mask)(int how, const sigset_t *set, sigset_t *before);
static int (*real_mask)(int how, const sigset_t *set, sigset_t *before);
static int (*real_stack)(const stack_t *stack, stack_t *before);

/*
 * The next definition: the C library's, in the version that programs link with today, or that of a
 * library in between, such as a sanitizer.
 */
static void *find_next(const char *name)
{
	void *next = dlsym(RTLD_NEXT, name), *newest = dlvsym ? dlvsym(RTLD_NEXT, name, VERSION) :
		     NULL;
	Dl_info of_next, of_newest;

	if (!next || !newest || !dladdr(next, &of_next) || !dladdr(newest, &of_newest))
		return newest ? newest : next;
	return of_next.dli_fbase == of_newest.dli_fbase ? newest : next;
}

/* Threads that race here find the same address. */
static __attribute__((cold, noinline)) void look_up(void *to, const char *name)
{
	int saved = errno;
	void *symbol = find_next(name);

	/* We were bound because the C library has the symbol: it must exist. */
	if (!symbol) {
		collect_say("the C library has no %s: record with --no-python", name);
		abort();
	}
	__atomic_store((void **)to, &symbol, __ATOMIC_RELAXED);
	errno = saved;
}

/*
 * Before the program runs: later, a thread in a constructor may hold the loader's lock and wait for
 * this very call. A library initialised before us looks them up at its first call.
 */
static __attribute__((constructor)) void look_up_all(void)
{
	look_up(&real_init, "pthread_cond_init");
	look_up(&real_destroy, "pthread_cond_destroy");
	look_up(&real_signal, "pthread_cond_signal");
	look_up(&real_wait, "pthread_cond_wait");
	look_up(&real_timedwait, "pthread_cond_timedwait");
	look_up(&real_thread_mask, "pthread_sigmask");
	look_up(&real_mask, "sigprocmask");
	look_up(&real_stack, "sigaltstack");
}

#define REAL(function, name) ({ \
	if (__builtin_expect(!__atomic_load_n(&(function), __ATOMIC_RELAXED), 0)) \
		look_up(&(function), name); \
	__atomic_load_n(&(function), __ATOMIC_RELAXED); })

HOOK int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
	gil_makes(cond, __builtin_return_address(0));
	return REAL(real_init, "pthread_cond_init")(cond, attr);
}

HOOK int pthread_cond_destroy(pthread_cond_t *cond)
{
	if (gil_is_near(cond))
		gil_destroys(cond);
	return REAL(real_destroy, "pthread_cond_destroy")(cond);
}

HOOK int pthread_cond_signal(pthread_cond_t *cond)
{
	if (gil_is_near(cond))
		gil_signals(cond);
	return REAL(real_signal, "pthread_cond_signal")(cond);
}

HOOK int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	void *gil = gil_is_near(cond) ? gil_yields(cond) : NULL;
	int err = REAL(real_wait, "pthread_cond_wait")(cond, mutex);

	if (gil)
		gil_yielded(gil);
	return err;
}

HOOK int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				const struct timespec *until)
{
	void *gil = gil_is_near(cond) ? gil_waits(cond) : NULL;
	int err = REAL(real_timedwait, "pthread_cond_timedwait")(cond, mutex, until);

	if (gil)
		gil_waited(gil);
	return err;
}

/* Noted when it is done: what is read of the mask thereafter is the new one. */
HOOK int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
	int err = REAL(real_thread_mask, "pthread_sigmask")(how, set, before);

	if (set && python_sampling)
		python_thread_masks();
	return err;
}

HOOK int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	int err = REAL(real_mask, "sigprocmask")(how, set, before);

	if (set && python_sampling)
		python_thread_masks();
	return err;
}

/* Noted before: our handler may run on it at once. */
HOOK int sigaltstack(const stack_t *stack, stack_t *before)
{
	if (stack && python_sampling)
		python_thread_stack(stack);
	return REAL(real_stack, "sigaltstack")(stack, before);
}
