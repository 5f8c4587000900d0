// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Entry points of the layer. The loader opens the library that the layer's manifest names,
 * negotiates the interface version, and asks for functions by name. Functions that we do not hook
 * are those of the next layer.
 */
#include <stdlib.h>

#include "gpu/common/start.h"
#include "gpu/vulkan/local.h"

#define EXPORTED	__attribute__((visibility("default")))
#define PROPERTIES2	"VK_KHR_get_physical_device_properties2"

EXPORTED int32_t vkNegotiateLoaderLayerInterfaceVersion(struct vk_negotiate *n);

static vk_function get_instance_address(vk_handle instance, const char *name);
static vk_function get_device_address(vk_handle device, const char *name);

/* ---- start ----------------------------------------------------------------------------------- */

static void forget(void *unused)
{
	(void)unused;
	vulkan_dispatch_forget();
	vulkan_gpus_forget();
	vulkan_queues_forget();
	vulkan_labels_forget();
	vulkan_pending_forget();
	gpu_thread_forget(&vulkan_thread);
}

/* If this fails the layer passes all calls through. */
static void init(void)
{
	uint64_t begin;

	if (!gpu_is_recording())
		return;
	begin = xsprof_now();
	vulkan_names_init();
	if (vulkan_thread_start(forget))
		return;
	vulkan_active = true;
	gpu_started(vulkan_category(), "Start of Vulkan's collector", begin);
}

/* ---- instances ------------------------------------------------------------------------------- */

static bool has_extension(const struct vk_instance_info *info, const char *name)
{
	for (uint32_t i = 0; i < info->nr_extensions; i++)
		if (!strcmp(info->extensions[i], name))
			return true;
	return false;
}

static struct vk_layer_instance *of_loader(const struct vk_instance_info *info)
{
	const struct vk_any *chain = info->next;

	while (chain && (chain->type != VULKAN_IS_LAYER_INSTANCE ||
			 ((const struct vk_layer_instance *)chain)->function != VULKAN_LINK_INFO))
		chain = chain->next;
	/* The loader expects layers to write to its structure. */
	return (struct vk_layer_instance *)(uintptr_t)chain;
}

typedef int32_t create_function(const struct vk_instance_info *info, const void *allocator,
				vk_handle *instance);

static int32_t create(struct vk_layer_instance *layer, struct vk_instance_link *link,
		      const struct vk_instance_info *info, const void *allocator,
		      vk_handle *instance)
{
	create_function *next;

	next = (create_function *)link->get_instance_address(NULL, "vkCreateInstance");
	if (!next)
		return VULKAN_NOT_STARTED;
	layer->link = link->next;
	return next(info, allocator, instance);
}

/*
 * Adds, for a program of Vulkan 1.0, the instance extension that our device extensions depend on.
 */
static int32_t create_more(struct vk_layer_instance *layer, struct vk_instance_link *link,
			   const struct vk_instance_info *info, const void *allocator,
			   vk_handle *instance)
{
	const char **extensions = calloc(info->nr_extensions + 1, sizeof(*extensions));
	struct vk_instance_info more = *info;
	int32_t err;

	if (!extensions)
		return VULKAN_NO_EXTENSION;
	if (info->nr_extensions)
		memcpy(extensions, info->extensions, info->nr_extensions * sizeof(*extensions));
	extensions[more.nr_extensions++] = PROPERTIES2;
	more.extensions = extensions;
	err = create(layer, link, &more, allocator, instance);
	free(extensions);
	return err;
}

