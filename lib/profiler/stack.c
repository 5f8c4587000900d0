// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Stacks of ops: walked by frame pointers, and stored once each. Owns the table of stacks in the
 * producer's arena.
 *
 * A walk reads only this thread's stack between its own frame and the stack's end, so code without
 * frame pointers only costs frames.
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include <xsprof/profiler.h>

#include "profiler/maps.h"
#include "profiler/stack.h"
#include "ring/pack.h"

#define FRAMES		XSPROF_STACK_FRAMES
#define SLOTS		(1u << 14)	/* size of the table; at most three quarters are used */
#define MOST		(SLOTS / 4 * 3)

/**
 * struct known - a stack in the arena
 * @hash: hash of its addresses, never 0; 0: free slot
 * @id: its id; XSPROF_STACK_MISSED: there was no room for it
 */
struct known {
	uint64_t	hash;
	uint32_t	id;
};

static struct {
	struct known	*table;		/* allocated at the first stack, never freed */
	uint32_t	nr;
	uint32_t	next;
	uint32_t	producer;	/* producer whose arena has them, from xsp_producers */
} stacks;

/* ---- the walk ------------------------------------------------------------------------------- */

/* Bounds of this thread's stack, read once. */
static __thread struct {
	uintptr_t	base;
	uintptr_t	end;
} own_stack __attribute__((tls_model("initial-exec")));

static void find_stack(void)
{
	pthread_attr_t attr;
	size_t size;
	void *base;

	if (pthread_getattr_np(pthread_self(), &attr))
		return;
	if (!pthread_attr_getstack(&attr, &base, &size)) {
		own_stack.base = (uintptr_t)base;
		own_stack.end = (uintptr_t)base + size;
	}
	pthread_attr_destroy(&attr);
}

/* Stacks other than the thread's own (of a fibre, or signal stacks) are not walked. */
static uint32_t walk(uintptr_t frame, uintptr_t caller, uint64_t *address, uint32_t *left)
{
	bool first = true;
	uint32_t n = 1;
	uintptr_t end;

	if (unlikely(!own_stack.end))
		find_stack();
	end = own_stack.end;
	address[0] = caller;
	*left = 0;
	/* Memory between another stack and the end of this one may be unmapped. */
	if (unlikely(frame < own_stack.base))
		return n;
	while (frame && !(frame & 7) && end >= 16 && frame <= end - 16) {
		const uintptr_t *words = (const uintptr_t *)frame;
		uintptr_t next = words[0], from = words[1];

		if (!from)
			break;
		/* Skip the first frame, the caller's, which is stored already. */
		if (first && from == caller)
			;
		else if (n < FRAMES)
			address[n++] = from;
		else
			++*left;
		first = false;
		if (next <= frame || *left > 4096)
			break;
		frame = next;
	}
	return n;
}

static uint64_t hash_of(const uint64_t *address, uint32_t n)
{
	uint64_t h = 0x9e3779b97f4a7c15u * n;

	for (uint32_t i = 0; i < n; i++) {
		h = (h ^ address[i]) * 0xd6e8feb86659fd93u;
		h ^= h >> 32;
	}
	return h ? h : 1;
}

/* ---- the table ------------------------------------------------------------------------------ */

static struct known *look_up(struct known *table, uint64_t hash)
{
	uint32_t at = hash & (SLOTS - 1);
	uint64_t there;

	/* Acquire: pairs with the release in add(): the id is visible with the hash. */
	while ((there = __atomic_load_n(&table[at].hash, __ATOMIC_ACQUIRE)) && there != hash)
		at = (at + 1) & (SLOTS - 1);
	return &table[at];
}

