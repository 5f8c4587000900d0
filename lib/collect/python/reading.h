/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What is read of Python's memory: the frames of a thread, their code objects, and what names them.
 */
#ifndef XSP_PYTHON_READING_H
#define XSP_PYTHON_READING_H

#include <sys/uio.h>

#include "collect/python/local.h"
#include "collect/python/tasks.h"

/* ---- text.c: Python's strings ---------------------------------------------------------------- */

/* Called with the GIL. Return: false: strings do not look as expected. */
bool python_text_find(void);

#define PYTHON_TEXT_HEAD	48u	/* bytes of a string object that identify its kind */
#define PYTHON_TEXT_SPAN	192u	/* bytes that hold most strings completely */

/*
 * A hash of a string. @head: its first @known bytes, at least PYTHON_TEXT_HEAD. @data: buffer for
 * its characters, used if Python has not computed a hash; no more than fit are hashed.
 *
 * Return: 0: not such a string.
 */
uint64_t python_text_id(const void *object, const char *head, size_t known, char *data,
			uint32_t size);
/*
 * Copies a string as UTF-8, cut at its begin to @size and terminated. An empty string gives a
 * placeholder. @data: as above.
 *
 * Return: false: not such a string.
 */
bool python_text_read(const void *object, char *to, uint32_t size, char *data, uint32_t room);

/* ---- sample-code.c: what codes are called ---------------------------------------------------- */

#define PYTHON_CODE_SPAN	256u	/* bytes read of a code object */
#define PYTHON_FILE_MAX		240u
#define PYTHON_FUNCTION_MAX	144u

/**
 * struct sampled_code - a code object as read
 * @id: identifies its names and first line
 * @name: its name; 0: not named yet
 * @hidden: made up by Python: not shown
 * @immortal: it is never freed, as long as its interpreter runs
 * @first: its first line
 * @file: id of its file, if it is not named yet
 * @function: id of its function, likewise
 */
struct sampled_code {
	uint64_t	id;
	xsprof_name_t	name;
	bool		hidden;
	bool		immortal;
	int32_t		first;
	char		file[PYTHON_FILE_MAX];
	char		function[PYTHON_FUNCTION_MAX];
};

/* Called with the GIL. Return: false: code objects do not look as expected. */
bool python_code_find(void);
/* Bytes of a code object that must be read. */
uint32_t python_code_size(void);

#define PYTHON_TEXTS		2u	/* strings that name a code: file and function */

/* The addresses of these strings. @bytes: of a code object. Return: false: it is not one. */
bool python_code_texts(const char *bytes, const void *text[PYTHON_TEXTS]);
/* @ids: hashes of its strings; @data: buffer for characters. Return: false: not a code object. */
bool python_code_read(struct sampled_code *code, const char *bytes,
		      const uint64_t ids[PYTHON_TEXTS], char *data, uint32_t room);
/* The address of the object with its line table; NULL: none. */
const void *python_code_lines(const char *bytes);
/*
 * The line at an offset in a code; 0: unknown. @buffer: for the line table, of which at most @room
 * bytes are used; the first @got bytes have been read already.
 */
uint32_t python_code_line(const char *bytes, int32_t at, char *buffer, size_t got, size_t room);
/* Is it the code of a coroutine? */
bool python_code_awaits(const char *bytes);
/* Names the code if it is new; called by tick.c only. */
void python_code_name(struct sampled_code *code, const void *at);
/* Code object that 3.12 uses where C calls Python, once one was seen. */
extern const void *python_code_hidden;
/* Forgets it: another interpreter has its own. */
void python_code_again(void);
void python_code_init(int category);

/* ---- lines.c: line tables -------------------------------------------------------------------- */

enum python_lines { PYTHON_LINES_NONE, PYTHON_LINES_PAIRS, PYTHON_LINES_RANGES,
		    PYTHON_LINES_PLACES };

/*
 * @kind: format of 3.9, 3.10, or 3.11 and later; @at: offset in the code, in bytes. Return: 0: not
 *	in the table.
 */
uint32_t python_line_at(enum python_lines kind, const uint8_t *table, uint32_t size, int32_t first,
			int32_t at);

/* ---- frames.c: the walk ---------------------------------------------------------------------- */

#define PYTHON_DEPTH	64u	/* frames kept */
#define PYTHON_WALKED	4096u	/* frames counted; of a deeper stack the count is a lower bound */

enum { PYTHON_PAGE = 4096 };

#define PYTHON_WAYS	64u
#define PYTHON_GUESSES	64u
#define PYTHON_STRAYS	32u
#define PYTHON_FRAME	128u	/* bytes of a frame that are enough in all versions */

