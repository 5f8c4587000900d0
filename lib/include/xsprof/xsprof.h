/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libxsprof-user: markers, written directly into per-CPU rings that a recorder drains.
 *
 * With neither a recorder nor the kernel module, a marker is one load and one branch in the caller;
 * the library records nothing, creates nothing and prints nothing. With a recorder (`xsprof record -- program`, or
 * XSPROF_RECORD=FILE in the environment) a marker costs little more than reading the clock: no
 * lock, no system call, no allocation. The exceptions are few: the first marker of a thread asks
 * the kernel for its id and name, the first of a forked child attaches it, a ring gets its memory
 * in a few steps (madvise(); with --prefault at the start), and while the tracepoints xsprof:* are
 * enabled, each marker makes one call, which sends it to the kernel's tracers.
 *
 * The rings are files on tmpfs, or memory of the kernel module if it is loaded: then they outlive
 * any end of the program, and a program without a recorder keeps its latest records there, to be
 * read later. XSPROF_BACKEND in the environment selects the backend.
 *
 * Unless stated otherwise, functions may be called from any thread, before main, in destructors and
 * in the child of a fork, and never change errno. "Signal-safe" means async-signal-safe: a signal
 * handler may call the function, whatever function of this library it interrupted.
 */
#ifndef XSPROF_H
#define XSPROF_H

#include <stddef.h>
#include <stdint.h>

#include <xsprof/abi.h>
#ifdef XSPROF_INLINE
#include <xsprof/inline.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define XSPROF_API	__attribute__((visibility("default")))
#else
#error "xsprof needs a compiler with GNU extensions (gcc, clang)"
#endif

#define XSPROF_VERSION_MAJOR	0
#define XSPROF_VERSION_MINOR	1
#define XSPROF_VERSION_PATCH	0

/*
 * The control page: all zeros until the process attaches. Then the producer's control page is
 * mapped over it, so that a marker tests it with one load from an address that the linker knows.
 * Programs must not write to it.
 */
#if defined(__x86_64__) || defined(__i386__)
#define XSPROF_CTL_SPAN		4096
#else
#define XSPROF_CTL_SPAN		65536	/* arm64 kernels use pages of up to 64 KiB */
#endif

union xsprof_ctl_page {
	struct xsprof_ctl	ctl;
	unsigned char		span[XSPROF_CTL_SPAN];
} __attribute__((aligned(XSPROF_CTL_SPAN)));

extern XSPROF_API union xsprof_ctl_page xsprof_ctl_page;

/** typedef xsprof_name_t - an interned name; its category is in the top bits; 0 is none */
typedef uint32_t xsprof_name_t;

/**
 * xsprof_enabled() - the enabled categories, one bit each
 *
 * Signal-safe.
 *
 * Return: the bits; 0 if the process is not recorded. Every marker makes this test first.
 */
static inline uint64_t xsprof_enabled(void)
{
	return __atomic_load_n(&xsprof_ctl_page.ctl.enabled, __ATOMIC_RELAXED);
}

/**
 * xsprof_wants() - is this name's category recorded?
 * @name: name
 *
 * Signal-safe.
 */
static inline int xsprof_wants(xsprof_name_t name)
{
	return (int)(xsprof_enabled() >> (name >> XSPROF_NAME_SHIFT) & 1);
}

/* ---- names and categories ------------------------------------------------------------------- */

/**
 * xsprof_name() - intern a name in category 0, "default"
 * @text: the name, UTF-8 by custom; copied; cut after XSPROF_TEXT_MAX bytes
 *
 * The same text always gives the same id in this process and its forked children. Takes a lock: not
 * signal-safe. Callers should keep the id, as XSPROF_NAME() does.
 *
 * Return: the id; the reserved id XSPROF_NAME_FULL of the category if the memory for names is used
 * up (counted, shown in the trace as "(names full)"); 0 for NULL.
 */
XSPROF_API xsprof_name_t xsprof_name(const char *text);

/**
 * xsprof_name_in() - intern a name in a category
 * @category: from xsprof_category()
 * @text: as in xsprof_name()
 *
 * Return: as xsprof_name(); 0 also for a category that does not exist.
 */
