/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Ops, their inputs, and memory events.  Part of <xsprof/profiler.h>, which includes it; the rules
 * for threads, signals and errno are there.
 */
#ifndef XSPROF_OP_H
#define XSPROF_OP_H

#include <xsprof/profiler.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- ops ------------------------------------------------------------------------------------ */

/**
 * struct xsprof_tensor - a tensor as an op's input
 * @sizes: one a dimension; NULL where they are not known
 * @strides: the same, NULL for none
 * @ndim: dimensions
 * @dtype: name id of its type ("float", "c10::BFloat16"), 0 not known
 * @device: XSPROF_DEVICE(type, index)
 * @id: tells it from others, 0 for none
 * @storage_id: of its memory, 0 for none
 * @offset: elements into its memory
 * @numel: elements
 * @itemsize: bytes of one
 */
struct xsprof_tensor {
	const int64_t	*sizes;
	const int64_t	*strides;
	uint32_t	ndim;
	xsprof_name_t	dtype;
	uint32_t	device;
	uint32_t	itemsize;
	uint64_t	id;
	uint64_t	storage_id;
	uint64_t	offset;
	uint64_t	numel;
};

enum xsprof_input_kind {
	XSPROF_INPUT_NONE = 0,
	XSPROF_INPUT_TENSOR,
	XSPROF_INPUT_TENSORS,		/* @n of them */
	XSPROF_INPUT_I64,
	XSPROF_INPUT_F64,
	XSPROF_INPUT_BOOL,
	XSPROF_INPUT_STR,
	XSPROF_INPUT_I64S,		/* a list of @n */
	XSPROF_INPUT_F64S,
	XSPROF_INPUT_OTHER,		/* an object; @u.type is the name id of its type, or 0 */
	XSPROF_INPUT_BOOLS,		/* a list of @n */
};

/**
 * struct xsprof_input - an input of an op, by its place
 * @kind: enum xsprof_input_kind
 * @n: of lists
 * @u: the value; what it points to is only looked at during the call
 */
struct xsprof_input {
	uint32_t	kind;
	uint32_t	n;
	union {
		const struct xsprof_tensor	*tensor;
		int64_t				i64;
		double				f64;
		const char			*str;
		const int64_t			*i64s;
		const double			*f64s;
		const bool			*bools;
		xsprof_name_t			type;
	} u;
};

#define XSPROF_NO_SEQUENCE	(-1)

/**
 * struct xsprof_op - the begin of an op; fields of 0 are none, except @sequence
 * @name: name; recorded only if its category is enabled
 * @scope: enum xsprof_op_scope
 * @nr_inputs: how many
 * @nr_kwargs: how many
 * @sequence: number shared by an op and its backward op, XSPROF_NO_SEQUENCE for none
 * @forward_thread: for a backward op, the thread of its forward op; 0 for none
 * @record_function_id: the framework's number of the op, 0 for none
 * @inputs: by their place
 * @kwargs: by their name, and further metadata
 * @module: its modules, "net.encoder.0", NULL for none
 * @module_name: the same as a name id, for programs that have many ops in few modules
 * @line: name id of the place in the program that runs it, "train.py(12): step", 0 for none; it is
 *	kept where stacks or modules are
 * @stack: of xsprof_stack_find() or xsprof_stack_add(); 0: the thread's own, where a session
 *	records stacks
 *
 * Zeros but for @sequence are none.
 */
struct xsprof_op {
	xsprof_name_t			name;
	uint32_t			scope;
	uint32_t			nr_inputs;
	uint32_t			nr_kwargs;
	int64_t				sequence;
	uint64_t			forward_thread;
	uint64_t			record_function_id;
	const struct xsprof_input	*inputs;
	const struct xsprof_kv		*kwargs;
	const char			*module;
	xsprof_name_t			module_name;
	xsprof_name_t			line;
	uint32_t			stack;
};

/**
 * xsprof_stack_find() - a stack that the caller has added
 * @key: identifies it among the caller's stacks: a hash of its frames
 *
 * For collectors of languages whose frames are not addresses on the thread's stack.  A forked child
 * does not have the stacks that were added before.
 *
 * Return: its id, XSPROF_STACK_MISSED: there was no room for it, or 0: it has not been added.
 * Signal-safe.
 */
XSPROF_API uint32_t xsprof_stack_find(uint64_t key);

/**
 * xsprof_stack_add() - add a stack
 * @key: as above
 * @frames: innermost first: addresses, or XSPROF_FRAME_NAMED | a name id
 * @nr: how many, at most XSPROF_STACK_FRAMES
 * @left_out: number of further frames
 *
 * It is kept as long as the process records; there is room for some 12,000, or fewer if the arena
 * (XSPROF_ARENA_SIZE) is full.
 *
 * Return: its id, XSPROF_STACK_MISSED: there was no room for it, or 0: nothing is recorded, or @nr
 * is 0. Not signal-safe. It takes the loader's lock where the C library lacks _dl_find_object(),
 * unless all frames are names.
 */
XSPROF_API uint32_t xsprof_stack_add(uint64_t key, const uint64_t *frames, uint32_t nr,
				     uint32_t left_out);

#define XSPROF_STACK_FRAMES	64u

