// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our view of CUPTI's records against its own headers, and its own walk over a buffer: compiled
 * once for each version, with that version's headers, and run with its library.  Needs no GPU.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cupti_callbacks.h>
#include <cupti_version.h>

#include "gpu/cupti/cupti-abi.h"
#include "tests/gpu/oracle-records.h"
#include "tests/gpu/oracle-same.h"
#include "tests/gpu/oracle-steps.h"

/* Three of theirs in a row. */
#define FIRST(ours, field, theirs, their_field) \
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs, their_field), \
		       #ours "." #field)

SAME(cupti_kernel, kind, kernel_t, kind);
SAME(cupti_kernel, registers, kernel_t, registersPerThread);
SAME(cupti_kernel, start, kernel_t, start);
SAME(cupti_kernel, end, kernel_t, end);
SAME(cupti_kernel, device, kernel_t, deviceId);
SAME(cupti_kernel, context, kernel_t, contextId);
SAME(cupti_kernel, stream, kernel_t, streamId);
FIRST(cupti_kernel, grid, kernel_t, gridX);
FIRST(cupti_kernel, block, kernel_t, blockX);
SAME(cupti_kernel, static_shared, kernel_t, staticSharedMemory);
SAME(cupti_kernel, dynamic_shared, kernel_t, dynamicSharedMemory);
SAME(cupti_kernel, local_per_thread, kernel_t, localMemoryPerThread);
SAME(cupti_kernel, correlation, kernel_t, correlationId);
SAME(cupti_kernel, name, kernel_t, name);
SAME(cupti_kernel, queued, kernel_t, queued);
SAME(cupti_kernel, submitted, kernel_t, submitted);
SAME(cupti_kernel, graph_node, kernel_t, graphNodeId);
SAME(cupti_kernel, graph, kernel_t, graphId);
SAME(cupti_kernel, channel, kernel_t, channelID);
SAME(cupti_kernel, channel_type, kernel_t, channelType);
FIRST(cupti_kernel, cluster, kernel_t, clusterX);

SAME(cupti_memcpy, copy_kind, memcpy_t, copyKind);
SAME(cupti_memcpy, from, memcpy_t, srcKind);
SAME(cupti_memcpy, to, memcpy_t, dstKind);
SAME(cupti_memcpy, bytes, memcpy_t, bytes);
SAME(cupti_memcpy, start, memcpy_t, start);
SAME(cupti_memcpy, end, memcpy_t, end);
SAME(cupti_memcpy, device, memcpy_t, deviceId);
SAME(cupti_memcpy, context, memcpy_t, contextId);
SAME(cupti_memcpy, stream, memcpy_t, streamId);
SAME(cupti_memcpy, correlation, memcpy_t, correlationId);
SAME(cupti_memcpy, graph_node, memcpy_t, graphNodeId);
SAME(cupti_memcpy, graph, memcpy_t, graphId);
SAME(cupti_memcpy, channel, memcpy_t, channelID);

SAME(cupti_memcpy_peer, copy_kind, peer_t, copyKind);
SAME(cupti_memcpy_peer, from, peer_t, srcKind);
SAME(cupti_memcpy_peer, to, peer_t, dstKind);
SAME(cupti_memcpy_peer, bytes, peer_t, bytes);
SAME(cupti_memcpy_peer, start, peer_t, start);
SAME(cupti_memcpy_peer, end, peer_t, end);
SAME(cupti_memcpy_peer, device, peer_t, deviceId);
SAME(cupti_memcpy_peer, context, peer_t, contextId);
SAME(cupti_memcpy_peer, stream, peer_t, streamId);
SAME(cupti_memcpy_peer, from_device, peer_t, srcDeviceId);
SAME(cupti_memcpy_peer, to_device, peer_t, dstDeviceId);
SAME(cupti_memcpy_peer, correlation, peer_t, correlationId);
SAME(cupti_memcpy_peer, graph_node, peer_t, graphNodeId);
SAME(cupti_memcpy_peer, graph, peer_t, graphId);
SAME(cupti_memcpy_peer, channel, peer_t, channelID);

SAME(cupti_memset, value, memset_t, value);
SAME(cupti_memset, bytes, memset_t, bytes);
SAME(cupti_memset, start, memset_t, start);
SAME(cupti_memset, end, memset_t, end);
SAME(cupti_memset, context, memset_t, contextId);
SAME(cupti_memset, device, memset_t, deviceId);
SAME(cupti_memset, stream, memset_t, streamId);
SAME(cupti_memset, correlation, memset_t, correlationId);
SAME(cupti_memset, memory, memset_t, memoryKind);
SAME(cupti_memset, graph_node, memset_t, graphNodeId);
SAME(cupti_memset, graph, memset_t, graphId);

