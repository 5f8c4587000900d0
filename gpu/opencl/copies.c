// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Calls that move data: buffers, images, shared virtual memory. Each passes its arguments on, with
 * an event if the program asks for none.
 */
#include "gpu/opencl/local.h"

static int32_t image_info(cl_handle image, uint32_t what, size_t size, void *value, size_t *len)
{
	return NEXT(GetImageInfo, image_info)(image, what, size, value, len);
}

static uint64_t volume(const size_t *region)
{
	return region ? (uint64_t)region[0] * region[1] * region[2] : 0;
}

/* Bytes of a region of an image, by the size of an element. */
static uint64_t pixels(const struct opencl_calling *c, cl_handle image, const size_t *region)
{
	size_t element = 0;

	if (!c->on || image_info(image, CL_ELEMENT_SIZE_OF_IMAGE, sizeof(element), &element, NULL))
		return 0;
	return volume(region) * element;
}

/* ---- buffers --------------------------------------------------------------------------------- */

static int32_t read_buffer(cl_handle queue, cl_handle buffer, uint32_t blocking, size_t offset,
			   size_t size, void *to, uint32_t n, const cl_handle *waits,
			   cl_handle *event)
{
	return ENQUEUE(READ_BUFFER, size, NEXT(EnqueueReadBuffer, read_buffer), queue, buffer,
		       blocking, offset, size, to, n, waits, event);
}

static int32_t write_buffer(cl_handle queue, cl_handle buffer, uint32_t blocking, size_t offset,
			    size_t size, const void *from, uint32_t n, const cl_handle *waits,
			    cl_handle *event)
{
	return ENQUEUE(WRITE_BUFFER, size, NEXT(EnqueueWriteBuffer, write_buffer), queue, buffer,
		       blocking, offset, size, from, n, waits, event);
}

static int32_t copy_buffer(cl_handle queue, cl_handle from, cl_handle to, size_t from_offset,
			   size_t to_offset, size_t size, uint32_t n, const cl_handle *waits,
			   cl_handle *event)
{
	return ENQUEUE(COPY_BUFFER, size, NEXT(EnqueueCopyBuffer, copy_buffer), queue, from, to,
		       from_offset, to_offset, size, n, waits, event);
}

static int32_t read_rect(cl_handle queue, cl_handle buffer, uint32_t blocking,
			 const size_t *origin, const size_t *host_origin, const size_t *region,
			 size_t row, size_t slice, size_t host_row, size_t host_slice, void *to,
			 uint32_t n, const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(READ_BUFFER_RECT, volume(region), NEXT(EnqueueReadBufferRect, read_rect),
		       queue, buffer, blocking, origin, host_origin, region, row, slice, host_row,
		       host_slice, to, n, waits, event);
}

static int32_t write_rect(cl_handle queue, cl_handle buffer, uint32_t blocking,
			  const size_t *origin, const size_t *host_origin, const size_t *region,
			  size_t row, size_t slice, size_t host_row, size_t host_slice,
			  const void *from, uint32_t n, const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(WRITE_BUFFER_RECT, volume(region), NEXT(EnqueueWriteBufferRect, write_rect),
		       queue, buffer, blocking, origin, host_origin, region, row, slice, host_row,
		       host_slice, from, n, waits, event);
}

static int32_t copy_rect(cl_handle queue, cl_handle from, cl_handle to, const size_t *from_origin,
			 const size_t *to_origin, const size_t *region, size_t from_row,
			 size_t from_slice, size_t to_row, size_t to_slice, uint32_t n,
			 const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(COPY_BUFFER_RECT, volume(region), NEXT(EnqueueCopyBufferRect, copy_rect),
		       queue, from, to, from_origin, to_origin, region, from_row, from_slice,
		       to_row, to_slice, n, waits, event);
}

