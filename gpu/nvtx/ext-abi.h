/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * ABI of the NVTX extensions for payloads with schemas and for counters.  Written independently of
 * NVIDIA's headers; tests/nvtx/ext-abi.c compares it with them.
 */
#ifndef XSPROF_NVTX_EXT_ABI_H
#define XSPROF_NVTX_EXT_ABI_H

#include <stddef.h>
#include <stdint.h>

/* ---- modules --------------------------------------------------------------------------------- */

enum nvtx_ext_module { NVTX_EXT_PAYLOAD = 2, NVTX_EXT_COUNTERS = 4 };

enum nvtx_ext_payload {
	NVTX_EXT_SCHEMA_REGISTER, NVTX_EXT_ENUM_REGISTER, NVTX_EXT_MARK, NVTX_EXT_PUSH,
	NVTX_EXT_POP, NVTX_EXT_START, NVTX_EXT_END, NVTX_EXT_IS_ENABLED, NVTX_EXT_TIMESTAMP_GET,
	NVTX_EXT_TIME_DOMAIN, NVTX_EXT_TIMER, NVTX_EXT_TIMER_DATA, NVTX_EXT_SCOPE,
	NVTX_EXT_SYNC_POINT, NVTX_EXT_SYNC_TABLE, NVTX_EXT_CONVERSION, NVTX_EXT_EVENT,
	NVTX_EXT_EVENT_BATCH
};

enum nvtx_ext_counters {
	NVTX_EXT_COUNTER_REGISTER, NVTX_EXT_SAMPLE_I64, NVTX_EXT_SAMPLE_F64, NVTX_EXT_SAMPLE,
	NVTX_EXT_SAMPLE_NONE, NVTX_EXT_BATCH
};

struct nvtx_ext_segment {
	size_t		id;
	size_t		nr_slots;
	intptr_t	*slots;
};

struct nvtx_ext_info {
	uint16_t		version;
	uint16_t		size;
	uint16_t		module;
	uint16_t		compat;
	size_t			nr_segments;
	struct nvtx_ext_segment	*segments;
	void			*get_export;
	const void		*info;
};

/* ---- payloads -------------------------------------------------------------------------------- */

struct nvtx_payload {
	uint64_t	schema;
	size_t		size;		/* SIZE_MAX: unknown */
	const void	*data;
};

/* C types, types of fixed size, and others; a value of any other type becomes no argument. */
enum nvtx_type {
	NVTX_TYPE_CHAR = 1, NVTX_TYPE_UCHAR, NVTX_TYPE_SHORT, NVTX_TYPE_USHORT, NVTX_TYPE_INT,
	NVTX_TYPE_UINT, NVTX_TYPE_LONG, NVTX_TYPE_ULONG, NVTX_TYPE_LLONG, NVTX_TYPE_ULLONG,
	NVTX_TYPE_I8, NVTX_TYPE_U8, NVTX_TYPE_I16, NVTX_TYPE_U16, NVTX_TYPE_I32, NVTX_TYPE_U32,
	NVTX_TYPE_I64, NVTX_TYPE_U64, NVTX_TYPE_FLOAT, NVTX_TYPE_DOUBLE, NVTX_TYPE_LDOUBLE,
	NVTX_TYPE_SIZE, NVTX_TYPE_ADDRESS,
	NVTX_TYPE_BYTE = 32, NVTX_TYPE_F32 = 43, NVTX_TYPE_F64 = 44,
	NVTX_TYPE_CATEGORY = 68, NVTX_TYPE_COLOR, NVTX_TYPE_SCOPE, NVTX_TYPE_PID32,
	NVTX_TYPE_PID64, NVTX_TYPE_TID32, NVTX_TYPE_TID64, NVTX_TYPE_CSTRING, NVTX_TYPE_UTF8,
	NVTX_TYPE_STRING_HANDLE = 80,
	NVTX_TYPES
};

#define NVTX_ENTRY_POINTER	(1u << 1)
#define NVTX_ENTRY_FROM		(3u << 2)	/* offsets */
#define NVTX_ENTRY_ARRAY	(7u << 4)
#define NVTX_ENTRY_ARRAY_FIXED	(1u << 4)
#define NVTX_ENTRY_ARRAY_ZERO	(2u << 4)
#define NVTX_ENTRY_ARRAY_FIELD	(3u << 4)
#define NVTX_ENTRY_ARRAY_PAYLOAD (4u << 4)
#define NVTX_ENTRY_MESSAGE	(1u << 10)

struct nvtx_schema_entry {
	uint64_t	flags;
	uint64_t	type;		/* or the id of a schema or enumeration */
	const char	*name;
	const char	*description;
	uint64_t	length;		/* of an array or a text, or index of the entry with it */
	uint64_t	offset;		/* 0: right after the previous entry */
	const void	*semantics;
	const void	*reserved;
};

#define NVTX_SCHEMA_STATIC	1	/* offsets are the same in each payload */
#define NVTX_SCHEMA_DYNAMIC	2

enum {
	NVTX_SCHEMA_HAS_NAME = 1 << 1, NVTX_SCHEMA_HAS_TYPE = 1 << 2,
	NVTX_SCHEMA_HAS_ENTRIES = 1 << 4, NVTX_SCHEMA_HAS_NR_ENTRIES = 1 << 5,
	NVTX_SCHEMA_HAS_SIZE = 1 << 6, NVTX_SCHEMA_HAS_ALIGN = 1 << 7, NVTX_SCHEMA_HAS_ID = 1 << 8,
};

struct nvtx_schema_attr {
	uint64_t			mask;
	const char			*name;
	uint64_t			type;
	uint64_t			flags;
	const struct nvtx_schema_entry	*entries;
	size_t				nr_entries;
	size_t				size;
	size_t				align;
	uint64_t			id;
};

struct nvtx_enum_entry {
	const char	*name;
	uint64_t	value;
	int8_t		is_flag;
};

enum {
	NVTX_ENUM_HAS_ENTRIES = 1 << 2, NVTX_ENUM_HAS_NR_ENTRIES = 1 << 3,
	NVTX_ENUM_HAS_SIZE = 1 << 4, NVTX_ENUM_HAS_ID = 1 << 5,
};

struct nvtx_enum_attr {
	uint64_t			mask;
	const char			*name;
	const struct nvtx_enum_entry	*entries;
	size_t				nr_entries;
	size_t				size;
	uint64_t			id;
};

#define NVTX_DYNAMIC_ID	(1ull << 32)	/* ids of the tool's begin here, for schemas and counters */

/* ---- counters -------------------------------------------------------------------------------- */

struct nvtx_semantics {
	uint32_t			size;
	uint16_t			id;
	uint16_t			version;
	const struct nvtx_semantics	*next;
};

#define NVTX_SEMANTICS_COUNTER	5
#define NVTX_COUNTER_VALUE_TYPE	(3u << 4)
#define NVTX_COUNTER_DELTA	(2u << 4)

struct nvtx_counter_semantics {
	struct nvtx_semantics	header;
	uint64_t		flags;
};

struct nvtx_counter_attr {
	size_t				size;
	uint64_t			schema;
	const char			*name;
	const char			*description;
	uint64_t			scope;
	const struct nvtx_semantics	*semantics;
	uint64_t			id;
};

#endif /* XSPROF_NVTX_EXT_ABI_H */