/**
 * xsprof_sample() - record a sample of a thread's stack
 * @name: of its innermost function; recorded only if its category is enabled
 * @thread: the sampled thread, as gettid() gives it
 * @stack: of xsprof_stack_find() or xsprof_stack_add(); of XSPROF_SAMPLE_MISSED: how many
 * @how: enum xsprof_sample_how
 * @line: of the innermost function's file, 0: not known
 *
 * From any thread.  Signal-safe.
 */
XSPROF_API void xsprof_sample(xsprof_name_t name, uint32_t thread, uint32_t stack, uint32_t how,
			      uint32_t line);

/*
 * The scopes of ops to record, as XSPROF_OP(); 0 without a session and a recorder. Programs must
 * not write to it.
 */
extern XSPROF_API uint32_t xsprof_op_wanted;

/**
 * enum xsprof_op_detail - details of ops that are recorded now
 * @XSPROF_DETAIL_INPUTS: a session records inputs
 * @XSPROF_DETAIL_STACK: stacks
 * @XSPROF_DETAIL_MODULES: modules
 * @XSPROF_DETAIL_MEMORY: allocations
 * @XSPROF_DETAIL_RECORDER: a recorder records all details
 *
 * A caller need not compute other details; if it passes them, they are not recorded.
 */
enum xsprof_op_detail {
	XSPROF_DETAIL_INPUTS	= 0x1,
	XSPROF_DETAIL_STACK	= 0x2,
	XSPROF_DETAIL_MODULES	= 0x4,
	XSPROF_DETAIL_MEMORY	= 0x8,
	XSPROF_DETAIL_RECORDER	= 0x100,
};

/* Bits of enum xsprof_op_detail, beside xsprof_op_wanted. Programs must not write to it. */
extern XSPROF_API uint32_t xsprof_op_details;

XSPROF_API void xsprof_emit_op_begin(const struct xsprof_op *op);
XSPROF_API void xsprof_emit_op_end(void);

/**
 * xsprof_emit_op_end_earlier() - the calling thread's innermost op ended at an unknown earlier time
 * @name: its name
 *
 * Call it instead of xsprof_op_end() for an op that ended in another thread, or unseen: the trace
 * shows it as cut, not as ended here.  Ranges of the thread that began inside it stay open.  If no
 * range of that name is open in the trace, the call has no effect.  Needed also if ops are not
 * being recorded.  Signal-safe if xsprof_op_begin() is.
 */
XSPROF_API void xsprof_emit_op_end_earlier(xsprof_name_t name);

/**
 * xsprof_emit_op_end_continued() - the calling thread's innermost op goes on as another
 *
 * For ops that do not nest: if an op ends before others that began inside it, call this function
 * for each of the others, the innermost first, then xsprof_op_end() for the op, and then begin the
 * others again, with their names and in their order, before any other record of the thread.
 * Reports count each as one op.  Needed also if ops are not being recorded.  Signal-safe if
 * xsprof_op_begin() is.
 */
XSPROF_API void xsprof_emit_op_end_continued(void);

/**
 * xsprof_op_begin() - an op begins in this thread
 * @op: what it is; not kept
 *
 * Ops nest with each other and with the ranges of <xsprof/xsprof.h>. Each needs its
 * xsprof_op_end(), also if ops are not being recorded.
 *
 * Signal-safe only if nothing but the name of ops is recorded.
 */
static inline void xsprof_op_begin(const struct xsprof_op *op)
{
	if (__builtin_expect(__atomic_load_n(&xsprof_op_wanted, __ATOMIC_RELAXED) != 0, 0))
		xsprof_emit_op_begin(op);
}

static inline void xsprof_op_end(void)
{
	if (__builtin_expect(__atomic_load_n(&xsprof_op_wanted, __ATOMIC_RELAXED) != 0, 0))
		xsprof_emit_op_end();
}

/* ---- memory --------------------------------------------------------------------------------- */

/**
 * xsprof_report_memory_usage() - memory was allocated or freed
 * @ptr: its address on its device
 * @alloc_size: bytes; negative if they were freed
 * @total_allocated: bytes in use after it
 * @total_reserved: bytes the allocator holds after it
 * @device: XSPROF_DEVICE(type, index)
 *
 * Recorded by sessions with profile_memory, and by recorders. Signal-safe.
 */
XSPROF_API void xsprof_report_memory_usage(const void *ptr, int64_t alloc_size,
					   uint64_t total_allocated, uint64_t total_reserved,
					   uint32_t device);

/* An allocation of @alloc_size bytes failed; other arguments as above. Signal-safe. */
XSPROF_API void xsprof_report_out_of_memory(int64_t alloc_size, uint64_t total_allocated,
					    uint64_t total_reserved, uint32_t device);

/**
 * xsprof_report_vulkan_event() - a shader ran
 * @name: name of the shader
 * @begin: ticks of xsprof_now()
 * @end: the same
 * @queue: of the device
 *
 * Recorded in category "vulkan", whatever the category of @name. Signal-safe.
 */
XSPROF_API void xsprof_report_vulkan_event(xsprof_name_t name, uint64_t begin, uint64_t end,
					   uint32_t queue);

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_OP_H */
