/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rseq ring in DISCARD mode: two threads of one CPU, a signal handler that
 * interrupts the first of them and emits too, a reader that consumes, and a kill at
 * any moment, as lib/rseq-pseudocode.h has it. Checked on every interleaving:
 *
 *  - every record is received once or counted as dropped once, never both; one whose
 *    emit a kill cuts short may be either or neither;
 *  - placement: all drops that a LOST record adds happened between the record before
 *    it and the record after it; those of the ring's end are drops minus the last LOST;
 *  - the reader meets no word of a slot that is not published, and the writers store
 *    none in a slot that is;
 *  - the ledger: head counts exactly the slots of what was published.
 *
 * What is modelled, and why it is enough:
 *
 *  - One CPU is one process: it picks a thread and runs one sequence of it. Before each
 *    STEP the thread may be preempted; its sequence is then aborted and what it stored
 *    stays. That the kernel does this only when the thread comes back makes no
 *    difference: until then the thread does nothing. The same thread may be picked
 *    again at once (another task ran, or a migration there and back); one that stays
 *    away begins anew on another ring, so one ring is all that matters.
 *  - A STEP is a store, or loads. Loads of the writer's page stand in the first step:
 *    within a sequence nobody else changes that page. tail is loaded in a step of its
 *    own, because the reader runs on another CPU.
 *  - A signal handler runs to its end before its thread goes on.
 *  - The limit a writer sees is min(tail + size, grown). An old tail or a small grown
 *    only lower it, so a writer here may find the ring full at any time.
 *  - SIGKILL is no instruction: what was stored stays, and the reader drains the rest.
 *    So instead of killing, audit() asks in every state whether the ring as it is, up
 *    to head, accounts for everything. The one thing a kill adds is then covered.
 *  - The reader takes a slot in one step: audit() and STORE show that a published slot
 *    is whole and does not change until tail passes it.
 *  - Slots that are given back, or left by an aborted sequence, are wiped: a sequence
 *    that relied on what is in them would be found out.
 *  - Memory is sequentially consistent here; the orders that weaker machines need are
 *    in the litmus files. Counters do not wrap, as 64 bits do not.
 *
 * Mutants, each to be found by spin:
 *   RAISE_PENDING   bound is raised though a drop is pending
 *   RAISE_OUTSIDE   bound is raised by a plain store after the look, not in a sequence
 *   NO_LOWER        a drop leaves bound where it was
 *   MARK_AFTER      mark is set after the commit of the drop
 *   DROP_OUTSIDE    the drop is counted by an atomic add outside the sequence
 *   EARLY_PUBLISH   head is stored before the last words of the record
 *   LOST_UNPAID     room is looked for without the slot of the LOST record
 *   READER_EARLY    the reader gives the slot back before it has read it
 *   NO_ABORT        a sequence goes on after a preemption before its commit
 */

#ifndef SIZE
#define SIZE	4	/* slots of the ring */
#endif
#define PAGE	2	/* slots of a page: no record crosses one */
/* records of thread 0, of thread 1, of the handler */
#ifndef EMITS0
#define EMITS0	1
#endif
#ifndef EMITS1
#define EMITS1	1
#endif
#ifndef EMITS2
#define EMITS2	1
#endif
/* who emits records of two slots: one of them always, or each now and then */
#define ANY	3
#ifndef LONG
#define LONG	ANY
#endif
#define IDS	(EMITS0 + EMITS1 + EMITS2)
#define LOST	100
#define PAD	101
/* A record's slots: one that is whole, or two halves. Bit 1 says that it is the last. */
#define WHOLE(id)	((id) * 4 + 6)
#define HALF1(id)	((id) * 4 + 4)
#define HALF2(id)	((id) * 4 + 7)
#define ID(word)	((word) / 4 - 1)
#define IS_REC(word)	((word) >= HALF1(0) && (word) <= HALF2(IDS - 1))

/* the writer's page and the reader's */
byte head, mark, drops, bound, tail;
/* a slot: its header word, and its payload (of LOST: the count; else the header again) */
byte word_a[SIZE], word_b[SIZE];

/*
 * The threads: 0, 1, and 2 for the handler over 0. What each has still to emit, the slots
 * of the record at hand, and where it is with that. LATER is for mutants: a store that it
 * will do outside any sequence.
 */
mtype = { NEW, FAST, SLOW, RAISE, LATER };
byte left[3], size[3];
mtype stage[3];
#if defined(RAISE_OUTSIDE) || defined(MARK_AFTER) || defined(DROP_OUTSIDE) || \
	defined(EARLY_PUBLISH) || defined(NO_ABORT)
#define LATER_STORES
byte later[3];
#endif

