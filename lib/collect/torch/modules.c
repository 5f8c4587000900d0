// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of a program's modules: "Net.encoder.0.linear", made of the attribute names in the modules
 * that call them, as in state_dict(). A module is named at the first op in it and identified by its
 * address until a weak reference tells that it was freed; no module is kept alive. A module that no
 * other module has called (a root) is named after its class, until one that contains it calls it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "collect/torch/python.h"

#define SLOTS		(1u << 15)	/* of the table, a power of two */
#define MODULES_MAX	(SLOTS / 2)	/* at the same time */
#define TEXT_MAX	512u
#define DEPTH_MAX	8u		/* depth searched below the calling module */
#define LOOKED_AT_MAX	65536u

/**
 * struct known_module - a named module
 * @module: its address; NULL: free slot; DEAD: freed slot
 * @weak: our weak reference
 * @path: its name
 * @name: name id of @path
 * @number: of a root: its number among those of its class; 0: not a root
 * @settled: a caller was searched and does not contain it
 */
struct known_module {
	const void	*module;
	void		*weak;
	char		*path;
	xsprof_name_t	name;
	uint32_t	number;
	bool		settled;
};

#define DEAD	((const void *)1)
#define NO_ROOM	"(no room for its name)"

static struct known_module *modules;	/* allocated at the first module, never freed */
static uint32_t nr_places;		/* slots that are not free, including DEAD ones */
static xsprof_name_t no_room;		/* name of modules while the table is full, else 0 */
static int modules_category;

void python_modules_init(int category)
{
	modules_category = category;
}

static uint32_t first_place(const void *module)
{
	return (uint32_t)(((uintptr_t)module * 0x9e3779b97f4a7c15u) >> 40) % SLOTS;
}

/*
 * Acquire: pairs with the releases in new_place() and add(). A lookup without the lock is for a
 * module that is alive, so its slot does not change; changes of other slots do not matter.
 */
static struct known_module *find(const void *module)
{
	struct known_module *all = __atomic_load_n(&modules, __ATOMIC_ACQUIRE);
	uint32_t at = first_place(module);
	const void *there;

	for (; all; at = (at + 1) % SLOTS) {
		there = __atomic_load_n(&all[at].module, __ATOMIC_ACQUIRE);
		if (!there || there == module)
			return there ? &all[at] : NULL;
	}
	return NULL;
}

xsprof_name_t python_module_known(const void *module, bool called)
{
	const struct known_module *known = find(module);

	/* With a full table, do not wait for the lock just to learn that. */
	if (!known)
		return __atomic_load_n(&no_room, __ATOMIC_RELAXED);
	/* Relaxed: a thread that sees the old value asks once more. */
	if (called && __atomic_load_n(&known->number, __ATOMIC_RELAXED) &&
	    !__atomic_load_n(&known->settled, __ATOMIC_RELAXED))
		return 0;
	return __atomic_load_n(&known->name, __ATOMIC_RELAXED);
}

/* ---- classes of roots ----------------------------------------------------------------------- */

#define CLASSES		256u
#define NUMBERS		1024u	/* roots of a class; further ones share the last */

/* Numbers of the living roots of a class; a new root gets the lowest free one. */
static struct root_class {
	char		*name;
	uint64_t	used[NUMBERS / 64];
} classes[CLASSES];

/* Return: NULL: the table is full. */
static struct root_class *class_of(const char *name, size_t len)
{
	for (uint32_t i = 0; i < CLASSES; i++) {
		if (!classes[i].name)
			classes[i].name = strndup(name, len);
		if (classes[i].name && !strncmp(classes[i].name, name, len) &&
		    !classes[i].name[len])
			return &classes[i];
	}
	return NULL;
}

/* Return: a number from 1 on. */
static uint32_t take_number(const char *name)
{
	struct root_class *class = class_of(name, strlen(name));

	for (uint32_t i = 0; class && i < NUMBERS - 1; i++) {
		if (class->used[i / 64] >> i % 64 & 1)
			continue;
		class->used[i / 64] |= 1ull << i % 64;
		return i + 1;
	}
	return NUMBERS;
}

