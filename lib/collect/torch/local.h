/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Private header of the PyTorch collector: functions of libtorch and of libxsprof-user, and offsets
 * in libtorch's objects.
 *
 * The library is preloaded into every process of a recorded command, also those without PyTorch. It
 * links only the C library, has no constructor, and opens libxsprof-user when libtorch is present.
 * It is built without PyTorch's headers. enter.c and late.c are the entry points; api.c finds
 * libtorch's functions; layout.c, verify.c, compare.c, lists.c and strings.c find offsets and
 * verify them against libtorch's own answers; threads.c maps PyTorch's thread numbers; groups.c
 * reports ranks, comms.c metadata of collectives, keywords.c keyword values, iterations.c steps,
 * python.c lines and modules, native.c native stacks; observe.c writes the ops.
 */
#ifndef XSP_TORCH_LOCAL_H
#define XSP_TORCH_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <xsprof/profiler.h>

#include "collect/common/say.h"
#include "collect/torch/layout.h"

#define TORCH_EXPORT	__attribute__((visibility("default")))
#define TORCH_SCOPES	10

/* ---- libtorch ------------------------------------------------------------------------------- */

/**
 * struct torch_callback - at::RecordFunctionCallback
 * @start: called when an op begins; returns a std::unique_ptr<ObserverContext> in the memory at
 *	@ret
 * @end: called when it ends, with the result of @start
 * @probability: probability that an op is observed
 * @scopes: scopes to observe
 * @needs_inputs: @start may read the op's inputs
 * @needs_outputs: @end may read the op's outputs
 * @needs_ids: ops get a number
 *
 * 40 bytes, trivially copyable, the same in each version since 1.13.
 */
struct torch_callback {
	void	*(*start)(void **ret, const void *fn);
	void	(*end)(const void *fn, void *context);
	double	probability;
	bool	scopes[TORCH_SCOPES];
	bool	needs_inputs;
	bool	needs_outputs;
	bool	needs_ids;
};

/* std::vector of libstdc++ and of libc++. */
struct torch_vector {
	char	*begin;
	char	*end;
	char	*room;
};

/* std::string of libstdc++'s new ABI. In the old ABI it has @data only. */
struct torch_text {
	const char	*data;
	size_t		len;
	char		own[16];
};

/* c10::intrusive_ptr returned in memory: C returns a struct in memory if it has more words. */
struct torch_made {
	const char	*object;
	uint64_t	words[3];
};

/* Offset before an old-ABI string's text at which its length is. */
#define OLD_TEXT_LEN	24

/*
 * std::variant<std::string_view, std::reference_wrapper<...>> as libstdc++ passes it; a view begins
 * with its length.
 */
struct torch_name {
	size_t		len;
	const char	*text;
	uint8_t		index;
};

/**
 * struct torch_api - functions that libtorch_cpu.so exports
 * @add_global: adds an observer of all threads. Return: its handle
 * @add_local: adds an observer of the calling thread
 * @remove: removes either
 * @thread_id: PyTorch's number of the calling thread
 * @fn_new: constructs a RecordFunction
 * @fn_delete: destructs it, which ends the op
 * @before_text: begins the op; up to 2.8
 * @before_name: begins the op; since 2.9
 * @fn_name: name of an op
 * @nr_inputs: number of inputs of an op
 * @input_sizes: std::vector<std::vector<int64_t>>, one per input
 * @input_types: std::vector<std::string>, one per input: "Bool", "GenericList", ...
 * @old_input_types: the same with old-ABI strings: wheels up to 2.6
 * @old_text_delete: destroys an old-ABI string
 * @is_tensor_list: is the IValue a list declared as a list of tensors?
 * @is_int_list: ... of ints?
 * @is_double_list: ... of doubles?
 * @is_bool_list: ... of bools?
 * @string_new: makes the object of a string IValue
 * @get_sizes: sizes of the tensor in an IValue, since 2.2, else NULL
 * @get_dtype: its c10::ScalarType, likewise
 * @get_data: address of its first element, likewise
 * @save_meta: metadata of a collective, as std::unordered_map in @map; since 2.5, else NULL
 * @backward: number of the backward pass whose node the thread runs, -1: none; since 2.0, else NULL
 * @free: frees the memory of a vector
 * @undefined: the object of all undefined tensors; NULL: unknown
 */
