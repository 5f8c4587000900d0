// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options of other profilers, and their equivalents here.
 */
#include <stddef.h>
#include <string.h>

#include "record/local.h"

const char *record_other_tool(int c, const char *word)
{
	static const struct {
		int		c;	/* 0: none */
		const char	*name;
		const char	*here;
	} options[] = {
		{ 'F', "freq", "--python=HZ samples Python's stacks" },
		{ 'g', "call-graph", "--python samples Python's stacks, --torch cstack records C "
				     "and C++ stacks of PyTorch's ops" },
		{ 't', "trace", "NVTX is recorded without an option, CUDA with --gpu, the kernel "
				"with -e" },
		{ 's', "sample", "--python samples Python's stacks" },
		{ 0, "gpu-metrics-devices", "--metrics samples GPUs that the command uses" },
		{ 0, "gpu-metrics-set", "--metrics=METRIC,... selects the metrics" },
		{ 0, "gpu-metrics-frequency", "--metrics-hz HZ" },
		{ 0, "stats", "'xsprof report' shows where the time went" },
		{ 0, "rate", "--python=HZ samples Python's stacks" },
		{ 0, "native", "--python --python-native" },
	};
	size_t len = strcspn(word, "=");

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const char *name = options[i].name;

		if (c ? options[i].c == c :
		    len == strlen(name) + 2 && !strncmp(word + 2, name, len - 2))
			return options[i].here;
	}
	return NULL;
}