SAME(cupti_call, function, call_t, cbid);
SAME(cupti_call, start, call_t, start);
SAME(cupti_call, end, call_t, end);
SAME(cupti_call, thread, call_t, threadId);
SAME(cupti_call, correlation, call_t, correlationId);
SAME(cupti_call, result, call_t, returnValue);

SAME(cupti_external, external_kind, external_t, externalKind);
SAME(cupti_external, id, external_t, externalId);
SAME(cupti_external, correlation, external_t, correlationId);

SAME(cupti_sync, type, sync_t, type);
SAME(cupti_sync, start, sync_t, start);
SAME(cupti_sync, end, sync_t, end);
SAME(cupti_sync, correlation, sync_t, correlationId);
SAME(cupti_sync, context, sync_t, contextId);
SAME(cupti_sync, stream, sync_t, streamId);
SAME(cupti_sync, event, sync_t, cudaEventId);

SAME(cupti_event, correlation, event_t, correlationId);
SAME(cupti_event, context, event_t, contextId);
SAME(cupti_event, stream, event_t, streamId);
SAME(cupti_event, event, event_t, eventId);
#if VERSION >= 1208
SAME(cupti_sync_id, id, sync_t, cudaEventSyncId);
SAME(cupti_sync_id, result, sync_t, returnValue);
SAME(cupti_event, id, event_t, cudaEventSyncId);
#endif

SAME(cupti_graph, correlation, graph_t, correlationId);
SAME(cupti_graph, start, graph_t, start);
SAME(cupti_graph, end, graph_t, end);
SAME(cupti_graph, device, graph_t, deviceId);
SAME(cupti_graph, graph, graph_t, graphId);
SAME(cupti_graph, context, graph_t, contextId);
SAME(cupti_graph, stream, graph_t, streamId);

SAME(cupti_memory, operation, memory_t, memoryOperationType);
SAME(cupti_memory, memory, memory_t, memoryKind);
SAME(cupti_memory, correlation, memory_t, correlationId);
SAME(cupti_memory, address, memory_t, address);
SAME(cupti_memory, bytes, memory_t, bytes);
SAME(cupti_memory, timestamp, memory_t, timestamp);
SAME(cupti_memory, device, memory_t, deviceId);
SAME(cupti_memory, context, memory_t, contextId);
SAME(cupti_memory, stream, memory_t, streamId);
SAME(cupti_memory, async, memory_t, isAsync);

SAME(cupti_pool_change, operation, pool_t, memoryPoolOperationType);
SAME(cupti_pool_change, pool, pool_t, memoryPoolType);
SAME(cupti_pool_change, correlation, pool_t, correlationId);
SAME(cupti_pool_change, device, pool_t, deviceId);
SAME(cupti_pool_change, keep, pool_t, minBytesToKeep);
SAME(cupti_pool_change, address, pool_t, address);
SAME(cupti_pool_change, size, pool_t, size);
SAME(cupti_pool_change, threshold, pool_t, releaseThreshold);
SAME(cupti_pool_change, timestamp, pool_t, timestamp);
SAME(cupti_pool_change, used, pool_t, utilizedSize);

SAME(cupti_jit, entry, jit_t, jitEntryType);
SAME(cupti_jit, operation, jit_t, jitOperationType);
SAME(cupti_jit, device, jit_t, deviceId);
SAME(cupti_jit, start, jit_t, start);
SAME(cupti_jit, end, jit_t, end);
SAME(cupti_jit, correlation, jit_t, correlationId);
SAME(cupti_jit, cache_size, jit_t, cacheSize);