struct torch_api {
	uint64_t		(*add_global)(struct torch_callback cb);
	uint64_t		(*add_local)(struct torch_callback cb);
	void			(*remove)(uint64_t handle);
	uint64_t		(*thread_id)(void);
	void			(*fn_new)(void *fn, uint8_t scope);
	void			(*fn_delete)(void *fn);
	void			(*before_text)(void *fn, const char *name, int64_t sequence);
	void			(*before_name)(void *fn, struct torch_name name, int64_t sequence);
	const char		*(*fn_name)(const void *fn);
	size_t			(*nr_inputs)(const void *fn);
	struct torch_vector	(*input_sizes)(const void *fn, bool flatten);
	struct torch_vector	(*input_types)(const void *fn);
	struct torch_vector	(*old_input_types)(const void *fn);
	void			(*old_text_delete)(void *text);
	bool			(*is_tensor_list)(const void *value);
	bool			(*is_int_list)(const void *value);
	bool			(*is_double_list)(const void *value);
	bool			(*is_bool_list)(const void *value);
	struct torch_made	(*string_new)(const char *text);
	int32_t			(*get_sizes)(const void *value, int64_t **sizes);
	int32_t			(*get_dtype)(const void *value, int32_t *dtype);
	int32_t			(*get_data)(const void *value, void **data);
	void			*(*save_meta)(void *map, const void *fn, const bool *config);
	int			(*backward)(void);
	void			(*free)(void *data);
	const char		*undefined;
};

extern struct torch_api torch_api;

/* Return: handle of the loaded library with @part in its path; NULL: none. Not signal-safe. */
void *torch_library(const char *part);
/* Looks @symbol up in the object that contains @caller and its dependencies. NULL: not found. */
void *torch_find_for(const void *caller, const char *symbol);
/*
 * The function that our function of the same name interposes: in the library @part, else with
 * RTLD_NEXT, else by torch_find_for(), as RTLD_NEXT does not find libraries loaded with RTLD_LOCAL.
 */
void *torch_real(const char *part, const char *symbol, const void *caller);
/* Return: 0; -ENOENT: libtorch is not loaded; -ENOSYS: it lacks a required function. */
int torch_api_find(void);

/* ---- threads.c: thread ids by PyTorch's numbers ---------------------------------------------- */

void torch_threads_init(void);
/* Notes the calling thread's id for its PyTorch number. */
void torch_thread_enter(void);
/* Return: the id of the thread with PyTorch's @number, 0: unknown. */
uint64_t torch_thread(uint64_t number);

/* ---- libxsprof-user ------------------------------------------------------------------------- */

/**
 * struct torch_user - functions of libxsprof-user, see <xsprof/profiler.h>
 * @wanted: xsprof_op_wanted
 * @details: xsprof_op_details
 * @category: xsprof_category()
 * @name: xsprof_name_in()
 * @name_of_many: xsprof_name_of_many()
 * @begin: xsprof_emit_op_begin()
 * @end: xsprof_emit_op_end()
 * @end_earlier: xsprof_emit_op_end_earlier()
 * @end_continued: xsprof_emit_op_end_continued()
 * @memory: xsprof_report_memory_usage()
 * @out_of_memory: xsprof_report_out_of_memory()
 * @fact: xsprof_fact()
 * @iteration: xsprof_ondemand_iteration()
 * @stack_find: xsprof_stack_find()
 * @stack_add: xsprof_stack_add()
 */
struct torch_user {
	const uint32_t	*wanted;
	const uint32_t	*details;
	int		(*category)(const char *name);
	xsprof_name_t	(*name)(int category, const char *text);
	xsprof_name_t	(*name_of_many)(int category, const char *text);
	void		(*begin)(const struct xsprof_op *op);
	void		(*end)(void);
	void		(*end_earlier)(xsprof_name_t name);
	void		(*end_continued)(void);
	void		(*memory)(const void *ptr, int64_t size, uint64_t total,
				  uint64_t reserved, uint32_t device);
	void		(*out_of_memory)(int64_t size, uint64_t total, uint64_t reserved,
					 uint32_t device);
	int		(*fact)(const char *key, const char *value);
	void		(*iteration)(void);
	uint32_t	(*stack_find)(uint64_t key);
	uint32_t	(*stack_add)(uint64_t key, const uint64_t *frames, uint32_t nr,
				     uint32_t left_out);
};