static int32_t fill_buffer(cl_handle queue, cl_handle buffer, const void *pattern,
			   size_t pattern_size, size_t offset, size_t size, uint32_t n,
			   const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(FILL_BUFFER, size, NEXT(EnqueueFillBuffer, fill_buffer), queue, buffer,
		       pattern, pattern_size, offset, size, n, waits, event);
}

static int32_t migrate(cl_handle queue, uint32_t nr, const cl_handle *memory, uint64_t flags,
		       uint32_t n, const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(MIGRATE, 0, NEXT(EnqueueMigrateMemObjects, migrate), queue, nr, memory,
		       flags, n, waits, event);
}

/* ---- images ---------------------------------------------------------------------------------- */

static int32_t read_image(cl_handle queue, cl_handle image, uint32_t blocking,
			  const size_t *origin, const size_t *region, size_t row, size_t slice,
			  void *to, uint32_t n, const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(READ_IMAGE, pixels(&c, image, region), NEXT(EnqueueReadImage, read_image),
		       queue, image, blocking, origin, region, row, slice, to, n, waits, event);
}

static int32_t write_image(cl_handle queue, cl_handle image, uint32_t blocking,
			   const size_t *origin, const size_t *region, size_t row, size_t slice,
			   const void *from, uint32_t n, const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(WRITE_IMAGE, pixels(&c, image, region), NEXT(EnqueueWriteImage, write_image),
		       queue, image, blocking, origin, region, row, slice, from, n, waits, event);
}

static int32_t copy_image(cl_handle queue, cl_handle from, cl_handle to, const size_t *from_origin,
			  const size_t *to_origin, const size_t *region, uint32_t n,
			  const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(COPY_IMAGE, pixels(&c, from, region), NEXT(EnqueueCopyImage, copy_image),
		       queue, from, to, from_origin, to_origin, region, n, waits, event);
}

static int32_t image_to_buffer(cl_handle queue, cl_handle from, cl_handle to,
			       const size_t *origin, const size_t *region, size_t offset,
			       uint32_t n, const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(COPY_IMAGE_TO_BUFFER, pixels(&c, from, region),
		       NEXT(EnqueueCopyImageToBuffer, image_to_buffer), queue, from, to, origin,
		       region, offset, n, waits, event);
}

static int32_t buffer_to_image(cl_handle queue, cl_handle from, cl_handle to, size_t offset,
			       const size_t *origin, const size_t *region, uint32_t n,
			       const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(COPY_BUFFER_TO_IMAGE, pixels(&c, to, region),
		       NEXT(EnqueueCopyBufferToImage, buffer_to_image), queue, from, to, offset,
		       origin, region, n, waits, event);
}

static int32_t fill_image(cl_handle queue, cl_handle image, const void *color,
			  const size_t *origin, const size_t *region, uint32_t n,
			  const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(FILL_IMAGE, pixels(&c, image, region), NEXT(EnqueueFillImage, fill_image),
		       queue, image, color, origin, region, n, waits, event);
}

/* ---- mapped memory --------------------------------------------------------------------------- */

/* These calls return the mapped memory, and their error if the program asks for it. */
static void *map_buffer(cl_handle queue, cl_handle buffer, uint32_t blocking, uint64_t flags,
			size_t offset, size_t size, uint32_t n, const cl_handle *waits,
			cl_handle *event, int32_t *error)
{
	struct opencl_calling c;
	int32_t own = CL_OK;
	void *mapped;

	event = opencl_begin(&c, queue, event);
	error = error ? error : &own;
	mapped = NEXT(EnqueueMapBuffer, map_buffer)
		 (queue, buffer, blocking, flags, offset, size, n, waits, event, error);
	(void)opencl_end(&c, CALL_MAP_BUFFER, size, *error);
	return mapped;
}

