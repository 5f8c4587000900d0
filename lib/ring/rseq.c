// SPDX-License-Identifier: LGPL-2.1-only
/*
 * rseq support in this process and its threads: whether it is available, where the thread's area
 * is, and what inline markers need. Owns the registration if the C library does not register;
 * rseq.h has the sequences.
 */
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <xsprof/inline.h>

#include "ring/rseq.h"

/* glibc 2.35 and newer register rseq and export these; weak: older versions have neither. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

#define RSEQ_MIN_SIZE		20	/* through rseq_cs and flags: all fields used */
#define RSEQ_AREA_SIZE		32
#define RSEQ_FLAG_UNREGISTER	1
#define KEYS_IN_THREAD		32	/* glibc keeps the values of the first keys in the thread */

/*
 * struct rseq of threads whose C library has none. cpu_id starts as "uninitialised", which is not a
 * ring: markers of an unregistered thread end in the slow path.
 */
struct own_rseq {
	uint32_t	cpu_id_start;
	uint32_t	cpu_id;
	uint64_t	rseq_cs;
	uint32_t	flags;
	uint32_t	pad[3];
} __attribute__((aligned(32)));

static __thread struct own_rseq own_rseq __attribute__((tls_model("initial-exec"))) = {
	.cpu_id = UINT32_MAX,
};
static bool own_rseq_wanted;
static pthread_key_t own_rseq_key;

/* gcc has the builtin on x86 since 11; the first TLS word points to itself. */
static inline char *thread_pointer(void)
{
#if defined(__x86_64__)
	char *tp;

	__asm__("mov %%fs:0, %0" : "=r" (tp));
	return tp;
#else
	return __builtin_thread_pointer();
#endif
}

/* The kernel writes into the area until it is unregistered; the thread's memory is freed next. */
static void unregister_own_rseq(void *area)
{
	syscall(SYS_rseq, area, RSEQ_AREA_SIZE, RSEQ_FLAG_UNREGISTER, XSP_RSEQ_SIG);
	own_rseq.cpu_id = UINT32_MAX;
}

static void register_own_rseq(void)
{
	if (own_rseq.cpu_id != UINT32_MAX)
		return;
	/*
	 * Refused (registered by another library, no such system call): this thread uses lock
	 * rings.
	 */
	if (syscall(SYS_rseq, &own_rseq, RSEQ_AREA_SIZE, 0, XSP_RSEQ_SIG))
		return;
	if (pthread_setspecific(own_rseq_key, &own_rseq))
		unregister_own_rseq(&own_rseq);
}

/*
 * The offset of struct rseq from the thread pointer, constant for the process: always an area that
 * a sequence may write to, as it arms before any check.
 */
static int64_t rseq_offset(void)
{
#if XSP_HAVE_RSEQ
	if (&__rseq_size && __rseq_size >= RSEQ_MIN_SIZE)
		return __rseq_offset;
#endif
	return (char *)&own_rseq - thread_pointer();
}

/**
 * xsp_rseq_usable() - can this process use restartable sequences?
 * @offset: set to the offset of struct rseq from the thread pointer
 *
 * A glibc that supports rseq but did not register it was told not to (GLIBC_TUNABLES) or could not
 * (valgrind, qemu-user): not usable. A glibc without support is no obstacle.
 */
bool xsp_rseq_usable(int64_t *offset)
{
	*offset = rseq_offset();
#if XSP_HAVE_RSEQ
	if (&__rseq_size)
		return __rseq_size >= RSEQ_MIN_SIZE;
	if (!own_rseq_wanted) {
		if (pthread_key_create(&own_rseq_key, unregister_own_rseq))
			return false;
#ifdef __GLIBC__
		/*
		 * glibc allocates memory for a thread's first value of a later key: not
		 * signal-safe.
		 */
		if (own_rseq_key >= KEYS_IN_THREAD) {
			pthread_key_delete(own_rseq_key);
			return false;
		}
#endif
		own_rseq_wanted = true;
	}
	register_own_rseq();
	return own_rseq.cpu_id != UINT32_MAX;
#else
	return false;
#endif
}

/* Prepares the thread for its first sequence. */
void xsp_rseq_enter(void)
{
	if (own_rseq_wanted)
		register_own_rseq();
}

#if defined(__x86_64__) && defined(__LP64__)
/* The library's variables that inline markers read. */
#define RINGS_AT(field) XSPROF_ABI_ASSERT(offsetof(struct xsprof_inline_rings, field) == \
					  offsetof(struct xsp_set, field) - \
					  offsetof(struct xsp_set, mask))
RINGS_AT(mask);
XSPROF_ABI_ASSERT(offsetof(struct xsprof_inline_rings, slots) ==
		  offsetof(struct xsp_set, size) - offsetof(struct xsp_set, mask));
RINGS_AT(key);
#define THREAD_AT(field) XSPROF_ABI_ASSERT(offsetof(struct xsprof_inline_thread, field) == \
					   offsetof(struct xsp_thread, field))
XSPROF_ABI_AT(xsprof_inline_thread, tid, 0);
XSPROF_ABI_AT(xsp_thread, hdr, 0);
THREAD_AT(skips);
THREAD_AT(key);
THREAD_AT(ring);
/* Offsets that inline.h uses in its assembly. */
XSPROF_ABI_AT(xsp_thread, key, 16);
XSPROF_ABI_AT(xsp_thread, ring, 24);

/* Signal-safe; the result is constant and does not depend on the attachment. */
XSPROF_API const struct xsprof_inline *xsprof_inline_get(uint32_t version, size_t size)
{
	static struct xsprof_inline in = {
		.version = XSPROF_INLINE_VERSION,
		.size = sizeof(in),
		.rings = (const struct xsprof_inline_rings *)&xsp_set.mask,
	};

	if (version != XSPROF_INLINE_VERSION || size < sizeof(in))
		return NULL;
	/* Threads that race here store the same. */
	__atomic_store_n(&in.rseq, rseq_offset(), __ATOMIC_RELAXED);
	__atomic_store_n(&in.thread, (char *)&xsp_thread.hdr -
			 thread_pointer(), __ATOMIC_RELAXED);
	return &in;
}
#else
XSPROF_API const struct xsprof_inline *xsprof_inline_get(uint32_t version, size_t size)
{
	(void)version, (void)size;
	return NULL;
}
#endif

/**
 * xsp_current_cpu() - the CPU as the thread's rseq area has it
 *
 * Return: the CPU, or -1 if the thread has none.
 */
int xsp_current_cpu(void)
{
#if XSP_HAVE_RSEQ
	const char *area = thread_pointer() + xsp_kept.rs;

	if (!__atomic_load_n(&xsp_set.nr, __ATOMIC_RELAXED))
		return -1;
	return (int)__atomic_load_n((const uint32_t *)(area + offsetof(struct own_rseq, cpu_id)),
				    __ATOMIC_RELAXED);
#else
	return -1;
#endif
}