/* what really happened, for the checks alone */
mtype = { PUBLISHED, DROPPED, RECEIVED };
mtype fate[IDS];
byte published;			/* slots */
byte before[SIZE];		/* drops committed before the slot was published */
byte before_last;		/* the same of the newest record */
byte lost_seen;			/* the last LOST that the reader took */

#define HAS_WORK(t)	(left[t] > 0 && (t != 0 || stage[2] == NEW))
#define RECORD(t)	((t == 0 -> EMITS0 : (t == 1 -> EMITS0 + EMITS1 : IDS)) - left[t])
#define N		size[t]
#define FITS_PAGE(at)	((at) % PAGE + N <= PAGE)

/* one step of a sequence, or the thread is preempted before it */
#define STEP(x) \
	if \
	:: atomic { x } \
	:: goto preempted \
	fi

#define BEGIN(x)	atomic { h = head; x }

/* What an aborted sequence left in free slots: no other may rest on it. */
#define WIPE \
	k = head; \
	do \
	:: k != tail + SIZE -> word_a[k % SIZE] = 0; word_b[k % SIZE] = 0; k++ \
	:: else -> k = 0; break \
	od

#define STORE(at, a, b) \
	assert((at) >= head && (at) - tail < SIZE); \
	word_a[(at) % SIZE] = a; word_b[(at) % SIZE] = b

/* A record of two slots slot by slot, of one slot word by word. */
#define STORE_FIRST(at) \
	if \
	:: N == 1 -> STORE(at, WHOLE(id), 0) \
	:: else -> STORE(at, HALF1(id), HALF1(id)) \
	fi
#define STORE_LAST(at) \
	if \
	:: N == 1 -> STORE(at, WHOLE(id), WHOLE(id)) \
	:: else -> STORE((at) + 1, HALF2(id), HALF2(id)) \
	fi

#define COMMIT_PUBLISH(to) \
	assert(fate[id] == 0); \
	fate[id] = PUBLISHED; \
	published = published + (to) - h; \
	before_last = drops; \
	k = h; \
	do \
	:: k != (to) -> before[k % SIZE] = drops; k++ \
	:: else -> k = 0; break \
	od; \
	head = (to)

#define COMMIT_DROP \
	assert(fate[id] == 0); \
	fate[id] = DROPPED; \
	drops++

/* the emit returns to the program */
#define RETURN \
	assert(fate[id] != 0); \
	left[t]--; \
	stage[t] = NEW; \
	size[t] = 0

#define DO_LATER(x)	stage[t] = LATER; later[t] = (x)

proctype cpu()
{
	byte t, id, h, e, k;	/* thread, record, head, where the record goes, scratch */
	bool lost;

next:	atomic {
		h = 0; e = 0; k = 0; lost = false;
		if
		:: HAS_WORK(0) -> t = 0
		:: HAS_WORK(1) -> t = 1
		:: HAS_WORK(2) -> t = 2
		:: else -> t = 0; goto done
		fi;
		id = RECORD(t);
		if
		:: stage[t] == NEW && t != LONG -> stage[t] = FAST; N = 1; goto next
		:: stage[t] == NEW && (t == LONG || LONG == ANY) ->
			stage[t] = FAST; N = 2; goto next
		:: stage[t] == FAST -> goto fast
		:: stage[t] == SLOW -> goto slow
		:: stage[t] == RAISE -> goto raise
#ifdef LATER_STORES
		:: stage[t] == LATER -> goto later_store
#endif
		fi
	};

fast:	/* One check; every "no" and every abort goes to the slow sequence. */
	BEGIN(skip);
	if
	:: h + N <= bound && FITS_PAGE(h) -> e = h; goto record
	:: else -> stage[t] = SLOW
	fi;

slow:	/* LOST, padding and record, or a drop */
	BEGIN(
		lost = (mark == h + 1);
#ifdef LOST_UNPAID
		e = h
#else
		e = h + lost
#endif
	);
	e = (FITS_PAGE(e) -> e : e + 1);
	STEP(k = tail + SIZE);
	if
	:: e + N > k -> goto drop
	:: e + N <= k
	:: e + N <= k -> goto drop
	fi;
#ifdef LOST_UNPAID
	e = h + lost;
	e = (FITS_PAGE(e) -> e : e + 1);
#endif
	if
	:: lost -> STEP(STORE(h, LOST, drops))
	:: else
	fi;
	if
	:: h + lost != e -> STEP(STORE(h + lost, PAD, 0))
	:: else
	fi;

record:
	STEP(STORE_FIRST(e));
#ifdef EARLY_PUBLISH
	STEP(COMMIT_PUBLISH(e + N); DO_LATER(e));
#else
	STEP(STORE_LAST(e));
#ifdef NO_ABORT
	DO_LATER(e);
#else
	STEP(COMMIT_PUBLISH(e + N);
	     if
	     :: stage[t] == FAST -> RETURN
	     :: else -> stage[t] = RAISE
	     fi);
#endif
#endif
	goto next;

drop:	/* mark and bound may stand in either order: both stand before the commit */
#ifdef BOUND_FIRST
	STEP(bound = h);
	STEP(mark = h + 1);
#else
#ifndef MARK_AFTER
	STEP(mark = h + 1);
#endif
#ifndef NO_LOWER
	STEP(bound = h);
#endif
#endif
#ifdef MARK_AFTER
	STEP(COMMIT_DROP; DO_LATER(h + 1));
#else
#ifdef DROP_OUTSIDE
	DO_LATER(0);
#else
	STEP(COMMIT_DROP; RETURN);
#endif
#endif
	goto next;

raise:	/* A sequence of its own: a drop may have come in since the commit. */
	BEGIN(lost = (mark == h + 1));
#ifndef RAISE_PENDING
	if
	:: lost -> RETURN; goto next
	:: else
	fi;
#endif
	STEP(k = tail + SIZE);
#ifdef RAISE_OUTSIDE
	DO_LATER(k);
#else
	STEP(bound = k; RETURN);
#endif
	goto next;

preempted:
	/* The raising sequence need not be tried again: the next slow one brings another. */
	atomic {
		WIPE;
		if
		:: stage[t] == FAST -> stage[t] = SLOW
		:: stage[t] == SLOW
		:: stage[t] == RAISE
		:: stage[t] == RAISE -> RETURN
		fi;
		goto next
	};

#ifdef LATER_STORES
later_store:
	atomic {
#if defined(RAISE_OUTSIDE)
		bound = later[t];
#elif defined(MARK_AFTER)
		mark = later[t];
#elif defined(DROP_OUTSIDE)
		COMMIT_DROP;
#elif defined(EARLY_PUBLISH)
		k = later[t] + N - 1;
		word_a[k % SIZE] = (N == 1 -> WHOLE(id) : HALF2(id));
		word_b[k % SIZE] = word_a[k % SIZE];
#elif defined(NO_ABORT)
		h = later[t];
		COMMIT_PUBLISH(h + N);
#endif
		later[t] = 0;
		RETURN;
		goto next
	};
#endif
done:	skip
}

