// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Creates devices with additions: the extension that reads the device's and the host's clock at the
 * same time, and the feature that lets the host reset queries, where available and needed. If the
 * driver refuses the additions, the device is created as the program asked.
 */
#include <stdlib.h>

#include "gpu/vulkan/local.h"

#define CALIBRATED_EXT	"VK_EXT_calibrated_timestamps"
#define CALIBRATED_KHR	"VK_KHR_calibrated_timestamps"
#define HOST_RESET_EXT	"VK_EXT_host_query_reset"

/**
 * struct additions - what is added to the program's device request
 * @info: the device's create info with the additions
 * @reset: the feature structure, linked into @info's chain
 * @extensions: all extensions, in allocated memory
 * @calibrated: the clock extension is added
 * @host_reset: the host-reset feature is added
 */
struct additions {
	struct vk_device_info	info;
	struct vk_host_reset	reset;
	const char		**extensions;
	bool			calibrated;
	bool			host_reset;
};

/* ---- what there is --------------------------------------------------------------------------- */

static int32_t extensions_of(vk_handle physical, const char *layer, uint32_t *nr,
			     struct vk_extension *extensions)
{
	return NEXT(vulkan_instance_of(physical), EnumerateDeviceExtensionProperties,
		    extensions_of)(physical, layer, nr, extensions);
}

static void properties_of(vk_handle physical, struct vk_properties *properties)
{
	NEXT(vulkan_instance_of(physical), GetPhysicalDeviceProperties, properties_of)
		(physical, properties);
}

static void families_of(vk_handle physical, uint32_t *nr, struct vk_family *families)
{
	NEXT(vulkan_instance_of(physical), GetPhysicalDeviceQueueFamilyProperties, families_of)
		(physical, nr, families);
}

static void features2_of(vk_handle physical, struct vk_features2 *features)
{
	struct vulkan_instance *i = vulkan_instance_of(physical);

	if (i->api_version >= VULKAN_1_1)
		NEXT(i, GetPhysicalDeviceFeatures2, features2_of)(physical, features);
	else
		NEXT(i, GetPhysicalDeviceFeatures2KHR, features2_of)(physical, features);
}

static int32_t domains_of(vk_handle physical, uint32_t *nr, uint32_t *domains)
{
	struct vulkan_instance *i = vulkan_instance_of(physical);

	if (i->next[VULKAN_GetPhysicalDeviceCalibrateableTimeDomainsEXT])
		return NEXT(i, GetPhysicalDeviceCalibrateableTimeDomainsEXT, domains_of)
			(physical, nr, domains);
	if (i->next[VULKAN_GetPhysicalDeviceCalibrateableTimeDomainsKHR])
		return NEXT(i, GetPhysicalDeviceCalibrateableTimeDomainsKHR, domains_of)
			(physical, nr, domains);
	return VULKAN_NO_EXTENSION;
}

static bool offers(vk_handle physical, const char *name)
{
	struct vk_extension *list;
	uint32_t nr = 0;
	bool is = false;

	if (extensions_of(physical, NULL, &nr, NULL) || !nr)
		return false;
	list = calloc(nr, sizeof(*list));
	if (list && extensions_of(physical, NULL, &nr, list) >= 0)
		for (uint32_t i = 0; i < nr && !is; i++)
			is = !strcmp(list[i].name, name);
	free(list);
	return is;
}

static bool asks_for(const struct vk_device_info *info, const char *name)
{
	for (uint32_t i = 0; i < info->nr_extensions; i++)
		if (!strcmp(info->extensions[i], name))
			return true;
	return false;
}

/* ---- what is added --------------------------------------------------------------------------- */

static void add_extension(struct additions *a, const char *name)
{
	a->extensions[a->info.nr_extensions++] = name;
}

/* Only queues without graphics and compute need host resets. */
static bool needs_host_reset(vk_handle physical, const struct vk_device_info *info)
{
	struct vk_family families[64];
	uint32_t nr = ARRAY_SIZE(families), family;

	families_of(physical, &nr, families);
	for (uint32_t i = 0; i < info->nr_queues; i++) {
		family = info->queues[i].family;
		if (family < nr && families[family].valid_bits &&
		    !(families[family].flags & (VULKAN_QUEUE_GRAPHICS | VULKAN_QUEUE_COMPUTE)))
			return true;
	}
	return false;
}

