/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lock rings: two threads, each with a signal handler that may come at any moment
 * and emits too, and two rings for all of them; readers that consume. An emit may stop
 * for good anywhere (the thread is killed or parked, a handler jumps away with the lock
 * held). Checked on every interleaving:
 *
 *  - nothing waits for ever, whoever holds a lock and never gives it back: no state in
 *    which somebody has an emit to finish and nobody can go on;
 *  - one writer at a time in a ring, and no word stored in a published slot;
 *  - the ledger: every emit that returned was published once or counted once, in drops
 *    or in busy; a LOST record never counts what did not happen, and no count is
 *    forgotten: what was reported is never more than was dropped.
 *
 * What is modelled, and why it is enough:
 *
 *  - Every load and store of shared words is a step, but those of a ring's words under
 *    its lock that no other writer changes. busy is changed by an atomic add.
 *  - A waiting thread yields between its rounds: a bounded number of them (one more
 *    here, 64 in lib/lock-ring.c) for a thread that found no lock of its own.
 *  - Instead of killing the process, audit() asks in every state whether the rings as
 *    they are account for all that was committed.
 *  - Memory is sequentially consistent: the lock's acquire and release order the rest.
 *
 * audit() can always be run, so it hides a state in which nothing else can: the first
 * two properties are checked without a reader (NO_READER), by spin's invalid end states.
 * No writer waits for the reader, so it takes nothing away.
 *
 * Mutants, each to be found by spin:
 *   NESTED_WAITS    a handler over its own thread's lock waits for a free ring
 *   OTHERS_WAIT     others wait for a free ring, without a bound
 *   STEAL_OWN       a handler over its own thread's lock takes that as its own
 *   UNLOCK_EARLY    the lock is given back before head is stored
 *   BUSY_PLAIN      busy is counted by a load and a store
 */

#define RINGS	2
#define SIZE	2	/* slots of a ring; a record takes one, LOST one */
#define IDS	4
#define LOST	10	/* and the count */
#define NOBODY	9
#ifndef STOPS
#define STOPS	1	/* emits that stop half way: 2 put both rings out of service */
#endif

/* per ring */
byte owner[RINGS] = NOBODY;	/* the thread that holds the lock */
byte head[RINGS], tail[RINGS], drops[RINGS], busy[RINGS], reported[RINGS];
byte slot[4];			/* SIZE of each ring; 0 unfinished, LOST + count, id + 1 */
#define AT(r, p)	((r) * SIZE + (p) % SIZE)

bool in_handler[2];
byte stops = STOPS;

/* what really happened, for the checks alone */
mtype = { PUBLISHED, DROPPED, RECEIVED };
mtype fate[IDS];

byte lost_seen[RINGS];		/* the last LOST that the reader took */

/* A step of an emitter: not while a handler is on top of its thread. Or it stops there. */
#define STEP(x) \
	if \
	:: atomic { handler || !in_handler[tid] -> x } \
	:: atomic { (handler || !in_handler[tid]) && stops > 0 -> stops--; goto gone } \
	fi

#define ANY_FREE	(owner[0] == NOBODY || owner[1] == NOBODY)
#define STORE(p, word) \
	assert((p) >= head[r] && (p) - tail[r] < SIZE); \
	slot[AT(r, p)] = word

