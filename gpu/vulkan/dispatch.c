// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The program's instances and devices, and the functions of the next layer. The first word of a
 * handle identifies its instance or device.
 *
 * Structures are never freed, as a call may still use one; those of destroyed objects are reused.
 */
#include <stdlib.h>

#include "gpu/vulkan/local.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vulkan_instance *instances;
static struct vulkan_device *devices;

/* A key that no handle has: a thread is filling the structure in. */
static char taken;

struct vulkan_instance *vulkan_instance_of(vk_handle handle)
{
	void *key = vulkan_key(handle);
	struct vulkan_instance *i;

	/* Acquire: pairs with the release in add(); so does the load of the key. */
	for (i = __atomic_load_n(&instances, __ATOMIC_ACQUIRE); i; i = i->older)
		if (__atomic_load_n(&i->key, __ATOMIC_ACQUIRE) == key)
			return i;
	return NULL;
}

struct vulkan_device *vulkan_device_of(vk_handle handle)
{
	void *key = vulkan_key(handle);
	struct vulkan_device *d;

	for (d = vulkan_devices(); d; d = d->older)
		if (__atomic_load_n(&d->key, __ATOMIC_ACQUIRE) == key)
			return d;
	return NULL;
}

struct vulkan_device *vulkan_devices(void)
{
	return __atomic_load_n(&devices, __ATOMIC_ACQUIRE);
}

struct vulkan_instance *vulkan_instance_new(void)
{
	struct vulkan_instance *i;

	pthread_mutex_lock(&lock);
	for (i = instances; i && i->key; i = i->older)
		;
	if (i) {
		__atomic_store_n(&i->key, &taken, __ATOMIC_RELAXED);
		memset(&i->handle, 0, sizeof(*i) - offsetof(struct vulkan_instance, handle));
	} else if ((i = calloc(1, sizeof(*i)))) {
		i->key = &taken;
		i->older = instances;
		__atomic_store_n(&instances, i, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return i;
}

struct vulkan_device *vulkan_device_new(void)
{
	static uint32_t nr_devices;
	struct vulkan_device *d;

	pthread_mutex_lock(&lock);
	for (d = devices; d && d->key; d = d->older)
		;
	if (d) {
		__atomic_store_n(&d->key, &taken, __ATOMIC_RELAXED);
		memset(&d->handle, 0, sizeof(*d) - offsetof(struct vulkan_device, handle));
	} else if ((d = calloc(1, sizeof(*d)))) {
		d->key = &taken;
		d->older = devices;
		__atomic_store_n(&devices, d, __ATOMIC_RELEASE);
	}
	if (d)
		d->number = ++nr_devices;
	pthread_mutex_unlock(&lock);
	return d;
}

void vulkan_instance_add(struct vulkan_instance *instance, vk_handle handle)
{
	static const char *const names[] = {
#define NAME(f)	"vk" #f,
		VULKAN_INSTANCE_FUNCTIONS(NAME)
	};

	instance->handle = handle;
	for (int i = 0; i < VULKAN_INSTANCE_SLOTS; i++)
		instance->next[i] = instance->get_address(handle, names[i]);
	__atomic_store_n(&instance->key, vulkan_key(handle), __ATOMIC_RELEASE);
}

void vulkan_device_add(struct vulkan_device *device, vk_handle handle)
{
	static const char *const names[] = { VULKAN_DEVICE_FUNCTIONS(NAME) };

	device->handle = handle;
	for (int i = 0; i < VULKAN_DEVICE_SLOTS; i++)
		device->next[i] = device->get_address(handle, names[i]);
	__atomic_store_n(&device->key, vulkan_key(handle), __ATOMIC_RELEASE);
}

bool vulkan_device_is_there(const struct vulkan_device *device)
{
	/* Acquire: pairs with the release in vulkan_device_add(). */
	void *key = __atomic_load_n(&device->key, __ATOMIC_ACQUIRE);

	return key && key != &taken;
}

void vulkan_instance_gone(struct vulkan_instance *instance)
{
	__atomic_store_n(&instance->key, NULL, __ATOMIC_RELEASE);
}

void vulkan_device_gone(struct vulkan_device *device)
{
	__atomic_store_n(&device->key, NULL, __ATOMIC_RELEASE);
}

/* In a forked child: calls on objects inherited from the parent are passed through. */
void vulkan_dispatch_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	for (struct vulkan_device *d = devices; d; d = d->older)
		d->on = false;
}