XSPROF_API xsprof_name_t xsprof_name_in(int category, const char *text);

/**
 * xsprof_name_of_many() - intern a name that the program makes up without limit (one per request)
 * @category: from xsprof_category()
 * @text: as in xsprof_name()
 *
 * As xsprof_name_in(), except that such names may use only three quarters of the memory for names,
 * so that xsprof_name() and xsprof_name_in() still have room.
 *
 * Return: as xsprof_name_in().
 */
XSPROF_API xsprof_name_t xsprof_name_of_many(int category, const char *text);

/**
 * xsprof_category() - find or create a category
 * @name: its name
 *
 * A category (a domain in ITT and NVTX) is a set of names that is enabled and disabled together.
 * There are 64; later ones share the last, "other". Not signal-safe.
 *
 * Return: the category, 0 to 63; -EINVAL for NULL or an empty name.
 */
XSPROF_API int xsprof_category(const char *name);

/**
 * xsprof_category_enable() - switch a category on or off in this process
 * @category: from xsprof_category()
 * @on: 0 or 1
 *
 * Return: 0; -EINVAL; -ENOTCONN if the process is not recorded; another negative errno if the call
 * to the device fails (no descriptor left).
 */
XSPROF_API int xsprof_category_enable(int category, int on);

/*
 * The id of a literal, interned at its first use and kept at the call site, with the category that
 * it had then. Another expression could have another text the next time: the compiler refuses it
 * and prints the line below.
 */
#define XSPROF_NAME(text) XSPROF_NAME_IN_(xsprof_name(XSPROF_LITERAL_(text)))
#define XSPROF_NAME_IN(category, text) \
	XSPROF_NAME_IN_(xsprof_name_in(category, XSPROF_LITERAL_(text)))
#define XSPROF_LITERAL_(text) ("" text "") /* no literal? XSPROF_SCOPE_NAMED(xsprof_name(...)) */
#define XSPROF_NAME_IN_(make) __extension__({ \
	static xsprof_name_t xsp_id_; \
	xsprof_name_t xsp_v_ = __atomic_load_n(&xsp_id_, __ATOMIC_RELAXED); \
	if (__builtin_expect(!xsp_v_, 0)) { \
		xsp_v_ = (make); \
		__atomic_store_n(&xsp_id_, xsp_v_, __ATOMIC_RELAXED); \
	} \
	xsp_v_; })

/* ---- out-of-line parts: called by markers that are enabled ---------------------------------- */

XSPROF_API void xsprof_emit_begin(xsprof_name_t name);
XSPROF_API void xsprof_emit_end(void);
XSPROF_API void xsprof_emit_end_of(xsprof_name_t name);
XSPROF_API void xsprof_emit_skip(void);
XSPROF_API void xsprof_emit_instant(xsprof_name_t name, uint32_t scope);
XSPROF_API void xsprof_emit_counter(xsprof_name_t name, int64_t value);
XSPROF_API void xsprof_emit_counter_f64(xsprof_name_t name, double value);
XSPROF_API void xsprof_emit_complete(xsprof_name_t name, uint64_t begin);
XSPROF_API void xsprof_emit(uint32_t type, xsprof_name_t name, uint32_t aux, uint64_t value);

/*
 * What an enabled marker does: with XSPROF_INLINE it writes its record here if that needs no slow
 * path; otherwise it calls one of the functions above.
 */
#ifdef XSPROF_INLINE_HERE
static inline uint32_t xsprof_emit_wanted_(void)
{
	return __atomic_load_n(&xsprof_ctl_page.ctl.emit, __ATOMIC_RELAXED);
}
#define XSPROF_PUT_(type, a, b, call) do { \
	if (__builtin_expect(!xsprof_inline_put_(xsprof_emit_wanted_(), (type), (a), (b)), 0)) \
		call; \
} while (0)
#define XSPROF_PUT_SINCE_(type, a, begin, call) do { \
	if (__builtin_expect(!xsprof_inline_put_since_(xsprof_emit_wanted_(), (type), (a), \
						       (begin)), 0)) \
		call; \
} while (0)
#else
#define XSPROF_PUT_(type, a, b, call)			call
#define XSPROF_PUT_SINCE_(type, a, begin, call)		call
#endif