/* scratch of the checks, not part of a state */
hidden byte p, ids, a, b, lost_now, count, dropped;

/* Where all stood still from here on, would a reader find everything accounted for? */
inline audit()
{
	assert(published == head && tail <= head && head - tail <= SIZE);
	lost_now = lost_seen; count = 0; p = tail;
	do
	:: p != head ->
		a = word_a[p % SIZE]; b = word_b[p % SIZE];
		if
		:: a == LOST -> assert(b == before[p % SIZE]); lost_now = b
		:: a == PAD -> assert(p % PAGE == PAGE - 1)
		:: else ->
			assert(IS_REC(a) && a == b && fate[ID(a)] == PUBLISHED);
			assert(before[p % SIZE] == lost_now);
			count = count + (a & 2) / 2;
			assert(a != HALF1(ID(a)) || word_a[(p + 1) % SIZE] == HALF2(ID(a)));
			assert(a != HALF2(ID(a)) || p == tail || word_a[(p - 1) % SIZE] == HALF1(ID(a)))
		fi;
		p++
	:: else -> break
	od;
	assert(before_last == lost_now);	/* the rest of drops is the hole at the end */

	/* as many ids published as there are records: with the above, each exactly once */
	dropped = 0; ids = 0;
	do
	:: ids < IDS ->
		if
		:: fate[ids] == PUBLISHED -> count--
		:: fate[ids] == DROPPED -> dropped++
		:: else
		fi;
		ids++
	:: else -> break
	od;
	assert(count == 0 && dropped == drops);
	p = 0; ids = 0; a = 0; b = 0; lost_now = 0; dropped = 0
}

proctype reader()
{
	byte word;

	do
	:: d_step { audit() }
	:: atomic { tail != head ->
		word = word_a[tail % SIZE];
		if
		:: word == LOST -> lost_seen = word_b[tail % SIZE]
		:: word != LOST
		fi;
#ifdef READER_EARLY
		tail++
		};
	   atomic {
		word = word_a[(tail - 1) % SIZE];
#endif
		if
		:: word < LOST && (word & 2) ->
			assert(IS_REC(word) && fate[ID(word)] == PUBLISHED);
			fate[ID(word)] = RECEIVED
		:: else
		fi;
		word = 0;
#ifndef READER_EARLY
		word_a[tail % SIZE] = 0; word_b[tail % SIZE] = 0; before[tail % SIZE] = 0;
		tail++
#endif
		}
	od
}

init
{
	d_step {
		bound = SIZE;
		left[0] = EMITS0; left[1] = EMITS1; left[2] = EMITS2;
		stage[0] = NEW; stage[1] = NEW; stage[2] = NEW
	};
	run cpu();
	run reader()
}
