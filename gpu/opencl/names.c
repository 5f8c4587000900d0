// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The next layer's functions, their names, those of what devices do for them, and of kernels.
 */
#include <pthread.h>
#include <stdlib.h>

#include "gpu/opencl/local.h"

#define KERNELS		(1u << 16)	/* more are asked for their names each time */

static const struct {
	const char	*call;
	uint32_t	kind;
	const char	*work;
} texts[NR_CALLS] = {
	[CALL_READ_BUFFER] = { "clEnqueueReadBuffer", XSPROF_GPU_MEMCPY,
			       "Memcpy DtoH (ReadBuffer)" },
	[CALL_WRITE_BUFFER] = { "clEnqueueWriteBuffer", XSPROF_GPU_MEMCPY,
				"Memcpy HtoD (WriteBuffer)" },
	[CALL_COPY_BUFFER] = { "clEnqueueCopyBuffer", XSPROF_GPU_MEMCPY,
			       "Memcpy DtoD (CopyBuffer)" },
	[CALL_READ_BUFFER_RECT] = { "clEnqueueReadBufferRect", XSPROF_GPU_MEMCPY,
				    "Memcpy DtoH (ReadBufferRect)" },
	[CALL_WRITE_BUFFER_RECT] = { "clEnqueueWriteBufferRect", XSPROF_GPU_MEMCPY,
				     "Memcpy HtoD (WriteBufferRect)" },
	[CALL_COPY_BUFFER_RECT] = { "clEnqueueCopyBufferRect", XSPROF_GPU_MEMCPY,
				    "Memcpy DtoD (CopyBufferRect)" },
	[CALL_READ_IMAGE] = { "clEnqueueReadImage", XSPROF_GPU_MEMCPY, "Memcpy DtoH (ReadImage)" },
	[CALL_WRITE_IMAGE] = { "clEnqueueWriteImage", XSPROF_GPU_MEMCPY,
			       "Memcpy HtoD (WriteImage)" },
	[CALL_COPY_IMAGE] = { "clEnqueueCopyImage", XSPROF_GPU_MEMCPY, "Memcpy DtoD (CopyImage)" },
	[CALL_COPY_IMAGE_TO_BUFFER] = { "clEnqueueCopyImageToBuffer", XSPROF_GPU_MEMCPY,
					"Memcpy DtoD (CopyImageToBuffer)" },
	[CALL_COPY_BUFFER_TO_IMAGE] = { "clEnqueueCopyBufferToImage", XSPROF_GPU_MEMCPY,
					"Memcpy DtoD (CopyBufferToImage)" },
	[CALL_MAP_BUFFER] = { "clEnqueueMapBuffer", XSPROF_GPU_MEMCPY, "Map buffer" },
	[CALL_MAP_IMAGE] = { "clEnqueueMapImage", XSPROF_GPU_MEMCPY, "Map image" },
	[CALL_UNMAP] = { "clEnqueueUnmapMemObject", XSPROF_GPU_MEMCPY, "Unmap" },
	[CALL_FILL_BUFFER] = { "clEnqueueFillBuffer", XSPROF_GPU_MEMSET, "Memset (FillBuffer)" },
	[CALL_FILL_IMAGE] = { "clEnqueueFillImage", XSPROF_GPU_MEMSET, "Memset (FillImage)" },
	[CALL_MIGRATE] = { "clEnqueueMigrateMemObjects", XSPROF_GPU_MEMCPY, "Migrate" },
	[CALL_SVM_MEMCPY] = { "clEnqueueSVMMemcpy", XSPROF_GPU_MEMCPY, "Memcpy (SVM)" },
	[CALL_SVM_FILL] = { "clEnqueueSVMMemFill", XSPROF_GPU_MEMSET, "Memset (SVM)" },
	[CALL_SVM_MAP] = { "clEnqueueSVMMap", XSPROF_GPU_MEMCPY, "Map (SVM)" },
	[CALL_SVM_UNMAP] = { "clEnqueueSVMUnmap", XSPROF_GPU_MEMCPY, "Unmap (SVM)" },
	[CALL_SVM_MIGRATE] = { "clEnqueueSVMMigrateMem", XSPROF_GPU_MEMCPY, "Migrate (SVM)" },
	[CALL_USM_MEMCPY] = { "clEnqueueMemcpyINTEL", XSPROF_GPU_MEMCPY, "Memcpy (USM)" },
	[CALL_USM_FILL] = { "clEnqueueMemFillINTEL", XSPROF_GPU_MEMSET, "Memset (USM)" },
	[CALL_USM_SET] = { "clEnqueueMemsetINTEL", XSPROF_GPU_MEMSET, "Memset (USM)" },
	[CALL_USM_MIGRATE] = { "clEnqueueMigrateMemINTEL", XSPROF_GPU_MEMCPY, "Migrate (USM)" },
	[CALL_USM_ADVISE] = { "clEnqueueMemAdviseINTEL", XSPROF_GPU_SYNC, "Advise (USM)" },
	[CALL_COMMAND_BUFFER] = {
		"clEnqueueCommandBufferKHR", XSPROF_GPU_GRAPH, "Command buffer",
	},
	[CALL_NDRANGE] = { "clEnqueueNDRangeKernel", XSPROF_GPU_KERNEL, NULL },
	[CALL_TASK] = { "clEnqueueTask", XSPROF_GPU_KERNEL, NULL },
	[CALL_NATIVE] = { "clEnqueueNativeKernel", XSPROF_GPU_KERNEL, "native kernel" },
	[CALL_MARKER] = { "clEnqueueMarkerWithWaitList", XSPROF_GPU_SYNC, "Marker" },
	[CALL_BARRIER] = { "clEnqueueBarrierWithWaitList", XSPROF_GPU_SYNC, "Barrier" },
	[CALL_FINISH] = { "clFinish", 0, NULL },
	[CALL_FLUSH] = { "clFlush", 0, NULL },
	[CALL_WAIT] = { "clWaitForEvents", 0, NULL },
	[CALL_BUILD] = { "clBuildProgram", 0, NULL },
	[CALL_COMPILE] = { "clCompileProgram", 0, NULL },
	[CALL_LINK] = { "clLinkProgram", 0, NULL },
};

