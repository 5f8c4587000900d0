/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The part of the ABI of Intel's PTI (Profiling Tools Interfaces) that the collector uses, written
 * independently: no SDK is needed to build. Records only grow at their end, so the fields of
 * version 0.12 are the same in all later versions.
 */
#ifndef XSPROF_PTI_ABI_H
#define XSPROF_PTI_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Results. */
#define PTI_END_OF_BUFFER	1
#define PTI_NOT_IMPLEMENTED	2	/* from all functions, if the library's core is missing */
#define PTI_NO_TRACING		51	/* zeInit() was called without ZE_ENABLE_TRACING_LAYER=1 */

/* Kinds of records and of views. */
#define PTI_KERNEL		1u
#define PTI_DRIVER_CALL		3u
#define PTI_RUNTIME_CALL	6u
#define PTI_COPY		8u
#define PTI_FILL		9u
#define PTI_COPY_PEER		10u
#define PTI_SYNC		11u

/* API of a call. */
#define PTI_GROUP_LEVELZERO	1u
#define PTI_GROUP_SYCL		3u

#define PTI_CLASS_WORK		1u	/* calls that submit work to a device */

#define PTI_NO_QUEUE		(UINT64_MAX - 1)	/* id for: no SYCL queue */
#define PTI_ADDRESS		16u
#define PTI_UUID		16u

struct pti_kernel {
	uint32_t	kind;
	const void	*queue;
	const void	*context;
	const char	*name;
	const char	*file;		/* NULL: unknown */
	uint64_t	line;
	uint64_t	id;
	uint32_t	correlation;
	uint32_t	thread;
	char		address[PTI_ADDRESS];
	uint8_t		uuid[PTI_UUID];
	uint64_t	appended;
	uint64_t	start;
	uint64_t	end;
	uint64_t	submitted;
	uint64_t	task_begin;
	uint64_t	enqueue_begin;
	uint64_t	node;
	uint64_t	sycl_queue;
	uint32_t	invocation;
};

struct pti_copy {
	uint32_t	kind;
	uint32_t	type;
	uint32_t	from;
	uint32_t	to;
	const void	*queue;
	const void	*context;
	const char	*name;
	char		address[PTI_ADDRESS];
	uint8_t		uuid[PTI_UUID];
	uint64_t	id;
	uint32_t	correlation;
	uint32_t	thread;
	uint64_t	appended;
	uint64_t	start;
	uint64_t	end;
	uint64_t	submitted;
	uint64_t	bytes;
	uint64_t	sycl_queue;
};

struct pti_copy_peer {
	uint32_t	kind;
	uint32_t	type;
	uint32_t	from;
	uint32_t	to;
	const void	*queue;
	const void	*context;
	const char	*name;
	char		address[PTI_ADDRESS];
	char		to_address[PTI_ADDRESS];
	uint8_t		uuid[PTI_UUID];
	uint8_t		to_uuid[PTI_UUID];
	uint64_t	id;
	uint32_t	correlation;
	uint32_t	thread;
	uint64_t	appended;
	uint64_t	start;
	uint64_t	end;
	uint64_t	submitted;
	uint64_t	bytes;
	uint64_t	sycl_queue;
};

struct pti_fill {
	uint32_t	kind;
	uint32_t	memory;
	const void	*queue;
	const void	*context;
	const char	*name;
	char		address[PTI_ADDRESS];
	uint8_t		uuid[PTI_UUID];
	uint64_t	id;
	uint32_t	correlation;
	uint32_t	thread;
	uint64_t	appended;
	uint64_t	start;
	uint64_t	end;
	uint64_t	submitted;
	uint64_t	bytes;
	uint64_t	value;
	uint64_t	sycl_queue;
};

struct pti_sync {
	uint32_t	kind;
	uint32_t	type;
	const void	*context;
	const void	*queue;
	const void	*event;
	uint64_t	start;
	uint64_t	end;
	uint32_t	thread;
	uint32_t	correlation;
	uint32_t	events;
	uint32_t	result;
	uint32_t	function;
	uint32_t	group;
};

struct pti_call {
	uint32_t	kind;
	uint64_t	start;
	uint64_t	end;
	uint32_t	group;
	uint32_t	function;
	uint32_t	process;
	uint32_t	thread;
	uint32_t	correlation;
	uint32_t	result;		/* of Level Zero functions */
};

typedef void (*pti_request_fn)(unsigned char **buffer, size_t *size);
typedef void (*pti_complete_fn)(unsigned char *buffer, size_t size, size_t valid);

/**
 * struct pti - functions of PTI
 * @version: ptiVersionString()
 * @set_callbacks: ptiViewSetCallbacks(): requests a buffer at once; initialises Level Zero, and
 *	aborts the program if that fails
 *	aborts the program where that cannot be
 * @set_timestamp: ptiViewSetTimestampCallback(): the clock of all records, in ns
 * @enable: ptiViewEnable()
 * @disable: ptiViewDisable()
 * @flush: ptiFlushAllViews(): returns all buffers; no thread may be in a recorded call meanwhile
 * @get_next: ptiViewGetNextRecord()
 * @get_name: ptiViewGetApiIdName(): name of a function
 * @enable_call: ptiViewEnableDriverApi(): the first call of it disables all other functions
 * @enable_runtime_class: ptiViewEnableRuntimeApiClass()
 * @text: ptiResultTypeToString()
 * @sycl_begins: xptiTraceInit(): called when a stream of SYCL's tracing begins; NULL: not exported
 */
struct pti {
	const char	*(*version)(void);
	int		(*set_callbacks)(pti_request_fn request, pti_complete_fn complete);
	int		(*set_timestamp)(uint64_t (*now)(void));
	int		(*enable)(uint32_t kind);
	int		(*disable)(uint32_t kind);
	int		(*flush)(void);
	int		(*get_next)(uint8_t *buffer, size_t valid, void **record);
	int		(*get_name)(uint32_t group, uint32_t function, const char **name);
	int		(*enable_call)(uint32_t on, uint32_t group, uint32_t function);
	int		(*enable_runtime_class)(uint32_t on, uint32_t class, uint32_t group);
	const char	*(*text)(int result);
	void		(*sycl_begins)(unsigned int major, unsigned int minor, const char *version,
				       const char *stream);
};

#endif /* XSPROF_PTI_ABI_H */