/* What the program's chain asks of the feature: 0 or 1; -1: it does not mention it. */
static int says_of_host_reset(const struct vk_any *chain)
{
	for (; chain; chain = chain->next) {
		if (chain->type == VULKAN_IS_FEATURES_1_2)
			return ((const struct vk_features_1_2 *)chain)->host_reset != 0;
		if (chain->type == VULKAN_IS_HOST_RESET)
			return ((const struct vk_host_reset *)chain)->enabled != 0;
	}
	return -1;
}

static void add_host_reset(struct additions *a, const struct vulkan_instance *i, vk_handle physical)
{
	struct vk_host_reset has = { .type = VULKAN_IS_HOST_RESET };
	struct vk_features2 features = { .type = VULKAN_IS_FEATURES2, .next = &has };
	int says = says_of_host_reset(a->info.next);
	struct vk_properties p;
	bool old;

	if (says >= 0) {
		a->host_reset = says;
		return;
	}
	properties_of(physical, &p);
	old = i->api_version < VULKAN_1_2 || p.api_version < VULKAN_1_2;
	if (!i->has_properties2 || (old && !offers(physical, HOST_RESET_EXT)))
		return;
	features2_of(physical, &features);
	if (!has.enabled)
		return;
	if (old && !asks_for(&a->info, HOST_RESET_EXT))
		add_extension(a, HOST_RESET_EXT);
	a->reset = (struct vk_host_reset){ VULKAN_IS_HOST_RESET, a->info.next, 1 };
	a->info.next = &a->reset;
	a->host_reset = true;
}

/* Return: true if @a adds anything to the program's request. */
static bool plan(struct additions *a, const struct vulkan_instance *i, vk_handle physical,
		 const struct vk_device_info *info)
{
	*a = (struct additions){ .info = *info };
	a->calibrated = asks_for(info, CALIBRATED_EXT) || asks_for(info, CALIBRATED_KHR);
	a->extensions = calloc(info->nr_extensions + 2, sizeof(*a->extensions));
	if (!a->extensions)
		return false;
	if (info->nr_extensions)
		memcpy(a->extensions, info->extensions,
		       info->nr_extensions * sizeof(*a->extensions));
	a->info.extensions = a->extensions;
	if (!a->calibrated && i->has_properties2) {
		a->calibrated = true;
		if (offers(physical, CALIBRATED_EXT))
			add_extension(a, CALIBRATED_EXT);
		else if (offers(physical, CALIBRATED_KHR))
			add_extension(a, CALIBRATED_KHR);
		else
			a->calibrated = false;
	}
	if (needs_host_reset(physical, info))
		add_host_reset(a, i, physical);
	return a->info.nr_extensions != info->nr_extensions || a->info.next != info->next;
}

static uint32_t domain_of(vk_handle physical, bool *calibrated)
{
	uint32_t domains[16], nr = ARRAY_SIZE(domains), best = VULKAN_TIME_DEVICE;
	bool has_device = false;

	if (domains_of(physical, &nr, domains) < 0)
		nr = 0;
	for (uint32_t i = 0; i < nr; i++) {
		has_device |= domains[i] == VULKAN_TIME_DEVICE;
		if (domains[i] == VULKAN_TIME_MONOTONIC_RAW ||
		    (domains[i] == VULKAN_TIME_MONOTONIC && best == VULKAN_TIME_DEVICE))
			best = domains[i];
	}
	*calibrated &= has_device;
	return best;
}

/* ---- devices --------------------------------------------------------------------------------- */

static struct vk_layer_device *of_loader(const struct vk_device_info *info, uint32_t function)
{
	const struct vk_any *chain = info->next;

	while (chain && (chain->type != VULKAN_IS_LAYER_DEVICE ||
			 ((const struct vk_layer_device *)chain)->function != function))
		chain = chain->next;
	/* The loader expects layers to write to its structure. */
	return (struct vk_layer_device *)(uintptr_t)chain;
}

typedef int32_t create_function(vk_handle physical, const struct vk_device_info *info,
				const void *allocator, vk_handle *device);