/**
 * struct python_way - addresses that a thread's state led to at its last sample
 * @state: the Python thread state
 * @inner: address, in a structure it points to, of the pointer to the innermost frame
 * @from: begin of the memory that had its frames
 * @to: its end; 0: unknown
 * @strays: number of frames elsewhere: of coroutines, and of C code that called Python
 * @stray: addresses of these, innermost first
 */
struct python_way {
	const void	*state;
	uintptr_t	inner;
	uintptr_t	from;
	uintptr_t	to;
	uint32_t	strays;
	uintptr_t	stray[PYTHON_STRAYS];
};

/**
 * struct python_guess - what a code object pointed to when it was last read
 * @code: its address
 * @text: the strings that name it
 * @lines: its line table
 */
struct python_guess {
	const void	*code;
	const void	*text[PYTHON_TEXTS];
	const void	*lines;
};

/**
 * struct python_head - the first bytes of a string
 * @at: its address; NULL: not read
 * @known: bytes that were read
 * @bytes: these
 */
struct python_head {
	const void	*at;
	uint32_t	known;
	char		bytes[PYTHON_TEXT_SPAN];
};

/**
 * struct python_reading - the frames of a thread as read
 * @nr: number of frames kept, innermost first
 * @left: number of further frames
 * @line: line of the innermost frame; 0: unknown
 * @code: code objects as read
 * @at: addresses of the code objects
 * @frame: addresses of the frames
 * @entry: C called the frame, as far as the frame tells
 * @bares: number of frames without a code object, as far as there is room
 * @bare: addresses of these
 * @strays: of the way's frames elsewhere, number of those that were read
 * @stray: their bytes
 * @place: offset in the code of the innermost frame
 * @task: the task of asyncio in which the thread is
 * @ways: cache by state; several states may share an entry
 * @guesses: cache by code object, likewise
 * @window: buffer for Python's memory
 * @view: the part of @window that holds the addresses @from to @to
 * @lines: line table of the innermost frame
 * @lines_at: its address; NULL: not read
 * @lines_got: bytes of it that were read
 * @bytes: bytes of the code objects
 * @text: addresses of the strings that name them
 * @id: hashes of these strings
 * @head: first bytes of those that differ from the frame's before
 * @local: destination buffers of the read call
 * @remote: source addresses of the read call
 */
struct python_reading {
	uint32_t		nr;
	uint32_t		left;
	uint32_t		line;
	struct sampled_code	code[PYTHON_DEPTH];
	const void		*at[PYTHON_DEPTH];
	uintptr_t		frame[PYTHON_DEPTH];
	bool			entry[PYTHON_DEPTH];
	uint32_t		bares;
	uintptr_t		bare[PYTHON_STRAYS];
	uint32_t		strays;
	char			stray[PYTHON_STRAYS][PYTHON_FRAME];
	int32_t			place;
	struct python_task	task;
	uintptr_t		from;
	uintptr_t		to;
	struct python_way	ways[PYTHON_WAYS];
	struct python_guess	guesses[PYTHON_GUESSES];
	char			window[2 * PYTHON_PAGE];
	const char		*view;
	char			lines[2 * PYTHON_PAGE];
	const void		*lines_at;
	size_t			lines_got;
	char			bytes[PYTHON_DEPTH][PYTHON_CODE_SPAN];
	const void		*text[PYTHON_DEPTH][PYTHON_TEXTS];
	uint64_t		id[PYTHON_DEPTH][PYTHON_TEXTS];
	struct python_head	head[PYTHON_DEPTH][PYTHON_TEXTS];
	struct iovec		local[PYTHON_DEPTH * (PYTHON_TEXTS + 1) + 2];
	struct iovec		remote[PYTHON_DEPTH * (PYTHON_TEXTS + 1) + 2];
};

/*
 * Reads the frames of the thread with @state. Return: false: not a valid stack of frames, as while
 * Python changes it. Signal-safe.
 */
bool python_read_frames(struct python_reading *reading, const void *state);
/* Adds an item to those that one call reads. Return: the number of items. */
static inline uint32_t python_reading_add(struct python_reading *reading, uint32_t n, void *to,
					  uintptr_t from, size_t len)
{
	reading->local[n] = (struct iovec){ to, len };
	reading->remote[n] = (struct iovec){ (void *)from, len };
	return n + 1;
}

/* ---- frame-codes.c: the code objects of the frames ------------------------------------------- */

/* Reads those of @reading->at, of which there is at least one. Return: as above. Signal-safe. */
bool python_read_codes(struct python_reading *reading);
/* Is one of them a coroutine's? */
bool python_reading_awaits(const struct python_reading *reading);

#endif /* XSP_PYTHON_READING_H */
