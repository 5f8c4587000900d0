// SPDX-License-Identifier: GPL-2.0-only
/*
 * The collector's own layouts of NVTX's extensions against NVIDIA's headers: compiling is the test.
 */
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>

#include "gpu/nvtx/ext-abi.h"

#define SAME(a, b)		_Static_assert((uint64_t)(a) == (uint64_t)(b), #a)
#define FIELD(ours, a, theirs, b) \
	SAME(offsetof(struct ours, a), offsetof(theirs, b)); \
	SAME(sizeof(((struct ours *)0)->a), sizeof(((theirs *)0)->b))

SAME(NVTX_EXT_PAYLOAD, NVTX_EXT_PAYLOAD_MODULEID);
SAME(NVTX_EXT_COUNTERS, NVTX_EXT_COUNTERS_MODULEID);
SAME(sizeof(struct nvtx_ext_segment), sizeof(nvtxExtModuleSegment_t));
FIELD(nvtx_ext_segment, nr_slots, nvtxExtModuleSegment_t, slotCount);
FIELD(nvtx_ext_segment, slots, nvtxExtModuleSegment_t, functionSlots);
SAME(sizeof(struct nvtx_ext_info), sizeof(nvtxExtModuleInfo_t));
FIELD(nvtx_ext_info, size, nvtxExtModuleInfo_t, structSize);
FIELD(nvtx_ext_info, module, nvtxExtModuleInfo_t, moduleId);
FIELD(nvtx_ext_info, nr_segments, nvtxExtModuleInfo_t, segmentsCount);
FIELD(nvtx_ext_info, segments, nvtxExtModuleInfo_t, segments);

SAME(sizeof(struct nvtx_payload), sizeof(nvtxPayloadData_t));
FIELD(nvtx_payload, schema, nvtxPayloadData_t, schemaId);
FIELD(nvtx_payload, size, nvtxPayloadData_t, size);
FIELD(nvtx_payload, data, nvtxPayloadData_t, payload);
SAME(sizeof(struct nvtx_schema_entry), sizeof(nvtxPayloadSchemaEntry_t));
FIELD(nvtx_schema_entry, flags, nvtxPayloadSchemaEntry_t, flags);
FIELD(nvtx_schema_entry, type, nvtxPayloadSchemaEntry_t, type);
FIELD(nvtx_schema_entry, name, nvtxPayloadSchemaEntry_t, name);
FIELD(nvtx_schema_entry, length, nvtxPayloadSchemaEntry_t, arrayOrUnionDetail);
FIELD(nvtx_schema_entry, offset, nvtxPayloadSchemaEntry_t, offset);
FIELD(nvtx_schema_attr, mask, nvtxPayloadSchemaAttr_t, fieldMask);
FIELD(nvtx_schema_attr, type, nvtxPayloadSchemaAttr_t, type);
FIELD(nvtx_schema_attr, entries, nvtxPayloadSchemaAttr_t, entries);
FIELD(nvtx_schema_attr, nr_entries, nvtxPayloadSchemaAttr_t, numEntries);
FIELD(nvtx_schema_attr, align, nvtxPayloadSchemaAttr_t, packAlign);
FIELD(nvtx_schema_attr, id, nvtxPayloadSchemaAttr_t, schemaId);
SAME(sizeof(struct nvtx_enum_entry), sizeof(nvtxPayloadEnum_t));
FIELD(nvtx_enum_entry, value, nvtxPayloadEnum_t, value);
FIELD(nvtx_enum_attr, entries, nvtxPayloadEnumAttr_t, entries);
FIELD(nvtx_enum_attr, nr_entries, nvtxPayloadEnumAttr_t, numEntries);
FIELD(nvtx_enum_attr, size, nvtxPayloadEnumAttr_t, sizeOfEnum);
FIELD(nvtx_enum_attr, id, nvtxPayloadEnumAttr_t, schemaId);

SAME(sizeof(struct nvtx_semantics), sizeof(nvtxSemanticsHeader_t));
FIELD(nvtx_semantics, id, nvtxSemanticsHeader_t, semanticId);
FIELD(nvtx_semantics, next, nvtxSemanticsHeader_t, next);
FIELD(nvtx_counter_semantics, flags, nvtxSemanticsCounter_t, flags);
SAME(sizeof(struct nvtx_counter_attr), sizeof(nvtxCounterAttr_t));
FIELD(nvtx_counter_attr, schema, nvtxCounterAttr_t, schemaId);
FIELD(nvtx_counter_attr, name, nvtxCounterAttr_t, name);
FIELD(nvtx_counter_attr, semantics, nvtxCounterAttr_t, semantics);
FIELD(nvtx_counter_attr, id, nvtxCounterAttr_t, counterId);

