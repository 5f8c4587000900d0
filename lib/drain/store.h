/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The sink of a recording: capture file, copy buffer, totals, and the owner's callbacks.  Shared by
 * the drain (drain.c) and the producers it reads (producer.c); it never reads anything itself.
 */
#ifndef XSP_CAP_STORE_H
#define XSP_CAP_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <xsprof/capture.h>

#include "base/own-fd.h"
#include "capture/writer.h"

struct xsp_producer;
struct xsp_producer_ring;

/**
 * struct xsp_drain_ops - callbacks to the owner of a drain; each may be NULL
 * @wait_status: has the owner waited for this process? Return: true, with the status from wait()
 * @say: a message for the user: a warning if @note, else progress
 * @closed: set inside a foreign program, which owns its children and descriptors: no descriptor of
 *	a producer's file is kept; called after one was closed, which drops a POSIX lock of this
 *	process on the file
 * @resume: recovery: does @cap already contain a part of this producer? Return: true, with its
 *	number and the arena bytes stored; @lived, when it last ran, is raised to its last stored
 *	record
 * @resume_ring: recovery: sets what is stored of a ring; @ring comes with its tail set
 * @last: recovery: everything has been read, and the END chunk comes next
 */
struct xsp_drain_ops {
	bool	(*wait_status)(void *data, pid_t pid, uint64_t start_time, int *status);
	void	(*say)(void *data, bool note, const char *text);
	void	(*closed)(void *data);
	bool	(*resume)(void *data, const struct xsprof_ctl *ctl, uint32_t *number,
			  uint64_t *arena_pos, uint64_t *lived);
	void	(*resume_ring)(void *data, uint32_t number, uint32_t k,
			       struct xsp_producer_ring *ring);
	void	(*last)(void *data, uint64_t elsewhere_slots);
};

/**
 * struct xsp_store - the state of one recording
 * @cap: the capture
 * @buf: XSP_CAP_RAW_MAX bytes; slots are copied here so that the producer cannot change them
 *	between check and write
 * @chunk_slots: slots of a full chunk
 * @dirfd: the session, -1 for none
 * @pid_ns: our own pid namespace
 * @kinds: bit k: a producer uses clock kind k
 * @records: events stored
 * @slots: slots stored
 * @devices: facts "device.N" of collectors about GPUs; 0: no process used one
 * @cuda: a process used CUDA, or a collector said what it does not record
 * @sampled: a process has stated "python.hz": its stacks are sampled
 * @modules: bit k: "python.module.k" was stated, see record/explain.c
 * @unsaved_records: events read but not stored for lack of room in the file
 * @elsewhere_slots: recovery: slots that the killed recorder had stored in a capture other than
 *	@cap
 * @error: first write error of the file, 0: none
 * @foreign_until: time at which to leave files of other users to the next step, ns; 0: no limit
 * @keep: recovery: records that do not fit into the file stay in their rings, for another attempt
 * @ops: callbacks to the owner
 * @data: passed to them
 */
struct xsp_store {
	struct xsp_cap			*cap;
	void				*buf;
	uint32_t			chunk_slots;
	int				dirfd;
	uint32_t			pid_ns;
	uint32_t			kinds;
	uint64_t			records;
	uint64_t			slots;
	uint64_t			devices;
	bool				cuda;
	bool				sampled;
	uint64_t			modules;
	uint64_t			unsaved_records;
	uint64_t			elsewhere_slots;
	int				error;
	uint64_t			foreign_until;
	bool				keep;
	const struct xsp_drain_ops	*ops;
	void				*data;
};

/**
 * xsp_store_chunk - write a chunk, and remember an error
 * @st: store
 * @chunk: as for xsp_cap_chunk()
 * @raw: payload
 * @len: bytes
 */
int xsp_store_chunk(struct xsp_store *st, struct xsprof_chunk *chunk, const void *raw, size_t len);

/* Writes a NOTE to the capture, and passes the text to the owner's @say. */
void xsp_store_note(struct xsp_store *st, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Are we inside a foreign program? */
static inline bool xsp_store_inside(const struct xsp_store *st)
{
	return st->ops && st->ops->closed;
}

/* Registers a new descriptor of ours, to be closed by xsp_fd_close(). Return: it, or negative. */
static inline int xsp_store_fd(const struct xsp_store *st, int fd)
{
	return xsp_store_inside(st) ? xsp_fd_keep(fd) : fd;
}

/* Passes a text to the owner's @say only. */
void xsp_store_say(struct xsp_store *st, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* XSP_CAP_STORE_H */
