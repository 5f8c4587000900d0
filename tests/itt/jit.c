// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that generates code at run time and reports it, like Intel's static part, to the
 * library that INTEL_JIT_PROFILER64 names. It has its own copy of the layouts. It prints the
 * library's answers.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned int (*initialize_fn)(void);
typedef unsigned int (*notify_fn)(unsigned int event, void *data);

struct load {
	unsigned int	method_id;
	char		*method_name;
	void		*method_load_address;
	unsigned int	method_size;
	unsigned int	line_number_size;
	void		*line_number_table;
	unsigned int	class_id;
	char		*class_file_name;
	char		*source_file_name;
};

struct load_3 {
	unsigned int	method_id;
	char		*method_name;
	void		*method_load_address;
	unsigned int	method_size;
	unsigned int	line_number_size;
	void		*line_number_table;
	char		*class_file_name;
	char		*source_file_name;
	char		*module_name;
	int		module_arch;
};

struct inline_load {
	unsigned int	method_id;
	unsigned int	parent_method_id;
	char		*method_name;
	void		*method_load_address;
	unsigned int	method_size;
	unsigned int	line_number_size;
	void		*line_number_table;
	char		*class_file_name;
	char		*source_file_name;
};

struct update {
	unsigned int	method_id;
	void		*load_address;
	unsigned int	size;
	int		type;
	const char	*data_format;
};

int main(void)
{
	char name[] = "f", class[] = "C", file[] = "f.c", module[] = "m", empty[] = "";
	struct load one = { 1, name, (void *)0x1000, 16, 0, NULL, 7, class, file };
	struct load_3 three = { 3, name, (void *)0x3000, 48, 0, NULL, empty, NULL, module, 2 };
	struct inline_load in = { 4, 3, name, (void *)0x3010, 8, 0, NULL, NULL, NULL };
	struct update update = { 3, (void *)0x3020, 4, 1, NULL };
	struct load nothing = { 9, NULL, NULL, 0, 0, NULL, 0, NULL, NULL };
	const char *path = getenv("INTEL_JIT_PROFILER64");
	void *lib = path ? dlopen(path, RTLD_LAZY) : NULL;
	initialize_fn initialize;
	notify_fn notify;

	if (!lib) {
		fprintf(stderr, "INTEL_JIT_PROFILER64: %s\n", path ? dlerror() : "not set");
		return 1;
	}
	initialize = (initialize_fn)dlsym(lib, "Initialize");
	notify = (notify_fn)dlsym(lib, "NotifyEvent");
	if (!initialize || !notify)
		return 1;
	printf("%u", initialize());
	printf(" %u", notify(13, &one));
	printf(" %u", notify(21, &three));
	printf(" %u", notify(22, &three));
	printf(" %u", notify(16, &in));
	one.method_size = 20;
	printf(" %u", notify(15, &one));
	printf(" %u", notify(17, &update));
	printf(" %u", notify(14, &one));
	/* Code without a name or an address, no data, and an unknown event. */
	printf(" %u", notify(13, &nothing));
	printf(" %u", notify(13, NULL));
	printf(" %u", notify(99, &one));
	printf(" %u\n", notify(2, NULL));
	return 0;
}