void *opencl_next[CL_SLOTS];

static int category;
static xsprof_name_t calls[NR_CALLS], works[NR_CALLS];

int opencl_category(void)
{
	return category;
}

void opencl_names_init(void)
{
	category = xsprof_category("opencl");
	if (category < 0)
		category = 0;
	for (int i = 0; i < NR_CALLS; i++) {
		calls[i] = xsprof_name_in(category, texts[i].call);
		works[i] = texts[i].work ? xsprof_name_in(category, texts[i].work) : 0;
	}
}

xsprof_name_t opencl_call_name(enum opencl_call call)
{
	return calls[call];
}

uint32_t opencl_work_kind(enum opencl_call call)
{
	return texts[call].kind;
}

xsprof_name_t opencl_work_name(enum opencl_call call)
{
	return works[call];
}

/* ---- kernels --------------------------------------------------------------------------------- */

/*
 * Open addressing, never shrunk: a runtime gives the same handle again, and what is made with it
 * replaces what was.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kernel {
	cl_handle	handle;
	xsprof_name_t	name;
} *kernels;
static uint32_t room, used, made;

static uint32_t slot_of(const struct kernel *table, uint32_t size, cl_handle handle)
{
	uint32_t i = (uint32_t)(((uintptr_t)handle * 0x9e3779b97f4a7c15u) >> 32) & (size - 1);

	while (table[i].handle && table[i].handle != handle)
		i = (i + 1) & (size - 1);
	return i;
}

static void grow(void)
{
	uint32_t size = room ? 2 * room : 256;
	struct kernel *table = size <= KERNELS ? calloc(size, sizeof(*table)) : NULL;

	if (!table)
		return;
	for (uint32_t i = 0; i < room; i++)
		if (kernels[i].handle)
			table[slot_of(table, size, kernels[i].handle)] = kernels[i];
	free(kernels);
	kernels = table;
	room = size;
}

static int32_t kernel_info(cl_handle kernel, uint32_t what, size_t size, void *value, size_t *len)
{
	return NEXT(GetKernelInfo, kernel_info)(kernel, what, size, value, len);
}

static xsprof_name_t ask(cl_handle kernel)
{
	char text[XSPROF_TEXT_MAX + 1] = "";
	char *longer;
	xsprof_name_t name;
	size_t len = 0;

	if (kernel_info(kernel, CL_NAME_OF_KERNEL, 0, NULL, &len) || !len)
		return xsprof_name_in(category, "(no name)");
	if (len <= sizeof(text)) {
		if (kernel_info(kernel, CL_NAME_OF_KERNEL, len, text, NULL))
			text[0] = '\0';
		return xsprof_name_in(category, text);
	}
	/* A name is cut by the library, a query is not by the runtime. */
	longer = calloc(1, len + 1);
	if (!longer || kernel_info(kernel, CL_NAME_OF_KERNEL, len, longer, NULL))
		name = xsprof_name_in(category, "(no name)");
	else
		name = xsprof_name_in(category, longer);
	free(longer);
	return name;
}

static void keep(cl_handle kernel, xsprof_name_t name)
{
	uint32_t i;

	pthread_mutex_lock(&lock);
	if (2 * used >= room)
		grow();
	i = room ? slot_of(kernels, room, kernel) : 0;
	/* One that is not kept is asked for its name each time. */
	if (room && (kernels[i].handle || used < room / 4 * 3)) {
		used += !kernels[i].handle;
		kernels[i] = (struct kernel){ kernel, name };
	}
	__atomic_store_n(&made, made + 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
}

void opencl_names_forget(void)
{
	pthread_mutex_init(&lock, NULL);
}

void opencl_kernel_made(cl_handle kernel)
{
	keep(kernel, ask(kernel));
}

xsprof_name_t opencl_kernel_name(cl_handle kernel)
{
	static __thread struct kernel last;
	static __thread uint32_t last_of;
	/* Acquire: with the store under the lock, which makes a handle another kernel's. */
	uint32_t now = __atomic_load_n(&made, __ATOMIC_ACQUIRE);
	xsprof_name_t name = 0;

	if (last.handle == kernel && last_of == now)
		return last.name;
	pthread_mutex_lock(&lock);
	if (room)
		name = kernels[slot_of(kernels, room, kernel)].name;
	pthread_mutex_unlock(&lock);
	if (!name)
		return ask(kernel);
	last = (struct kernel){ kernel, name };
	last_of = now;
	return name;
}