SAME(NVTX_SCHEMA_HAS_TYPE, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE);
SAME(NVTX_SCHEMA_HAS_ENTRIES, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES);
SAME(NVTX_SCHEMA_HAS_NR_ENTRIES, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES);
SAME(NVTX_SCHEMA_HAS_ALIGN, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT);
SAME(NVTX_SCHEMA_HAS_ID, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID);
SAME(NVTX_ENUM_HAS_ENTRIES, NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES);
SAME(NVTX_ENUM_HAS_NR_ENTRIES, NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES);
SAME(NVTX_ENUM_HAS_SIZE, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE);
SAME(NVTX_ENUM_HAS_ID, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID);
SAME(NVTX_SCHEMA_STATIC, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC);
SAME(NVTX_SCHEMA_DYNAMIC, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC);
SAME(NVTX_DYNAMIC_ID, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
SAME(NVTX_ENTRY_POINTER, NVTX_PAYLOAD_ENTRY_FLAG_POINTER);
SAME(NVTX_ENTRY_FROM,
     NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE);
SAME(NVTX_ENTRY_ARRAY_FIXED, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE);
SAME(NVTX_ENTRY_ARRAY & NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX,
     NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX);
SAME(NVTX_ENTRY_ARRAY_ZERO, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED);
SAME(NVTX_ENTRY_ARRAY_FIELD, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX);
SAME(NVTX_ENTRY_ARRAY_PAYLOAD, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX);
SAME(NVTX_ENTRY_MESSAGE, NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE);
SAME(NVTX_SEMANTICS_COUNTER, NVTX_SEMANTIC_ID_COUNTERS_V1);
SAME(NVTX_COUNTER_DELTA, NVTX_COUNTER_FLAG_VALUETYPE_DELTA);
SAME(NVTX_COUNTER_VALUE_TYPE, NVTX_COUNTER_FLAG_VALUETYPE_DELTA_SINCE_START);

SAME(NVTX_TYPE_CHAR, NVTX_PAYLOAD_ENTRY_TYPE_CHAR);
SAME(NVTX_TYPE_USHORT, NVTX_PAYLOAD_ENTRY_TYPE_USHORT);
SAME(NVTX_TYPE_ULLONG, NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG);
SAME(NVTX_TYPE_I8, NVTX_PAYLOAD_ENTRY_TYPE_INT8);
SAME(NVTX_TYPE_U64, NVTX_PAYLOAD_ENTRY_TYPE_UINT64);
SAME(NVTX_TYPE_FLOAT, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT);
SAME(NVTX_TYPE_LDOUBLE, NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE);
SAME(NVTX_TYPE_ADDRESS, NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS);
SAME(NVTX_TYPE_BYTE, NVTX_PAYLOAD_ENTRY_TYPE_BYTE);
SAME(NVTX_TYPE_F32, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32);
SAME(NVTX_TYPE_F64, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64);
SAME(NVTX_TYPE_CATEGORY, NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY);
SAME(NVTX_TYPE_TID64, NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64);
SAME(NVTX_TYPE_CSTRING, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING);
SAME(NVTX_TYPE_UTF8, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8);
SAME(NVTX_TYPE_STRING_HANDLE, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE);

SAME(NVTX_EXT_SCHEMA_REGISTER, NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
SAME(NVTX_EXT_ENUM_REGISTER, NVTX3EXT_CBID_nvtxPayloadEnumRegister);
SAME(NVTX_EXT_MARK, NVTX3EXT_CBID_nvtxMarkPayload);
SAME(NVTX_EXT_PUSH, NVTX3EXT_CBID_nvtxRangePushPayload);
SAME(NVTX_EXT_POP, NVTX3EXT_CBID_nvtxRangePopPayload);
SAME(NVTX_EXT_START, NVTX3EXT_CBID_nvtxRangeStartPayload);
SAME(NVTX_EXT_END, NVTX3EXT_CBID_nvtxRangeEndPayload);
SAME(NVTX_EXT_IS_ENABLED, NVTX3EXT_CBID_nvtxDomainIsEnabled);
SAME(NVTX_EXT_TIME_DOMAIN, NVTX3EXT_CBID_nvtxTimeDomainRegister);
SAME(NVTX_EXT_TIMER, NVTX3EXT_CBID_nvtxTimerSource);
SAME(NVTX_EXT_TIMER_DATA, NVTX3EXT_CBID_nvtxTimerSourceWithData);
SAME(NVTX_EXT_SCOPE, NVTX3EXT_CBID_nvtxScopeRegister);
SAME(NVTX_EXT_SYNC_POINT, NVTX3EXT_CBID_nvtxTimeSyncPoint);
SAME(NVTX_EXT_SYNC_TABLE, NVTX3EXT_CBID_nvtxTimeSyncPointTable);
SAME(NVTX_EXT_CONVERSION, NVTX3EXT_CBID_nvtxTimestampConversionFactor);
SAME(NVTX_EXT_EVENT, NVTX3EXT_CBID_nvtxEventSubmit);
SAME(NVTX_EXT_EVENT_BATCH, NVTX3EXT_CBID_nvtxEventBatchSubmit);
SAME(NVTX_EXT_COUNTER_REGISTER, NVTX3EXT_CBID_nvtxCounterRegister);
SAME(NVTX_EXT_SAMPLE_I64, NVTX3EXT_CBID_nvtxCounterSampleInt64);
SAME(NVTX_EXT_SAMPLE_F64, NVTX3EXT_CBID_nvtxCounterSampleFloat64);
SAME(NVTX_EXT_SAMPLE, NVTX3EXT_CBID_nvtxCounterSample);
SAME(NVTX_EXT_SAMPLE_NONE, NVTX3EXT_CBID_nvtxCounterSampleNoValue);
SAME(NVTX_EXT_BATCH, NVTX3EXT_CBID_nvtxCounterBatchSubmit);
