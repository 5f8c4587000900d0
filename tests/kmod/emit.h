/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markers sent through the device: shared by the tests of EMIT. Builds its argument and counts
 * events; does not judge.
 */
#ifndef KMOD_EMIT_H
#define KMOD_EMIT_H

#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "ring.h"
#include "tracefs.h"

#define ALL_KINDS	((1u << XSPROF_EMIT_KINDS) - 1)

static const char *const kinds[XSPROF_EMIT_KINDS] = {
	[XSPROF_EMIT_BEGIN] = "xsp_begin",
	[XSPROF_EMIT_END] = "xsp_end",
	[XSPROF_EMIT_INSTANT] = "xsp_instant",
	[XSPROF_EMIT_COUNTER] = "xsp_counter",
	[XSPROF_EMIT_COMPLETE] = "xsp_complete",
	[XSPROF_EMIT_GPU] = "xsp_gpu_activity",
};

/* Its texts are those of the caller. */
static inline struct xsprof_emit marker(uint32_t kind, uint64_t ticks, const char *name,
					const char *category)
{
	return (struct xsprof_emit){
		.size = sizeof(struct xsprof_emit),
		.kind = kind,
		.ticks = ticks,
		.name = (uintptr_t)name,
		.name_len = strlen(name),
		.category = (uintptr_t)category,
		.category_len = strlen(category),
	};
}

static inline int emit(int fd, uint32_t kind, uint64_t ticks, const char *name,
		       const char *category)
{
	struct xsprof_emit e = marker(kind, ticks, name, category);

	return dev_call(fd, XSPROF_IOC_EMIT, &e);
}

/* What is in the page: kinds, and -1 where its two words disagree. */
static inline int page_says(const struct dev *d)
{
	uint32_t types = d->ctl->emit_types;

	return d->ctl->emit == (types ? UINT32_MAX : 0) ? (int)types : -1;
}

struct seen {
	uint64_t	count[XSPROF_EMIT_KINDS];
	uint64_t	strange;
	uint64_t	ticks;		/* sum of them */
	int		pid;		/* of it alone, 0 for any */
	const char	*name;		/* NULL for any */
	char		last[512];
};

__attribute__((unused)) static void see(const struct tracefs_event *ev, void *arg)
{
	struct seen *s = arg;
	unsigned int k;

	if (s->pid && ev->pid != s->pid)
		return;
	for (k = 0; k < XSPROF_EMIT_KINDS && strcmp(ev->kind, kinds[k]); k++)
		;
	if (k == XSPROF_EMIT_KINDS || (s->name && strcmp(ev->text, s->name))) {
		s->strange++;
		return;
	}
	s->count[k]++;
	s->ticks += ev->ticks;
	snprintf(s->last, sizeof(s->last), "%s", strstr(ev->line, ev->kind));
}

static inline uint64_t total(const struct seen *s)
{
	uint64_t n = 0;

	for (unsigned int k = 0; k < XSPROF_EMIT_KINDS; k++)
		n += s->count[k];
	return n;
}

__attribute__((unused)) static int perf_open(const char *event)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr) };
	int id = tracefs_id(event), fd;

	if (id < 0)
		return id;
	attr.config = (uint64_t)id;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

#endif /* KMOD_EMIT_H */