extern struct torch_user torch_user;

/*
 * Opens libxsprof-user, which makes the process a producer if it is recorded. Return: 0; -ENOENT.
 */
int torch_user_open(void);

static inline bool torch_wanted(void)
{
	/* Acquire: pairs with the release in user.c, which comes after torch_user is set. */
	const uint32_t *wanted = __atomic_load_n(&torch_user.wanted, __ATOMIC_ACQUIRE);

	/* Relaxed: an op that races with a change is recorded or not. */
	return __atomic_load_n(wanted, __ATOMIC_RELAXED) != 0;
}

/* ---- groups.c ------------------------------------------------------------------------------- */

/* States rank, world size and backend if they are known. */
void torch_groups_tell(void);

/* ---- comms.c -------------------------------------------------------------------------------- */

#define TORCH_COMMS	24u

/**
 * struct torch_comms - metadata of a collective
 * @map: libtorch's map, which @kv points into
 * @kv: the metadata as arguments
 * @nr: number of arguments
 */
struct torch_comms {
	uint64_t		map[16];
	struct xsprof_kv	kv[TORCH_COMMS];
	uint32_t		nr;
};

void torch_comms_init(int category);
/* Is an op of that name a collective, and can its metadata be read? */
bool torch_is_comms(xsprof_name_t name);
void torch_comms_read(const void *fn, struct torch_comms *comms);
void torch_comms_free(struct torch_comms *comms);

/* ---- keywords.c ----------------------------------------------------------------------------- */

#define TORCH_KEYWORDS	16	/* keyword values recorded per op */

/* Offsets in a std::unordered_map of libstdc++, after its buckets and their number. */
enum { TORCH_MAP_FIRST = 16, TORCH_MAP_NR = 24, TORCH_MAP_FACTOR = 32, TORCH_MAP_BUCKET = 48 };

/* One more than TORCH_KEYWORDS: for the op's name if the name table is full. */
struct torch_keywords {
	struct xsprof_kv	kv[TORCH_KEYWORDS + 1];
	uint32_t		nr;
};

void torch_keywords_init(int category);
void torch_keywords_read(const void *fn, struct torch_keywords *to);

/* ---- iterations.c --------------------------------------------------------------------------- */

void torch_iterations_observe(void);
/* Registers our observer again, so that it is called after one registered since. */
void torch_iterations_last(void);

/* ---- names.c, observe.c, memory.c ----------------------------------------------------------- */

/* The name of an op and its number of arguments; TORCH_ALL_INPUTS: all inputs are arguments. */
xsprof_name_t torch_name(const void *fn, uint32_t *arguments);
void torch_names_init(int category);
/* The name table was full: the text then becomes an argument with this key. */
static inline bool torch_names_full(xsprof_name_t name)
{
	return (name & XSPROF_NAME_MASK) == XSPROF_NAME_FULL;
}
extern xsprof_name_t torch_name_key;

/* Adds the observer if ops are wanted, removes it if not. */
void torch_observe(void);
/* Must an observer be added or removed? */
extern bool torch_observing;
/* Does PyTorch keep the inputs of ops for it? */
extern bool torch_with_inputs;

/* Details that a recorder gets: XSPROF_TORCH. */
enum torch_detail { TORCH_OFF, TORCH_NAMES, TORCH_SHAPES, TORCH_ALL };

extern enum torch_detail torch_detail;

/* Is @detail recorded? A session chooses XSPROF_DETAIL_* itself. Only while ops are wanted. */
static inline bool torch_records(uint32_t detail, enum torch_detail least)
{
	uint32_t details = __atomic_load_n(torch_user.details, __ATOMIC_RELAXED);

	return details & detail || (details & XSPROF_DETAIL_RECORDER && torch_detail >= least);
}

/* Has the observer the inputs of ops if they are wanted? Only while ops are wanted. */
static inline bool torch_inputs_as_wanted(void)
{
	return torch_records(XSPROF_DETAIL_INPUTS, TORCH_SHAPES) ==
	       __atomic_load_n(&torch_with_inputs, __ATOMIC_RELAXED);
}

#endif /* XSP_TORCH_LOCAL_H */
