// SPDX-License-Identifier: GPL-2.0-only
/*
 * The environment of a recorded command.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xsprof/abi.h>

#include "base/env-limits.h"
#include "cli/library.h"
#include "cli/tool.h"
#include "record/env.h"

/*
 * Variables by which programs find a collector for an interface, and by which the collector finds a
 * tool that the user had named, if both can be used.
 */
struct collector {
	const char	*variable;
	const char	*library;
	const char	*calls;
	const char	*chain;
};

static const struct collector itt = {
	"INTEL_LIBITTNOTIFY64", LIBRARY_ITT, "ITT", NULL,
};
/* The same library with another interface of Intel's. */
static const struct collector jit = {
	"INTEL_JIT_PROFILER64", LIBRARY_ITT, "Intel's JIT", NULL,
};
static const struct collector nvtx = {
	"NVTX_INJECTION64_PATH", LIBRARY_NVTX, "NVTX", "XSPROF_NVTX_TOOL",
};
static const struct collector cuda = {
	"CUDA_INJECTION64_PATH", LIBRARY_CUPTI, "CUDA", "XSPROF_CUDA_TOOL",
};

static bool is_file(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return !strcmp(slash ? slash + 1 : path, name);
}

static int add_collector(const struct record_options *opts, const struct collector *c, char **env,
			 size_t *n)
{
	const char *theirs = getenv(c->variable);
	char path[PATH_MAX];
	int err;

	/* One of our own, of any build; replaced if it does not exist any more. */
	if (theirs && is_file(theirs, c->library)) {
		if (!access(theirs, R_OK))
			return 0;
		theirs = NULL;
	}
	if (theirs && !*theirs)
		theirs = NULL;
	if (theirs && !c->chain) {
		if (!opts->quiet)
			tool_note("%s is already set to %s, which is kept: %s calls are not "
				  "recorded",
				  c->variable, theirs, c->calls);
		return 0;
	}
	if (!library_find(c->library, path, sizeof(path))) {
		if (!opts->quiet)
			tool_note("%s was not found beside xsprof: %s calls are not recorded",
				  c->library, c->calls);
		return 0;
	}
	err = theirs ? record_env_add(env, n, "%s=%s", c->chain, theirs) : 0;
	return err ? err : record_env_add(env, n, "%s=%s", c->variable, path);
}

/* Is one of our layers listed by its path, of any build? */
static bool names_ours(const char *layers)
{
	char path[PATH_MAX];

	for (const char *p = layers; *p; p += *p == ':') {
		size_t n = strcspn(p, ":");

		snprintf(path, sizeof(path), "%.*s", (int)(n < sizeof(path) ? n : 0), p);
		if (strchr(path, '/') && is_file(path, LIBRARY_OPENCL) && !access(path, R_OK))
			return true;
		p += n;
	}
	return false;
}

/* OpenCL's loader accepts any number of layers; the user's layers stay above ours. */
static int add_opencl(const struct record_options *opts, char **env, size_t *n)
{
	const char *theirs = getenv("OPENCL_LAYERS");
	char path[PATH_MAX];

	if (!library_find(LIBRARY_OPENCL, path, sizeof(path)) || strchr(path, ':')) {
		if (!opts->quiet)
			tool_note("%s was not found beside xsprof, or its path contains a colon: "
				  "OpenCL is not recorded", LIBRARY_OPENCL);
		return 0;
	}
	if (theirs && names_ours(theirs))
		return 0;
	return record_env_add(env, n, "OPENCL_LAYERS=%s%s%s", path, theirs && *theirs ? ":" : "",
		   theirs ? theirs : "");
}

/* ---- Vulkan ---------------------------------------------------------------------------------- */

#define VULKAN_LAYER	"VK_LAYER_XSPROF_record"

static bool in_list(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list; *p; p += *p == ':') {
		size_t n = strcspn(p, ":");

		if (n == len && !strncmp(p, word, n))
			return true;
		p += n;
	}
	return false;
}

