/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rseq ring in OVERWRITE mode: the writer checks nothing and goes round for ever;
 * a reader copies, reads head again, and trusts a record that starts at p only if
 *
 *	p + size >= head + MARGIN
 *
 * Checked on every interleaving: a trusted record is the very one that was published
 * at p, with no slot of a newer or an unfinished one; and where a reader without a
 * cursor sets in, the first page boundary that the rule allows, a record begins.
 *
 * What is modelled, and why it is enough:
 *
 *  - One sequence may touch slots that it has not published: padding to the end of the
 *    page, at most one slot less than the longest record, and the record. In the ring
 *    that is 7 + 8 = 15, here, with records of one and two slots, 1 + 2 = 3. A LOST
 *    record would be one more, but in this mode a drop only happens where memory could
 *    not be had: before the ring is whole, when nothing is overwritten yet. (The lock
 *    rings, which can drop at any time, publish LOST by itself.)
 *  - A sequence may be aborted before any step (preemption, signal, migration, kill) and
 *    what it touched stays; another record, of another size, then begins at the same
 *    head. A touched slot is worth nothing (0) until the commit of the sequence that
 *    publishes it, whatever it holds meanwhile: stricter than the ring, and the states
 *    are fewer.
 *  - A record is trusted or not by its own slots and the second head alone. So the
 *    reader copies one record, any of those published, and not the whole ring.
 *  - Memory is sequentially consistent here: overwrite.litmus has the orders.
 *
 * Mutants, each to be found by spin:
 *   MARGIN=2        one less, for the reader with a cursor
 *   MARGIN=1        for the reader that sets in at a page: it needs 2 here, 8 in the ring
 *                   (the ring gives both the same margin)
 *   STALE_HEAD      the reader does not read head again
 *   EARLY_PUBLISH   head is stored before the last slot of the record
 */

#define PAGE	4	/* slots of a page: no record crosses one */
#define SIZE	8	/* slots of the ring */
#ifndef MARGIN
#define MARGIN	3
#endif
#ifndef END
#define END	18	/* the writer stops there: more than twice round */
#endif

byte head;
byte slot[SIZE];	/* 0 unfinished, else VALUE */
byte truth[SIZE];	/* what was published last at such a position */

/* Different for each position, of each kind; all kinds but SECOND begin a record. */
#define PADDING	1
#define WHOLE	2
#define FIRST	3
#define SECOND	4
#define VALUE(pos, kind)	((pos) * 5 + (kind))
#define KIND(value)		((value) % 5)

#ifdef EARLY_PUBLISH
#define TOUCHED	(e + n - 1)
#else
#define TOUCHED	(e + n)
#endif

#define PUBLISH(pos, kind) \
	slot[(pos) % SIZE] = VALUE(pos, kind); \
	truth[(pos) % SIZE] = VALUE(pos, kind)

proctype writer()
{
	byte n, e, k;

again:	atomic {
		k = head;
		if
		:: k < END -> n = 1; e = k
		:: k < END -> n = 2; e = (k % PAGE == PAGE - 1 -> k + 1 : k)
		:: k >= END -> goto done
		fi
	};
	/* Each slot from head on is touched in a step of its own, padding first. */
	do
	:: k != TOUCHED -> slot[k % SIZE] = 0; k++
	:: k == TOUCHED -> break
	:: goto again	/* aborted */
	od;
	atomic {
		if
		:: head != e -> PUBLISH(head, PADDING)
		:: else
		fi;
		if
		:: n == 1 -> PUBLISH(e, WHOLE)
		:: else -> PUBLISH(e, FIRST); PUBLISH(e + 1, SECOND)
		fi;
		head = e + n;
#ifdef EARLY_PUBLISH
		slot[(e + n - 1) % SIZE] = 0
	};
	atomic {
		slot[(e + n - 1) % SIZE] = truth[(e + n - 1) % SIZE];
#endif
		goto again
	};
done:	skip
}

/* copies of the slots p and p + 1 against what was published there */
#define IS_EXACT(p, a, b) \
	((a) == truth[(p) % SIZE] && (a) / 5 == (p) && \
	 (KIND(a) != FIRST || (b) == VALUE((p) + 1, SECOND)))

#ifndef BY_PAGE
/* A reader with a cursor: p, a record's beginning, as the walk from record to record has it */
proctype reader_cursor()
{
	byte p, a, b, again;

	do
	:: atomic { head > 0 ->
		/* any record that is there when the copying begins, the oldest ones too */
		p = (head > SIZE -> head - SIZE : 0);
		do
		:: p < head - 1 -> p++
		:: break
		od;
		if
		:: KIND(truth[p % SIZE]) != SECOND && truth[p % SIZE] / 5 == p
		:: else -> goto next
		fi
	   };
#ifdef STALE_HEAD
		again = head;
#endif
		a = slot[p % SIZE];
		b = slot[(p + 1) % SIZE];
		d_step {
#ifndef STALE_HEAD
			again = head;
#endif
			if
			:: p + SIZE >= again + MARGIN -> assert(IS_EXACT(p, a, b))
			:: else
			fi
		};
next:		atomic { p = 0; a = 0; b = 0; again = 0 }
	od
}

#else
/* A reader without one: it copies, reads head, and sets in at the page that may be trusted */
proctype reader_page()
{
	byte p, a, b, again;

	do
	:: atomic { head > SIZE ->
		p = (head - SIZE + PAGE - 1) / PAGE * PAGE;
		do
		:: p + PAGE < head -> p = p + PAGE
		:: break
		od
	   };
#ifdef STALE_HEAD
		again = head;
#endif
		a = slot[p % SIZE];
		b = slot[(p + 1) % SIZE];
		d_step {
#ifndef STALE_HEAD
			again = head;
#endif
			if
			:: p + SIZE >= again + MARGIN ->
				assert(KIND(a) != SECOND && IS_EXACT(p, a, b))
			:: else
			fi;
			p = 0; a = 0; b = 0; again = 0
		}
	od
}
#endif

init
{
	atomic {
		run writer();
#ifdef BY_PAGE
		run reader_page()
#else
		run reader_cursor()
#endif
	}
}
