/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The ABI between a program's static ittnotify part and a collector.
 *
 * The static part owns the memory of everything declared here and may be years older or newer than
 * this file, which therefore defines layouts only, written independently, and pins their offsets.
 * It contains no code. Fields added after the oldest static part in use (build 20180723) are left
 * out: reading them from an older one would go past its end.
 */
#ifndef XSPROF_ITT_ABI_H
#define XSPROF_ITT_ABI_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define ITT_MAGIC_BYTES	{ 0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30 }

/* The first build whose global ends with state and counter_list. */
#define ITT_BUILD_COUNTERS	20180723ul

struct itt_domain {
	int			flags;		/* 0: the program's macros do nothing */
	const char		*name;
	void			*wide_name;	/* NULL on Linux */
	int			extra1;
	void			*extra2;	/* owned by the collector: see names.c */
	struct itt_domain	*next;
};

struct itt_string {
	const char		*text;
	void			*wide_text;
	int			extra1;
	void			*extra2;	/* owned by the collector: see names.c */
	struct itt_string	*next;
};

struct itt_counter {
	const char		*name;
	void			*wide_name;
	const char		*domain;
	void			*wide_domain;
	int			type;		/* enum itt_type */
	long			index;
	int			extra1;
	void			*extra2;	/* not initialised by the static part */
	struct itt_counter	*next;
};

/* Passed by value. */
struct itt_id {
	unsigned long long	d1;
	unsigned long long	d2;
	unsigned long long	d3;
};

struct itt_clock_info {
	unsigned long long	freq;		/* ticks a second */
	unsigned long long	base;		/* its time when it was read */
};

typedef void (*itt_clock_fn)(struct itt_clock_info *info, void *data);

struct itt_clock {
	struct itt_clock_info	info;
	itt_clock_fn		fn;
	void			*data;
	int			extra1;
	void			*extra2;
	struct itt_clock	*next;
};

struct itt_histogram {
	const struct itt_domain	*domain;
	const char		*name;
	void			*wide_name;
	int			x_type;
	int			y_type;
	int			extra1;
	void			*extra2;
	struct itt_histogram	*next;
};

struct itt_track_group {
	struct itt_string	*name;
	struct itt_track	*track;
	int			type;
	int			extra1;
	void			*extra2;
	struct itt_track_group	*next;
};

struct itt_track {
	struct itt_string	*name;
	struct itt_track_group	*group;
	int			type;
	int			extra1;
	void			*extra2;
	struct itt_track	*next;
};

struct itt_context {
	int			type;		/* enum itt_context_type */
	void			*value;
};

struct itt_section {
	const char		*name;
	int			type;
	size_t			flags;
	void			*start;
	size_t			size;
	size_t			file_offset;
};

struct itt_module {
	unsigned int		version;
	struct itt_id		id;
	int			type;
	const char		*name;
	void			*buffer;
	size_t			size;
	struct itt_section	*sections;
	size_t			nr_sections;
};

/* One function that the program may call; the list ends with a NULL name. */
struct itt_api {
	const char		*name;		/* including __itt_ */
	void			**func;		/* called by the program's macros; NULL: nothing */
	void			*init;
	void			*null;		/* the function to use without a collector */
	int			group;
};

struct itt_global {
	unsigned char		magic[8];
	unsigned long		major;
	unsigned long		minor;
	unsigned long		build;		/* a date, YYYYMMDD */
	long			api_initialized;
	long			mutex_initialized;
	long			atomic_counter;
	pthread_mutex_t		mutex;		/* held while a collector is being loaded */
	void			*lib;
	void			*error_handler;
	const char		**dll_path;
	struct itt_api		*api_list;
	struct itt_global	*next;
	void			*thread_list;
	struct itt_domain	*domain_list;
	struct itt_string	*string_list;
	int			state;
	struct itt_counter	*counter_list;	/* since ITT_BUILD_COUNTERS */
};