/* Appends to the list, once. */
static int add_to_list(const char *variable, const char *word, char **env, size_t *n)
{
	const char *theirs = getenv(variable);

	if (!theirs || !*theirs)
		return record_env_add(env, n, "%s=%s", variable, word);
	if (in_list(theirs, word))
		return 0;
	return record_env_add(env, n, "%s=%s:%s", variable, theirs, word);
}

/*
 * Vulkan's loader accepts any number of layers, by names found in folders of manifests; the user's
 * layers stay above ours. It reads VK_ADD_LAYER_PATH only if VK_LAYER_PATH does not set all
 * folders.
 */
static int add_vulkan(const struct record_options *opts, char **env, size_t *n)
{
	const char *only = getenv("VK_LAYER_PATH");
	char path[PATH_MAX];
	int err;

	if (!library_find(LIBRARY_VULKAN, path, sizeof(path)) || strchr(path, ':')) {
		if (!opts->quiet)
			tool_note("%s was not found beside xsprof, or its path contains a colon: "
				  "Vulkan is not recorded", LIBRARY_VULKAN);
		return 0;
	}
	*strrchr(path, '/') = '\0';
	err = add_to_list(only && *only ? "VK_LAYER_PATH" : "VK_ADD_LAYER_PATH", path, env, n);
	return err ? err : add_to_list("VK_INSTANCE_LAYERS", VULKAN_LAYER, env, n);
}

/* ---- what is preloaded ----------------------------------------------------------------------- */

/* @what: what is not recorded otherwise. The dynamic linker splits at blanks and colons. */
static bool can_preload(const struct record_options *opts, const char *path, const char *what)
{
	if (!strpbrk(path, ": "))
		return true;
	if (!opts->quiet)
		tool_note("%s: cannot be preloaded: its path contains a blank or a colon: %s not "
			  "recorded", path, what);
	return false;
}

/* Has no effect without PyTorch. @path: "" if it shall not be loaded. */
static int add_torch(const struct record_options *opts, char **env, size_t *n, char *path,
		     size_t size)
{
	*path = '\0';
	if (opts->torch && !strcmp(opts->torch, "off"))
		return 0;
	if (!library_find(LIBRARY_TORCH, path, size)) {
		if (opts->torch && !opts->quiet)
			tool_note("%s was not found beside xsprof: PyTorch's ops are not recorded",
				  LIBRARY_TORCH);
		*path = '\0';
		return 0;
	}
	if (!can_preload(opts, path, "PyTorch's ops are")) {
		*path = '\0';
		return 0;
	}
	return record_env_add(env, n, "XSPROF_TORCH=%s%s", opts->torch ? opts->torch : "names",
			      opts->cstack ? ",cstack" : "");
}

static int is_library(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && !strcmp(dot, ".so");
}

/* Are there plug-in collectors in the folder beside the library? */
static bool has_files(const char *library)
{
	char folder[PATH_MAX + 32];
	struct dirent **files;
	int n;

	snprintf(folder, sizeof(folder), "%.*s/xsprof/collectors",
		 (int)(strrchr(library, '/') - library), library);
	n = scandir(folder, &files, is_library, NULL);
	for (int i = 0; i < n; i++)
		free(files[i]);
	if (n >= 0)
		free(files);
	return n > 0;
}

/*
 * Plug-in collectors are opened by the producer's library, which a program may not use. @path: ""
 * if there are none.
 */
static int add_user(const struct record_options *opts, char **env, size_t *n, char *path,
		    size_t size)
{
	const char *named = getenv("XSPROF_COLLECTORS");
	bool found = library_find(LIBRARY_USER, path, size);

	if (found && opts->collectors && (!named || strcmp(named, "none")) &&
	    ((named && *named) || has_files(path)) &&
	    can_preload(opts, path, "with XSPROF_COLLECTORS programs without it are"))
		return 0;
	*path = '\0';
	if (!found && opts->collectors && named && *named && !opts->quiet)
		tool_note("%s was not found beside xsprof: XSPROF_COLLECTORS has no effect in "
			  "programs without it", LIBRARY_USER);
	return opts->collectors ? 0 : record_env_add(env, n, "XSPROF_COLLECTORS=none");
}