static bool make_table(void)
{
	void *table;

	if (stacks.table)
		return true;
	table = mmap(NULL, SLOTS * sizeof(struct known), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (table == MAP_FAILED)
		return false;
	__atomic_store_n(&stacks.table, table, __ATOMIC_RELEASE);
	return true;
}

/* Called with the names' lock held. */
static uint32_t add(uint64_t hash, const uint64_t *address, uint32_t n, uint32_t left)
{
	struct known *k;

	if (!make_table())
		return XSPROF_STACK_MISSED;
	k = look_up(stacks.table, hash);
	if (k->hash)
		return k->id;
	if (stacks.nr >= MOST)
		return XSPROF_STACK_MISSED;
	__atomic_store_n(&stacks.nr, stacks.nr + 1, __ATOMIC_RELAXED);
	/* A stack that finds no room is remembered as missed, and not tried again. */
	k->id = XSPROF_STACK_MISSED;
	if (!xsp_arena_add(XSPROF_ENTRY_STACK, stacks.next + 1, left, (const char *)address,
			   n * sizeof(*address)))
		k->id = ++stacks.next;
	__atomic_store_n(&k->hash, hash, __ATOMIC_RELEASE);
	return k->id;
}

/* Are the table's stacks in the arena of the current producer? */
static bool is_current(void)
{
	/*
	 * Acquire: pairs with the release in forget(): the table is empty when the number is seen.
	 */
	return __atomic_load_n(&stacks.producer, __ATOMIC_ACQUIRE) ==
	       __atomic_load_n(&xsp_producers, __ATOMIC_RELAXED);
}

/* Clears a table that belongs to another producer's arena. Called with the names' lock held. */
static void forget(void)
{
	if (is_current())
		return;
	if (stacks.table)
		memset(stacks.table, 0, SLOTS * sizeof(struct known));
	__atomic_store_n(&stacks.nr, 0, __ATOMIC_RELAXED);
	stacks.next = 0;
	xsp_maps_forget();
	__atomic_store_n(&stacks.producer, xsp_producers, __ATOMIC_RELEASE);
}

/* Adds a stack that is not in the table. */
static XSP_NOINLINE uint32_t add_new(uint64_t hash, const uint64_t *address, uint32_t n,
				  uint32_t left)
{
	uint32_t id = XSPROF_STACK_MISSED;

	if (unlikely(!is_current())) {
		if (xsp_names_lock(true))
			return id;
		forget();
		xsp_names_unlock();
	}
	/* Checked without the lock: with a full table threads must not wait for each other. */
	if (__atomic_load_n(&stacks.nr, __ATOMIC_RELAXED) >= MOST)
		return id;
	xsp_maps_note(address, n);
	/* A handler that interrupted a holder of the names' lock leaves it out. */
	if (!xsp_names_lock(true)) {
		forget();
		id = add(hash, address, n, left);
		xsp_names_unlock();
	}
	return id;
}

/* Return: 0: it is not in the table. */
static inline uint32_t find(uint64_t hash)
{
	struct known *table = __atomic_load_n(&stacks.table, __ATOMIC_ACQUIRE), *k;

	if (unlikely(!table || !is_current()))
		return 0;
	k = look_up(table, hash);
	/* Acquire: pairs with the release in add(): the id is visible with the hash. */
	if (likely(__atomic_load_n(&k->hash, __ATOMIC_ACQUIRE) == hash))
		return k->id;
	/* With a full table the stack need not be identified. */
	return __atomic_load_n(&stacks.nr, __ATOMIC_RELAXED) >= MOST ? XSPROF_STACK_MISSED : 0;
}

uint32_t xsp_stack_here(void *frame, void *caller)
{
	uint64_t address[FRAMES], hash;
	uint32_t n, left, id;

	n = walk((uintptr_t)frame, (uintptr_t)caller, address, &left);
	hash = hash_of(address, n);
	id = find(hash);
	return likely(id) ? id : add_new(hash, address, n, left);
}

/* The key is an arbitrary number of the program: it collides with our own hashes only by chance. */
static uint64_t hash_of_key(uint64_t key)
{
	uint64_t h = (key ^ 0xa0761d6478bd642fu) * 0xe7037ed1a0b428dbu;

	h ^= h >> 32;
	return h ? h : 1;
}

uint32_t xsprof_stack_find(uint64_t key)
{
	return find(hash_of_key(key));
}

uint32_t xsprof_stack_add(uint64_t key, const uint64_t *frames, uint32_t nr, uint32_t left_out)
{
	/* The first op of a forked child makes it a producer. */
	if (!xsp_attached() && (!xsp_this_tid() || !xsp_attached()))
		return 0;
	if (!nr)
		return 0;
	if (unlikely(nr > FRAMES)) {
		left_out = left_out < UINT32_MAX - (nr - FRAMES) ? left_out + nr - FRAMES :
			   UINT32_MAX;
		nr = FRAMES;
	}
	return add_new(hash_of_key(key), frames, nr, left_out);
}

void xsprof_sample(xsprof_name_t name, uint32_t thread, uint32_t stack, uint32_t how,
		   uint32_t line)
{
	const uint64_t aux = (how & XSPROF_SAMPLE_HOW) |
			     (uint64_t)(line << XSPROF_SAMPLE_LINE_SHIFT);
	const uint64_t payload[2] = { name | aux << 32, (uint64_t)thread << 32 | stack };

	if (xsprof_wants(name))
		xsp_put_slow(xsp_hdr(xsp_this_tid(), XSPROF_REC_SAMPLE, 1), payload, 1, 0);
}
