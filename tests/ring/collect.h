/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads into memory all that one process has left in a session: its records in the order of time,
 * names, threads, facts and losses. For tests of what markers mean; not fast.
 */
#ifndef XSP_TEST_COLLECT_H
#define XSP_TEST_COLLECT_H

#include "reader.h"

#define COLLECT_MAX	200000

struct collected {
	uint64_t	slot[XSPROF_RECORD_SLOTS * 4];
	unsigned int	n;
	uint32_t	tid;
	uint32_t	type;
	uint32_t	name;
	uint32_t	aux;
	uint64_t	value;
	uint64_t	ts;
	uint32_t	cpu;
	bool		locked;
};

static struct {
	struct collected	*rec;
	unsigned int		n;
	uint64_t		drops;		/* including nomem and late */
	uint64_t		late;
	uint64_t		nomem;
	uint64_t		missed;
	unsigned int		files;
	uint32_t		state;		/* of the newest file */
	struct xsprof_ctl	ctl;		/* of the newest file */
	char			*arena;		/* of the newest file */
	uint64_t		arena_used;
} got;

static void collect_take(struct rd_ring *r, const uint64_t *slot, unsigned int n, void *arg)
{
	struct collected *c = &got.rec[got.n];

	(void)arg;
	if (rd_type(slot) == XSPROF_REC_LOST)
		return;
	if (got.n == COLLECT_MAX)
		tap_bail("more than %u records", COLLECT_MAX);
	memcpy(c->slot, slot, n * XSPROF_SLOT_SIZE);
	c->n = n;
	c->tid = (uint32_t)slot[0];
	c->type = rd_type(slot);
	c->ts = slot[1];
	c->name = (uint32_t)slot[2];
	c->aux = slot[2] >> 32;
	c->value = slot[3];
	c->locked = r->w->kind == XSPROF_RING_LOCK;
	c->cpu = slot[0] >> 48;
	got.n++;
}

static inline int collect_by_time(const void *a, const void *b)
{
	const struct collected *x = a, *y = b;

	return x->ts < y->ts ? -1 : x->ts > y->ts;
}

static void collect_file(const char *path)
{
	struct rd rd;
	int err = rd_open(&rd, path);

	if (err) {
		tap_wrong("%s: %s", path, strerror(-err));
		return;
	}
	/* Read from the tail on: skips what was collected before. */
	for (uint32_t k = 0; k < rd.nr; k++)
		if (rd_ready(&rd, k))
			rd.ring[k].at = rd.ring[k].r->tail;
	rd_drain_all(&rd, collect_take, NULL);
	got.drops += rd_all_drops(&rd);
	got.late += rd.arena->late;
	got.nomem += rd.arena->nomem;
	got.missed += rd.arena->missed;
	got.state = rd.ctl->state;
	got.ctl = *rd.ctl;
	got.arena_used = rd.arena->used;
	free(got.arena);
	got.arena = malloc(got.arena_used + 1);
	memcpy(got.arena, rd.arena + 1, got.arena_used);
	got.files++;
	rd_close(&rd);
}

/**
 * collect() - read what a process has left in the session
 * @pid: the process
 *
 * Return: the number of records, also in got.n; they replace those of the call before.
 */
__attribute__((unused)) static unsigned int collect(pid_t pid)
{
	const char *session = getenv("XSPROF_SESSION");
	struct collected *rec = got.rec;
	char *arena = got.arena, path[300];

	if (!rec)
		rec = malloc(COLLECT_MAX * sizeof(*rec));
	memset(&got, 0, sizeof(got));
	got.rec = rec;
	got.arena = arena;
	/* Files of a process are numbered from 0 on. */
	for (long seq = 0; seq < 1000; seq++) {
		unsigned int before = got.files;
		struct dirent *e;
		DIR *d = opendir(session);

		while (d && (e = readdir(d))) {
			unsigned long long start;
			long s;
			int p;

			if (sscanf(e->d_name, "p.%d.%llu.%ld", &p, &start, &s) == 3 && p == pid &&
			    s == seq) {
				snprintf(path, sizeof(path), "%s/%s", session, e->d_name);
				collect_file(path);
			}
		}
		if (d)
			closedir(d);
		if (before == got.files)
			break;
	}
	qsort(got.rec, got.n, sizeof(*got.rec), collect_by_time);
	return got.n;
}

/* Return: the text of the newest entry of a type and id, or of a type and text, or NULL. */
__attribute__((unused)) static const char *collect_entry(unsigned int type, uint32_t id,
							 const char *begins)
{
	static char text[XSPROF_TEXT_MAX + 1];
	bool found = false;

	for (uint64_t at = 0; at + sizeof(struct xsprof_entry) <= got.arena_used;) {
		const struct xsprof_entry *e = (const struct xsprof_entry *)(got.arena + at);

		if (e->type == type && (begins || e->id == id) &&
		    (!begins || (!strncmp((const char *)(e + 1), begins, strlen(begins)) &&
				 e->text_len >= strlen(begins)))) {
			memcpy(text, e + 1, e->text_len);
			text[e->text_len] = 0;
			found = true;
		}
		at += e->size;
	}
	return found ? text : NULL;
}

static inline const char *collect_name(uint32_t id)
{
	return collect_entry(XSPROF_ENTRY_NAME, id, NULL);
}

/* Return: how many records have this type (0: any) and this name (0: any). */
__attribute__((unused)) static unsigned int collect_count(uint32_t type, uint32_t name)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < got.n; i++)
		n += (!type || got.rec[i].type == type) && (!name || got.rec[i].name == name);
	return n;
}

#endif /* XSP_TEST_COLLECT_H */