static void give_number(const struct known_module *known)
{
	struct root_class *class;
	uint32_t i = known->number - 1;

	if (!known->number || known->number == NUMBERS)
		return;
	class = class_of(known->path, strcspn(known->path, "#"));
	if (class)
		class->used[i / 64] &= ~(1ull << i % 64);
}

/* ---- the end of one ------------------------------------------------------------------------- */

/* Frees DEAD slots that end a probe sequence: no lookup needs them. */
static void free_places(struct known_module *known)
{
	uint32_t at = (uint32_t)(known - modules);

	/* Relaxed: a thread that sees the change late leaves one more name out. */
	__atomic_store_n(&no_room, 0, __ATOMIC_RELAXED);
	if (modules[(at + 1) % SLOTS].module)
		return;
	for (; modules[at].module == DEAD; at = (at + SLOTS - 1) % SLOTS) {
		__atomic_store_n(&modules[at].module, NULL, __ATOMIC_RELAXED);
		nr_places--;
	}
}

/* Relaxed stores: the module was freed, so no thread looks for it. */
static void forget(struct known_module *known)
{
	give_number(known);
	free(known->path);
	known->path = NULL;
	known->weak = NULL;
	__atomic_store_n(&known->number, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&known->module, DEAD, __ATOMIC_RELAXED);
	free_places(known);
}

/* Callback of a weak reference whose module was freed, with its index. */
static void *died(void *number, void *weak)
{
	struct known_module *known = python.pointer_get(number);

	if (known && known->weak == weak) {
		forget(known);
		python.decref(weak);
	}
	python.incref(python.none);
	return python.none;
}

static struct python_callee died_method = { "xsprof_died", died, PYTHON_METH_O, NULL };

static void *watch(struct known_module *known, void *module)
{
	void *number = python.pointer_new(known);
	void *callback = number ? python.function_new(&died_method, number, NULL) : NULL;
	void *weak = callback ? python.weak_new(module, callback) : NULL;

	if (callback)
		python.decref(callback);
	if (number)
		python.decref(number);
	if (!weak)
		python.err_clear();
	return weak;
}

/* ---- the table ------------------------------------------------------------------------------ */

/* Return: a slot for a module; DEAD slots are reused. */
static struct known_module *new_place(const void *module)
{
	uint32_t at = first_place(module);

	if (!modules)
		__atomic_store_n(&modules, calloc(SLOTS, sizeof(*modules)), __ATOMIC_RELEASE);
	if (!modules)
		return NULL;
	while (modules[at].module && modules[at].module != DEAD)
		at = (at + 1) % SLOTS;
	if (!modules[at].module && nr_places == MODULES_MAX)
		return NULL;
	nr_places += !modules[at].module;
	modules[at].module = DEAD;
	return &modules[at];
}

static const struct known_module *add(void *module, const char *path, uint32_t number)
{
	struct known_module *known = new_place(module);

	if (!known)
		return NULL;
	known->path = strdup(path);
	known->number = known->path ? number : 0;
	known->settled = false;
	known->weak = known->path ? watch(known, module) : NULL;
	known->name = known->weak ? torch_user.name(modules_category, path) : 0;
	if (!known->name) {
		if (known->weak)
			python.decref(known->weak);
		forget(known);
		return NULL;
	}
	__atomic_store_n(&known->module, module, __ATOMIC_RELEASE);
	return known;
}

static void set_path(struct known_module *known, const char *path)
{
	xsprof_name_t name = torch_user.name(modules_category, path);
	char *copy = strdup(path);

	if (!name || !copy) {
		free(copy);
		return;
	}
	free(known->path);
	known->path = copy;
	__atomic_store_n(&known->name, name, __ATOMIC_RELAXED);
}

/* Renames a root that turned out to be part of another module, and the modules named after it. */
static void rename_root(struct known_module *root, const char *path)
{
	size_t len = strlen(root->path);
	char old[TEXT_MAX], text[2 * TEXT_MAX];

	give_number(root);
	__atomic_store_n(&root->number, 0, __ATOMIC_RELAXED);
	snprintf(old, sizeof(old), "%s", root->path);
	set_path(root, path);
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct known_module *known = &modules[i];

		if (!known->path || strncmp(known->path, old, len) || known->path[len] != '.')
			continue;
		snprintf(text, sizeof(text), "%s%s", path, known->path + len);
		text[TEXT_MAX - 1] = '\0';
		set_path(known, text);
	}
}

