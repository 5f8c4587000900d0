/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CUPTI's records in its own headers: the newest struct of each, as CUDA version VERSION (1108)
 * writes it.
 */
#ifndef ORACLE_RECORDS_H
#define ORACLE_RECORDS_H

#include <cupti_activity.h>

#if VERSION >= 1304
typedef CUpti_ActivityKernel13 kernel_t;
#elif VERSION >= 1303
typedef CUpti_ActivityKernel12 kernel_t;
#elif VERSION >= 1301
typedef CUpti_ActivityKernel11 kernel_t;
#elif VERSION >= 1300
typedef CUpti_ActivityKernel10 kernel_t;
#elif VERSION >= 1200
typedef CUpti_ActivityKernel9 kernel_t;
#else
typedef CUpti_ActivityKernel8 kernel_t;
#endif
#if VERSION >= 1304
typedef CUpti_ActivityMemcpy7 memcpy_t;
typedef CUpti_ActivityMemset5 memset_t;
#elif VERSION >= 1208
typedef CUpti_ActivityMemcpy6 memcpy_t;
#else
typedef CUpti_ActivityMemcpy5 memcpy_t;
#endif
#if VERSION < 1304
typedef CUpti_ActivityMemset4 memset_t;
#endif
#if VERSION >= 1208
typedef CUpti_ActivitySynchronization2 sync_t;
#else
typedef CUpti_ActivitySynchronization sync_t;
#endif
#if VERSION >= 1204
typedef CUpti_ActivityOverhead3 overhead_t;
#elif VERSION >= 1203
typedef CUpti_ActivityOverhead2 overhead_t;
#else
typedef CUpti_ActivityOverhead overhead_t;
#endif
#if VERSION >= 1305
typedef CUpti_ActivityCudaEvent3 event_t;
#elif VERSION >= 1208
typedef CUpti_ActivityCudaEvent2 event_t;
#else
typedef CUpti_ActivityCudaEvent event_t;
#endif
#if VERSION >= 1208
typedef CUpti_ActivityUnifiedMemoryCounter3 managed_t;
#else
typedef CUpti_ActivityUnifiedMemoryCounter2 managed_t;
#endif
#if VERSION >= 1203
typedef CUpti_ActivityGraphTrace2 graph_t;
#else
typedef CUpti_ActivityGraphTrace graph_t;
#endif
#if VERSION >= 1206
typedef CUpti_ActivityMemory4 memory_t;
#else
typedef CUpti_ActivityMemory3 memory_t;
#endif
#if VERSION >= 1300
typedef CUpti_ActivityMemoryPool3 pool_t;
#else
typedef CUpti_ActivityMemoryPool2 pool_t;
#endif
#if VERSION >= 1204
typedef CUpti_ActivityJit2 jit_t;
#else
typedef CUpti_ActivityJit jit_t;
#endif
#if VERSION >= 1302
typedef CUpti_ActivityNvLink5 nvlink_t;
#else
typedef CUpti_ActivityNvLink4 nvlink_t;
#endif
typedef CUpti_ActivityPcie pcie_t;
typedef CUpti_ActivityUnifiedMemoryCounterConfig config_t;
typedef CUpti_ActivityMemcpyPtoP4 peer_t;
typedef CUpti_ActivityAPI call_t;
typedef CUpti_ActivityExternalCorrelation external_t;
#if VERSION >= 1301
typedef CUpti_ActivityContext4 context_t;
#elif VERSION >= 1205
typedef CUpti_ActivityContext3 context_t;
#elif VERSION >= 1204
typedef CUpti_ActivityContext2 context_t;
#else
typedef CUpti_ActivityContext context_t;
#endif
#if VERSION >= 1303
typedef CUpti_ActivityDevice6 device_t;
#elif VERSION >= 1202
typedef CUpti_ActivityDevice5 device_t;
#else
typedef CUpti_ActivityDevice4 device_t;
#endif

#endif /* ORACLE_RECORDS_H */
