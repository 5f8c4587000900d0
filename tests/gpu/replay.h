/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of the stand-in for libcupti.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include "gpu/cupti/cupti-abi.h"
#include "tests/gpu/stand-in.h"

#define EXPORT	__attribute__((visibility("default")))

/* The result of cuptiGetVersion(). */
uint32_t stand_in_api(void);
/* The collector asked for the times at which kernels are queued and submitted. */
extern bool stand_in_latency;
/* The time of the thread's last call. */
extern __thread uint64_t stand_in_called_at;
/* Returns the bytes of a record in the version played. */
size_t stand_in_length(uint32_t kind);
/* Whether a single-user function is called by the collector while there may be several users. */
bool stand_in_mixes(void);
/* Calls the collector back, if it has enabled callbacks for launches, or for this resource. */
void stand_in_call_back(uint32_t domain, uint32_t id, const void *info);
/* Writes a record to a buffer, if its kind is enabled. Return: records so far. */
uint64_t stand_in_put(const void *record, size_t len);
uint64_t stand_in_records(void);

#endif /* REPLAY_H */
