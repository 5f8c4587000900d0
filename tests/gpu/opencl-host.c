// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that loads plug-ins, each with its own dependencies (RTLD_LOCAL), and calls their
 * main(): opencl-host PLUGIN... ARGUMENT. Without a plug-in: a program without OpenCL that looks up
 * some of its functions.
 */
#include <dlfcn.h>
#include <stdio.h>

extern int clFinish(void *queue) __attribute__((weak));
extern void *clCreateKernel(void *program, const char *name, int *error) __attribute__((weak));

static int without(void)
{
	int (*next)(const char *text) = (int (*)(const char *))dlsym(RTLD_NEXT, "puts");

	/* The preloaded library has both, with no OpenCL behind them. */
	if ((clFinish && clFinish(NULL) == 0) ||
	    (clCreateKernel && clCreateKernel(NULL, "none", NULL)))
		return 2;
	if (dlsym(RTLD_DEFAULT, "clGetPlatformIDs") || dlsym(RTLD_DEFAULT, "closest"))
		return 3;
	return !next || next("without") < 0;
}

int main(int argc, char **argv)
{
	char *args[] = { argv[0], argv[argc - 1], NULL };
	int ret = argc < 3 ? without() : 0;

	for (int i = 1; i < argc - 1 && !ret; i++) {
		void *plugin = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		int (*run)(int argc, char **argv) =
			plugin ? (int (*)(int, char **))dlsym(plugin, "main") : NULL;

		if (!run) {
			fprintf(stderr, "%s\n", dlerror());
			return 99;
		}
		ret = run(2, args);
		fflush(stdout);
	}
	return ret;
}