static inline void xsprof_put_begin_(xsprof_name_t name)
{
	XSPROF_PUT_(XSPROF_REC_BEGIN, name, 0, xsprof_emit_begin(name));
}

static inline void xsprof_put_end_(void)
{
	XSPROF_PUT_(XSPROF_REC_END, 0, 0, xsprof_emit_end());
}

/*
 * A thread inside a suppressed range has thread id 0 and cannot write inline: the library's
 * function then checks whether this end is suppressed too.
 */
static inline void xsprof_put_end_of_(xsprof_name_t name)
{
#ifdef XSPROF_INLINE_HERE
	if (xsprof_enabled() &&
	    xsprof_inline_put_(xsprof_emit_wanted_(), XSPROF_REC_END, name, 0))
		return;
#endif
	xsprof_emit_end_of(name);
}

static inline void xsprof_put_(uint32_t type, xsprof_name_t name, uint32_t aux, uint64_t value)
{
	XSPROF_PUT_(type & 0xff, name | (uint64_t)aux << 32, value,
		    xsprof_emit(type, name, aux, value));
}

static inline void xsprof_put_instant_(xsprof_name_t name, uint32_t scope)
{
	XSPROF_PUT_(XSPROF_REC_INSTANT, name | (uint64_t)scope << 32, 0,
		    xsprof_emit_instant(name, scope));
}

static inline void xsprof_put_counter_(xsprof_name_t name, int64_t value)
{
	XSPROF_PUT_(XSPROF_REC_COUNTER_I64, name, (uint64_t)value,
		    xsprof_emit_counter(name, value));
}

static inline void xsprof_put_counter_f64_(xsprof_name_t name, double value)
{
#ifdef XSPROF_INLINE_HERE
	uint64_t bits;

	__builtin_memcpy(&bits, &value, sizeof(bits));
#endif
	XSPROF_PUT_(XSPROF_REC_COUNTER_F64, name, bits, xsprof_emit_counter_f64(name, value));
}

static inline void xsprof_put_complete_(xsprof_name_t name, uint64_t begin)
{
	XSPROF_PUT_SINCE_(XSPROF_REC_COMPLETE, name, begin, xsprof_emit_complete(name, begin));
}

/* ---- ranges --------------------------------------------------------------------------------- */

/**
 * xsprof_begin() - a range of this thread begins
 * @name: what begins
 *
 * Ranges of a thread nest; each needs its xsprof_end() in the same thread. If the category is off,
 * the matching end is not recorded either, even if other categories are on. Signal-safe.
 */
static inline void xsprof_begin(xsprof_name_t name)
{
	uint64_t on = xsprof_enabled();

	if (__builtin_expect(on != 0, 0)) {
		if (on >> (name >> XSPROF_NAME_SHIFT) & 1)
			xsprof_put_begin_(name);
		else
			xsprof_emit_skip();
	}
}

/**
 * xsprof_end() - the innermost range of this thread ends
 *
 * Signal-safe.
 */
static inline void xsprof_end(void)
{
	if (__builtin_expect(xsprof_enabled() != 0, 0))
		xsprof_put_end_();
}

#define XSPROF_BEGIN(text) do { \
	if (__builtin_expect(xsprof_enabled() != 0, 0)) \
		xsprof_begin(XSPROF_NAME(text)); \
} while (0)
#define XSPROF_END() xsprof_end()

struct xsprof_scope_ {
	xsprof_name_t name;
};

static inline struct xsprof_scope_ xsprof_scope_open_(xsprof_name_t name)
{
	struct xsprof_scope_ s = { 0 };

	if (xsprof_wants(name)) {
		xsprof_put_begin_(name);
		s.name = name;
	}
	return s;
}

static inline void xsprof_scope_close_(struct xsprof_scope_ *s)
{
	if (__builtin_expect(s->name != 0, 0))
		xsprof_put_end_of_(s->name);
}

/*
 * XSPROF_SCOPE("name") - a range from here to the end of the block, also if it is left by return,
 * break, goto or a C++ exception (but not by longjmp).
 */
