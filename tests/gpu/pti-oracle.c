// SPDX-License-Identifier: GPL-2.0-only
/*
 * Steps through buffers of the PTI stand-in with PTI's own function, and prints a line for each
 * record. With PTI's headers (-DPTI_HEADERS) the compilation checks the collector's view of
 * records. Level Zero's headers are Debian's. Needs no GPU.
 *
 * Usage: pti-oracle LIBRARY FILE
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/levelzero/pti-abi.h"
#include "gpu/levelzero/ze-abi.h"

#define SAME(ours, field, theirs, their_field) \
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs, their_field) && \
		       sizeof(((struct ours *)0)->field) == sizeof(((theirs *)0)->their_field), \
		       #ours "." #field)

#ifdef ZE_HEADERS
#include <level_zero/ze_api.h>
SAME(ze_device, structure, ze_device_properties_t, stype);
SAME(ze_device, next, ze_device_properties_t, pNext);
SAME(ze_device, type, ze_device_properties_t, type);
SAME(ze_device, vendor, ze_device_properties_t, vendorId);
SAME(ze_device, id, ze_device_properties_t, deviceId);
SAME(ze_device, clock, ze_device_properties_t, coreClockRate);
SAME(ze_device, threads_per_unit, ze_device_properties_t, numThreadsPerEU);
SAME(ze_device, units_per_subslice, ze_device_properties_t, numEUsPerSubslice);
SAME(ze_device, subslices_per_slice, ze_device_properties_t, numSubslicesPerSlice);
SAME(ze_device, slices, ze_device_properties_t, numSlices);
SAME(ze_device, uuid, ze_device_properties_t, uuid);
SAME(ze_device, name, ze_device_properties_t, name);
_Static_assert(sizeof(struct ze_device) == sizeof(ze_device_properties_t), "ze_device");
_Static_assert(ZE_GPUS == ZE_INIT_FLAG_GPU_ONLY && ZE_GPU == ZE_DEVICE_TYPE_GPU, "flags");
_Static_assert(ZE_DEVICE_PROPERTIES == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES, "structure");
_Static_assert(ZE_UNINITIALIZED == ZE_RESULT_ERROR_UNINITIALIZED, "result");
_Static_assert(ZE_VERSION(1, 3) == ZE_MAKE_VERSION(1, 3), "version");
#endif

#ifdef PTI_HEADERS
#include <pti/pti_view.h>
typedef pti_view_record_kernel kernel_t;
typedef pti_view_record_memory_copy copy_t;
typedef pti_view_record_memory_copy_p2p peer_t;
typedef pti_view_record_memory_fill fill_t;
typedef pti_view_record_synchronization sync_t;
typedef pti_view_record_api call_t;

SAME(pti_kernel, kind, kernel_t, _view_kind);
SAME(pti_kernel, queue, kernel_t, _queue_handle);
SAME(pti_kernel, context, kernel_t, _context_handle);
SAME(pti_kernel, name, kernel_t, _name);
SAME(pti_kernel, file, kernel_t, _source_file_name);
SAME(pti_kernel, line, kernel_t, _source_line_number);
SAME(pti_kernel, correlation, kernel_t, _correlation_id);
SAME(pti_kernel, address, kernel_t, _pci_address);
SAME(pti_kernel, uuid, kernel_t, _device_uuid);
SAME(pti_kernel, appended, kernel_t, _append_timestamp);
SAME(pti_kernel, start, kernel_t, _start_timestamp);
SAME(pti_kernel, end, kernel_t, _end_timestamp);
SAME(pti_kernel, submitted, kernel_t, _submit_timestamp);
SAME(pti_kernel, sycl_queue, kernel_t, _sycl_queue_id);
_Static_assert(sizeof(struct pti_kernel) == sizeof(kernel_t), "kernel");
SAME(pti_copy, from, copy_t, _mem_src);
SAME(pti_copy, to, copy_t, _mem_dst);
SAME(pti_copy, queue, copy_t, _queue_handle);
SAME(pti_copy, context, copy_t, _context_handle);
SAME(pti_copy, address, copy_t, _pci_address);
SAME(pti_copy, uuid, copy_t, _device_uuid);
SAME(pti_copy, correlation, copy_t, _correlation_id);
SAME(pti_copy, appended, copy_t, _append_timestamp);
SAME(pti_copy, start, copy_t, _start_timestamp);
SAME(pti_copy, end, copy_t, _end_timestamp);
SAME(pti_copy, submitted, copy_t, _submit_timestamp);
SAME(pti_copy, bytes, copy_t, _bytes);
SAME(pti_copy, sycl_queue, copy_t, _sycl_queue_id);
_Static_assert(sizeof(struct pti_copy) == sizeof(copy_t), "copy");
SAME(pti_copy_peer, from, peer_t, _mem_src);
SAME(pti_copy_peer, to, peer_t, _mem_dst);
SAME(pti_copy_peer, address, peer_t, _src_pci_address);
SAME(pti_copy_peer, to_address, peer_t, _dst_pci_address);
SAME(pti_copy_peer, uuid, peer_t, _src_uuid);
SAME(pti_copy_peer, to_uuid, peer_t, _dst_uuid);
SAME(pti_copy_peer, correlation, peer_t, _correlation_id);
SAME(pti_copy_peer, start, peer_t, _start_timestamp);
SAME(pti_copy_peer, end, peer_t, _end_timestamp);
SAME(pti_copy_peer, bytes, peer_t, _bytes);
SAME(pti_copy_peer, sycl_queue, peer_t, _sycl_queue_id);
_Static_assert(sizeof(struct pti_copy_peer) == sizeof(peer_t), "peer");
SAME(pti_fill, memory, fill_t, _mem_type);
SAME(pti_fill, queue, fill_t, _queue_handle);
SAME(pti_fill, uuid, fill_t, _device_uuid);
SAME(pti_fill, correlation, fill_t, _correlation_id);
SAME(pti_fill, start, fill_t, _start_timestamp);
SAME(pti_fill, end, fill_t, _end_timestamp);
SAME(pti_fill, bytes, fill_t, _bytes);
SAME(pti_fill, value, fill_t, _value_for_set);
SAME(pti_fill, sycl_queue, fill_t, _sycl_queue_id);
_Static_assert(sizeof(struct pti_fill) == sizeof(fill_t), "fill");
SAME(pti_sync, type, sync_t, _synch_type);
SAME(pti_sync, queue, sync_t, _queue_handle);
SAME(pti_sync, start, sync_t, _start_timestamp);
SAME(pti_sync, end, sync_t, _end_timestamp);
SAME(pti_sync, correlation, sync_t, _correlation_id);
_Static_assert(sizeof(struct pti_sync) == sizeof(sync_t), "sync");
SAME(pti_call, start, call_t, _start_timestamp);
SAME(pti_call, end, call_t, _end_timestamp);
SAME(pti_call, group, call_t, _api_group);
SAME(pti_call, function, call_t, _api_id);
SAME(pti_call, thread, call_t, _thread_id);
SAME(pti_call, correlation, call_t, _correlation_id);
SAME(pti_call, result, call_t, _return_code);
_Static_assert(sizeof(struct pti_call) == sizeof(call_t), "call");
_Static_assert(PTI_KERNEL == PTI_VIEW_DEVICE_GPU_KERNEL, "kind");
_Static_assert(PTI_COPY == PTI_VIEW_DEVICE_GPU_MEM_COPY, "kind");
_Static_assert(PTI_FILL == PTI_VIEW_DEVICE_GPU_MEM_FILL, "kind");
_Static_assert(PTI_SYNC == PTI_VIEW_DEVICE_SYNCHRONIZATION, "kind");
_Static_assert(PTI_COPY_PEER == PTI_VIEW_DEVICE_GPU_MEM_COPY_P2P, "kind");
_Static_assert(PTI_DRIVER_CALL == PTI_VIEW_DRIVER_API, "kind");
_Static_assert(PTI_RUNTIME_CALL == PTI_VIEW_RUNTIME_API, "kind");
_Static_assert(PTI_GROUP_LEVELZERO == PTI_API_GROUP_LEVELZERO, "group");
_Static_assert(PTI_GROUP_SYCL == PTI_API_GROUP_SYCL, "group");
_Static_assert(PTI_END_OF_BUFFER == PTI_STATUS_END_OF_BUFFER, "result");
_Static_assert(PTI_NOT_IMPLEMENTED == PTI_ERROR_NOT_IMPLEMENTED, "result");
_Static_assert(PTI_NO_TRACING == PTI_ERROR_TRACING_NOT_INITIALIZED, "result");
_Static_assert(PTI_CLASS_WORK == PTI_API_CLASS_GPU_OPERATION_CORE, "class");
_Static_assert(PTI_NO_QUEUE == PTI_INVALID_QUEUE_ID, "queue");
_Static_assert(PTI_UUID == PTI_MAX_DEVICE_UUID_SIZE, "size");
_Static_assert(PTI_ADDRESS == PTI_MAX_PCI_ADDRESS_SIZE, "size");
#endif

#define TEXTS	8192u

static struct {
	uint64_t	was;
	char		*is;
} texts[TEXTS];
static uint32_t nr_texts;

static const char *text_of(const char *was)
{
	for (uint32_t i = 0; i < nr_texts; i++)
		if (was && texts[i].was == (uintptr_t)was)
			return texts[i].is;
	return "-";
}

#define WORK(word, r, bytes, name) \
	printf(word " %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %#" PRIxPTR " %#x %s\n", \
	       (r)->correlation, (r)->start, (r)->end, (uint64_t)(bytes), \
	       (uintptr_t)(r)->queue, (r)->uuid[0], name)

static void print(const void *record)
{
	const struct pti_kernel *k = record;
	const struct pti_copy *c = record;
	const struct pti_copy_peer *p = record;
	const struct pti_fill *f = record;
	const struct pti_sync *s = record;
	const struct pti_call *a = record;

	switch (k->kind) {
	case PTI_KERNEL:
		WORK("kernel", k, 0, text_of(k->name));
		break;
	case PTI_COPY:
		WORK("memcpy", c, c->bytes, text_of(c->name));
		break;
	case PTI_COPY_PEER:
		WORK("memcpy", p, p->bytes, text_of(p->name));
		break;
	case PTI_FILL:
		WORK("memset", f, f->bytes, text_of(f->name));
		break;
	case PTI_SYNC:
		if (s->queue)
			printf("sync %u %" PRIu64 " %" PRIu64 " 0 %#" PRIxPTR " 0 -\n",
			       s->correlation, s->start, s->end, (uintptr_t)s->queue);
		break;
	case PTI_DRIVER_CALL:
	case PTI_RUNTIME_CALL:
		printf("%s %u %" PRIu64 " %" PRIu64 " 0 0 0 %u\n",
		       a->kind == PTI_DRIVER_CALL ? "driver" : "runtime", a->correlation, a->start,
		       a->end, a->thread);
		break;
	default:
		printf("kind %u\n", k->kind);
	}
}

/* Debian 12's loader lacks this, and PTI needs it to load. */
int zesInit(uint32_t flags);