enum itt_type {
	ITT_TYPE_UNKNOWN	= 0,
	ITT_TYPE_U64		= 1,
	ITT_TYPE_S64		= 2,
	ITT_TYPE_U32		= 3,
	ITT_TYPE_S32		= 4,
	ITT_TYPE_U16		= 5,
	ITT_TYPE_S16		= 6,
	ITT_TYPE_FLOAT		= 7,
	ITT_TYPE_DOUBLE		= 8,
};

enum itt_scope {
	ITT_SCOPE_UNKNOWN	= 0,
	ITT_SCOPE_GLOBAL	= 1,
	ITT_SCOPE_TRACK_GROUP	= 2,
	ITT_SCOPE_TRACK		= 3,
	ITT_SCOPE_TASK		= 4,
	ITT_SCOPE_MARKER	= 5,
};

enum itt_context_type {
	ITT_CONTEXT_NAME	= 1,
	ITT_CONTEXT_DEVICE	= 3,
	ITT_CONTEXT_UNITS	= 5,
	ITT_CONTEXT_PCI		= 7,
	ITT_CONTEXT_TID		= 9,
	ITT_CONTEXT_MAX		= 10,
	ITT_CONTEXT_LAST	= 17,
};

#define ITT_COLLECTION_OFFLOAD	2	/* scope of a pause on another host */

#define ITT_TIMESTAMP_NONE	(~0ull)	/* "the time of the call" */

#define ITT_AT(type, field, off) \
	_Static_assert(offsetof(struct type, field) == (off), #type "." #field)

_Static_assert(sizeof(void *) == 8 && sizeof(long) == 8, "64-bit targets only");
ITT_AT(itt_domain, name, 8);
ITT_AT(itt_domain, extra1, 24);
ITT_AT(itt_domain, extra2, 32);
ITT_AT(itt_domain, next, 40);
_Static_assert(sizeof(struct itt_domain) == 48, "itt_domain");
ITT_AT(itt_string, text, 0);
ITT_AT(itt_string, extra1, 16);
ITT_AT(itt_string, extra2, 24);
ITT_AT(itt_string, next, 32);
_Static_assert(sizeof(struct itt_string) == 40, "itt_string");
ITT_AT(itt_counter, domain, 16);
ITT_AT(itt_counter, type, 32);
ITT_AT(itt_counter, index, 40);
ITT_AT(itt_counter, extra2, 56);
ITT_AT(itt_counter, next, 64);
_Static_assert(sizeof(struct itt_counter) == 72, "itt_counter");
_Static_assert(sizeof(struct itt_id) == 24, "itt_id");
ITT_AT(itt_clock, fn, 16);
ITT_AT(itt_clock, extra2, 40);
ITT_AT(itt_clock, next, 48);
ITT_AT(itt_histogram, name, 8);
ITT_AT(itt_histogram, x_type, 24);
ITT_AT(itt_histogram, next, 48);
ITT_AT(itt_track, group, 8);
ITT_AT(itt_track, next, 32);
ITT_AT(itt_context, value, 8);
ITT_AT(itt_section, start, 24);
ITT_AT(itt_module, id, 8);
ITT_AT(itt_module, name, 40);
ITT_AT(itt_module, sections, 64);
ITT_AT(itt_api, func, 8);
ITT_AT(itt_api, null, 24);
_Static_assert(sizeof(struct itt_api) == 40, "itt_api");
ITT_AT(itt_global, build, 24);
ITT_AT(itt_global, mutex, 56);
ITT_AT(itt_global, api_list, 80 + sizeof(pthread_mutex_t));
ITT_AT(itt_global, domain_list, 104 + sizeof(pthread_mutex_t));
ITT_AT(itt_global, string_list, 112 + sizeof(pthread_mutex_t));
ITT_AT(itt_global, counter_list, 128 + sizeof(pthread_mutex_t));

#endif /* XSPROF_ITT_ABI_H */