SAME(cupti_nvlink, version, nvlink_t, nvlinkVersion);
SAME(cupti_nvlink, from_type, nvlink_t, typeDev0);
SAME(cupti_nvlink, to_type, nvlink_t, typeDev1);
SAME(cupti_nvlink, from, nvlink_t, idDev0);
SAME(cupti_nvlink, to, nvlink_t, idDev1);
SAME(cupti_nvlink, flags, nvlink_t, flag);
SAME(cupti_nvlink, links, nvlink_t, physicalNvLinkCount);
#if VERSION >= 1302
SAME(cupti_nvlink, of_version.newer.ports[0], nvlink_t, portDev0);
SAME(cupti_nvlink, of_version.newer.ports[1], nvlink_t, portDev1);
SAME(cupti_nvlink, of_version.newer.bandwidth, nvlink_t, bandwidth);
_Static_assert(CUPTI_LINK_PORTS <= CUPTI_API_VERSION, "version");
#else
SAME(cupti_nvlink, of_version.older.ports[1], nvlink_t, portDev1);
SAME(cupti_nvlink, of_version.older.bandwidth, nvlink_t, bandwidth);
_Static_assert(CUPTI_LINK_PORTS > CUPTI_API_VERSION, "version");
#endif
_Static_assert(CUPTI_LINK_PEER == CUPTI_LINK_FLAG_PEER_ACCESS &&
	       CUPTI_LINK_MEMORY == CUPTI_LINK_FLAG_SYSMEM_ACCESS &&
	       CUPTI_LINK_ATOMICS == CUPTI_LINK_FLAG_PEER_ATOMICS &&
	       CUPTI_LINK_MEMORY_ATOMICS == CUPTI_LINK_FLAG_SYSMEM_ATOMICS, "flags");
_Static_assert(CUPTI_DEV_TYPE_GPU == 1 && CUPTI_DEV_TYPE_NPU == 2, "types");

SAME(cupti_pcie, type, pcie_t, type);
SAME(cupti_pcie, id, pcie_t, id);
SAME(cupti_pcie, domain, pcie_t, domain);
SAME(cupti_pcie, generation, pcie_t, pcieGeneration);
SAME(cupti_pcie, rate, pcie_t, linkRate);
SAME(cupti_pcie, width, pcie_t, linkWidth);
SAME(cupti_pcie, upstream_bus, pcie_t, upstreamBus);
SAME(cupti_pcie, of_type.uuid, pcie_t, attr.gpuAttr.uuidDev);
SAME(cupti_pcie, of_type.secondary_bus, pcie_t, attr.bridgeAttr.secondaryBus);
_Static_assert(CUPTI_PCIE_DEVICE_TYPE_GPU == 0 && CUPTI_PCIE_DEVICE_TYPE_BRIDGE == 1, "types");

SAME(cupti_managed, counter, managed_t, counterKind);
SAME(cupti_managed, value, managed_t, value);
SAME(cupti_managed, start, managed_t, start);
SAME(cupti_managed, end, managed_t, end);
SAME(cupti_managed, address, managed_t, address);
SAME(cupti_managed, from, managed_t, srcId);
SAME(cupti_managed, to, managed_t, dstId);
SAME(cupti_managed, flags, managed_t, flags);
#if VERSION >= 1208
SAME(cupti_managed_masks, processors, managed_t, processors);
_Static_assert(sizeof(struct cupti_managed_masks) == sizeof(managed_t), "managed");
_Static_assert(CUPTI_PROCESSORS <= CUPTI_API_VERSION, "version");
#else
_Static_assert(CUPTI_PROCESSORS > CUPTI_API_VERSION, "version");
#endif
SAME(cupti_managed_config, scope, config_t, scope);
SAME(cupti_managed_config, counter, config_t, kind);
SAME(cupti_managed_config, device, config_t, deviceId);
SAME(cupti_managed_config, on, config_t, enable);
_Static_assert(sizeof(struct cupti_managed_config) == sizeof(config_t), "config");

SAME(cupti_callback, site, CUpti_CallbackData, callbackSite);

SAME(cupti_resource, descriptor, CUpti_ResourceData, resourceDescriptor);
SAME(cupti_graph_data, node, CUpti_GraphData, node);
SAME(cupti_graph_data, source, CUpti_GraphData, originalNode);
#if VERSION >= 1304
_Static_assert(CUPTI_KERNEL_SOURCE == offsetof(kernel_t, sourceGraphNodeId), "kernel");
_Static_assert(CUPTI_MEMCPY_SOURCE == offsetof(memcpy_t, sourceGraphNodeId), "memcpy");
_Static_assert(CUPTI_MEMSET_SOURCE == offsetof(memset_t, sourceGraphNodeId), "memset");
_Static_assert(CUPTI_GRAPH_SOURCES <= CUPTI_API_VERSION, "version");
#else
_Static_assert(CUPTI_GRAPH_SOURCES > CUPTI_API_VERSION, "version");
#endif

