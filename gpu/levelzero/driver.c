// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Asks Level Zero itself whether there is a driver with a GPU, and for the properties of its
 * devices. Called once, in the program's thread, when the program has just initialised Level Zero
 * or is about to.
 */
#include <dlfcn.h>
#include <errno.h>

#include "gpu/levelzero/local.h"

#define DRIVERS		16u
#define DEVICES		32u
#define OLDEST		ZE_VERSION(1, 3)	/* oldest version that PTI supports */

static struct ze ze;
static struct ze_device devices[DEVICES];
static uint32_t nr_devices;

static bool fill(void *lib)
{
	const struct {
		void		*to;
		const char	*name;
	} functions[] = {
		{ &ze.init, "zeInit" },
		{ &ze.driver_get, "zeDriverGet" },
		{ &ze.driver_version, "zeDriverGetApiVersion" },
		{ &ze.device_get, "zeDeviceGet" },
		{ &ze.device_properties, "zeDeviceGetProperties" },
	};
	void *symbol;

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		symbol = dlsym(lib, functions[i].name);
		if (!symbol)
			return false;
		memcpy(functions[i].to, &symbol, sizeof(symbol));
	}
	return true;
}

static void ask(void *driver)
{
	void *found[DEVICES];
	uint32_t n = DEVICES;

	if (ze.device_get(driver, &n, found))
		return;
	for (uint32_t i = 0; i < n && i < DEVICES && nr_devices < DEVICES; i++) {
		struct ze_device *d = &devices[nr_devices];

		*d = (struct ze_device){ .structure = ZE_DEVICE_PROPERTIES };
		if (!ze.device_properties(found[i], d) && d->type == ZE_GPU)
			nr_devices++;
	}
}

int levelzero_driver(bool load)
{
	void *lib = dlopen(ZE_LOADER, RTLD_NOW | (load ? 0 : RTLD_NOLOAD)), *drivers[DRIVERS];
	uint32_t n = DRIVERS, version;

	if (!lib || !fill(lib))
		return -ENOENT;
	/*
	 * The program may have called it already, and PTI will again: repeated calls are harmless.
	 */
	if (ze.init(ZE_GPUS) || ze.driver_get(&n, drivers) || !n)
		return -ENODEV;
	for (uint32_t i = 0; i < n && i < DRIVERS; i++) {
		if (ze.driver_version(drivers[i], &version) || version < OLDEST)
			return -ENOSYS;
		ask(drivers[i]);
	}
	return nr_devices ? 0 : -ENODEV;
}

const struct ze_device *levelzero_gpu(uint32_t i)
{
	return i < nr_devices ? &devices[i] : NULL;
}
