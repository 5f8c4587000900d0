/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The capture file: a header, then chunks.  This header defines the layout of both, for the writers
 * (recorder, self-recording program) and the decoder; Documentation/format.rst describes it. It
 * contains no code.
 *
 * A file is only appended to: cut off anywhere, it is valid up to its last whole chunk. It may end
 * with an index. Numbers are little-endian; chunks are aligned to 8 bytes. "Ticks" are those of the
 * markers' clock.
 */
#ifndef XSPROF_CAPTURE_H
#define XSPROF_CAPTURE_H

#include <stdint.h>

#include <xsprof/abi.h>

#define XSPROF_CAP_MAGIC	0x0a31706143707358ULL	/* "XspCap1\n" */
#define XSPROF_CAP_MAJOR	1	/* readers refuse any other */
#define XSPROF_CAP_MINOR	3	/* a higher one has chunks or fields that readers skip */
#define XSPROF_CHUNK_MAGIC	0x4b6e6843u		/* "ChnK" */

#define XSPROF_CHUNK_MAX	(4u << 20)	/* bytes of payload, stored or raw */
#define XSPROF_CAP_MAX_PRODUCERS 65536u		/* producers in one capture */

/**
 * struct xsprof_cap_header - the first 64 bytes
 * @magic: XSPROF_CAP_MAGIC
 * @major: XSPROF_CAP_MAJOR
 * @minor: XSPROF_CAP_MINOR
 * @header_size: bytes to the first chunk, at least 64, a multiple of 8
 * @flags: 0
 * @created: CLOCK_REALTIME in ns
 * @uuid: random
 * @reserved: 0
 * @crc: CRC-32C of the bytes before it
 */
struct xsprof_cap_header {
	uint64_t	magic;
	uint16_t	major;
	uint16_t	minor;
	uint32_t	header_size;
	uint64_t	flags;
	uint64_t	created;
	uint8_t		uuid[16];
	uint32_t	reserved[3];
	uint32_t	crc;
};

/**
 * enum xsprof_chunk_type - what a chunk's payload is
 * @XSPROF_CHUNK_HOST: text, "key=value\n" lines about the machine and the recorder
 * @XSPROF_CHUNK_CLOCK: struct xsprof_sync, any number
 * @XSPROF_CHUNK_PRODUCER: struct xsprof_cap_producer: a producer was found
 * @XSPROF_CHUNK_ARENA: bytes of @producer's arena entries, from byte @pos after its header
 * @XSPROF_CHUNK_RING: slots of ring @ring of @producer, from slot @pos on
 * @XSPROF_CHUNK_LEDGER: struct xsprof_cap_ledger, one for each ready ring of @producer; the
 *	newest counts
 * @XSPROF_CHUNK_EXIT: struct xsprof_cap_exit: @producer has ended
 * @XSPROF_CHUNK_THREADS: struct xsprof_cap_thread of @producer, any number
 * @XSPROF_CHUNK_NOTE: a message of the recorder about the recording
 * @XSPROF_CHUNK_END: struct xsprof_cap_end: the recorder ended regularly
 * @XSPROF_CHUNK_INDEX: struct xsprof_cap_index_entry for every chunk before; the last chunk
 * @XSPROF_CHUNK_KERNEL: struct xsprof_cap_section, any number: facts about the kernel's tracer that
 *	are needed to decode its events
 * @XSPROF_CHUNK_FTRACE: whole sub-buffers of the kernel's tracer, as read from trace_pipe_raw: of
 *	CPU @ring, from slot @pos on; @producer is 0xffffffff, and @first and @last are in the
 *	tracer's clock.  At most XSPROF_FTRACE_CHUNK_MAX bytes, or one sub-buffer
 * @XSPROF_CHUNK_SWITCH: struct xsprof_cap_switch: another process changed the set of @producer's
 *	categories
 *
 * An unknown type is skipped by its size.
 */
enum xsprof_chunk_type {
	XSPROF_CHUNK_HOST	= 1,
	XSPROF_CHUNK_CLOCK	= 2,
	XSPROF_CHUNK_PRODUCER	= 3,
	XSPROF_CHUNK_ARENA	= 4,
	XSPROF_CHUNK_RING	= 5,
	XSPROF_CHUNK_LEDGER	= 6,
	XSPROF_CHUNK_EXIT	= 7,
	XSPROF_CHUNK_THREADS	= 8,
	XSPROF_CHUNK_NOTE	= 9,
	XSPROF_CHUNK_END	= 10,
	XSPROF_CHUNK_INDEX	= 11,
	XSPROF_CHUNK_KERNEL	= 12,
	XSPROF_CHUNK_FTRACE	= 13,
	XSPROF_CHUNK_SWITCH	= 14,
};

