// SPDX-License-Identifier: GPL-2.0-only
/*
 * On a machine with several nodes of memory the pages of a CPU's ring are on that CPU's node,
 * whichever CPU asks for them.  Runs where each CPU has a node of its own (boot.sh --nodes).
 */
#include <fcntl.h>
#include <sys/syscall.h>

#include "ring.h"

#define NODES	8u
#define RING	(256 << 10)
#define PFN	((1ull << 55) - 1)	/* of an entry of pagemap */

/* The frames of each node, from the zones' lines of /proc/zoneinfo. */
struct zone {
	unsigned int	node;
	uint64_t	from;
	uint64_t	to;
};

FIXTURE(nodes)
{
	struct dev	d;
	struct zone	zone[4 * NODES];
	unsigned int	nr_zones;
	unsigned int	node[NODES];	/* of each CPU */
	unsigned int	cpus;
	int		pagemap;
};

static unsigned int read_zones(struct zone *z, unsigned int room)
{
	unsigned long long spanned = 0, from;
	unsigned int n = 0, node = 0;
	FILE *f = fopen("/proc/zoneinfo", "re");
	char line[200];

	while (f && n < room && fgets(line, sizeof(line), f)) {
		(void)sscanf(line, "Node %u, zone", &node);
		(void)sscanf(line, " spanned %llu", &spanned);
		if (sscanf(line, " start_pfn: %llu", &from) == 1 && spanned)
			z[n++] = (struct zone){ node, from, from + spanned };
	}
	if (f)
		fclose(f);
	return n;
}

/* Which node's memory is there, or NODES. */
static unsigned int node_at(FIXTURE_DATA(nodes) *self, const void *at)
{
	uint64_t entry;

	if (pread(self->pagemap, &entry, sizeof(entry),
		  (off_t)((uintptr_t)at / self->d.page * sizeof(entry))) != sizeof(entry))
		return NODES;
	for (unsigned int i = 0; i < self->nr_zones; i++)
		if ((entry & PFN) >= self->zone[i].from && (entry & PFN) < self->zone[i].to)
			return self->zone[i].node;
	return NODES;
}

FIXTURE_SETUP(nodes)
{
	unsigned int distinct = 0;

	self->cpus = (unsigned int)sysconf(_SC_NPROCESSORS_CONF);
	ASSERT_GE(NODES, self->cpus);
	for (unsigned int k = 0; k < self->cpus; k++) {
		env_on_cpu(k);
		ASSERT_EQ(0, syscall(SYS_getcpu, NULL, &self->node[k], NULL));
		distinct += self->node[k] != self->node[0];
	}
	ASSERT_LT(0, distinct) {
		TH_LOG("all CPUs have one node");
	}
	self->nr_zones = read_zones(self->zone, 4 * NODES);
	ASSERT_LT(0, self->nr_zones);
	self->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	ASSERT_GE(self->pagemap, 0);
	ASSERT_EQ(0, dev_attach(&self->d, XSPROF_MODE_DISCARD, RING, 1));
	ASSERT_EQ(self->cpus, self->d.nr);
}

FIXTURE_TEARDOWN(nodes)
{
	close(self->pagemap);
	dev_close(&self->d);
}

/* The pages of ring @k from @off on. */
static void look(struct __test_metadata *_metadata, FIXTURE_DATA(nodes) *self, uint32_t k,
		 uint64_t off)
{
	const char *ring = self->d.base + dev_ring_off(&self->d, k);

	for (; off < 2 * self->d.page + RING; off += self->d.page) {
		(void)*(volatile const char *)(ring + off);
		ASSERT_EQ(self->node[k], node_at(self, ring + off)) {
			TH_LOG("page %llu of the ring of CPU %u",
			       (unsigned long long)(off / self->d.page), k);
		}
	}
}

/* Each CPU asks for the ring of another. */
TEST_F(nodes, populated)
{
	for (uint32_t k = 0; k < self->cpus; k++) {
		env_on_cpu((k + 1) % self->cpus);
		ASSERT_EQ(0, dev_populate(self->d.fd, dev_ring_off(&self->d, k),
					  self->d.stride));
		look(_metadata, self, k, 0);
	}
}

/* By a store, page after page. */
TEST_F(nodes, stored)
{
	for (uint32_t k = 0; k < self->cpus; k++) {
		env_on_cpu((k + 1) % self->cpus);
		ASSERT_EQ(0, dev_overlay(&self->d, dev_ring_off(&self->d, k) + 2 * self->d.page,
					 RING));
		for (uint64_t off = 0; off < RING; off += self->d.page)
			*(volatile char *)((char *)dev_data(&self->d, k) + off) = 1;
		look(_metadata, self, k, 2 * self->d.page);
	}
}

TEST_HARNESS_MAIN
