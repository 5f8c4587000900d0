/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The part of CUPTI's interface for counters of the hardware that the collector uses (PM sampling
 * and the host profiler, since CUDA 12.6), in words of our own: no CUDA is needed to build.  Each
 * function takes a struct that begins with the size of what the caller knows of it; ours are as
 * long as those of 12.6, which newer versions accept.
 */
#ifndef XSPROF_METRICS_ABI_H
#define XSPROF_METRICS_ABI_H

#include <stddef.h>
#include <stdint.h>

#define CUPTI_SAMPLES		24u	/* cuptiGetVersion() of CUDA 12.6 */

/* Results. */
#define CUPTI_INVALID_OPERATION	7
#define CUPTI_OUT_OF_MEMORY	8	/* of decode: the hardware's buffer is full */
#define CUPTI_NOT_INITIALIZED	15	/* CUPTI does not find its libraries libnvperf_*.so */
#define CUPTI_HARDWARE_BUSY	26
#define CUPTI_NO_VGPU		33
#define CUPTI_NO_PRIVILEGE_VGPU	40
#define CUPTI_NO_CONFIDENTIAL	41
#define CUPTI_NO_MIG		43

#define CUPTI_PM_SAMPLING	1u	/* struct cupti_pm_host: @type */

/* struct cupti_pm_config: @trigger: by a clock that may change, or by time, which is not on all. */
#define CUPTI_TRIGGER_CLOCK	0u
#define CUPTI_TRIGGER_TIME	1u

/* struct cupti_pm_decode: @reason */
#define CUPTI_STOP_FULL		1u	/* the image is: there may be more */

/* Bytes of a struct that ends with @last. */
#define CUPTI_SIZE(type, last) \
	(offsetof(struct type, last) + sizeof(((struct type *)0)->last))

struct cupti_pm_init {
	size_t		size;
	void		*priv;
};

struct cupti_pm_chip {
	size_t		size;
	void		*priv;
	size_t		device;
	const char	*name;
};

/* Which counters the device lets us have. */
struct cupti_pm_available {
	size_t		size;
	void		*priv;
	size_t		device;
	size_t		bytes;
	uint8_t		*image;
};

/* What knows the metrics of a chip. */
struct cupti_pm_host {
	size_t		size;
	void		*priv;
	uint32_t	type;
	const char	*chip;
	const uint8_t	*available;
	void		*host;
};

struct cupti_pm_host_end {
	size_t		size;
	void		*priv;
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

struct cupti_pm_enable {
	size_t		size;
	void		*priv;
	size_t		device;
	void		*sampling;
};

/* @bytes: of @image; @hardware: of the buffer in the device; @interval: ns, or clocks. */
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

/* Of start and of stop. */
struct cupti_pm_run {
	size_t		size;
	void		*priv;
	void		*sampling;
};

/* From the buffer in the device into an image. */
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
	void		*sampling;
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
 * struct cupti_pm - these functions; those that know metrics, and for sampling all others
 */
struct cupti_pm {
	int	(*init)(struct cupti_pm_init *params);
	int	(*get_chip)(struct cupti_pm_chip *params);
	int	(*get_available)(struct cupti_pm_available *params);
	int	(*host_begin)(struct cupti_pm_host *params);
	int	(*host_end)(struct cupti_pm_host_end *params);
	int	(*add)(struct cupti_pm_add *params);
	int	(*get_config_size)(struct cupti_pm_config_size *params);
	int	(*get_config)(struct cupti_pm_config_image *params);
	int	(*get_passes)(struct cupti_pm_passes *params);
	int	(*get_values)(struct cupti_pm_values *params);
	int	(*enable)(struct cupti_pm_enable *params);
	int	(*set_config)(struct cupti_pm_config *params);
	int	(*start)(struct cupti_pm_run *params);
	int	(*stop)(struct cupti_pm_run *params);
	int	(*decode)(struct cupti_pm_decode *params);
	int	(*get_data_size)(struct cupti_pm_data_size *params);
	int	(*init_data)(struct cupti_pm_data_init *params);
	int	(*get_data_info)(struct cupti_pm_data_info *params);
	int	(*get_sample)(struct cupti_pm_sample *params);
};

#endif /* XSPROF_METRICS_ABI_H */