proctype emitter(byte tid, id; bool handler)
{
	byte r, h, total, rounds;
	bool own, lost;

	STEP(in_handler[tid] = in_handler[tid] || handler);

look:	/* one pass over the rings: the first that is free */
	do
	:: r < RINGS ->
		STEP(if
		     :: owner[r] == NOBODY -> owner[r] = tid; goto locked
		     :: owner[r] == tid -> own = true
		     :: else
		     fi);
#ifdef STEAL_OWN
		if
		:: own -> goto locked
		:: else
		fi;
#endif
		r++
	:: else -> r = 0; break
	od;
	if
#ifdef NESTED_WAITS
	:: own -> STEP(ANY_FREE; own = false; goto look)
#endif
#ifdef OTHERS_WAIT
	:: !own -> STEP(ANY_FREE; goto look)
#endif
	:: !own && rounds == 0 -> rounds++; goto look
	:: else
	fi;
#ifdef BUSY_PLAIN
	STEP(total = busy[0]);
	STEP(busy[0] = total + 1; fate[id] = DROPPED);
#else
	STEP(busy[0]++; fate[id] = DROPPED);
#endif
	goto returned;

locked:
	STEP(total = drops[r] + busy[r]; lost = (total != reported[r]); h = head[r]);
	STEP(if
	     :: h + lost + 1 - tail[r] > SIZE -> drops[r]++; fate[id] = DROPPED; goto unlock
	     :: else
	     fi);
	if
	:: lost -> STEP(STORE(h, LOST + total); h++)
	:: else
	fi;
	STEP(STORE(h, id + 1); h++);
#ifdef UNLOCK_EARLY
	STEP(owner[r] = NOBODY);
#endif
	STEP(assert(fate[id] == 0 && h == head[r] + lost + 1); head[r] = h; fate[id] = PUBLISHED);
	/* After the commit: a stop in between repeats a LOST, which adds nothing. */
	if
	:: lost -> STEP(reported[r] = total)
	:: else
	fi;
unlock:
#ifndef UNLOCK_EARLY
	STEP(assert(owner[r] == tid); owner[r] = NOBODY);
#endif

returned:
	STEP(assert(fate[id] != 0); in_handler[tid] = in_handler[tid] && !handler);
	goto over;

gone:	/* Of a handler: it jumped away, and its thread goes on with what it was at. */
	in_handler[tid] = in_handler[tid] && !handler;
over:
	atomic { r = 0; h = 0; total = 0; rounds = 0; own = false; lost = false }
}

/* scratch of the checks, not part of a state */
#ifndef NO_READER
hidden byte ring, p, word, last, lost_sum, count;

/* Where all stood still from here on, would a reader find everything accounted for? */
inline audit()
{
	lost_sum = 0; count = 0; ring = 0;
	do
	:: ring < RINGS ->
		assert(tail[ring] <= head[ring] && head[ring] - tail[ring] <= SIZE);
		assert(reported[ring] <= drops[ring] + busy[ring]);
		lost_sum = lost_sum + drops[ring] + busy[ring];
		last = lost_seen[ring]; p = tail[ring];
		do
		:: p != head[ring] ->
			word = slot[AT(ring, p)];
			if
			:: word >= LOST ->
				assert(word - LOST <= drops[ring] + busy[ring]);
				assert(word - LOST >= last);
				last = word - LOST
			:: else ->
				assert(word > 0 && fate[word - 1] == PUBLISHED);
				count++
			fi;
			p++
		:: else -> break
		od;
		assert(reported[ring] <= last);	/* what counts as told was told */
		ring++
	:: else -> break
	od;
	p = 0;
	do
	:: p < IDS ->
		if
		:: fate[p] == PUBLISHED -> count--
		:: fate[p] == DROPPED -> lost_sum--
		:: else
		fi;
		p++
	:: else -> break
	od;
	assert(count == 0 && lost_sum == 0);
	ring = 0; p = 0; word = 0; last = 0
}

#define TAKE(r) \
	atomic { tail[r] != head[r] -> \
		if \
		:: slot[AT(r, tail[r])] >= LOST -> lost_seen[r] = slot[AT(r, tail[r])] - LOST \
		:: else -> \
			assert(fate[slot[AT(r, tail[r])] - 1] == PUBLISHED); \
			fate[slot[AT(r, tail[r])] - 1] = RECEIVED \
		fi; \
		slot[AT(r, tail[r])] = 0; \
		tail[r]++ \
	}

proctype reader()
{
end:
	do
	:: d_step { audit() }
	:: TAKE(0)
	:: TAKE(1)
	od
}
#endif

init
{
	atomic {
#ifndef NO_READER
		run reader();
#endif
		run emitter(0, 0, false);
		run emitter(0, 1, true);
		run emitter(1, 2, false);
		run emitter(1, 3, true)
	}
}