int zesInit(uint32_t flags)
{
	(void)flags;
	return ZE_UNINITIALIZED;
}

int main(int argc, char **argv)
{
	void *lib = dlopen(argc > 2 ? argv[1] : "", RTLD_NOW), *record, *symbol;
	FILE *file = argc > 2 ? fopen(argv[2], "rb") : NULL;
	int (*next)(uint8_t *buffer, size_t valid, void **record), err;
	static uint64_t room[1 << 14];
	uint8_t *bytes = (uint8_t *)room;
	uint32_t head[2];
	uint64_t address;

	symbol = lib ? dlsym(lib, "ptiViewGetNextRecord") : NULL;
	if (!symbol || !file) {
		fprintf(stderr, "%s\n", symbol ? "no file" : dlerror());
		return 1;
	}
	memcpy(&next, &symbol, sizeof(next));
	while (fread(head, sizeof(head), 1, file) == 1 && fread(&address, 8, 1, file) == 1 &&
	       head[1] <= sizeof(room) && (!head[1] || fread(bytes, head[1], 1, file) == 1)) {
		if (head[0] == 1) {
			if (nr_texts == TEXTS)
				return 1;
			texts[nr_texts].was = address;
			texts[nr_texts++].is = strndup((char *)bytes, head[1]);
			continue;
		}
		if (!head[1])
			continue;
		for (record = NULL; !(err = next(bytes, head[1], &record)); print(record))
			if ((uint8_t *)record >= bytes + head[1])
				break;
		if (err != PTI_END_OF_BUFFER) {
			fprintf(stderr, "a buffer of %u bytes: %d\n", head[1], err);
			return 1;
		}
	}
	return 0;
}