/* Bytes: a reader has one such chunk per CPU in memory at a time. */
#define XSPROF_FTRACE_CHUNK_MAX	(64u << 10)

/*
 * Transformations of the payload, undone in reverse order. COLUMNS is for slots: a slot is four
 * 64-bit columns; the second is replaced by its difference to that of the slot before (the first
 * slot's to 0), then byte k of column c of all slots are stored together, c * 8 + k ascending. ZSTD
 * is one zstd frame.
 */
#define XSPROF_CHUNKF_ZSTD	0x1u
#define XSPROF_CHUNKF_COLUMNS	0x2u

/**
 * struct xsprof_chunk - header of a chunk; @stored bytes follow, padded with 0 to 8
 * @magic: XSPROF_CHUNK_MAGIC
 * @type: enum xsprof_chunk_type
 * @flags: XSPROF_CHUNKF_*
 * @stored: bytes that follow, without the padding
 * @raw: bytes after @flags are undone; equal to @stored when there are none
 * @producer: number of the producer in this capture, from 0; 0xffffffff for none
 * @ring: ring number, for RING
 * @pos: first slot (RING, FTRACE); first byte (ARENA); CLOCK: ns: all records that are older than
 *	its last sync point by more than this precede it in the file, 0 for two seconds; else 0
 * @first: ticks of the first record, 0 when not known; a hint
 * @last: ticks of the last record, 0 when not known; a hint
 * @crc: CRC-32C of the stored bytes
 * @header_crc: CRC-32C of this header up to here
 * @reserved: 0
 */
struct xsprof_chunk {
	uint32_t	magic;
	uint16_t	type;
	uint16_t	flags;
	uint32_t	stored;
	uint32_t	raw;
	uint32_t	producer;
	uint32_t	ring;
	uint64_t	pos;
	uint64_t	first;
	uint64_t	last;
	uint32_t	crc;
	uint32_t	header_crc;
	uint64_t	reserved;
};

#define XSPROF_NO_PRODUCER	0xffffffffu

/**
 * enum xsprof_cap_section_kind - what a section of a KERNEL chunk is
 * @XSPROF_SECTION_INFO: lines "key=value": clock, subbuf_size, data_offset, commit_offset,
 *	commit_size, long_size, release; until: ticks of that clock up to which every event that
 *	the tracer kept is in the file. The recorder writes the section again while it records;
 *	the last "until" is the end of the kernel's events
 * @XSPROF_SECTION_FORMAT: the name of a system, a newline, the text of an event's format file
 * @XSPROF_SECTION_SYMBOLS: lines "address name": names of the addresses in events
 * @XSPROF_SECTION_TASKS: lines "tid tgid comm"
 * @XSPROF_SECTION_PRINTK: the text of printk_formats
 *
 * A later section replaces an earlier one of the same meaning. Unknown kinds are skipped by their
 * size.
 */
enum xsprof_cap_section_kind {
	XSPROF_SECTION_INFO	= 1,
	XSPROF_SECTION_FORMAT	= 2,
	XSPROF_SECTION_SYMBOLS	= 3,
	XSPROF_SECTION_TASKS	= 4,
	XSPROF_SECTION_PRINTK	= 5,
};

/**
 * struct xsprof_cap_section - a text, which follows, padded with 0 to 8
 * @kind: enum xsprof_cap_section_kind
 * @len: bytes of it
 */
struct xsprof_cap_section {
	uint32_t	kind;
	uint32_t	len;
};

/**
 * struct xsprof_cap_producer - a producer as the recorder found it
 * @pid: process id as the recorder sees it, 0 if it is not in the recorder's PID namespace
 * @reserved: 0
 * @found: ticks at which it was found
 * @ctl: the control page's fields as they were then
 */
struct xsprof_cap_producer {
	uint32_t		pid;
	uint32_t		reserved;
	uint64_t		found;
	struct xsprof_ctl	ctl;
};

/**
 * struct xsprof_cap_ledger - the counts of one ring
 *
 * Without a producer (0xffffffff in its chunk) the counts are those of the kernel's tracer on one
 * CPU: drops are events that the tracer overwrote before they were read, busy those it dropped.
 *
 * @ring: ring number; CPU
 * @kind: enum xsprof_ring_kind
 * @head: slots published
 * @read: slots read and stored in this file
 * @skipped: slots that the writer overwrote before they were read (OVERWRITE)
 * @bad: damaged slots, skipped by the recorder; in a recovered capture also slots that the recorder
 *	read and did not store before it was killed
 * @drops: records the writer dropped (DISCARD)
 * @busy: records dropped because no lock was free
 * @unsaved: slots that were read but are not in this file: it had no room (a full disk), or another
 *	reader read them before
 *
 * head == read + skipped + bad + unsaved, when the producer has ended and been read to its end.
 */
