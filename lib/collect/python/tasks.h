/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The task of asyncio that a sampled thread runs.
 */
#ifndef XSP_PYTHON_TASKS_H
#define XSP_PYTHON_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/xsprof.h>

#define PYTHON_TASK_MAX	144u

/**
 * struct python_task - the task of asyncio in which a thread was
 * @id: identifies its name; 0: in none that is known
 * @name: its name; 0: not named yet
 * @at: index of its coroutine's frame
 * @text: what it is called, if it is not named yet
 */
struct python_task {
	uint64_t	id;
	xsprof_name_t	name;
	uint32_t	at;
	char		text[PYTHON_TASK_MAX];
};

/**
 * struct python_tasks - where asyncio keeps what; offsets in bytes
 * @coroutine: in a task: of its coroutine
 * @name: in a task: of its name, a str, or an int since 3.13
 * @frame: in a coroutine: of its frame
 * @frame_inside: the frame itself is there, not a pointer to it
 * @loops: a dict from event loops to their current tasks; NULL: these are in threads' states
 * @keys: in that dict: of the address of its keys and values
 * @state: in a thread's state: of the current task
 * @number: in an int: of its digit; 0: not found
 * @number_has: the word before it, of positive ints with one digit: a large and a small one
 * @number_type: the type of ints
 */
struct python_tasks {
	uint32_t	coroutine;
	uint32_t	name;
	uint32_t	frame;
	bool		frame_inside;
	const char	*loops;
	uint32_t	keys;
	uint32_t	state;
	uint32_t	number;
	uint64_t	number_has[2];
	const void	*number_type;
};

extern struct python_tasks python_tasks;

/* Is that known? WANTED: a coroutine was met. ASKED: Python will call. BUSY: it is being found. */
enum { PYTHON_TASKS_NEW, PYTHON_TASKS_WANTED, PYTHON_TASKS_ASKED, PYTHON_TASKS_BUSY,
       PYTHON_TASKS_READY, PYTHON_TASKS_OFF };

extern int python_tasks_state;

/* ---- tasks.c --------------------------------------------------------------------------------- */

struct python_reading;

void python_tasks_init(int category);
/*
 * Sets the task of a reading that has a coroutine. @state: the thread's. Signal-safe, like the
 * function that follows.
 */
void python_task_read(struct python_reading *reading, const void *state);
/* There is no room for further names or stacks: samples may have to do without their task. */
bool python_tasks_spent(void);
/* Names the task if it is new; called by tick.c only. It may stay without a name. */
void python_task_name(struct python_task *task);
/* A new stack with a task is to be recorded. Return: false: there is no room. */
bool python_task_stack(void);

/* ---- tasks-find.c: where asyncio keeps what -------------------------------------------------- */

/* The ticking thread looks up nothing, as a thread that forks may hold the linker's lock. */
void python_tasks_find_init(void);
/* Asks Python's main thread to find out, if that is wanted. @now: CLOCK_MONOTONIC, ns. */
void python_tasks_look(uint64_t now);
/* In a forked child. */
void python_tasks_forked(void);

#endif /* XSP_PYTHON_TASKS_H */
