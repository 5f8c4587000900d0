/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The part of CUPTI's interface for hardware counters that the collector uses (PM sampling and the
 * host profiler, since CUDA 12.6), declared here: CUDA's headers are not needed to build. Each
 * function takes a structure that begins with the size that the caller knows; ours have the sizes
 * of 12.6, which newer versions accept.
 */
#ifndef XSPROF_METRICS_ABI_H
#define XSPROF_METRICS_ABI_H

#include <stddef.h>
#include <stdint.h>

#define CUPTI_SAMPLES		24u	/* cuptiGetVersion() of CUDA 12.6 */

/* Results. */
#define CUPTI_INVALID_OPERATION	7
#define CUPTI_OUT_OF_MEMORY	8	/* from decode: the hardware's buffer is full */
#define CUPTI_NOT_INITIALIZED	15	/* CUPTI cannot find its libraries libnvperf_*.so */
#define CUPTI_HARDWARE_BUSY	26
#define CUPTI_NO_VGPU		33
#define CUPTI_NO_PRIVILEGE_VGPU	40
#define CUPTI_NO_CONFIDENTIAL	41
#define CUPTI_NO_MIG		43

#define CUPTI_PM_SAMPLING	1u	/* struct cupti_pm_host: @type */

/* struct cupti_pm_config: @trigger: a clock whose rate may change, or time, if the device can. */
#define CUPTI_TRIGGER_CLOCK	0u
#define CUPTI_TRIGGER_TIME	1u

/* struct cupti_pm_decode: @reason */
#define CUPTI_STOP_FULL		1u	/* the image is full: there may be more samples */

/* Size of a structure that ends with @last. */
#define CUPTI_SIZE(type, last) \
	(offsetof(struct type, last) + sizeof(((struct type *)0)->last))

struct cupti_pm_init {
	size_t		size;
	void		*priv;
};

/*
 * To end what @object is: the host profiler, sampling or the range profiler. To start and stop it.
 */
struct cupti_pm_object {
	size_t		size;
	void		*priv;
	void		*object;
};

struct cupti_pm_chip {
	size_t		size;
	void		*priv;
	size_t		device;
	const char	*name;
};

/* Gets the image of the counters that may be used. @of: a device's number, or a CUcontext. */
struct cupti_pm_available {
	size_t		size;
	void		*priv;
	uintptr_t	of;
	size_t		bytes;
	uint8_t		*image;
};

/* Creates the object that knows a chip's metrics. */
struct cupti_pm_host {
	size_t		size;
	void		*priv;
	uint32_t	type;
	const char	*chip;
	const uint8_t	*available;
	void		*host;
};

struct cupti_pm_add {
	size_t		size;
	void		*priv;
	void		*host;
	const char	**names;
	size_t		nr;
};

struct cupti_pm_config_size {
	size_t		size;
	void		*priv;
	void		*host;
	size_t		bytes;
};

struct cupti_pm_config_image {
	size_t		size;
	void		*priv;
	void		*host;
	size_t		bytes;
	uint8_t		*image;
};

struct cupti_pm_passes {
	size_t		size;
	void		*priv;
	size_t		bytes;
	uint8_t		*image;
	size_t		passes;
};

struct cupti_pm_values {
	size_t		size;
	void		*priv;
	void		*host;
	const uint8_t	*image;
	size_t		bytes;
	size_t		index;
	const char	**names;
	size_t		nr;
	double		*values;
};

/* Creates an object that samples or measures. @of: a device's number, or a CUcontext. */
struct cupti_pm_enable {
	size_t		size;
	void		*priv;
	uintptr_t	of;
	void		*object;
};

/* @bytes: size of @image; @hardware: size of the device's buffer; @interval: ns, or clocks. */
struct cupti_pm_config {
	size_t		size;
	void		*priv;
	void		*sampling;
	size_t		bytes;
	const uint8_t	*image;
	size_t		hardware;
	uint64_t	interval;
	uint32_t	trigger;
};

/* Copies from the device's buffer into an image. */
struct cupti_pm_decode {
	size_t		size;
	void		*priv;
	void		*sampling;
	uint8_t		*image;
	size_t		bytes;
	uint32_t	reason;
	uint8_t		overflow;
};

struct cupti_pm_data_size {
	size_t		size;
	void		*priv;
	void		*sampling;
	const char	**names;
	size_t		nr;
	uint32_t	samples;
	size_t		bytes;
};

struct cupti_pm_data_init {
	size_t		size;
	void		*priv;
	void		*object;
	size_t		bytes;
	uint8_t		*image;
};

struct cupti_pm_data_info {
	size_t		size;
	void		*priv;
	const uint8_t	*image;
	size_t		bytes;
	size_t		total;
	size_t		populated;
	size_t		completed;
};

struct cupti_pm_sample {
	size_t		size;
	void		*priv;
	void		*sampling;
	const uint8_t	*image;
	size_t		bytes;
	size_t		index;
	uint64_t	start;
	uint64_t	end;
};

/**
 * struct cupti_pm - these functions: those of the host profiler, and those that sample
 */
struct cupti_pm {
	int	(*init)(struct cupti_pm_init *params);
	int	(*get_chip)(struct cupti_pm_chip *params);
	int	(*get_available)(struct cupti_pm_available *params);
	int	(*host_begin)(struct cupti_pm_host *params);
	int	(*host_end)(struct cupti_pm_object *params);
	int	(*add)(struct cupti_pm_add *params);
	int	(*get_config_size)(struct cupti_pm_config_size *params);
	int	(*get_config)(struct cupti_pm_config_image *params);
	int	(*get_passes)(struct cupti_pm_passes *params);
	int	(*get_values)(struct cupti_pm_values *params);
	int	(*enable)(struct cupti_pm_enable *params);
	int	(*set_config)(struct cupti_pm_config *params);
	int	(*start)(struct cupti_pm_object *params);
	int	(*stop)(struct cupti_pm_object *params);
	int	(*decode)(struct cupti_pm_decode *params);
	int	(*get_data_size)(struct cupti_pm_data_size *params);
	int	(*init_data)(struct cupti_pm_data_init *params);
	int	(*get_data_info)(struct cupti_pm_data_info *params);
	int	(*get_sample)(struct cupti_pm_sample *params);
};

#endif /* XSPROF_METRICS_ABI_H */
