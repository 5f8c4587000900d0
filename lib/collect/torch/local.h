/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the files of the PyTorch collector share: the functions of libtorch and of libxsprof-user,
 * and where things are in libtorch's objects.
 *
 * The library is preloaded into every process of a recorded command, also those that have nothing
 * to do with PyTorch. It links the C library only, has no constructor, and opens libxsprof-user
 * when libtorch is there. It is built without PyTorch's headers: enter.c and late.c get in, api.c
 * finds the functions, layout.c, verify.c, compare.c, lists.c and strings.c find where things are
 * and hold it against libtorch's own answers, threads.c knows threads by PyTorch's numbers,
 * groups.c ranks, comms.c what collectives are of, keywords.c keyword values, iterations.c steps,
 * python.c lines and modules, native.c stacks of C and C++, observe.c writes the ops.
 */
#ifndef XSP_TORCH_LOCAL_H
#define XSP_TORCH_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <xsprof/profiler.h>

#include "collect/common/say.h"

#define TORCH_EXPORT	__attribute__((visibility("default")))
#define TORCH_SCOPES	10

/* ---- libtorch ------------------------------------------------------------------------------- */

/**
 * struct torch_callback - at::RecordFunctionCallback
 * @start: returns a std::unique_ptr<ObserverContext>: in the place that @ret is
 * @end: with what @start returned
 * @probability: that an op is observed
 * @scopes: which are
 * @needs_inputs: ops have their inputs while @start runs
 * @needs_outputs: and their outputs while @end does
 * @needs_ids: they have a number
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

/* std::vector, of libstdc++ and of libc++. */
struct torch_vector {
	char	*begin;
	char	*end;
	char	*room;
};

/* std::string of the C++ library's new kind. One of the old kind has @data and nothing else. */
struct torch_text {
	const char	*data;
	size_t		len;
	char		own[16];
};

/* c10::intrusive_ptr, which is returned in memory: so is a struct of C that has more words. */
struct torch_made {
	const char	*object;
	uint64_t	words[3];
};

/* In front of the text of one of the old kind: its length. */
#define OLD_TEXT_LEN	24

/*
 * std::variant<std::string_view, std::reference_wrapper<...>> as libstdc++ passes it: a view has
 * its length first.
 */
struct torch_name {
	size_t		len;
	const char	*text;
	uint8_t		index;
};

/**
 * struct torch_api - functions that libtorch_cpu.so exports
 * @add_global: an observer of all threads.  Return: its handle
 * @add_local: one of the calling thread
 * @remove: either
 * @thread_id: the calling thread's number, as ops have it
 * @fn_new: constructs a RecordFunction
 * @fn_delete: destructs it, which ends the op
 * @before_text: begins the op; up to 2.8
 * @before_name: the same; from 2.9 on
 * @fn_name: an op's name
 * @nr_inputs: how many inputs an op has
 * @input_sizes: std::vector<std::vector<int64_t>>, one an input
 * @input_types: std::vector<std::string>, the same: "Bool", "GenericList", ...
 * @old_input_types: where std::string is of the old kind: wheels up to 2.6
 * @old_text_delete: destructs such a string
 * @is_tensor_list: what the list in an IValue is declared to be of; false of what is no list
 * @is_int_list: the same
 * @is_double_list: the same
 * @is_bool_list: the same
 * @string_new: what an IValue of a string points to
 * @get_sizes: of the tensor in an IValue, from 2.2 on, else NULL
 * @get_dtype: the same, its c10::ScalarType
 * @get_data: the same, of the same versions on: the address of its first element
 * @save_meta: what a collective is of, from 2.5 on, else NULL: std::unordered_map in @map
 * @backward: number of the backward pass that the thread is in a node of, -1: of none; from 2.0
 *	on, else NULL
 * @free: frees what a vector holds
 * @undefined: what all undefined tensors point to; NULL: not known
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

/* Return: the loaded library with @part in its path; NULL: there is none.  Not signal-safe. */
void *torch_library(const char *part);
/* What the object of @caller finds in itself and in what it is linked with.  NULL: nothing. */
void *torch_find_for(const void *caller, const char *symbol);
/*
 * The function that one of ours with this name stands before: in that library, else behind us,
 * else what torch_find_for() finds: RTLD_NEXT finds nothing that is loaded with RTLD_LOCAL.
 */
void *torch_real(const char *part, const char *symbol, const void *caller);
/* Return: 0; -ENOENT: libtorch is not there; -ENOSYS: it has not what is needed. */
int torch_api_find(void);

