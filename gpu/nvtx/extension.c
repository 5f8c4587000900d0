// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Entry point of NVTX's extensions, and the events of the payload extension.
 *
 * A copy of NVTX requests each extension separately, at the first call of one.  An unknown
 * extension is counted, and its calls do nothing.
 */
#define XSPROF_INLINE
#include "gpu/common/start.h"
#include "gpu/nvtx/extension.h"

/* ---- events ---------------------------------------------------------------------------------- */

/* An event that consists of payloads only: its name may be in one of them. */
static bool read_event(struct nvtx_said *said, struct nvtx_domain d,
		       const struct nvtx_payload *payloads, size_t n)
{
	struct nvtx_thread *t = nvtx_thread_get();

	if (!t)
		return false;
	said->n = 0;
	said->name = 0;
	nvtx_read_payloads(said, d, payloads, n);
	if (!said->name)
		said->name = nvtx_text(t, d.category, NVTX_NO_NAME);
	return true;
}

static void mark(const void *domain, const struct nvtx_payload *payloads, size_t n)
{
	struct nvtx_said said;

	if (read_event(&said, nvtx_chain_domain(domain), payloads, n))
		nvtx_mark_said(&said);
}

static int push(const void *domain, const struct nvtx_payload *payloads, size_t n)
{
	struct nvtx_domain d = nvtx_chain_domain(domain);
	struct nvtx_said said;

	return read_event(&said, d, payloads, n) ? nvtx_push_said(d.index, &said) :
						   NVTX_NO_TRACKING;
}

static int pop(const void *domain, const struct nvtx_payload *payloads, size_t n)
{
	struct nvtx_domain d = nvtx_chain_domain(domain);
	struct nvtx_said said;

	if (n && read_event(&said, d, payloads, n) && said.n && xsprof_wants(said.name))
		return nvtx_pop_said(d.index, &said);
	return nvtx_pop(d.index);
}

static uint64_t start(const void *domain, const struct nvtx_payload *payloads, size_t n)
{
	struct nvtx_domain d = nvtx_chain_domain(domain);
	struct nvtx_said said;

	return read_event(&said, d, payloads, n) ? nvtx_start_said(d, &said) : 0;
}

static void end(const void *domain, uint64_t id, const struct nvtx_payload *payloads, size_t n)
{
	struct nvtx_domain d = nvtx_chain_domain(domain);
	struct nvtx_said said;

	if (n && read_event(&said, d, payloads, n))
		nvtx_note_attributes(d, id, &said);
	nvtx_end(id);
}

#define MISSED(X) \
	X(TimeDomainRegister, NVTX_EXT_TIME_DOMAIN) X(TimerSource, NVTX_EXT_TIMER) \
	X(TimerSourceWithData, NVTX_EXT_TIMER_DATA) X(ScopeRegister, NVTX_EXT_SCOPE) \
	X(TimeSyncPoint, NVTX_EXT_SYNC_POINT) X(TimeSyncPointTable, NVTX_EXT_SYNC_TABLE) \
	X(TimestampConversionFactor, NVTX_EXT_CONVERSION) X(EventSubmit, NVTX_EXT_EVENT) \
	X(EventBatchSubmit, NVTX_EXT_EVENT_BATCH)

#define MISSED_FUNC(api, slot) \
	static uint64_t miss_##api(void) \
	{ \
		nvtx_miss(NVTX_MISS_##api); \
		return 0; \
	}
MISSED(MISSED_FUNC)

#define MISSED_ENTRY(api, slot)	NVTX_EXT_ENTRY(slot, miss_##api),

/*
 * nvtxDomainIsEnabled() is left to NVTX, which returns true: programs ask once, and a category that
 * is off now may be switched on later.
 */
const struct nvtx_ext_entry nvtx_event_ext_entries[] = {
	MISSED(MISSED_ENTRY)
	NVTX_EXT_ENTRY(NVTX_EXT_MARK, mark),
	NVTX_EXT_ENTRY(NVTX_EXT_PUSH, push),
	NVTX_EXT_ENTRY(NVTX_EXT_POP, pop),
	NVTX_EXT_ENTRY(NVTX_EXT_START, start),
	NVTX_EXT_ENTRY(NVTX_EXT_END, end),
	{ 0, NULL }
};

/* ---- the tables ------------------------------------------------------------------------------ */

static void fill(const struct nvtx_ext_info *info, const struct nvtx_ext_entry *e)
{
	const struct nvtx_ext_segment *s = info->segments;

	for (; e->func; e++)
		if (e->slot < s->nr_slots)
			__atomic_store_n(&s->slots[e->slot], (intptr_t)e->func, __ATOMIC_RELEASE);
}

/* The entry point, called by a copy of NVTX's extensions; its name is the interface. */
__attribute__((visibility("default")))
int InitializeInjectionNvtxExtension(struct nvtx_ext_info *info);

/* Return: 1; 0: no recorder, or an unknown extension; NVTX then makes none of its calls. */
int InitializeInjectionNvtxExtension(struct nvtx_ext_info *info)
{
	int (*tool)(struct nvtx_ext_info *);

	/*
	 * The second tool gets the extension alone: payloads are read where the program has them,
	 * and there is no copy with our handles in place of the tool's.
	 */
	tool = (int (*)(struct nvtx_ext_info *))nvtx_chain_find("InitializeInjectionNvtxExtension");
	if (tool)
		return tool(info);
	if (!gpu_is_recording() || !info || info->size < sizeof(*info) || !info->nr_segments ||
	    !info->segments || !info->segments->slots)
		return 0;
	switch (info->module) {
	case NVTX_EXT_PAYLOAD:
		fill(info, nvtx_schema_ext_entries);
		fill(info, nvtx_event_ext_entries);
		return 1;
	case NVTX_EXT_COUNTERS:
		fill(info, nvtx_counter_ext_entries);
		return 1;
	default:
		nvtx_miss(NVTX_MISS_EXTENSION);
		return 0;
	}
}
