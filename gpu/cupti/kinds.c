// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Which kinds of records CUPTI collects.
 */
#include "gpu/common/refused.h"
#include "gpu/cupti/managed.h"

static const uint32_t kinds[] = {
	CUPTI_KERNEL, CUPTI_MEMCPY, CUPTI_MEMCPY_PEER, CUPTI_MEMSET, CUPTI_SYNC, CUPTI_OVERHEAD,
	CUPTI_EXTERNAL, CUPTI_CONTEXT, CUPTI_DEVICE, CUPTI_EVENT,
};

static bool graphs;	/* as a whole */
static bool no_calls;

/* A machine may have one of the two.  Return: there is any. */
static bool enable_links(void)
{
	bool nvlink = !cupti.enable(CUPTI_NVLINK), pcie = !cupti.enable(CUPTI_PCIE);

	return nvlink || pcie;
}

/* Beside kernels: with whole graphs CUPTI tells of none of their nodes. */
static void enable_details(void)
{
	cupti_memory_anew();
	if (graphs && cupti.enable(CUPTI_GRAPH))
		gpu_refused("this CUPTI cannot report whole graphs: recording their nodes");
	if (cupti_detail(CUPTI_DETAIL_MEMORY) && cupti.enable(CUPTI_MEMORY))
		gpu_refused("this CUPTI cannot report memory: it is not recorded");
	if (cupti_detail(CUPTI_DETAIL_POOLS) && cupti.enable(CUPTI_POOL))
		gpu_refused("this CUPTI cannot report memory pools: they are not recorded");
	if (cupti_detail(CUPTI_DETAIL_JIT) && cupti.enable(CUPTI_JIT))
		gpu_refused("this CUPTI cannot report the driver's compilations: they are not "
			    "recorded");
	if (cupti_detail(CUPTI_DETAIL_LINKS) && !enable_links())
		gpu_refused("this CUPTI cannot report how devices are connected: it is not "
			    "recorded");
	cupti_managed_on();
}

/*
 * There is one subscriber, and one that is not would take the records of another.  Without kernels
 * there is nothing to record, and another tool may be able to; of the other kinds some may not be
 * there.
 */
int cupti_kinds_on(void)
{
	int err = cupti_attach();

	if (!err) {
		err = cupti.enable(CUPTI_KERNEL);
		if (err)
			cupti_detach();
	}
	/* Kernels are on. */
	if (!err)
		(void)cupti_kinds_resume(graphs, !no_calls);
	return err;
}

int cupti_kinds_resume(bool whole_graphs, bool calls)
{
	/* The first kind: kernels. */
	int err = cupti.enable(kinds[0]);

	graphs = whole_graphs || cupti_detail(CUPTI_DETAIL_GRAPHS);
	for (size_t i = 1; i < ARRAY_SIZE(kinds); i++)
		(void)cupti.enable(kinds[i]);
	no_calls = !calls;
	if (calls)
		cupti_choose_calls();
	enable_details();
	cupti_sampling_on();
	cupti_ranges_on();
	return err;
}

void cupti_kinds_pause(void)
{
	cupti_sampling_off();
	cupti_ranges_off();
	cupti_ranges_settle();
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		(void)cupti.disable(kinds[i]);
	if (graphs)
		(void)cupti.disable(CUPTI_GRAPH);
	if (cupti_detail(CUPTI_DETAIL_MEMORY))
		(void)cupti.disable(CUPTI_MEMORY);
	cupti_managed_off();
	if (cupti_detail(CUPTI_DETAIL_POOLS))
		(void)cupti.disable(CUPTI_POOL);
	if (cupti_detail(CUPTI_DETAIL_JIT))
		(void)cupti.disable(CUPTI_JIT);
	if (cupti_detail(CUPTI_DETAIL_LINKS)) {
		(void)cupti.disable(CUPTI_NVLINK);
		(void)cupti.disable(CUPTI_PCIE);
	}
	(void)cupti.disable(CUPTI_DRIVER);
	(void)cupti.disable(CUPTI_RUNTIME);
}

void cupti_kinds_off(void)
{
	cupti_kinds_pause();
	cupti_detach();
}

void cupti_tell(int err)
{
	if (err == CUPTI_SUBSCRIBED && cupti_sharing())
		gpu_refused("%s already uses CUPTI, and does not share it: the GPU is not recorded",
			    *cupti_other() ? cupti_other() : "another tool");
	else if (err == CUPTI_SUBSCRIBED)
		gpu_refused("another tool already uses CUPTI, which allows one user: the GPU is "
			    "not recorded");
	else if (err == CUPTI_NO_PRIVILEGE)
		gpu_refused("the driver allows only root to trace the GPU (its option "
			    "NVreg_RestrictProfilingToAdminUsers=0 allows all users): it is not "
			    "recorded");
	else
		gpu_refused("CUPTI: %s (%d): the GPU is not recorded", cupti_text(err), err);
}