#define XSPROF_SCOPE(text) XSPROF_SCOPE_1_(XSPROF_NAME(text), __COUNTER__)
/* The same with an xsprof_name_t, which is evaluated only where the process is recorded. */
#define XSPROF_SCOPE_NAMED(name) XSPROF_SCOPE_1_(name, __COUNTER__)
#define XSPROF_SCOPE_1_(name, n) XSPROF_SCOPE_2_(name, n)
#define XSPROF_SCOPE_2_(name, n) \
	__attribute__((cleanup(xsprof_scope_close_), unused)) \
	struct xsprof_scope_ xsp_scope_##n = \
		__builtin_expect(xsprof_enabled() != 0, 0) ? \
		xsprof_scope_open_(name) : xsprof_scope_open_none_()

static inline struct xsprof_scope_ xsprof_scope_open_none_(void)
{
	struct xsprof_scope_ s = { 0 };

	return s;
}

/**
 * xsprof_now() - the clock of the markers
 *
 * Signal-safe.
 *
 * Return: ticks, to be passed to functions of this library; the unit depends on the clock.
 */
XSPROF_API uint64_t xsprof_now(void);

/**
 * xsprof_complete() - record a range that ends now, as one record
 * @name: what ended
 * @begin: xsprof_now() at its begin
 *
 * Takes half the memory of a begin and an end, but is missing if the program dies inside the range.
 * Signal-safe.
 */
static inline void xsprof_complete(xsprof_name_t name, uint64_t begin)
{
	if (__builtin_expect(xsprof_wants(name), 0))
		xsprof_put_complete_(name, begin);
}

/**
 * xsprof_span() - record a range with given begin and end
 * @name: what it was
 * @begin: ticks of xsprof_now()
 * @end: ticks of xsprof_now()
 * @id: its id, 0 for none
 * @parent: the id of the enclosing range, 0 for none
 *
 * Spans need not nest.  Signal-safe.
 */
XSPROF_API void xsprof_span(xsprof_name_t name, uint64_t begin, uint64_t end, uint64_t id,
			    uint64_t parent);

/* ---- instants, counters, steps -------------------------------------------------------------- */

/**
 * xsprof_instant() - record an instant of this thread
 * @name: what
 *
 * Signal-safe.
 */
static inline void xsprof_instant(xsprof_name_t name)
{
	if (__builtin_expect(xsprof_wants(name), 0))
		xsprof_put_instant_(name, XSPROF_SCOPE_THREAD);
}

#define XSPROF_INSTANT(text) do { \
	if (__builtin_expect(xsprof_enabled() != 0, 0)) \
		xsprof_instant(XSPROF_NAME(text)); \
} while (0)

/**
 * xsprof_mark() - record an instant of a thread, the process, or the whole trace
 * @name: what
 * @scope: enum xsprof_scope
 *
 * Signal-safe.
 */
static inline void xsprof_mark(xsprof_name_t name, uint32_t scope)
{
	if (__builtin_expect(xsprof_wants(name), 0))
		xsprof_put_instant_(name, scope);
}

/**
 * xsprof_counter() - record the value of a counter, valid from now on
 * @name: the counter
 * @value: its value
 *
 * Signal-safe.
 */
static inline void xsprof_counter(xsprof_name_t name, int64_t value)
{
	if (__builtin_expect(xsprof_wants(name), 0))
		xsprof_put_counter_(name, value);
}

/* As xsprof_counter(), for a double. */
static inline void xsprof_counter_f64(xsprof_name_t name, double value)
{
	if (__builtin_expect(xsprof_wants(name), 0))
		xsprof_put_counter_f64_(name, value);
}

/**
 * xsprof_step() - step (iteration) @number of the program's main loop begins
 * @name: what steps, for instance "ProfilerStep"
 * @number: its number
 *
 * Signal-safe.
 */
static inline void xsprof_step(xsprof_name_t name, uint64_t number)
{
	if (__builtin_expect(xsprof_wants(name), 0))
		xsprof_put_(XSPROF_REC_STEP, name, 0, number);
}

#ifdef __cplusplus
}
#endif

#include <xsprof/flow.h>
#include <xsprof/args.h>
#include <xsprof/process.h>

#endif /* XSPROF_H */
