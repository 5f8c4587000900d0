// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Agents: devices, and processors, which are none here.  All records of rocprofiler-sdk have times
 * of one clock of the host, into which it converts those of devices; so each device has that clock.
 */
#include <stdio.h>

#include "gpu/rocm/local.h"

static struct device {
	uint64_t	agent;
	uint32_t	number;
} devices[XSPROF_DEVICES_OF_KIND];
static uint32_t nr_devices;

#define NUMBER(word, value)	{ .key = (word), .number = (value) }

/* As ROCm itself writes it.  Return: @text, or NULL: it has none, or this version does not tell. */
static const char *put_uuid(char text[24], const struct rocp_agent *a)
{
	if (a->size < offsetof(struct rocp_agent, uuid) + sizeof(a->uuid) || !a->uuid)
		return NULL;
	snprintf(text, 24, "GPU-%016llx", (unsigned long long)a->uuid);
	return text;
}

/* Return: its number, or -errno. */
static int tell(const struct rocp_agent *a, uint32_t index)
{
	char uuid[24], bus[24];
	const struct xsprof_device_property properties[] = {
		{ .key = "arch", .text = a->name ? a->name : "" },
		{ .key = "pciAddress", .text = bus },
		NUMBER("vendorId", a->vendor),
		NUMBER("deviceId", a->device),
		NUMBER("totalGlobalMem", a->memory),
		NUMBER("computeUnits", a->compute_units),
		NUMBER("warpSize", a->wavefront),
		NUMBER("clockRate", a->clock * 1000ull),
	};
	const struct xsprof_device device = {
		.size = sizeof(device), .kind = "rocm", .index = index,
		.uuid = put_uuid(uuid, a),
		.name = a->product && *a->product ? a->product : a->name,
		.properties = properties, .nr_properties = ARRAY_SIZE(properties),
	};

	snprintf(bus, sizeof(bus), "%04x:%02x:%02x.%x", a->domain, a->location >> 8 & 0xff,
		 a->location >> 3 & 0x1f, a->location & 7);
	return xsprof_device_add(&device);
}

/* Their numbers are those that programs give to their devices, if all are visible to them. */
static int found(uint32_t version, const void **agents, size_t n, void *unused)
{
	(void)version, (void)unused;
	for (size_t i = 0; i < n; i++) {
		const struct rocp_agent *a = agents[i];
		int number;

		if (a->size < offsetof(struct rocp_agent, uuid) || a->type != ROCP_GPU ||
		    nr_devices == XSPROF_DEVICES_OF_KIND)
			continue;
		number = tell(a, nr_devices);
		if (number < 0)
			continue;
		devices[nr_devices++] = (struct device){
			.agent = a->id, .number = (uint32_t)number,
		};
	}
	return 0;
}

int rocm_agents_find(void)
{
	int err = rocp.agents(ROCP_AGENT_V0, found, offsetof(struct rocp_agent, uuid), NULL);

	return err ? -err : (int)nr_devices;
}

bool rocm_device(uint64_t agent, uint32_t *device)
{
	for (uint32_t i = 0; i < nr_devices; i++) {
		if (devices[i].agent == agent) {
			*device = devices[i].number;
			return true;
		}
	}
	return false;
}

uint32_t rocm_first_device(void)
{
	return devices[0].number;
}

void rocm_clock_look(void)
{
	uint64_t before = xsprof_now(), ns, after;

	if (rocp.timestamp(&ns))
		return;
	after = xsprof_now();
	for (uint32_t i = 0; i < nr_devices; i++)
		xsprof_device_clock(devices[i].number, ns, before, after);
}

uint64_t rocm_ticks(uint64_t ns)
{
	return xsprof_device_ticks(devices[0].number, ns);
}
