// SPDX-License-Identifier: GPL-2.0-only
/*
 * The collector's own layouts and numbers against NVIDIA's header: compiling it is the test. With
 * V2, that of version 2, which has no tables.
 */
#ifdef V2
#include <nvToolsExt.h>
#include <nvToolsExtSync.h>
#else
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtSync.h>
#endif

/* Its names are ours in capitals, and some are the same words. */
#undef NVTX_VERSION
#include "gpu/nvtx/nvtx-abi.h"

#define SAME(a, b)		_Static_assert((int)(a) == (int)(b), #a)
#define FIELD(ours, a, theirs, b) \
	SAME(offsetof(struct ours, a), offsetof(theirs, b)); \
	SAME(sizeof(((struct ours *)0)->a), sizeof(((theirs *)0)->b))

SAME(sizeof(struct nvtx_event), sizeof(nvtxEventAttributes_t));
FIELD(nvtx_event, version, nvtxEventAttributes_t, version);
FIELD(nvtx_event, size, nvtxEventAttributes_t, size);
FIELD(nvtx_event, category, nvtxEventAttributes_t, category);
FIELD(nvtx_event, color_type, nvtxEventAttributes_t, colorType);
FIELD(nvtx_event, color, nvtxEventAttributes_t, color);
FIELD(nvtx_event, payload_type, nvtxEventAttributes_t, payloadType);
FIELD(nvtx_event, reserved, nvtxEventAttributes_t, reserved0);
FIELD(nvtx_event, payload, nvtxEventAttributes_t, payload);
FIELD(nvtx_event, message_type, nvtxEventAttributes_t, messageType);
FIELD(nvtx_event, message, nvtxEventAttributes_t, message);
SAME(sizeof(wchar_t), 4);

SAME(sizeof(struct nvtx_resource), sizeof(nvtxResourceAttributes_t));
FIELD(nvtx_resource, size, nvtxResourceAttributes_t, size);
FIELD(nvtx_resource, type, nvtxResourceAttributes_t, identifierType);
FIELD(nvtx_resource, identifier, nvtxResourceAttributes_t, identifier);
FIELD(nvtx_resource, message_type, nvtxResourceAttributes_t, messageType);
FIELD(nvtx_resource, message, nvtxResourceAttributes_t, message);

SAME(sizeof(struct nvtx_sync_object), sizeof(nvtxSyncUserAttributes_t));
FIELD(nvtx_sync_object, size, nvtxSyncUserAttributes_t, size);
FIELD(nvtx_sync_object, message_type, nvtxSyncUserAttributes_t, messageType);
FIELD(nvtx_sync_object, message, nvtxSyncUserAttributes_t, message);

