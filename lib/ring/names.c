// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names and categories: interned once, for the life of the process.  Owns the registry (private
 * memory, laid out as the arena's entries).  A new producer of the process (after fork) gets a
 * copy of it, so an id stays good.
 *
 * One lock for it and for the arena.  It holds the owner's thread id, so that a signal handler
 * over its own lock knows not to wait.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/own.h"
#include "ring/backend.h"
#include "ring/config.h"

#define XSP_OTHER		(XSPROF_MAX_CATEGORIES - 1)

static struct {
	uint32_t	lock;		/* thread id of the owner */
	char		*image;		/* entries, as in an arena */
	uint64_t	size;		/* bytes of @image that may be used */
	uint64_t	used;
	uint32_t	*hash;		/* offset of a NAME entry / 8 + 1; 0 is free */
	uint32_t	hash_mask;
	uint32_t	*where;		/* by index of a name: its offset / 8 + 1; 0: none */
	uint32_t	next_index;
	uint64_t	missed;
	uint32_t	nr_categories;
	uint64_t	category[XSPROF_MAX_CATEGORIES];	/* offset of the entry */
} reg;

/**
 * xsp_names_lock() - take the registry
 * @wait: wait for another thread, however long; a handler over its own lock never waits
 *
 * Return: 0, or -EBUSY.
 */
