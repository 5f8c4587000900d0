// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls functions of NCCL without a GPU. Each opens its range before it checks for a GPU. The
 * argument is the path of the library.
 */
#include <dlfcn.h>
#include <stdio.h>

struct id {
	char	internal[128];
};

#define GET(lib, pointer, name)						\
do {									\
	*(void **)&(pointer) = dlsym(lib, name);			\
	if (!(pointer)) {						\
		fprintf(stderr, "no %s\n", name);			\
		return 1;						\
	}								\
} while (0)

int main(int argc, char **argv)
{
	void *lib = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW), *comm = NULL;
	int (*all_reduce)(const void *from, void *to, size_t n, int type, int op, void *comm,
			  void *stream);
	int (*init_rank)(void **comm, int nr, struct id id, int rank);
	int (*init_all)(void **comm, int nr, const int *devices);
	int (*group_start)(void), (*group_end)(void), (*get_id)(struct id *id);
	struct id id = { .internal = "" };

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	GET(lib, get_id, "ncclGetUniqueId");
	GET(lib, init_rank, "ncclCommInitRank");
	GET(lib, init_all, "ncclCommInitAll");
	GET(lib, all_reduce, "ncclAllReduce");
	GET(lib, group_start, "ncclGroupStart");
	GET(lib, group_end, "ncclGroupEnd");
	/* Initialises NCCL, which tells NVTX of its enumerations then. */
	if (get_id(&id)) {
		fprintf(stderr, "no id\n");
		return 1;
	}
	(void)init_rank(&comm, 1, id, 0);
	(void)init_all(&comm, 1, NULL);
	for (int op = 0; op < 4; op++) {
		(void)group_start();
		(void)all_reduce(NULL, NULL, 100, 7, op, NULL, NULL);
		(void)group_end();
	}
	return 0;
}
