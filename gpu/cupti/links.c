// SPDX-License-Identifier: LGPL-2.1-only
/*
 * How devices are connected, by NVLink and by PCI Express: on request.  Records of this have no
 * time: CUPTI tells of all links when it is asked to, so each is an instant at the time at which
 * its record was read.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gpu/cupti/local.h"

enum device { GPU = 1, NPU = 2 };	/* of struct cupti_nvlink */
enum type { PCIE_GPU, PCIE_BRIDGE };

enum key {
	KEY_FROM, KEY_TO, KEY_LINKS, KEY_BANDWIDTH, KEY_VERSION, KEY_PEER, KEY_MEMORY, KEY_ATOMICS,
	KEY_MEMORY_ATOMICS, KEY_DEVICE, KEY_BRIDGE, KEY_UUID, KEY_DOMAIN, KEY_BUS, KEY_GENERATION,
	KEY_RATE, KEY_WIDTH, KEY_BEHIND, NR_KEYS,
};

static xsprof_name_t keys[NR_KEYS];

void cupti_links_init(void)
{
	static const char *const texts[NR_KEYS] = {
		[KEY_FROM] = "from", [KEY_TO] = "to", [KEY_LINKS] = "links",
		[KEY_BANDWIDTH] = "bandwidth (MB/s)", [KEY_VERSION] = "version",
		[KEY_PEER] = "peer access", [KEY_MEMORY] = "system memory access",
		[KEY_ATOMICS] = "peer atomics", [KEY_MEMORY_ATOMICS] = "system memory atomics",
		[KEY_DEVICE] = "device", [KEY_BRIDGE] = "bridge",
		[KEY_UUID] = "uuid", [KEY_DOMAIN] = "domain", [KEY_BUS] = "upstream bus",
		[KEY_GENERATION] = "generation", [KEY_RATE] = "GT/s", [KEY_WIDTH] = "lanes",
		[KEY_BEHIND] = "secondary bus",
	};

	for (int i = 0; i < NR_KEYS; i++)
		keys[i] = xsprof_name(texts[i]);
}

#define END_TEXT	48u

/* A device by its UUID, or a processor by its place. */
static void put_end(char *text, uint32_t type, const uint8_t *id)
{
	uint32_t index, domain;

	if (type == GPU) {
		cupti_uuid(text, id);
		return;
	}
	memcpy(&index, id, sizeof(index));
	memcpy(&domain, id + sizeof(index), sizeof(domain));
	snprintf(text, END_TEXT, "%s %u, domain %u", type == NPU ? "NPU" : "device", index, domain);
}

/* Those of 13.2 and newer are the reader's to free. */
static void free_ports(const struct cupti_nvlink *n)
{
	if (cupti_version < CUPTI_LINK_PORTS)
		return;
	free(n->of_version.newer.ports[0]);
	free(n->of_version.newer.ports[1]);
}

void cupti_nvlink(const struct cupti_nvlink *n)
{
	uint64_t bandwidth = cupti_version < CUPTI_LINK_PORTS ? n->of_version.older.bandwidth :
								n->of_version.newer.bandwidth;
	char from[END_TEXT], to[END_TEXT];
	struct xsprof_kv kv[NR_KEYS];
	size_t count = 0;

	put_end(from, n->from_type, n->from);
	put_end(to, n->to_type, n->to);
	kv[count++] = xsprof_str(keys[KEY_FROM], from);
	kv[count++] = xsprof_str(keys[KEY_TO], to);
	kv[count++] = xsprof_i64(keys[KEY_LINKS], n->links);
	/* CUPTI has KB a second. */
	kv[count++] = xsprof_u64(keys[KEY_BANDWIDTH], bandwidth / 1000);
	kv[count++] = xsprof_i64(keys[KEY_VERSION], n->version);
	kv[count++] = xsprof_bool(keys[KEY_PEER], n->flags & CUPTI_LINK_PEER);
	kv[count++] = xsprof_bool(keys[KEY_MEMORY], n->flags & CUPTI_LINK_MEMORY);
	kv[count++] = xsprof_bool(keys[KEY_ATOMICS], n->flags & CUPTI_LINK_ATOMICS);
	kv[count++] = xsprof_bool(keys[KEY_MEMORY_ATOMICS],
				  n->flags & CUPTI_LINK_MEMORY_ATOMICS);
	xsprof_instant_args(xsprof_name_in(cupti_category(), "NVLink"), kv, count);
	free_ports(n);
}

void cupti_pcie(const struct cupti_pcie *p)
{
	struct xsprof_kv kv[NR_KEYS];
	char uuid[END_TEXT];
	size_t count = 0;

	if (p->type != PCIE_GPU && p->type != PCIE_BRIDGE) {
		cupti_miss(CUPTI_MISS_UNKNOWN, 1);
		return;
	}
	if (p->type == PCIE_GPU) {
		cupti_uuid(uuid, p->of_type.uuid);
		kv[count++] = xsprof_i64(keys[KEY_DEVICE], p->id);
		kv[count++] = xsprof_str(keys[KEY_UUID], uuid);
	} else {
		kv[count++] = xsprof_i64(keys[KEY_BRIDGE], p->id);
		kv[count++] = xsprof_i64(keys[KEY_BEHIND], p->of_type.secondary_bus);
	}
	kv[count++] = xsprof_i64(keys[KEY_DOMAIN], p->domain);
	kv[count++] = xsprof_i64(keys[KEY_BUS], p->upstream_bus);
	kv[count++] = xsprof_i64(keys[KEY_GENERATION], p->generation);
	kv[count++] = xsprof_i64(keys[KEY_RATE], p->rate);
	kv[count++] = xsprof_i64(keys[KEY_WIDTH], p->width);
	xsprof_instant_args(xsprof_name_in(cupti_category(), p->type == PCIE_GPU ?
					   "PCI Express (device)" : "PCI Express (bridge)"),
			    kv, count);
}