/* Has no effect without Python. @path: "" if it shall not be loaded. */
static int add_python(const struct record_options *opts, char **env, size_t *n, char *path,
		      size_t size)
{
	bool loaded = opts->python && library_find(LIBRARY_PYTHON, path, size) &&
		      can_preload(opts, path, "Python's waits are");
	int err = 0;

	if (!loaded) {
		if ((opts->python_trace || opts->python_hz) && !opts->quiet)
			tool_note("%s is not loaded: Python functions are not recorded",
				  LIBRARY_PYTHON);
		*path = '\0';
		return 0;
	}
	if (opts->python_trace)
		err = record_env_add(env, n, "XSPROF_PYTHON_TRACE=%s", opts->python_trace);
	if (!err && opts->python_hz)
		err = record_env_add(env, n, "XSPROF_PYTHON=%" PRIu32, opts->python_hz);
	if (!err && opts->python_native)
		err = record_env_add(env, n, "XSPROF_PYTHON_NATIVE=1");
	return err;
}

/* Stacks and names of frames need more room than names of ops alone. */
static int add_arena(const struct record_options *opts, char **env, size_t *n)
{
	bool stacks = (opts->torch && !strcmp(opts->torch, "all")) || opts->cstack ||
		      opts->python_hz;

	return stacks && !getenv("XSPROF_ARENA_SIZE") ?
		record_env_add(env, n, "XSPROF_ARENA_SIZE=16M") : 0;
}

/* Has no effect on programs without these interfaces. @path: "" if it shall not be loaded. */
static void add_init(const struct record_options *opts, const char *library, const char *what,
		     char *path, size_t size)
{
	if (!opts->gpu || !library_find(library, path, size) || !can_preload(opts, path, what))
		*path = '\0';
}

/* For every process of the command. Libraries that were to be preloaded anyway still are, first. */
static int add_preload(const struct record_options *opts, char **env, size_t *n)
{
	const char *theirs = getenv("LD_PRELOAD");
	char paths[5][PATH_MAX], all[5 * PATH_MAX] = "";
	size_t at = 0;
	int err;

	err = add_torch(opts, env, n, paths[0], PATH_MAX);
	if (!err)
		err = add_user(opts, env, n, paths[1], PATH_MAX);
	if (!err)
		err = add_python(opts, env, n, paths[2], PATH_MAX);
	if (!err)
		err = add_arena(opts, env, n);
	if (err)
		return err;
	add_init(opts, LIBRARY_PRELOAD, "programs of Level Zero, and of OpenCL by loaders without "
		 "layers, are", paths[3], PATH_MAX);
	add_init(opts, LIBRARY_ROCMINIT, "programs of ROCm are", paths[4], PATH_MAX);
	for (int i = 0; i < 5; i++)
		if (*paths[i])
			at += (size_t)snprintf(all + at, sizeof(all) - at, ":%s", paths[i]);
	if (!at)
		return 0;
	return record_env_add(env, n, "LD_PRELOAD=%s%s", theirs ? theirs : "",
		   all + !(theirs && *theirs));
}

/* ---- what the environment says already ------------------------------------------------------ */

/* Is @text one of @words, which ends with NULL, or a size in the range? */
static bool makes_sense(const char *text, const char *const *words, uint64_t min, uint64_t max)
{
	uint64_t value;

	if (!*words)
		return !tool_parse_size(text, &value) && value >= min && value <= max;
	while (*words && strcmp(*words, text))
		words++;
	return *words;
}