SAME(NVTX_MSG_ASCII, NVTX_MESSAGE_TYPE_ASCII);
SAME(NVTX_MSG_WIDE, NVTX_MESSAGE_TYPE_UNICODE);
SAME(NVTX_MSG_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
SAME(NVTX_COLOR_TYPE_ARGB, NVTX_COLOR_ARGB);
SAME(NVTX_NO_TRACKING, NVTX_NO_PUSH_POP_TRACKING);
SAME(NVTX_PAYLOAD_U64, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64);
SAME(NVTX_PAYLOAD_I64, NVTX_PAYLOAD_TYPE_INT64);
SAME(NVTX_PAYLOAD_F64, NVTX_PAYLOAD_TYPE_DOUBLE);
SAME(NVTX_PAYLOAD_U32, NVTX_PAYLOAD_TYPE_UNSIGNED_INT32);
SAME(NVTX_PAYLOAD_I32, NVTX_PAYLOAD_TYPE_INT32);
SAME(NVTX_PAYLOAD_F32, NVTX_PAYLOAD_TYPE_FLOAT);
SAME(NVTX_RESOURCE_POINTER, NVTX_RESOURCE_TYPE_GENERIC_POINTER);
SAME(NVTX_RESOURCE_HANDLE, NVTX_RESOURCE_TYPE_GENERIC_HANDLE);
SAME(NVTX_RESOURCE_THREAD_NATIVE, NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE);
SAME(NVTX_RESOURCE_THREAD_POSIX, NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX);

#ifndef V2
SAME(sizeof(struct nvtx_callbacks), sizeof(NvtxExportTableCallbacks));
FIELD(nvtx_callbacks, get_module, NvtxExportTableCallbacks, GetModuleFunctionTable);
SAME(sizeof(struct nvtx_version), sizeof(NvtxExportTableVersionInfo));
FIELD(nvtx_version, version, NvtxExportTableVersionInfo, version);
FIELD(nvtx_version, set_tool_version, NvtxExportTableVersionInfo, SetInjectionNvtxVersion);
SAME(NVTX_EXPORT_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME(NVTX_EXPORT_VERSION, NVTX_ETID_VERSIONINFO);

SAME(NVTX_CORE, NVTX_CB_MODULE_CORE);
SAME(NVTX_CUDA, NVTX_CB_MODULE_CUDA);
SAME(NVTX_OPENCL, NVTX_CB_MODULE_OPENCL);
SAME(NVTX_CUDART, NVTX_CB_MODULE_CUDART);
SAME(NVTX_CORE2, NVTX_CB_MODULE_CORE2);
SAME(NVTX_SYNC, NVTX_CB_MODULE_SYNC);
SAME(NVTX_MODULES, NVTX_CB_MODULE_SIZE);

SAME(NVTX_MARK_EX, NVTX_CBID_CORE_MarkEx);
SAME(NVTX_MARK_A, NVTX_CBID_CORE_MarkA);
SAME(NVTX_MARK_W, NVTX_CBID_CORE_MarkW);
SAME(NVTX_START_EX, NVTX_CBID_CORE_RangeStartEx);
SAME(NVTX_START_A, NVTX_CBID_CORE_RangeStartA);
SAME(NVTX_START_W, NVTX_CBID_CORE_RangeStartW);
SAME(NVTX_END, NVTX_CBID_CORE_RangeEnd);
SAME(NVTX_PUSH_EX, NVTX_CBID_CORE_RangePushEx);
SAME(NVTX_PUSH_A, NVTX_CBID_CORE_RangePushA);
SAME(NVTX_PUSH_W, NVTX_CBID_CORE_RangePushW);
SAME(NVTX_POP, NVTX_CBID_CORE_RangePop);
SAME(NVTX_NAME_CATEGORY_A, NVTX_CBID_CORE_NameCategoryA);
SAME(NVTX_NAME_CATEGORY_W, NVTX_CBID_CORE_NameCategoryW);
SAME(NVTX_NAME_THREAD_A, NVTX_CBID_CORE_NameOsThreadA);
SAME(NVTX_NAME_THREAD_W, NVTX_CBID_CORE_NameOsThreadW);
SAME(NVTX_CORE_SLOTS, NVTX_CBID_CORE_SIZE);

SAME(NVTX_DOMAIN_MARK_EX, NVTX_CBID_CORE2_DomainMarkEx);
SAME(NVTX_DOMAIN_START_EX, NVTX_CBID_CORE2_DomainRangeStartEx);
SAME(NVTX_DOMAIN_END, NVTX_CBID_CORE2_DomainRangeEnd);
SAME(NVTX_DOMAIN_PUSH_EX, NVTX_CBID_CORE2_DomainRangePushEx);
SAME(NVTX_DOMAIN_POP, NVTX_CBID_CORE2_DomainRangePop);
SAME(NVTX_RESOURCE_CREATE, NVTX_CBID_CORE2_DomainResourceCreate);
SAME(NVTX_RESOURCE_DESTROY, NVTX_CBID_CORE2_DomainResourceDestroy);
SAME(NVTX_DOMAIN_NAME_CATEGORY_A, NVTX_CBID_CORE2_DomainNameCategoryA);
SAME(NVTX_DOMAIN_NAME_CATEGORY_W, NVTX_CBID_CORE2_DomainNameCategoryW);
SAME(NVTX_REGISTER_STRING_A, NVTX_CBID_CORE2_DomainRegisterStringA);
SAME(NVTX_REGISTER_STRING_W, NVTX_CBID_CORE2_DomainRegisterStringW);
SAME(NVTX_DOMAIN_CREATE_A, NVTX_CBID_CORE2_DomainCreateA);
SAME(NVTX_DOMAIN_CREATE_W, NVTX_CBID_CORE2_DomainCreateW);
SAME(NVTX_DOMAIN_DESTROY, NVTX_CBID_CORE2_DomainDestroy);
SAME(NVTX_INITIALIZE, NVTX_CBID_CORE2_Initialize);
SAME(NVTX_CORE2_SLOTS, NVTX_CBID_CORE2_SIZE);

SAME(NVTX_SYNC_CREATE, NVTX_CBID_SYNC_DomainSyncUserCreate);
SAME(NVTX_SYNC_DESTROY, NVTX_CBID_SYNC_DomainSyncUserDestroy);
SAME(NVTX_SYNC_ACQUIRE_START, NVTX_CBID_SYNC_DomainSyncUserAcquireStart);
SAME(NVTX_SYNC_ACQUIRE_FAILED, NVTX_CBID_SYNC_DomainSyncUserAcquireFailed);
SAME(NVTX_SYNC_ACQUIRE_SUCCESS, NVTX_CBID_SYNC_DomainSyncUserAcquireSuccess);
SAME(NVTX_SYNC_RELEASING, NVTX_CBID_SYNC_DomainSyncUserReleasing);
SAME(NVTX_SYNC_SLOTS, NVTX_CBID_SYNC_SIZE);

SAME(NVTX_NAME_DEVICE_A, NVTX_CBID_CUDA_NameCuDeviceA);
SAME(NVTX_NAME_DEVICE_W, NVTX_CBID_CUDA_NameCuDeviceW);
SAME(NVTX_NAME_CONTEXT_A, NVTX_CBID_CUDA_NameCuContextA);
SAME(NVTX_NAME_CONTEXT_W, NVTX_CBID_CUDA_NameCuContextW);
SAME(NVTX_NAME_STREAM_A, NVTX_CBID_CUDA_NameCuStreamA);
SAME(NVTX_NAME_STREAM_W, NVTX_CBID_CUDA_NameCuStreamW);
SAME(NVTX_NAME_EVENT_A, NVTX_CBID_CUDA_NameCuEventA);
SAME(NVTX_NAME_EVENT_W, NVTX_CBID_CUDA_NameCuEventW);
SAME(NVTX_CUDA_SLOTS, NVTX_CBID_CUDA_SIZE);
SAME(NVTX_OPENCL_SLOTS, NVTX_CBID_OPENCL_SIZE);
SAME(NVTX_NAME_RUNTIME_DEVICE_A, NVTX_CBID_CUDART_NameCudaDeviceA);
SAME(NVTX_NAME_RUNTIME_DEVICE_W, NVTX_CBID_CUDART_NameCudaDeviceW);
SAME(NVTX_NAME_RUNTIME_STREAM_A, NVTX_CBID_CUDART_NameCudaStreamA);
SAME(NVTX_NAME_RUNTIME_STREAM_W, NVTX_CBID_CUDART_NameCudaStreamW);
SAME(NVTX_NAME_RUNTIME_EVENT_A, NVTX_CBID_CUDART_NameCudaEventA);
SAME(NVTX_NAME_RUNTIME_EVENT_W, NVTX_CBID_CUDART_NameCudaEventW);
SAME(NVTX_CUDART_SLOTS, NVTX_CBID_CUDART_SIZE);
#endif
