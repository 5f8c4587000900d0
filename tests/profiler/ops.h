/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds captures with ops, record by record, for the tests of results. One tick is a nanosecond of
 * CLOCK_MONOTONIC; CLOCK_REALTIME is REAL more.
 */
#ifndef TESTS_PROFILER_OPS_H
#define TESTS_PROFILER_OPS_H

#include <xsprof/result.h>
#include <xsprof/trace.h>

#include "decoder/builder.h"

#define REAL	1600000000000000000ull
#define PID	100u
#define TID	100u

/* A capture under construction; starts as zeros. Records must be in the order of their times. */
struct ops {
	struct cap	cap;
	struct cap	arena;
	struct ring	ring;
	bool		done;		/* the capture is complete */
	uint32_t	nr_names;
	char		names[256][64];
};

/* Arguments under construction; those too long for one record continue in others. */
struct blob {
	uint8_t	data[16384];
	size_t	len;
	size_t	starts[1024];
	size_t	nr;
};

void ops_begin(struct ops *o);
/* The same with a clock that has these sync points. */
void ops_begin_by(struct ops *o, const struct xsprof_sync *syncs, size_t nr);
/* Returns a name id of category 0, or of @category. */
uint32_t ops_name(struct ops *o, const char *name);
uint32_t ops_name_in(struct ops *o, uint32_t category, const char *name);
void ops_category(struct ops *o, uint32_t number, const char *name);
void ops_map(struct ops *o, const char *text);
void ops_stack(struct ops *o, uint32_t id, const uint64_t *address, size_t nr, uint32_t left_out);

/* Begins an op; @args may be NULL. */
void ops_op(struct ops *o, uint32_t tid, uint64_t ts, const char *name, const struct blob *args);
void ops_op_as(struct ops *o, uint32_t tid, uint64_t ts, const char *name, uint32_t scope,
	       uint64_t id, struct xsprof_rec_op op, const struct blob *args);
/* Writes an op with that stack. */
void ops_stacked(struct ops *o, uint32_t stack, uint64_t ts);
/* Writes a record of one slot. */
void ops_rec(struct ops *o, uint8_t type, uint32_t tid, uint64_t ts, const char *name,
	     uint32_t aux, uint64_t value);
void ops_end(struct ops *o, uint32_t tid, uint64_t ts);
void ops_args(struct ops *o, uint8_t type, uint32_t tid, uint64_t ts, uint32_t name, uint32_t aux,
	      uint64_t value, const void *payload, size_t size, const struct blob *args);
void ops_span(struct ops *o, uint32_t tid, uint64_t ts, uint32_t name, uint64_t begin,
	      uint64_t end, uint64_t id);
void ops_memory(struct ops *o, uint32_t tid, uint64_t ts, int64_t bytes, uint32_t device,
		uint64_t address);
void ops_gpu(struct ops *o, uint64_t ts, uint32_t kind, const char *name, uint64_t correlation,
	     struct xsprof_rec_gpu gpu);

/* Writes one record of every kind, in four variants; from 2010 on. */
void ops_sample(struct ops *o, unsigned int kind);
/* Ends the capture. Return: its result; exits the program on failure. */
struct xsprof_result *ops_result(struct ops *o, const struct xsprof_result_options *opts);
void ops_free(struct ops *o);

/* Returns the event of that name, number @nth from 0; or NULL. */
const struct xsprof_profiler_event *ops_find(struct xsprof_result *r, const char *name,
					     unsigned int nth);

void blob_put(struct blob *b, uint32_t key, uint8_t type, uint64_t value, const void *bytes,
	      size_t len);
void blob_i64(struct blob *b, uint32_t place, int64_t v);
void blob_f64(struct blob *b, uint32_t place, double v);
void blob_str(struct blob *b, uint32_t key, const char *s);
void blob_i64s(struct blob *b, uint32_t place, uint32_t nr, const int64_t *v);
/* Adds a tensor with sizes and without strides, all numbers of 8 bytes. */
void blob_tensor(struct blob *b, uint32_t key, uint32_t dtype, uint32_t ndim, const int64_t *sizes);
/* Adds input @place, with the parts that @flags say, in @nr numbers of 4 bytes. */
void blob_strided(struct blob *b, uint32_t place, uint8_t ndim, uint8_t stored, uint8_t flags,
		  const uint32_t *numbers, size_t nr);

#define IN(i)		(XSPROF_KEY_INPUT + (i))
#define ITEM(i)		(XSPROF_KEY_ITEM + (i))
#define DIMS(...)	sizeof((int64_t[]){ __VA_ARGS__ }) / 8, (int64_t[]){ __VA_ARGS__ }

#define CHECK_STR(a, b) do { \
	const char *check_a_ = (a), *check_b_ = (b); \
	if (strcmp(check_a_, check_b_)) \
		tap_wrong("%s:%d: %s is '%s', not '%s'", __FILE__, __LINE__, #a, check_a_, \
			  check_b_); \
} while (0)

#endif /* TESTS_PROFILER_OPS_H */