/* The library ignores invalid values silently: report them here. */
static void check_variables(const struct record_options *opts)
{
	const struct {
		const char	*name;
		bool		overridden;
		const char	*expected;
		const char	*words[5];
		uint64_t	min;
		uint64_t	max;
	} variables[] = {
		{ "XSPROF_BACKEND", opts->backend, "auto, device, tmpfs or none",
		  { "auto", "device", "tmpfs", "none" }, 0, 0 },
		{ "XSPROF_BUFFER_SIZE", opts->buffer, "e.g. 512k, 16M, 1G",
		  { NULL }, 1, XSP_RING_MAX },
		{ "XSPROF_MODE", opts->mode, "discard or overwrite",
		  { "discard", "overwrite" }, 0, 0 },
		{ "XSPROF_CLOCK", opts->clock, "auto or mono", { "auto", "mono" }, 0, 0 },
		{ "XSPROF_ARENA_SIZE", false, "4k to 256M, e.g. 64k, 1M",
		  { NULL }, XSP_ARENA_MIN, XSP_ARENA_MAX },
		{ "XSPROF_LOCK_RINGS", false, "1 to 64",
		  { NULL }, 1, XSPROF_MAX_LOCK_RINGS },
	};
	const char *text;
	size_t i;

	for (i = 0; i < sizeof(variables) / sizeof(variables[0]) && !opts->quiet; i++) {
		text = getenv(variables[i].name);
		if (text && *text && !variables[i].overridden &&
		    !makes_sense(text, variables[i].words, variables[i].min,
				 variables[i].max))
			tool_note("%s: '%s' is invalid: %s", variables[i].name, text,
				  variables[i].expected);
	}
}

int record_env(const struct record_options *opts, const char *session,
	       char *env[RECORD_ENV_MAX + 1])
{
	size_t n = 0;
	int err;

	env[0] = NULL;
	check_variables(opts);
	err = record_env_add(env, &n, "XSPROF_SESSION=%s", session);
	if (!err && opts->buffer)
		err = record_env_add(env, &n, "XSPROF_BUFFER_SIZE=%" PRIu64, opts->buffer);
	if (!err && opts->mode)
		err = record_env_add(env, &n, "XSPROF_MODE=%s", opts->mode);
	if (!err && opts->categories)
		err = record_env_add(env, &n, "XSPROF_CATEGORIES=%s", opts->categories);
	if (!err && opts->prefault)
		err = record_env_add(env, &n, "XSPROF_PREFAULT=1");
	if (!err && opts->sched)
		err = record_env_add(env, &n, "XSPROF_SCHED=1");
	if (!err && opts->clock)
		err = record_env_add(env, &n, "XSPROF_CLOCK=%s", opts->clock);
	if (!err && opts->backend)
		err = record_env_add(env, &n, "XSPROF_BACKEND=%s", opts->backend);
	if (!err && opts->itt)
		err = add_collector(opts, &itt, env, &n);
	if (!err && opts->itt)
		err = add_collector(opts, &jit, env, &n);
	if (!err && opts->nvtx)
		err = add_collector(opts, &nvtx, env, &n);
	if (!err && opts->gpu)
		err = add_collector(opts, &cuda, env, &n);
	if (!err && (opts->gpu_what || opts->gpu_share))
		err = record_env_add(env, &n, "XSPROF_GPU=%s%s",
				     opts->gpu_what ? opts->gpu_what : "",
				     opts->gpu_share ? ",share" : "");
	if (!err && opts->metrics)
		err = record_env_add(env, &n, "XSPROF_METRICS=%s", opts->metrics);
	if (!err && opts->metrics_by)
		err = record_env_add(env, &n, "XSPROF_METRICS_BY=%s", opts->metrics_by);
	if (!err && opts->metrics_hz)
		err = record_env_add(env, &n, "XSPROF_METRICS_HZ=%s", opts->metrics_hz);
	if (!err && opts->gpu_budget)
		err = record_env_add(env, &n, "XSPROF_GPU_BUDGET=%s", opts->gpu_budget);
	if (!err && opts->gpu)
		err = add_opencl(opts, env, &n);
	if (!err && opts->gpu)
		err = add_vulkan(opts, env, &n);
	if (!err && opts->gpu)
		err = record_env_levelzero(opts, env, &n);
	if (!err)
		err = add_preload(opts, env, &n);
	return err;
}
