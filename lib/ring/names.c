// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names and categories: interned once, for the life of the process. Owns the registry (private
 * memory with the layout of arena entries). A new producer of the process (after fork) gets a copy
 * of it, so ids stay valid.
 *
 * One lock for the registry and the arena. It holds the owner's thread id, so that a signal handler
 * that interrupted the owner does not wait.
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
	uint64_t	size;		/* capacity of @image, bytes */
	uint64_t	used;
	uint32_t	*hash;		/* offset of a NAME entry / 8 + 1; 0 is free */
	uint32_t	hash_mask;
	uint32_t	*where;		/* by index of a name: its offset / 8 + 1; 0: unused */
	uint32_t	next_index;
	uint64_t	missed;
	uint32_t	nr_categories;
	uint64_t	category[XSPROF_MAX_CATEGORIES];	/* offset of the entry */
} reg;

/**
 * xsp_names_lock() - take the registry
 * @wait: wait for another thread, however long; a handler that interrupted the owner never waits
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
			/*
			 * Held by another thread, which will release it unless it is stopped for
			 * good.
			 */
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

/* Allocates the registry at its first use: nothing before a program interns a name. */
static int reg_open(void)
{
	uint64_t size = xsp_config.arena_size ? xsp_config.arena_size : 1u << 20;
	uint64_t buckets = 1024;
	void *image, *hash;

	if (reg.image)
		return 0;
	/* An entry takes at least 24 bytes: the table is at most two thirds full. */
	while (buckets < size / 16)
		buckets *= 2;
	image = mmap(NULL, size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (image == MAP_FAILED)
		return -ENOMEM;
	/* As many indices, in the same mapping: no entry takes less than 16 bytes. */
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

/* Copies the registry to a new producer's arena. Called with the lock held. */
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

/* A name or category could not be stored. */
static void count_missed(void)
{
	reg.missed++;
	if (xsp_set.arena)
		__atomic_store_n(&xsp_set.arena->missed, xsp_set.arena->missed + 1,
				 __ATOMIC_RELAXED);
}

/*
 * Adds an entry to both memories, the registry first: a name in the arena only would have no id.
 * @room: bytes of the registry that it may use.
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
	/* Last: a child forked at this point by another thread finds complete entries only. */
	__atomic_store_n(&reg.used, at + size, __ATOMIC_RELEASE);
	xsp_arena_add(type, id, 0, text, len);
	return (int64_t)at;
}

/* For lookups by number without the lock. */
static void note_where(uint32_t id, uint64_t at)
{
	__atomic_store_n(&reg.where[id & XSPROF_NAME_MAX_INDEX], (uint32_t)(at / 8) + 1,
			 __ATOMIC_RELEASE);
}

/*
 * Rebuilds the index from the image: a thread of the parent may have been adding an entry. A name
 * missing in the hash would be added again under another id.
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
 * xsp_names_inherit() - take over the parent's registry in a forked child
 * @locked: the lock was held for the fork: the registry is consistent
 *
 * Otherwise the lock may be held by a thread that does not exist here, in the middle of a change;
 * or by a function of this thread that was interrupted by the signal handler that forked: it
 * continues when the handler returns, and holds the lock until then.
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

/* The length of a text, cut at a UTF-8 character boundary. */
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

/* A category was created; called with the registry's lock held. */
static void category_known(uint32_t category, bool on)
{
	/* If this fails the category stays off, as if the reader did not want it. */
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
	/* A new category's bit would stay 0 in a parent's page. */
	(void)xsp_attached_now();
	if (xsp_names_lock(true) < 0)
		return XSP_OTHER;
	category = category_locked(name, xsp_text_len(name));
	xsp_names_unlock();
	errno = err;
	return category;
}

/**
 * xsp_categories_wanted() - enabled bits of all existing categories
 *
 * Called with the lock held.
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

/* @many: may use only three quarters of the room: the rest is for other names. */
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
 * @name: any id
 * @len: set to its length
 *
 * Signal-safe: takes no lock. Return: the text, not terminated; constant.
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

/* The same for a category. */
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