SAME(cupti_overhead, type, overhead_t, overheadKind);
SAME(cupti_overhead, start, overhead_t, start);
SAME(cupti_overhead, end, overhead_t, end);
#if VERSION >= 1204
SAME(cupti_overhead_data, data, overhead_t, overheadData);
#endif

SAME(cupti_device, bandwidth, device_t, globalMemoryBandwidth);
SAME(cupti_device, memory, device_t, globalMemorySize);
SAME(cupti_device, multiprocessors, device_t, numMultiprocessors);
SAME(cupti_device, warps_per_sm, device_t, maxWarpsPerMultiprocessor);
SAME(cupti_device, shared_per_sm, device_t, maxSharedMemoryPerMultiprocessor);
SAME(cupti_device, threads_per_block, device_t, maxThreadsPerBlock);
SAME(cupti_device, l2, device_t, l2CacheSize);
SAME(cupti_device, warp, device_t, numThreadsPerWarp);
SAME(cupti_device, clock, device_t, coreClockRate);
SAME(cupti_device, blocks_per_sm, device_t, maxBlocksPerMultiprocessor);
SAME(cupti_device, registers_per_sm, device_t, maxRegistersPerMultiprocessor);
SAME(cupti_device, registers_per_block, device_t, maxRegistersPerBlock);
SAME(cupti_device, shared_per_block, device_t, maxSharedMemoryPerBlock);
SAME(cupti_device, major, device_t, computeCapabilityMajor);
SAME(cupti_device, minor, device_t, computeCapabilityMinor);
SAME(cupti_device, uuid, device_t, uuid);
SAME(cupti_device, id, device_t, id);
SAME(cupti_device, name, device_t, name);
SAME(cupti_device, visible, device_t, isCudaVisible);
SAME(cupti_device, mig, device_t, isMigEnabled);
SAME(cupti_device, gpu_instance, device_t, gpuInstanceId);
SAME(cupti_device, compute_instance, device_t, computeInstanceId);
SAME(cupti_device, mig_uuid, device_t, migUuid);

SAME(cupti_context, context, context_t, contextId);
SAME(cupti_context, device, context_t, deviceId);

