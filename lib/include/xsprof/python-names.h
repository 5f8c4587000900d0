/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Names of the records about Python's global lock (GIL) and garbage collector, which the collector
 * of Python writes and readers of traces look for.  Documentation/python-record.rst has their
 * meaning.
 */
#ifndef XSPROF_PYTHON_NAMES_H
#define XSPROF_PYTHON_NAMES_H

#define XSPROF_PYTHON_CATEGORY	"python"
#define XSPROF_GIL_WAIT		"GIL wait"		/* a range of the waiting thread */
#define XSPROF_GIL_TAKEN	"GIL taken"		/* an instant: it did not wait */
#define XSPROF_GIL_HELD		"GIL held, wanted"	/* a span of the thread that had it */
#define XSPROF_PYTHON_COLLECTION "garbage collection"	/* a range */
#define XSPROF_GIL_KEY_HOLDER	"held_by"		/* u64: the thread that had the lock */
#define XSPROF_GIL_KEY_TAKEN	"taken"			/* u64: 0 at the end: without the lock */
#define XSPROF_GIL_KEY_LOCK	"gil"			/* u64: an interpreter's own lock */

#endif /* XSPROF_PYTHON_NAMES_H */
