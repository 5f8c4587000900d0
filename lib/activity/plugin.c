// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finds, opens and adds collectors that are plug-ins. Called by the library's constructor, where a
 * recorded process attaches, or when a session of the program starts to record: never in a marker,
 * which may be in a signal handler.
 *
 * A process that is not recorded, or that has more rights than its caller, opens no plug-in. A file
 * that another user can write is not opened.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "activity/local.h"
#include "activity/plugin.h"
#include "ring/state.h"

#define VARIABLE	"XSPROF_COLLECTORS"
#define NONE		"none"
#define FOLDER		"/xsprof/collectors"
#define OURS		"libxsprof-user.so"
#define ENTRY		"xsprof_collector_init"
#define WHY		(PATH_MAX + 200)

/* Weak: missing in static programs, and in another library in old glibc. */
#pragma weak dladdr
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlerror

/* Opened plug-ins: a file that is named twice is one collector. */
static struct opened {
	void		*lib;
	struct opened	*next;
} *opened;

static bool is_new(void *lib)
{
	struct opened *o;

	for (o = opened; o; o = o->next)
		if (o->lib == lib)
			return false;
	o = malloc(sizeof(*o));
	if (!o)
		return false;
	*o = (struct opened){ lib, opened };
	opened = o;
	return true;
}

static void say_no(const char *path, int err, uint32_t version)
{
	switch (err) {
	case -ENOTCONN:
		return;
	case -EPROTO:
		xsp_say("%s: built for version %u of <xsprof/collector.h>, but this xsprof has %u: "
			"rebuild it with the headers of this version, or install that version; it "
			"is not used", path, version, XSPROF_COLLECTOR_VERSION);
		return;
	case -E2BIG:
		xsp_say("%s: needs features of a newer xsprof: install a newer one; it is not "
			"used", path);
		return;
	case -EINVAL:
		xsp_say("%s: invalid collector, without a size, name, category or function; it is "
			"not used", path);
		return;
	default:
		xsp_say("%s: %s: it is not used", path, strerror(-err));
	}
}

static void add(const char *path, void *lib)
{
	struct xsprof_collector *(*entry)(uint32_t version), *collector;
	void *symbol = dlsym(lib, ENTRY);
	int err;

	if (!symbol) {
		xsp_say("%s: it has no function " ENTRY ", so it is not an xsprof collector: "
			"remove it from " VARIABLE, path);
		return;
	}
	memcpy(&entry, &symbol, sizeof(entry));
	collector = entry(XSPROF_COLLECTOR_VERSION);
	if (!collector)
		return;
	err = xsprof_collector_add(collector);
	if (err)
		say_no(path, err, err == -EPROTO ? collector->version : 0);
}

static void open_file(const char *path)
{
	char real[PATH_MAX], why[WHY];
	void *lib;

	if (*path != '/') {
		xsp_say(VARIABLE ": '%s' is not an absolute path; it is not opened", path);
		return;
	}
	if (!realpath(path, real)) {
		xsp_say(VARIABLE ": %s: %s: it is not opened", path, strerror(errno));
		return;
	}
	/* dlopen() would expand "$..." to another path. */
	if (strchr(real, '$')) {
		xsp_say("%s: its path contains a '$': move or rename it; it is not opened", path);
		return;
	}
	if (xsp_trust_file(real, why, sizeof(why))) {
		xsp_say("%s: %s; it is not opened", path, why);
		return;
	}
	lib = dlopen(real, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!lib)
		xsp_say("%s; it is not opened", dlerror());
	else if (is_new(lib))
		add(path, lib);
}

/* Opens the paths in the variable, separated by ':'. */
static void open_named(const char *list)
{
	char path[PATH_MAX];

	for (const char *p = list; *p; p += *p == ':') {
		size_t n = strcspn(p, ":");

		if (n && n < sizeof(path)) {
			memcpy(path, p, n);
			path[n] = '\0';
			open_file(path);
		} else if (n) {
			xsp_say(VARIABLE ": '%.64s...' is longer than a path can be", p);
		}
		p += n;
	}
}

static int is_library(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > 3 && !strcmp(entry->d_name + n - 3, ".so");
}

static void open_folder(const char *folder)
{
	struct dirent **files;
	char path[PATH_MAX];
	int n = scandir(folder, &files, is_library, alphasort);

	for (int i = 0; i < n; i++) {
		if (snprintf(path, sizeof(path), "%s/%s", folder, files[i]->d_name) <
		    (int)sizeof(path))
			open_file(path);
		free(files[i]);
	}
	if (n >= 0)
		free(files);
}

/*
 * The folder of the library. False in a program linked with the archive: collectors use the shared
 * library, which would be another producer.
 */
static bool find_ours(char folder[PATH_MAX])
{
	char real[PATH_MAX], *slash;
	Dl_info info;

	if (!dladdr || !dlopen || !dlsym || !dlerror || !dladdr(&opened, &info) ||
	    !info.dli_fname || !realpath(info.dli_fname, real))
		return false;
	slash = strrchr(real, '/');
	if (!slash || strncmp(slash + 1, OURS, strlen(OURS)) ||
	    (size_t)(slash - real) + sizeof(FOLDER) > PATH_MAX)
		return false;
	strcpy(slash, FOLDER);
	strcpy(folder, real);
	return true;
}

void xsp_plugins_open(void)
{
	static bool done;
	const char *named = secure_getenv(VARIABLE);
	char folder[PATH_MAX];
	char *list = NULL;

	if (!xsp_attached() || getauxval(AT_SECURE) || (named && !strcmp(named, NONE)) ||
	    __atomic_exchange_n(&done, true, __ATOMIC_RELAXED))
		return;
	if (!find_ours(folder)) {
		if (named && *named)
			xsp_say(VARIABLE ": this program was linked with libxsprof-user.a, which "
				"loads no collectors: link it with " OURS);
		return;
	}
	/* A copy: a plug-in may change the environment. */
	if (named && *named)
		list = strdup(named);
	if (list)
		open_named(list);
	free(list);
	open_folder(folder);
}

/* After the constructor that attaches. */
__attribute__((constructor(102))) static void plugins_init(void)
{
	int err = errno;

	xsp_plugins_open();
	errno = err;
}