static int32_t create_instance(const struct vk_instance_info *info, const void *allocator,
			       vk_handle *instance)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct vk_layer_instance *layer = of_loader(info);
	struct vk_instance_link *link;
	struct vulkan_instance *i;
	int32_t err = VULKAN_NO_EXTENSION;

	if (!layer || !layer->link)
		return VULKAN_NOT_STARTED;
	pthread_once(&once, init);
	link = layer->link;
	i = vulkan_instance_new();
	if (!i)
		return VULKAN_NO_MEMORY;
	if (info->application)
		i->api_version = info->application->api_version;
	i->has_properties2 = i->api_version >= VULKAN_1_1 || has_extension(info, PROPERTIES2);
	if (vulkan_active && !i->has_properties2) {
		err = create_more(layer, link, info, allocator, instance);
		i->has_properties2 = !err;
	}
	if (err == VULKAN_NO_EXTENSION)
		err = create(layer, link, info, allocator, instance);
	if (err) {
		vulkan_instance_gone(i);
		return err;
	}
	i->get_address = link->get_instance_address;
	vulkan_instance_add(i, *instance);
	/* The program requested the version or extension, but the driver lacks its functions. */
	if (i->api_version >= VULKAN_1_1 ?
	    !i->next[VULKAN_GetPhysicalDeviceProperties2] ||
	    !i->next[VULKAN_GetPhysicalDeviceFeatures2] :
	    !i->next[VULKAN_GetPhysicalDeviceProperties2KHR] ||
	    !i->next[VULKAN_GetPhysicalDeviceFeatures2KHR])
		i->has_properties2 = false;
	return err;
}

static void destroy_instance(vk_handle instance, const void *allocator)
{
	__typeof__(&destroy_instance) next;
	struct vulkan_instance *i;

	if (!instance)
		return;
	i = vulkan_instance_of(instance);
	/* Before it is gone: another thread may have it for an instance of its own then. */
	next = NEXT(i, DestroyInstance, destroy_instance);
	vulkan_instance_gone(i);
	next(instance, allocator);
}

/* ---- functions by name ----------------------------------------------------------------------- */

static vk_function find_in(const struct vulkan_hook *hooks, const char *name)
{
	while (hooks->name && strcmp(hooks->name, name))
		hooks++;
	return hooks->function;
}

static vk_function of_device(const char *name)
{
	vk_function ours;

	if (!strcmp(name, "vkGetDeviceProcAddr"))
		return (vk_function)get_device_address;
	ours = find_in(vulkan_create_hooks, name);
	if (!ours)
		ours = find_in(vulkan_submit_hooks, name);
	if (!ours)
		ours = find_in(vulkan_wait_hooks, name);
	return ours ? ours : find_in(vulkan_label_hooks, name);
}

static vk_function of_instance(const char *name)
{
	static const struct { const char *name; vk_function function; } list[] = {
		{ "vkGetInstanceProcAddr", (vk_function)get_instance_address },
		{ "vkCreateInstance", (vk_function)create_instance },
		{ "vkDestroyInstance", (vk_function)destroy_instance },
		{ "vkCreateDevice", (vk_function)vulkan_create_device },
	};

	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		if (!strcmp(list[i].name, name))
			return list[i].function;
	return NULL;
}

static vk_function get_device_address(vk_handle device, const char *name)
{
	struct vulkan_device *d = vulkan_device_of(device);
	vk_function next = d->get_address(device, name), ours = of_device(name);

	/* A function that neither the device nor an extension has stays NULL. */
	return next && ours ? ours : next;
}

static vk_function get_instance_address(vk_handle instance, const char *name)
{
	vk_function ours = of_instance(name), next;
	struct vulkan_instance *i;

	if (ours || !instance)
		return ours;
	i = vulkan_instance_of(instance);
	next = i ? i->get_address(instance, name) : NULL;
	ours = of_device(name);
	return next && ours ? ours : next;
}

int32_t vkNegotiateLoaderLayerInterfaceVersion(struct vk_negotiate *n)
{
	if (!n || n->type != VULKAN_NEGOTIATE || n->version < VULKAN_LAYER_VERSION)
		return VULKAN_NOT_STARTED;
	n->version = VULKAN_LAYER_VERSION;
	n->get_instance_address = get_instance_address;
	n->get_device_address = get_device_address;
	/* Physical-device functions that the loader does not know bypass the layer. */
	n->get_physical_address = NULL;
	return VULKAN_OK;
}
