// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Code generated at run time, as reported by JIT compilers: kernels of oneDNN, functions of Julia,
 * kernels of OpenCL on the CPU. Each is recorded as an instant with its name, address and size.
 * Source lines are not recorded.
 */
#include "collect/itt/jit-abi.h"
#include "collect/itt/names.h"

/* Entry points, called by the static part; their names are the interface. */
__attribute__((visibility("default"))) uint32_t Initialize(void);
__attribute__((visibility("default"))) int32_t NotifyEvent(uint32_t event, void *data);

#define ARGS	8u

/**
 * struct jit_said - a piece of code as reported
 * @what: name of the instant
 * @kv: its arguments
 * @n: number of arguments
 */
struct jit_said {
	const char		*what;
	struct xsprof_kv	kv[ARGS];
	size_t			n;
};

static void say_text(struct jit_said *said, xsprof_name_t key, const char *text)
{
	if (text && *text)
		said->kv[said->n++] = xsprof_str(key, text);
}

static void say_place(struct jit_said *said, uint32_t id, void *start, uint32_t size)
{
	said->kv[said->n++] = xsprof_ptr(XSPROF_NAME("start"), start);
	said->kv[said->n++] = xsprof_u64(XSPROF_NAME("size"), size);
	said->kv[said->n++] = xsprof_u64(XSPROF_NAME("code id"), id);
}

/* Return: is the report valid? The API requires a name, an address and a size. */
static bool say_code(struct jit_said *said, const struct jit_code *c, const char *class,
		     const char *file, const char *module)
{
	if (!c->name || !c->start || !c->size)
		return false;
	say_text(said, XSPROF_NAME("code"), c->name);
	say_place(said, c->id, c->start, c->size);
	say_text(said, XSPROF_NAME("class"), class);
	say_text(said, XSPROF_NAME("file"), file);
	say_text(said, XSPROF_NAME("module"), module);
	return true;
}

static bool say_inlined(struct jit_said *said, const struct jit_inlined *c)
{
	if (!c->name || !c->start || !c->size)
		return false;
	say_text(said, XSPROF_NAME("code"), c->name);
	say_place(said, c->id, c->start, c->size);
	said->kv[said->n++] = xsprof_u64(XSPROF_NAME("inlined into"), c->parent);
	say_text(said, XSPROF_NAME("class"), c->class);
	say_text(said, XSPROF_NAME("file"), c->file);
	return true;
}

/* The API requires an id, an address and a size for an update. */
static bool say_update(struct jit_said *said, uint32_t id, void *start, uint32_t size,
		       const char *name)
{
	if (!start || !size)
		return false;
	say_text(said, XSPROF_NAME("code"), name);
	say_place(said, id, start, size);
	return true;
}

static bool say(struct jit_said *said, uint32_t event, const void *data)
{
	const struct jit_method_1 *old = data;
	const struct jit_method *method = data;
	const struct jit_update *update = data;

	switch (event) {
	case JIT_LOAD:
		said->what = "code made";
		return say_code(said, &old->code, old->class, old->file, NULL);
	case JIT_LOAD_2:
	case JIT_LOAD_3:
		said->what = "code made";
		return say_code(said, &method->code, method->class, method->file, method->module);
	case JIT_INLINE:
		said->what = "code inlined";
		return say_inlined(said, data);
	case JIT_UPDATE:
		said->what = "code changed";
		return say_update(said, old->code.id, old->code.start, old->code.size,
				  old->code.name);
	case JIT_UPDATE_2:
		said->what = "code changed";
		return say_update(said, update->id, update->start, update->size, NULL);
	case JIT_UNLOAD:
		said->what = "code gone";
		say_text(said, XSPROF_NAME("code"), old->code.name);
		said->kv[said->n++] = xsprof_u64(XSPROF_NAME("code id"), old->code.id);
		return true;
	default:
		return false;
	}
}

/* Without a recorder the program then reports nothing. */
uint32_t Initialize(void)
{
	return itt_is_recording() ? JIT_ON : JIT_OFF;
}

int32_t NotifyEvent(uint32_t event, void *data)
{
	struct jit_said said = { .n = 0 };

	if (event == JIT_END || !xsprof_enabled())
		return 1;
	if (!data || !say(&said, event, data)) {
		itt_miss(ITT_MISS_JIT);
		return 0;
	}
	itt_note(itt_intern(ITT_CAT_JIT, said.what), said.kv, said.n);
	return 1;
}
