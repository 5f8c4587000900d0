/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Arguments of markers: typed keys and values.  Part of <xsprof/xsprof.h>, which includes it; the
 * rules for threads, signals and errno are there.
 */
#ifndef XSPROF_ARGS_H
#define XSPROF_ARGS_H

#include <xsprof/xsprof.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- arguments ------------------------------------------------------------------------------ */

/**
 * struct xsprof_kv - a typed key and value
 * @key: name id of the key
 * @type: enum xsprof_arg_type
 * @len: bytes of @u.str
 * @u: the value
 */
struct xsprof_kv {
	xsprof_name_t	key;
	uint32_t	type;
	size_t		len;
	union {
		int64_t		i64;
		uint64_t	u64;
		double		f64;
		const char	*str;
		const void	*ptr;
	} u;
};

static inline struct xsprof_kv xsprof_i64(xsprof_name_t key, int64_t v)
{
	struct xsprof_kv kv = { key, XSPROF_ARG_I64, 0, { 0 } };

	kv.u.i64 = v;
	return kv;
}

static inline struct xsprof_kv xsprof_u64(xsprof_name_t key, uint64_t v)
{
	struct xsprof_kv kv = { key, XSPROF_ARG_U64, 0, { 0 } };

	kv.u.u64 = v;
	return kv;
}

static inline struct xsprof_kv xsprof_f64(xsprof_name_t key, double v)
{
	struct xsprof_kv kv = { key, XSPROF_ARG_F64, 0, { 0 } };

	kv.u.f64 = v;
	return kv;
}

static inline struct xsprof_kv xsprof_bool(xsprof_name_t key, int v)
{
	struct xsprof_kv kv = { key, XSPROF_ARG_BOOL, 0, { 0 } };

	kv.u.u64 = v != 0;
	return kv;
}

static inline struct xsprof_kv xsprof_ptr(xsprof_name_t key, const void *v)
{
	struct xsprof_kv kv = { key, XSPROF_ARG_PTR, 0, { 0 } };

	kv.u.u64 = (uint64_t)(uintptr_t)v;
	return kv;
}

static inline struct xsprof_kv xsprof_namev(xsprof_name_t key, xsprof_name_t v)
{
	struct xsprof_kv kv = { key, XSPROF_ARG_NAME, 0, { 0 } };

	kv.u.u64 = v;
	return kv;
}

/* A string of the caller, copied into the record and cut after XSPROF_TEXT_MAX bytes: shown so. */
static inline struct xsprof_kv xsprof_str(xsprof_name_t key, const char *v)
{
	struct xsprof_kv kv = { key, XSPROF_ARG_STR, 0, { 0 } };

	kv.u.str = v ? v : "";
	kv.len = __builtin_strlen(kv.u.str);
	return kv;
}

/**
 * xsprof_i32s() - a list of numbers as an argument
 * @key: its key
 * @v: the numbers; not copied here
 * @n: how many, at most XSPROF_TEXT_MAX / 4
 *
 * Return: the argument.
 */
static inline struct xsprof_kv xsprof_i32s(xsprof_name_t key, const int32_t *v, size_t n)
{
	struct xsprof_kv kv = { key, XSPROF_ARG_I32S, 0, { 0 } };

	kv.u.ptr = v;
	kv.len = n * sizeof(*v);
	return kv;
}

/**
 * xsprof_begin_args() - xsprof_begin() with arguments
 * @name: what begins
 * @kv: arguments; strings are copied before it returns
 * @n: how many
 *
 * Arguments that do not fit into one record (224 bytes) continue in further records of the same
 * thread, at most 64 in total. Signal-safe, as are the three functions below.
 */
XSPROF_API void xsprof_begin_args(xsprof_name_t name, const struct xsprof_kv *kv, size_t n);
XSPROF_API void xsprof_end_args(const struct xsprof_kv *kv, size_t n);
XSPROF_API void xsprof_instant_args(xsprof_name_t name, const struct xsprof_kv *kv, size_t n);

/**
 * xsprof_args() - arguments for the innermost open range of this thread
 * @kv: arguments
 * @n: how many
 */
XSPROF_API void xsprof_args(const struct xsprof_kv *kv, size_t n);

#define XSPROF_BEGIN_ARGS(text, ...) do { \
	if (__builtin_expect(xsprof_enabled() != 0, 0)) { \
		const struct xsprof_kv xsp_kv_[] = { __VA_ARGS__ }; \
		xsprof_begin_args(XSPROF_NAME(text), xsp_kv_, \
				  sizeof(xsp_kv_) / sizeof(xsp_kv_[0])); \
	} \
} while (0)
#define XSPROF_INSTANT_ARGS(text, ...) do { \
	if (__builtin_expect(xsprof_enabled() != 0, 0)) { \
		const struct xsprof_kv xsp_kv_[] = { __VA_ARGS__ }; \
		xsprof_instant_args(XSPROF_NAME(text), xsp_kv_, \
				    sizeof(xsp_kv_) / sizeof(xsp_kv_[0])); \
	} \
} while (0)

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_ARGS_H */