/* ---- names ---------------------------------------------------------------------------------- */

struct search {
	const void	*module;
	uint32_t	left;
	char		path[TEXT_MAX];
};

/* Borrowed reference. Compares only keys that are str, so that no code of a class runs. */
static void *children_of(void *own)
{
	void *key, *value;
	intptr_t pos = 0;
	const char *name;

	while (python.dict_next(own, &pos, &key, &value)) {
		if (torch_ptr(key, sizeof(void *)) != python.text_type)
			continue;
		name = python.text(key);
		if (name && !strcmp(name, "_modules"))
			return value;
		if (!name)
			python.err_clear();
	}
	return NULL;
}

/* Appends ".NAME" for the attribute that leads to the module. */
static bool is_below(void *parent, struct search *s, size_t len, uint32_t depth)
{
	void *own = python.own_dict(parent, NULL), *children, *key, *child;
	intptr_t pos = 0;
	bool found = false;
	const char *name;
	int n;

	children = own ? children_of(own) : NULL;
	if (!own)
		python.err_clear();
	while (children && !found && s->left && python.dict_next(children, &pos, &key, &child)) {
		s->left--;
		if (child == python.none)
			continue;
		name = python.text(key);
		if (!name)
			python.err_clear();
		n = snprintf(s->path + len, sizeof(s->path) - len, ".%s", name ? name : "?");
		if (n < 0 || len + (size_t)n >= sizeof(s->path))
			continue;
		found = child == s->module ||
			(depth < DEPTH_MAX && is_below(child, s, len + (size_t)n, depth + 1));
	}
	if (own)
		python.decref(own);
	return found;
}

/* Is the module part of one of its callers? If so, its path is in @s. */
static bool is_below_callers(void *const *module, uint32_t i, uint32_t nr, struct search *s)
{
	const struct known_module *parent;
	int n;

	for (uint32_t k = i + 1; k < nr; k++) {
		parent = find(module[k]);
		if (!parent)
			continue;
		*s = (struct search){ .module = module[i], .left = LOOKED_AT_MAX };
		n = snprintf(s->path, sizeof(s->path), "%s", parent->path);
		if (n > 0 && n < (int)sizeof(s->path) && is_below(module[k], s, (size_t)n, 0))
			return true;
	}
	return false;
}

/* A module contained in no other: named after its class, numbered from the second one on. */
static const struct known_module *add_root(void *module)
{
	void *type = python.type(module);
	char name[128], path[TEXT_MAX];
	uint32_t number;

	/* From the type itself: runs no code that a class has for its name. */
	snprintf(name, sizeof(name), "%s", type ? torch_ptr(type, PYTHON_TYPE_NAME) : "?");
	if (type)
		python.decref(type);
	number = take_number(name);
	snprintf(path, sizeof(path), number > 1 ? "%s#%u" : "%s", name, number);
	return add(module, path, number);
}

static const struct known_module *name_one(void *const *module, uint32_t i, uint32_t nr)
{
	struct known_module *known = find(module[i]);
	struct search s;

	if (known && (!known->number || known->settled || i + 1 == nr))
		return known;
	if (!is_below_callers(module, i, nr, &s)) {
		if (known)
			__atomic_store_n(&known->settled, true, __ATOMIC_RELAXED);
		return known ? known : add_root(module[i]);
	}
	if (!known)
		return add(module[i], s.path, 0);
	rename_root(known, s.path);
	return known;
}

xsprof_name_t python_module(void *const *module, uint32_t nr)
{
	const struct known_module *known = NULL;

	/* Name the callers first: their names begin those of the modules they call. */
	for (uint32_t i = nr; i--;)
		known = name_one(module, i, nr);
	if (known)
		return known->name;
	if (!no_room)
		__atomic_store_n(&no_room, torch_user.name(modules_category, NO_ROOM),
				 __ATOMIC_RELAXED);
	return no_room;
}