_Static_assert(CUPTI_MEMCPY == CUPTI_ACTIVITY_KIND_MEMCPY, "kind");
_Static_assert(CUPTI_MEMSET == CUPTI_ACTIVITY_KIND_MEMSET, "kind");
_Static_assert(CUPTI_DRIVER == CUPTI_ACTIVITY_KIND_DRIVER, "kind");
_Static_assert(CUPTI_RUNTIME == CUPTI_ACTIVITY_KIND_RUNTIME, "kind");
_Static_assert(CUPTI_DEVICE == CUPTI_ACTIVITY_KIND_DEVICE, "kind");
_Static_assert(CUPTI_CONTEXT == CUPTI_ACTIVITY_KIND_CONTEXT, "kind");
_Static_assert(CUPTI_KERNEL == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kind");
_Static_assert(CUPTI_OVERHEAD == CUPTI_ACTIVITY_KIND_OVERHEAD, "kind");
_Static_assert(CUPTI_MEMCPY_PEER == CUPTI_ACTIVITY_KIND_MEMCPY2, "kind");
_Static_assert(CUPTI_SYNC == CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "kind");
_Static_assert(CUPTI_EXTERNAL == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, "kind");
_Static_assert(CUPTI_MEMORY == CUPTI_ACTIVITY_KIND_MEMORY2, "kind");
_Static_assert(CUPTI_MANAGED == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, "kind");
#define COUNTER(name)	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_##name
_Static_assert(CUPTI_TO_DEVICE == COUNTER(BYTES_TRANSFER_HTOD) &&
	       CUPTI_TO_HOST == COUNTER(BYTES_TRANSFER_DTOH) &&
	       CUPTI_HOST_FAULT == COUNTER(CPU_PAGE_FAULT_COUNT) &&
	       CUPTI_DEVICE_FAULT == COUNTER(GPU_PAGE_FAULT) &&
	       CUPTI_THRASHING == COUNTER(THRASHING) && CUPTI_THROTTLING == COUNTER(THROTTLING) &&
	       CUPTI_REMOTE_MAP == COUNTER(REMOTE_MAP) &&
	       CUPTI_PEER == COUNTER(BYTES_TRANSFER_DTOD), "counter");
_Static_assert(CUPTI_IN_HOST == CUPTI_ACTIVITY_FLAG_THRASHING_IN_CPU &&
	       CUPTI_IN_HOST == CUPTI_ACTIVITY_FLAG_THROTTLING_IN_CPU &&
	       CUPTI_HOST == CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID, "flag, place");
_Static_assert(CUPTI_EVENT == CUPTI_ACTIVITY_KIND_CUDA_EVENT, "kind");
_Static_assert(CUPTI_POOL == CUPTI_ACTIVITY_KIND_MEMORY_POOL, "kind");
_Static_assert(CUPTI_JIT == CUPTI_ACTIVITY_KIND_JIT, "kind");
_Static_assert(CUPTI_NVLINK == CUPTI_ACTIVITY_KIND_NVLINK, "kind");
_Static_assert(CUPTI_PCIE == CUPTI_ACTIVITY_KIND_PCIE, "kind");
_Static_assert(CUPTI_GRAPH == CUPTI_ACTIVITY_KIND_GRAPH_TRACE, "kind");
_Static_assert(CUPTI_DOMAIN_DRIVER == CUPTI_CB_DOMAIN_DRIVER_API, "domain");
_Static_assert(CUPTI_DOMAIN_RUNTIME == CUPTI_CB_DOMAIN_RUNTIME_API, "domain");
_Static_assert(CUPTI_DOMAIN_RESOURCE == CUPTI_CB_DOMAIN_RESOURCE, "domain");
_Static_assert(CUPTI_INIT_FINISHED == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, "callback");
_Static_assert(CUPTI_NODE_CREATED == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, "callback");
_Static_assert(CUPTI_NODE_CLONED == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, "callback");
_Static_assert(CUPTI_API_ENTER == 0 && CUPTI_API_EXIT == 1, "site");
_Static_assert(CUPTI_ERROR_NOT_READY == 13 && CUPTI_ERROR_NOT_INITIALIZED == 15, "results");
_Static_assert(CUPTI_MAX_LIMIT == CUPTI_ERROR_MAX_LIMIT_REACHED, "result");
_Static_assert(CUPTI_NO_PRIVILEGE == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "result");
_Static_assert(CUPTI_SUBSCRIBED == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "result");
#if VERSION >= 1303
SAME(cupti_subscriber_params, size, CUpti_SubscriberParams, structSize);
SAME(cupti_subscriber_params, name, CUpti_SubscriberParams, subscriberName);
SAME(cupti_subscriber_params, old_name, CUpti_SubscriberParams, oldSubscriberName);
SAME(cupti_subscriber_params, old_size, CUpti_SubscriberParams, oldSubscriberSize);
SAME(cupti_subscriber_params, several, CUpti_SubscriberParams, allowMultipleSubscribers);
_Static_assert(sizeof(struct cupti_subscriber_params) == CUpti_SubscriberParams_STRUCT_SIZE,
	       "subscriber");
_Static_assert(CUPTI_ATTR_LATENCY == CUPTI_ACTIVITY_ATTR_ENABLE_KERNEL_LATENCY_TIMESTAMPS &&
	       CUPTI_ATTR_WHOLE_GRAPHS == CUPTI_ACTIVITY_ATTR_ENABLE_MULTI_SUBSCRIBER_GRAPH_TRACE &&
	       CUPTI_ATTR_THREAD_ID == CUPTI_ACTIVITY_ATTR_THREAD_ID_TYPE &&
	       CUPTI_ATTR_TIMESTAMP == CUPTI_ACTIVITY_ATTR_TIMESTAMP_CALLBACK, "attributes");
_Static_assert(CUPTI_SEVERAL <= CUPTI_API_VERSION, "version");
/* As the collector calls them, and is called. */
static inline void calls(CUpti_SubscriberHandle s, uint8_t *buffer, CUpti_Activity **record)
{
	CUpti_SubscriberParams params = { 0 };
	CUpti_BuffersCallbackRequestFunc_v2 request = NULL;
	CUpti_BuffersCallbackCompleteFunc_v2 complete = NULL;
	size_t size = 0;

	(void)cuptiSubscribe_v2(&s, NULL, NULL, &params);
	(void)cuptiActivityRegisterCallbacks_v2(s, request, complete);
	(void)cuptiActivityEnable_v2(s, CUPTI_ACTIVITY_KIND_MEMCPY, NULL);
	(void)cuptiActivityDisable_v2(s, CUPTI_ACTIVITY_KIND_MEMCPY, NULL);
	(void)cuptiActivityGetNextRecord_v2(s, buffer, size, record);
	(void)cuptiActivityGetNumDroppedRecords_v2(s, NULL, 0, &size);
	(void)cuptiActivitySetAttribute_v2(s, CUPTI_ACTIVITY_ATTR_THREAD_ID_TYPE, &size, buffer);
	(void)cuptiActivityEnableDriverApi_v2(s, 1, 1);
	(void)cuptiActivityEnableRuntimeApi_v2(s, 1, 1);
	request(&buffer, &size, &size, NULL);
	complete(buffer, size, size, NULL);
}
#else
_Static_assert(CUPTI_SEVERAL > CUPTI_API_VERSION, "version");
#endif
_Static_assert(CUPTI_ATTR_ZEROED == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, "attribute");
_Static_assert(CUPTI_ATTR_DEVICE_BUFFER == CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE &&
	       CUPTI_ATTR_DEVICE_BUFFERS == CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT,
	       "attributes");
_Static_assert(CUPTI_THREAD_DEFAULT == CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT &&
	       CUPTI_THREAD_SYSTEM == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM, "thread ids");
_Static_assert(CUPTI_FLUSH_FORCED == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED, "flush");

static const struct {
	uint32_t	kind;
	uint32_t	size;
} known[] = {
	{ CUPTI_KERNEL, sizeof(kernel_t) }, { CUPTI_MEMCPY, sizeof(memcpy_t) },
	{ CUPTI_MEMCPY_PEER, sizeof(peer_t) }, { CUPTI_MEMSET, sizeof(memset_t) },
	{ CUPTI_RUNTIME, sizeof(call_t) }, { CUPTI_DRIVER, sizeof(call_t) },
	{ CUPTI_EXTERNAL, sizeof(external_t) }, { CUPTI_SYNC, sizeof(sync_t) },
	{ CUPTI_OVERHEAD, sizeof(overhead_t) }, { CUPTI_EVENT, sizeof(event_t) },
	{ CUPTI_MEMORY, sizeof(memory_t) }, { CUPTI_POOL, sizeof(pool_t) },
	{ CUPTI_JIT, sizeof(jit_t) },
	{ CUPTI_NVLINK, sizeof(nvlink_t) }, { CUPTI_PCIE, sizeof(pcie_t) },
	{ CUPTI_GRAPH, sizeof(graph_t) }, { CUPTI_MANAGED, sizeof(managed_t) },
	{ CUPTI_DEVICE, sizeof(device_t) }, { CUPTI_CONTEXT, sizeof(context_t) },
};
#define KNOWN	(sizeof(known) / sizeof(known[0]))

int main(int argc, char **argv)
{
	void *lib = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW), *record = NULL;
	next_fn next;
	int (*get_version)(uint32_t *version);
	static uint64_t buffer[8192];
	uint8_t *at = (uint8_t *)buffer;
	uint32_t version = 0, n = 0;
	size_t end = 0;

	if (!lib) {
		printf("%s\n", dlerror());
		return 1;
	}
	next = (next_fn)dlsym(lib, "cuptiActivityGetNextRecord");
	get_version = (int (*)(uint32_t *))dlsym(lib, "cuptiGetVersion");
	if (argc > 2) {
		for (uint32_t i = 0; i < KNOWN; i++)
			oracle_length(argv[2], VERSION, known[i].kind, known[i].size);
	}
	/* Newer ones say nothing where there is no driver. */
	if (get_version(&version) == NO_DRIVER)
		return 3;
	if (version != CUPTI_API_VERSION) {
		printf("version %u, headers of %u\n", version, CUPTI_API_VERSION);
		return 1;
	}
	/* Each kind behind each. */
	for (uint32_t a = 0; a < KNOWN; a++)
		for (uint32_t b = 0; b < KNOWN; b++, n += 2) {
			*(uint32_t *)(at + end) = known[a].kind;
			end += known[a].size;
			*(uint32_t *)(at + end) = known[b].kind;
			end += known[b].size;
		}
	while (!next(at, end, &record)) {
		uint32_t i = 0;

		while (i < KNOWN && known[i].kind != *(uint32_t *)record)
			i++;
		if (i == KNOWN) {
			printf("after %u records: kind %u\n", n, *(uint32_t *)record);
			return 1;
		}
		n--;
	}
	printf("%u records left, version %u\n", n, version);
	if (argc > 2)
		printf("%ld records as the stand-in has them\n",
		       oracle_steps(next, argv[2], VERSION, argc > 3 ? argv[3] : NULL));
	return n != 0;
}