struct xsprof_cap_ledger {
	uint32_t	ring;
	uint32_t	kind;
	uint64_t	head;
	uint64_t	read;
	uint64_t	skipped;
	uint64_t	bad;
	uint64_t	drops;
	uint64_t	busy;
	uint64_t	unsaved;
};

enum xsprof_cap_how {
	XSPROF_HOW_UNKNOWN	= 0,
	XSPROF_HOW_EXITED	= 1,	/* its exit handler ran, or its exit status is known */
	XSPROF_HOW_KILLED	= 2,	/* by the signal in status */
	XSPROF_HOW_EXEC		= 3,	/* replaced by another program */
	XSPROF_HOW_VANISHED	= 4,	/* ended without exit handler; status not known */
	XSPROF_HOW_RUNNING	= 5,	/* the recording ended first */
};

/**
 * struct xsprof_cap_exit - the end of a producer
 * @how: enum xsprof_cap_how
 * @status: exit status or signal
 * @ticks: when it ended: at the latest, see @lived
 * @nomem: records lost because there was no ring memory
 * @late: records lost while there was no ring to write to
 * @arena_missed: names, threads and facts that did not fit into the arena
 * @unsaved: records that were read but not stored for lack of room; 0 also if the recorder did not
 *	count them per producer
 * @lived: ticks at which the process still existed: it ended between @lived and @ticks.  Equal to
 *	@ticks if that is exact; 0 if not known.  Since minor version 1; version 0 has only the
 *	fields before it
 * @ran: ticks at which the program still ran: a killed process exists until the kernel has freed
 *	its memory, but its open ranges ended before.  0 if not known.  Since minor version 2
 */
struct xsprof_cap_exit {
	uint32_t	how;
	int32_t		status;
	uint64_t	ticks;
	uint64_t	nomem;
	uint64_t	late;
	uint64_t	arena_missed;
	uint64_t	unsaved;
	uint64_t	lived;
	uint64_t	ran;
};

/**
 * struct xsprof_cap_thread - a thread's name as the kernel gave it
 * @tid: thread id as in the records
 * @comm: the name, not always terminated
 */
struct xsprof_cap_thread {
	uint32_t	tid;
	char		comm[20];
};

/**
 * struct xsprof_cap_switch - another process changed the set of a producer's categories
 * @ticks: when; if @enabled is empty, ranges that were open then have no end in the rings
 * @count: number of such changes so far, from the control page
 * @enabled: the set from then on; added by minor version 3, 0 before
 */
struct xsprof_cap_switch {
	uint64_t	ticks;
	uint64_t	count;
	uint64_t	enabled;
};

/**
 * struct xsprof_cap_end - totals of the recording
 * @ticks: when it ended
 * @slots: slots stored
 * @lost_records: records lost, as far as records can be counted; including those for which the file
 *	had no room, which are not counted elsewhere
 * @lost_slots: slots lost in OVERWRITE rings
 * @producers: producers seen
 * @why: 0 the command ended, 1 stopped by a signal, 2 duration over, 3 error, 4 a snapshot
 * @reserved: 0
 */
struct xsprof_cap_end {
	uint64_t	ticks;
	uint64_t	slots;
	uint64_t	lost_records;
	uint64_t	lost_slots;
	uint32_t	producers;
	uint32_t	why;
	uint64_t	reserved[3];
};

/**
 * struct xsprof_cap_index_entry - where a chunk is
 * @offset: of its header in the file
 * @first: as in the chunk
 * @last: as in the chunk
 * @type: as in the chunk
 * @reserved: 0
 * @producer: as in the chunk
 * @ring: as in the chunk
 * @reserved1: 0
 */
struct xsprof_cap_index_entry {
	uint64_t	offset;
	uint64_t	first;
	uint64_t	last;
	uint16_t	type;
	uint16_t	reserved;
	uint32_t	producer;
	uint32_t	ring;
	uint32_t	reserved1;
};

XSPROF_ABI_ASSERT(sizeof(struct xsprof_cap_header) == 64);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_chunk) == 64);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_cap_section) == 8);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_cap_producer) == 16 + sizeof(struct xsprof_ctl));
XSPROF_ABI_ASSERT(sizeof(struct xsprof_cap_ledger) == 64);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_cap_exit) == 64);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_cap_thread) == 24);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_cap_switch) == 24);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_cap_end) == 64);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_cap_index_entry) == 40);

#endif /* XSPROF_CAPTURE_H */