int xsp_names_lock(bool wait)
{
	unsigned int turns = 0;
	uint32_t tid, owner;

	if (xsp_fork_check() < 0)
		return -EBUSY;
	tid = xsp_thread.tid;
	if (!tid)
		tid = xsp_thread.tid = (uint32_t)syscall(SYS_gettid);
	for (;;) {
		owner = 0;
		if (__atomic_compare_exchange_n(&reg.lock, &owner, tid, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return 0;
		if (owner == tid)
			return -EBUSY;
		if (!wait) {
			/* Another thread's: it will let go, unless it is stopped for good. */
			for (int i = 0; i < 64; i++) {
				owner = 0;
				sched_yield();
				if (__atomic_compare_exchange_n(&reg.lock, &owner, tid, false,
								__ATOMIC_ACQUIRE,
								__ATOMIC_RELAXED))
					return 0;
			}
			return -EBUSY;
		}
		xsp_wait_turn(&reg.lock, owner, &turns);
	}
}

void xsp_names_unlock(void)
{
	__atomic_store_n(&reg.lock, 0, __ATOMIC_RELEASE);
}

static uint32_t hash_of(uint32_t category, const char *text, size_t len)
{
	uint64_t h = xsp_hash_bytes(XSP_HASH_TEXT ^ category, text, len);

	return (uint32_t)(h ^ h >> 32);
}

static const struct xsprof_entry *entry_at(uint64_t offset)
{
	return (const struct xsprof_entry *)(reg.image + offset);
}

static bool same_text(const struct xsprof_entry *e, const char *text, size_t len)
{
	return e->text_len == len && !memcmp(e + 1, text, len);
}

/* The registry's memory, at its first use: nothing before a program names something. */
static int reg_open(void)
{
	uint64_t size = xsp_config.arena_size ? xsp_config.arena_size : 1u << 20;
	uint64_t buckets = 1024;
	void *image, *hash;

	if (reg.image)
		return 0;
	/* An entry takes 24 bytes or more: the table is never more than two thirds full. */
	while (buckets < size / 16)
		buckets *= 2;
	image = mmap(NULL, size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (image == MAP_FAILED)
		return -ENOMEM;
	/* And as many places for indices, in the same mapping: no entry takes less than 16. */
	hash = mmap(NULL, 2 * buckets * sizeof(uint32_t), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (hash == MAP_FAILED) {
		munmap(image, size);
		return -ENOMEM;
	}
	reg.hash = hash;
	reg.where = reg.hash + buckets;
	reg.hash_mask = (uint32_t)buckets - 1;
	reg.next_index = 1;
	reg.size = size - sizeof(struct xsprof_arena);
	__atomic_store_n(&reg.image, image, __ATOMIC_RELEASE);
	return 0;
}

/* A new producer gets all that the registry holds.  The lock is held. */
void xsp_names_publish(void)
{
	uint64_t at = 0;

	xsp_arena_begin(reg.missed);
	while (at < reg.used) {
		const struct xsprof_entry *e = entry_at(at);

		xsp_arena_add(e->type, e->id, e->aux, (const char *)(e + 1), e->text_len);
		at += e->size;
	}
}

/* A name or a category is in no memory. */
static void count_missed(void)
{
	reg.missed++;
	if (xsp_set.arena)
		__atomic_store_n(&xsp_set.arena->missed, xsp_set.arena->missed + 1,
				 __ATOMIC_RELAXED);
}

/*
 * Both memories, the registry's first: a name that is in the arena alone would have no id.  @room:
 * bytes of the registry that it may be in.
 */
static int64_t reg_add(uint16_t type, uint32_t id, const char *text, size_t len, uint64_t room)
{
	uint32_t size = xsp_entry_size(len);
	uint64_t at = reg.used;

	if (at > room || size > room - at) {
		count_missed();
		return -ENOSPC;
	}
	xsp_entry_write(reg.image + at, type, id, 0, text, len, size);
	/* Last: a child that is forked here by another thread finds whole entries or none. */
	__atomic_store_n(&reg.used, at + size, __ATOMIC_RELEASE);
	xsp_arena_add(type, id, 0, text, len);
	return (int64_t)at;
}

/* For who asks by number, without the lock. */
static void note_where(uint32_t id, uint64_t at)
{
	__atomic_store_n(&reg.where[id & XSPROF_NAME_MAX_INDEX], (uint32_t)(at / 8) + 1,
			 __ATOMIC_RELEASE);
}

/*
 * What the image says and the rest may not yet: its parent's thread, perhaps, had just added an
 * entry.  A name that is missing in the hash is added again, under another id.
 */
static void reg_reread(void)
{
	const struct xsprof_entry *e;

	reg.nr_categories = 0;
	for (uint64_t at = 0; at < reg.used; at += e->size) {
		e = entry_at(at);
		if (e->type == XSPROF_ENTRY_CATEGORY && e->id < XSPROF_MAX_CATEGORIES) {
			reg.category[e->id] = at;
			if (reg.nr_categories <= e->id)
				reg.nr_categories = e->id + 1;
		} else if (e->type == XSPROF_ENTRY_NAME) {
			note_where(e->id, at);
			if ((e->id & XSPROF_NAME_MAX_INDEX) >= reg.next_index)
				reg.next_index = (e->id & XSPROF_NAME_MAX_INDEX) + 1;
		}
	}
}

/**
 * xsp_names_inherit() - the child of a fork takes the registry over from its parent
 * @locked: the lock was taken for the fork, and nothing is amiss
 *
 * Else it may be held by a thread that is not here, in the middle of something; or by a function
 * of this thread's that a signal handler interrupted before it forked, which goes on when the
 * handler returns, and keeps it until then.
 */
void xsp_names_inherit(bool locked)
{
	uint32_t owner = reg.lock;

	if (owner && !locked && owner == xsp_thread.tid) {
		reg.lock = (uint32_t)syscall(SYS_gettid);
		return;
	}
	reg.lock = 0;
	if (owner && !locked && reg.image)
		reg_reread();
}

/* Bytes of a text: cut where they run out, not inside a character of UTF-8. */
size_t xsp_text_len(const char *text)
{
	size_t len = strnlen(text, XSPROF_TEXT_MAX + 1);

	if (len <= XSPROF_TEXT_MAX)
		return len;
	len = XSPROF_TEXT_MAX;
	while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	return len ? len : XSPROF_TEXT_MAX;
}

/* A category has come to be; the registry's lock is held. */
static void category_known(uint32_t category, bool on)
{
	/* Where this fails the category stays off, as if the reader did not want it. */
	if (on && xsp_set.ctl)
		(void)xsp_kept.backend->control(1ull << category, 0, 0, 0);
}

static int category_locked(const char *name, size_t len)
{
	int64_t at;
	uint32_t i;

	if (reg_open() < 0)
		return XSP_OTHER;
	if (!reg.nr_categories) {
		at = reg_add(XSPROF_ENTRY_CATEGORY, 0, "default", 7, reg.size);
		if (at < 0)
			return 0;
		reg.category[reg.nr_categories++] = at;
	}
	for (i = 0; i < reg.nr_categories; i++)
		if (same_text(entry_at(reg.category[i]), name, len))
			return i;
	if (i == XSP_OTHER) {
		name = "other";
		len = 5;
	}
	if (i >= XSPROF_MAX_CATEGORIES)
		return XSP_OTHER;
	at = reg_add(XSPROF_ENTRY_CATEGORY, i, name, len, reg.size);
	if (at < 0)
		return XSP_OTHER;
	reg.category[i] = at;
	/* After the entry: xsp_category_text() takes no lock. */
	__atomic_store_n(&reg.nr_categories, i + 1, __ATOMIC_RELEASE);
	category_known(i, xsp_category_wanted(name, len));
	return i;
}

int xsprof_category(const char *name)
{
	int category, err = errno;

	if (!name || !*name)
		return -EINVAL;
	/*
	 * The child of a fork looks at its parent's page until it attaches, and a bit that is
	 * new there would stay 0 for ever.
	 */
	if (!xsp_attached() && xsprof_enabled())
		xsp_attach_now();
	if (xsp_names_lock(true) < 0)
		return XSP_OTHER;
	category = category_locked(name, xsp_text_len(name));
	xsp_names_unlock();
	errno = err;
	return category;
}

/**
 * xsp_categories_wanted() - the enabled bits of all categories there are
 *
 * The lock is held.
 */
uint64_t xsp_categories_wanted(void)
{
	uint64_t mask = 0;

	category_locked("default", 7);
	for (uint32_t i = 0; i < reg.nr_categories; i++) {
		const struct xsprof_entry *e = entry_at(reg.category[i]);

		if (xsp_category_wanted((const char *)(e + 1), e->text_len))
			mask |= 1ull << i;
	}
	return mask;
}

/* @many: of any number of names: the last quarter of the room is for others. */
static xsprof_name_t name_locked(uint32_t category, const char *text, size_t len, bool many)
{
	uint32_t bucket, id;
	int64_t at;

	if (reg_open() < 0)
		goto full;
	if (!reg.nr_categories)
		category_locked("default", 7);
	if (category >= reg.nr_categories && category != XSP_OTHER)
		return 0;
	bucket = hash_of(category, text, len) & reg.hash_mask;
	for (; reg.hash[bucket]; bucket = (bucket + 1) & reg.hash_mask) {
		const struct xsprof_entry *e = entry_at((reg.hash[bucket] - 1) * 8ull);

		if (e->id >> XSPROF_NAME_SHIFT == category && same_text(e, text, len))
			return e->id;
	}
	if (reg.next_index > (many ? XSPROF_NAME_MAX_INDEX / 4 * 3 : XSPROF_NAME_MAX_INDEX)) {
		count_missed();
		goto full;
	}
	id = category << XSPROF_NAME_SHIFT | reg.next_index;
	at = reg_add(XSPROF_ENTRY_NAME, id, text, len, many ? reg.size / 4 * 3 : reg.size);
	if (at < 0)
		goto full;
	note_where(id, (uint64_t)at);
	reg.next_index++;
	reg.hash[bucket] = (uint32_t)(at / 8) + 1;
	return id;
full:
	return category << XSPROF_NAME_SHIFT | XSPROF_NAME_FULL;
}

/**
 * xsp_name_text() - the text of a name
 * @name: its id, of whatever origin
 * @len: set to its bytes
 *
 * Signal-safe: takes no lock.  Return: the text, not terminated; constant.
 */
const char *xsp_name_text(uint32_t name, uint32_t *len)
{
	uint32_t index = name & XSPROF_NAME_MASK, at;
	const struct xsprof_entry *e;

	*len = 0;
	if (index == XSPROF_NAME_FULL) {
		*len = strlen("(names full)");
		return "(names full)";
	}
	if (!__atomic_load_n(&reg.image, __ATOMIC_ACQUIRE) || index > reg.hash_mask)
		return "";
	at = __atomic_load_n(&reg.where[index], __ATOMIC_ACQUIRE);
	if (!at)
		return "";
	e = entry_at((at - 1) * 8ull);
	*len = e->text_len;
	return (const char *)(e + 1);
}

/* The same, of a category. */
const char *xsp_category_text(uint32_t category, uint32_t *len)
{
	const struct xsprof_entry *e;

	*len = 0;
	if (category >= __atomic_load_n(&reg.nr_categories, __ATOMIC_ACQUIRE))
		return "";
	e = entry_at(reg.category[category]);
	*len = e->text_len;
	return (const char *)(e + 1);
}

static xsprof_name_t intern(int category, const char *text, bool many)
{
	xsprof_name_t id;
	int err = errno;

	if (!text || category < 0 || category >= (int)XSPROF_MAX_CATEGORIES)
		return 0;
	if (xsp_names_lock(true) < 0)
		return (uint32_t)category << XSPROF_NAME_SHIFT | XSPROF_NAME_FULL;
	id = name_locked(category, text, xsp_text_len(text), many);
	xsp_names_unlock();
	errno = err;
	return id;
}

xsprof_name_t xsprof_name_in(int category, const char *text)
{
	return intern(category, text, false);
}

xsprof_name_t xsprof_name_of_many(int category, const char *text)
{
	return intern(category, text, true);
}

xsprof_name_t xsprof_name(const char *text)
{
	return xsprof_name_in(0, text);
}