static void *map_image(cl_handle queue, cl_handle image, uint32_t blocking, uint64_t flags,
		       const size_t *origin, const size_t *region, size_t *row, size_t *slice,
		       uint32_t n, const cl_handle *waits, cl_handle *event, int32_t *error)
{
	struct opencl_calling c;
	int32_t own = CL_OK;
	void *mapped;

	event = opencl_begin(&c, queue, event);
	error = error ? error : &own;
	mapped = NEXT(EnqueueMapImage, map_image)
		 (queue, image, blocking, flags, origin, region, row, slice, n, waits, event,
		  error);
	(void)opencl_end(&c, CALL_MAP_IMAGE, pixels(&c, image, region), *error);
	return mapped;
}

static int32_t unmap(cl_handle queue, cl_handle memory, void *mapped, uint32_t n,
		     const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(UNMAP, 0, NEXT(EnqueueUnmapMemObject, unmap), queue, memory, mapped, n,
		       waits, event);
}

/* ---- shared virtual memory ------------------------------------------------------------------- */

static int32_t svm_memcpy(cl_handle queue, uint32_t blocking, void *to, const void *from,
			  size_t size, uint32_t n, const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(SVM_MEMCPY, size, NEXT(EnqueueSVMMemcpy, svm_memcpy), queue, blocking, to,
		       from, size, n, waits, event);
}

static int32_t svm_fill(cl_handle queue, void *to, const void *pattern, size_t pattern_size,
			size_t size, uint32_t n, const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(SVM_FILL, size, NEXT(EnqueueSVMMemFill, svm_fill), queue, to, pattern,
		       pattern_size, size, n, waits, event);
}

static int32_t svm_map(cl_handle queue, uint32_t blocking, uint64_t flags, void *memory,
		       size_t size, uint32_t n, const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(SVM_MAP, size, NEXT(EnqueueSVMMap, svm_map), queue, blocking, flags, memory,
		       size, n, waits, event);
}

static int32_t svm_unmap(cl_handle queue, void *memory, uint32_t n, const cl_handle *waits,
			 cl_handle *event)
{
	return ENQUEUE(SVM_UNMAP, 0, NEXT(EnqueueSVMUnmap, svm_unmap), queue, memory, n, waits,
		       event);
}

static int32_t svm_migrate(cl_handle queue, uint32_t nr, const void **memory, const size_t *sizes,
			   uint64_t flags, uint32_t n, const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(SVM_MIGRATE, 0, NEXT(EnqueueSVMMigrateMem, svm_migrate), queue, nr, memory,
		       sizes, flags, n, waits, event);
}

void opencl_take_copies(void **table, uint32_t nr)
{
	TAKE(EnqueueReadBuffer, read_buffer);
	TAKE(EnqueueWriteBuffer, write_buffer);
	TAKE(EnqueueCopyBuffer, copy_buffer);
	TAKE(EnqueueReadBufferRect, read_rect);
	TAKE(EnqueueWriteBufferRect, write_rect);
	TAKE(EnqueueCopyBufferRect, copy_rect);
	TAKE(EnqueueFillBuffer, fill_buffer);
	TAKE(EnqueueMigrateMemObjects, migrate);
	TAKE(EnqueueReadImage, read_image);
	TAKE(EnqueueWriteImage, write_image);
	TAKE(EnqueueCopyImage, copy_image);
	TAKE(EnqueueCopyImageToBuffer, image_to_buffer);
	TAKE(EnqueueCopyBufferToImage, buffer_to_image);
	TAKE(EnqueueFillImage, fill_image);
	TAKE(EnqueueMapBuffer, map_buffer);
	TAKE(EnqueueMapImage, map_image);
	TAKE(EnqueueUnmapMemObject, unmap);
	TAKE(EnqueueSVMMemcpy, svm_memcpy);
	TAKE(EnqueueSVMMemFill, svm_fill);
	TAKE(EnqueueSVMMap, svm_map);
	TAKE(EnqueueSVMUnmap, svm_unmap);
	TAKE(EnqueueSVMMigrateMem, svm_migrate);
}