/* ---- threads.c: thread ids by PyTorch's numbers ---------------------------------------------- */

void torch_threads_init(void);
/* The calling thread runs an op. */
void torch_thread_enter(void);
/* Return: the id of the thread with that number, 0: not known. */
uint64_t torch_thread(uint64_t number);

/* ---- libxsprof-user ------------------------------------------------------------------------- */

/**
 * struct torch_user - functions of libxsprof-user, as <xsprof/profiler.h> has them
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

/* Opens it, which makes the process a producer where it is recorded.  Return: 0; -ENOENT. */
int torch_user_open(void);

static inline bool torch_wanted(void)
{
	/* Acquire: pairs with the release in user.c, behind which torch_user is set. */
	const uint32_t *wanted = __atomic_load_n(&torch_user.wanted, __ATOMIC_ACQUIRE);

	/* Relaxed: an op that runs while this changes is recorded or not. */
	return __atomic_load_n(wanted, __ATOMIC_RELAXED) != 0;
}

/* ---- open.c --------------------------------------------------------------------------------- */

struct torch_open_op {
	uint64_t	id;
	xsprof_name_t	name;
	uint32_t	scope;
};

/**
 * struct torch_open - the open ops of a thread
 * @depth: how many
 * @room: of how many @op has room
 * @op: these, but those that are deeper
 */
struct torch_open {
	uint32_t		depth;
	uint32_t		room;
	struct torch_open_op	*op;
};

/* A pointer: little static memory is there for libraries that are loaded late. */
extern __thread struct torch_open *torch_open __attribute__((tls_model("initial-exec")));
/* Some op has ended in another thread than it began in. */
extern bool torch_open_elsewhere;

void torch_open_init(void);
void torch_open_begin_slow(const struct xsprof_op *op);
void torch_open_end_slow(uint64_t id, bool wanted);

/* An op of this thread is about to begin in the trace. */
static inline void torch_open_begin(const struct xsprof_op *op)
{
	struct torch_open *o = torch_open;

	/* Relaxed: see open.c. */
	if (__builtin_expect(!o || o->depth >= o->room ||
			     __atomic_load_n(&torch_open_elsewhere, __ATOMIC_RELAXED), 0)) {
		torch_open_begin_slow(op);
		return;
	}
	o->op[o->depth++] = (struct torch_open_op){
		.id = op->record_function_id, .name = op->name, .scope = op->scope,
	};
}

/* The op with that record function id ends; @wanted: and ops are recorded. */
static inline void torch_open_end(uint64_t id, bool wanted)
{
	struct torch_open *o = torch_open;
	/* Of none that is open: beyond any room. */
	uint32_t top = o ? o->depth - 1 : UINT32_MAX;

	if (__builtin_expect(!o || top >= o->room || o->op[top].id != id, 0)) {
		torch_open_end_slow(id, wanted);
		return;
	}
	o->depth = top;
	if (wanted)
		torch_user.end();
}

/* ---- what is where -------------------------------------------------------------------------- */

/**
 * struct torch_layout - offsets in libtorch's objects, found at run time
 * @scope: of a RecordFunction: its scope
 * @fn: its name's text, or its schema
 * @fn_index: which of the two @fn is: 1 a schema
 * @sequence: its sequence number
 * @inputs: the address and the number of its inputs
 * @keywords: its keyword values; 0 none are known
 * @forward: its forward thread
 * @handle: its number
 * @sizes: of a TensorImpl: its sizes and strides; 0 not known yet
 * @device: of those sizes: its device, which is optional; 0 not known yet
 * @storage: of a TensorImpl: its storage, and of that its memory; 0 not known yet
 * @list: of a ListImpl: its elements; 0 not known yet
 * @text: of a ConstantString: its std::string; 0 not known
 * @text_class: its virtual functions
 * @tag_list: of an IValue that is a list; 0 not known yet
 * @tag_bool: of one that is a bool; the same
 * @tag_device: of one that is a device; the same
 */
struct torch_layout {
	uint16_t	scope;
	uint16_t	fn;
	uint16_t	fn_index;
	uint16_t	sequence;
	uint16_t	inputs;
	uint16_t	keywords;
	uint16_t	forward;
	uint16_t	handle;
	uint16_t	sizes;
	uint16_t	device;
	uint16_t	storage;
	uint16_t	list;
	uint16_t	text;
	uint8_t		tag_list;
	uint8_t		tag_bool;
	uint8_t		tag_device;
	uint64_t	text_class;
};

