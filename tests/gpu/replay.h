/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of the stand-in for libcupti.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include "gpu/cupti/cupti-abi.h"
#include "tests/gpu/stand-in.h"

#define EXPORT	__attribute__((visibility("default")))

/* What cuptiGetVersion() says. */
uint32_t stand_in_api(void);
/* The collector asked when kernels are queued and submitted. */
extern bool stand_in_latency;
/* The last call of the thread. */
extern __thread uint64_t stand_in_called_at;
/* Bytes of a record, in the version that is played. */
size_t stand_in_length(uint32_t kind);
/* By the clock that the collector gave. */
uint64_t stand_in_now(void);
/* A function for a single user is called, when there may be several: by the collector. */
bool stand_in_mixes(void);
/* To the collector, if it wants to know of launches, or of that of a resource. */
void stand_in_call_back(uint32_t domain, uint32_t id, const void *info);
/* Into a buffer, if its kind is enabled.  Return: records so far. */
uint64_t stand_in_put(const void *record, size_t len);
uint64_t stand_in_records(void);

#endif /* REPLAY_H */