/* Each attempt sets the next layer's link anew, as the layers below move it on. */
static int32_t create(struct vulkan_instance *i, struct vk_layer_device *layer,
		      struct vk_device_link *link, vk_handle physical,
		      const struct vk_device_info *info, const void *allocator, vk_handle *device)
{
	create_function *next;

	next = (create_function *)link->get_instance_address(i->handle, "vkCreateDevice");
	if (!next)
		return VULKAN_NOT_STARTED;
	layer->link = link->next;
	return next(physical, info, allocator, device);
}

int32_t vulkan_create_device(vk_handle physical, const struct vk_device_info *info,
			     const void *allocator, vk_handle *device)
{
	struct vk_layer_device *layer = of_loader(info, VULKAN_LINK_INFO);
	struct vk_layer_device *data = of_loader(info, VULKAN_LOADER_DATA);
	struct vulkan_instance *i = vulkan_instance_of(physical);
	struct additions a = { .extensions = NULL };
	struct vk_device_link *link;
	int32_t err = VULKAN_NO_EXTENSION;
	struct vulkan_device *d;

	if (!layer || !layer->link || !i)
		return VULKAN_NOT_STARTED;
	link = layer->link;
	d = vulkan_device_new();
	if (!d)
		return VULKAN_NO_MEMORY;
	/* In a forked child this call attaches. */
	d->on = vulkan_active && gpu_thread_ready(&vulkan_thread);
	if (d->on && plan(&a, i, physical, info))
		err = create(i, layer, link, physical, &a.info, allocator, device);
	if (err == VULKAN_NO_EXTENSION || err == VULKAN_NO_FEATURE || err == VULKAN_NOT_STARTED) {
		a.calibrated = asks_for(info, CALIBRATED_EXT) || asks_for(info, CALIBRATED_KHR);
		a.host_reset = says_of_host_reset(info->next) > 0;
		err = create(i, layer, link, physical, info, allocator, device);
	}
	free(a.extensions);
	if (err) {
		vulkan_device_gone(d);
		return err;
	}
	d->instance = i;
	d->physical = physical;
	d->get_address = link->get_device_address;
	d->set_loader_data = data ? data->set_loader_data : NULL;
	d->whole = true;
	for (const struct vk_any *c = info->next; c; c = c->next)
		if (c->type == VULKAN_IS_GROUP_DEVICE)
			d->whole = ((const struct vk_group_device *)c)->nr_devices <= 1;
	d->calibrated = a.calibrated;
	d->host_reset = a.host_reset;
	if (d->on) {
		d->gpu = vulkan_gpu_get(d);
		d->time_domain = domain_of(physical, &d->calibrated);
	}
	vulkan_device_add(d, *device);
	/*
	 * The driver has registered its exit handler: ours is registered later and runs before it.
	 */
	if (d->on)
		gpu_thread_at_exit(&vulkan_thread);
	return err;
}

static void destroy_device(vk_handle device, const void *allocator)
{
	__typeof__(&destroy_device) next;
	struct vulkan_device *d;

	if (!device)
		return;
	d = vulkan_device_of(device);
	/* Before it is gone: another thread may have it for a device of its own then. */
	next = NEXT(d, DestroyDevice, destroy_device);
	vulkan_labels_end(d);
	vulkan_pending_end(d);
	next(device, allocator);
}

static void get_queue(vk_handle device, uint32_t family, uint32_t index, vk_handle *queue)
{
	struct vulkan_device *d = vulkan_device_of(device);

	NEXT(d, GetDeviceQueue, get_queue)(device, family, index, queue);
	if (d->on && *queue)
		vulkan_queue_made(d, *queue, family);
}

static void get_queue2(vk_handle device, const struct vk_queue_info2 *info, vk_handle *queue)
{
	struct vulkan_device *d = vulkan_device_of(device);

	NEXT(d, GetDeviceQueue2, get_queue2)(device, info, queue);
	if (d->on && *queue)
		vulkan_queue_made(d, *queue, info->family);
}

const struct vulkan_hook vulkan_create_hooks[] = {
	HOOK(DestroyDevice, destroy_device),
	HOOK(GetDeviceQueue, get_queue),
	HOOK(GetDeviceQueue2, get_queue2),
	{ NULL, 0, NULL },
};