extern struct torch_layout torch_layout;

static inline uint64_t torch_u64(const void *at, size_t offset)
{
	uint64_t v;

	memcpy(&v, (const char *)at + offset, sizeof(v));
	return v;
}

static inline uint32_t torch_u32(const void *at, size_t offset)
{
	uint32_t v;

	memcpy(&v, (const char *)at + offset, sizeof(v));
	return v;
}

static inline uint16_t torch_u16(const void *at, size_t offset)
{
	uint16_t v;

	memcpy(&v, (const char *)at + offset, sizeof(v));
	return v;
}

static inline uint8_t torch_u8(const void *at, size_t offset)
{
	return *((const uint8_t *)at + offset);
}

static inline const char *torch_ptr(const void *at, size_t offset)
{
	return (const char *)(uintptr_t)torch_u64(at, offset);
}

/*
 * Finds where things are in a RecordFunction, by ops of our own that no other observer sees but
 * those that are registered already.  Return: NULL, or which check failed.
 */
const char *torch_layout_find(void);

/* c10::Device is two bytes: its type and its index, of which a CPU and others have none. */
static inline uint32_t torch_device(uint16_t device)
{
	uint8_t index = device >> 8;

	return XSPROF_DEVICE((uint32_t)(device & 0xff), index == UINT8_MAX ? 0u : index);
}

/* ---- groups.c ------------------------------------------------------------------------------- */

/* States rank, world size and backend, where they are known. */
void torch_groups_tell(void);

/* ---- comms.c -------------------------------------------------------------------------------- */

#define TORCH_COMMS	24u

/**
 * struct torch_comms - what a collective is of
 * @map: libtorch's answer, which @kv points into
 * @kv: by its names
 * @nr: how many
 */
struct torch_comms {
	uint64_t		map[16];
	struct xsprof_kv	kv[TORCH_COMMS];
	uint32_t		nr;
};

void torch_comms_init(int category);
/* Is an op of that name a collective, of which it can be known? */
bool torch_is_comms(xsprof_name_t name);
void torch_comms_read(const void *fn, struct torch_comms *comms);
void torch_comms_free(struct torch_comms *comms);

/* ---- keywords.c ----------------------------------------------------------------------------- */

#define TORCH_KEYWORDS	16	/* of an op that are recorded */

/* In a std::unordered_map of libstdc++: after its buckets and their number. */
enum { TORCH_MAP_FIRST = 16, TORCH_MAP_NR = 24, TORCH_MAP_FACTOR = 32, TORCH_MAP_BUCKET = 48 };

/* One more: the op's name, where that found no room. */
struct torch_keywords {
	struct xsprof_kv	kv[TORCH_KEYWORDS + 1];
	uint32_t		nr;
};

void torch_keywords_init(int category);
void torch_keywords_read(const void *fn, struct torch_keywords *to);

/* ---- iterations.c --------------------------------------------------------------------------- */

void torch_iterations_observe(void);
/* Its observer is called after one that has been registered since. */
void torch_iterations_last(void);

/* ---- names.c, observe.c, memory.c ----------------------------------------------------------- */

/* The name of an op, and how many arguments it has; TORCH_ALL_INPUTS: its inputs are these. */
xsprof_name_t torch_name(const void *fn, uint32_t *arguments);
void torch_names_init(int category);
/* There was no room for its text, which is an argument with this key then. */
static inline bool torch_names_full(xsprof_name_t name)
{
	return (name & XSPROF_NAME_MASK) == XSPROF_NAME_FULL;
}
extern xsprof_name_t torch_name_key;

/* Begins to observe where ops are wanted, ends it where they are not any more. */
void torch_observe(void);
/* Does an observer have to be registered or removed? */
extern bool torch_observing;

/* What a recorder gets beside names: XSPROF_TORCH. */
enum torch_detail { TORCH_OFF, TORCH_NAMES, TORCH_SHAPES, TORCH_ALL };

extern enum torch_detail torch_detail;

/* A session says itself what it records.  @detail: XSPROF_DETAIL_*; while ops are wanted. */
static inline bool torch_records(uint32_t detail, enum torch_detail least)
{
	uint32_t details = __atomic_load_n(torch_user.details, __ATOMIC_RELAXED);

	return details & detail || (details & XSPROF_DETAIL_RECORDER && torch_detail >= least);
}

#endif /* XSP_TORCH_LOCAL_H */
