// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tool that only counts, for comparison with the collector: it writes a line for each call. It is
 * compiled with NVIDIA's header and shares nothing with the collector. One line is one write() to
 * the file XSPROF_TEST_COUNTS, so that all are there however a process ends. With FEW it has no
 * function that creates a handle, and its ids are 0.
 */
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtSync.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define NO_LEVEL	NVTX_NO_PUSH_POP_TRACKING

#ifdef FEW
#pragma GCC diagnostic ignored "-Wunused-function"
#endif

struct thing {
	char domain[64];
	char text[128];
};

static struct thing all = { .domain = "nvtx" };
static uint64_t last_id;
static int fd = -1;

__attribute__((format(printf, 1, 2))) static void line(const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text) - 1, fmt, ap);
	va_end(ap);
	text[n++] = '\n';
	if (fd >= 0 && write(fd, text, (size_t)n) != n)
		abort();
}

/* No locale: UTF-8 by hand. */
static const char *narrow(const wchar_t *w, char *out)
{
	char *p = out;

	for (; *w; w++) {
		unsigned int c = (unsigned int)*w;

		if (c < 0x80) {
			*p++ = (char)c;
		} else if (c < 0x800) {
			*p++ = (char)(0xc0 + c / 64);
			*p++ = (char)(0x80 + c % 64);
		} else if (c < 0x10000) {
			*p++ = (char)(0xe0 + c / 4096);
			*p++ = (char)(0x80 + c / 64 % 64);
			*p++ = (char)(0x80 + c % 64);
		} else {
			*p++ = (char)(0xf0 + c / 262144);
			*p++ = (char)(0x80 + c / 4096 % 64);
			*p++ = (char)(0x80 + c / 64 % 64);
			*p++ = (char)(0x80 + c % 64);
		}
	}
	*p = 0;
	return out;
}

static const char *message(int type, nvtxMessageValue_t m, char *out)
{
	if (type == NVTX_MESSAGE_TYPE_ASCII && m.ascii)
		return m.ascii;
	if (type == NVTX_MESSAGE_TYPE_UNICODE && m.unicode)
		return narrow(m.unicode, out);
	if (type == NVTX_MESSAGE_TYPE_REGISTERED && m.registered)
		return ((struct thing *)m.registered)->text;
	return "(no name)";
}

static void say(const char *kind, nvtxDomainHandle_t d, const nvtxEventAttributes_t *e)
{
	const struct thing *domain = d ? (struct thing *)d : &all;
	char out[512], payload[64] = "";

	switch (e->payloadType) {
	case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
		snprintf(payload, sizeof(payload), "%llu", (unsigned long long)e->payload.ullValue);
		break;
	case NVTX_PAYLOAD_TYPE_INT64:
		snprintf(payload, sizeof(payload), "%lld", (long long)e->payload.llValue);
		break;
	case NVTX_PAYLOAD_TYPE_DOUBLE:
		snprintf(payload, sizeof(payload), "%g", e->payload.dValue);
		break;
	case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
		snprintf(payload, sizeof(payload), "%u", e->payload.uiValue);
		break;
	case NVTX_PAYLOAD_TYPE_INT32:
		snprintf(payload, sizeof(payload), "%d", e->payload.iValue);
		break;
	case NVTX_PAYLOAD_TYPE_FLOAT:
		snprintf(payload, sizeof(payload), "%g", (double)e->payload.fValue);
		break;
	}
	line("%s\t%s\t%s\t%s\t%s", kind, domain->domain,
	     message(e->messageType, e->message, out), payload,
	     e->colorType == NVTX_COLOR_ARGB ? "color" : "");
}

static void say_text(const char *kind, const char *text)
{
	line("%s\tnvtx\t%s\t\t", kind, text ? text : "(no name)");
}

static void say_wide(const char *kind, const wchar_t *text)
{
	char out[512];

	say_text(kind, narrow(text, out));
}

static void mark_ex(const nvtxEventAttributes_t *e) { say("instant", NULL, e); }
static void mark(const char *s) { say_text("instant", s); }
static void mark_wide(const wchar_t *s) { say_wide("instant", s); }
static int push_ex(const nvtxEventAttributes_t *e) { say("begin", NULL, e); return NO_LEVEL; }
static int push(const char *s) { say_text("begin", s); return NO_LEVEL; }
static int push_wide(const wchar_t *s) { say_wide("begin", s); return NO_LEVEL; }
static int pop(void) { line("end"); return NO_LEVEL; }

static uint64_t next(void)
{
#ifdef FEW
	return 0;
#else
	return __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
#endif
}

static uint64_t start_ex(const nvtxEventAttributes_t *e)
{
	say("async-begin", NULL, e);
	return next();
}

static uint64_t start(const char *s) { say_text("async-begin", s); return next(); }
static uint64_t start_wide(const wchar_t *s) { say_wide("async-begin", s); return next(); }
static void end(uint64_t id) { line(id && id <= last_id ? "async-end" : "bad id"); }
static void name_thread(uint32_t tid, const char *s) { line("thread\t%s\t%u", s, tid); }

static void domain_mark(nvtxDomainHandle_t d, const nvtxEventAttributes_t *e)
{
	say("instant", d, e);
}

static int domain_pop(nvtxDomainHandle_t d) { (void)d; return pop(); }
static void domain_end(nvtxDomainHandle_t d, uint64_t id) { (void)d; end(id); }

static int domain_push(nvtxDomainHandle_t d, const nvtxEventAttributes_t *e)
{
	say("begin", d, e);
	return NO_LEVEL;
}

static uint64_t domain_start(nvtxDomainHandle_t d, const nvtxEventAttributes_t *e)
{
	say("async-begin", d, e);
	return next();
}

static void *make(const char *domain, const char *text)
{
	struct thing *t = calloc(1, sizeof(*t));

	snprintf(t->domain, sizeof(t->domain), "%s", domain);
	snprintf(t->text, sizeof(t->text), "%s", text);
	return t;
}

static void *domain_create(const char *s) { return make(s, ""); }

static void *domain_create_wide(const wchar_t *s)
{
	char out[512];

	return domain_create(narrow(s, out));
}

static void *string(void *d, const char *s)
{
	return make(d ? ((struct thing *)d)->domain : "nvtx", s);
}

static void *string_wide(void *d, const wchar_t *s)
{
	char out[512];

	return string(d, narrow(s, out));
}

static void *sync_create(void *d, const nvtxSyncUserAttributes_t *a)
{
	char out[512];
	struct thing *t = string(d, message(a->messageType, a->message, out));

	line("sync\t%s\t%s\tcreate", t->domain, t->text);
	return t;
}

static void sync_say(const struct thing *t, const char *op)
{
	if (t)
		line("sync\t%s\t%s\t%s", t->domain, t->text, op);
}

static void sync_destroy(void *t) { sync_say(t, "destroy"); }
static void sync_start(void *t) { sync_say(t, "prepare"); }
static void sync_failed(void *t) { sync_say(t, "cancel"); }
static void sync_success(void *t) { sync_say(t, "acquired"); }
static void sync_releasing(void *t) { sync_say(t, "releasing"); }

static const struct {
	NvtxCallbackModule	module;
	unsigned int		slot;
	void			*func;
} slots[] = {
	{ NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_MarkEx, mark_ex },
	{ NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_MarkA, mark },
	{ NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_MarkW, mark_wide },
	{ NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePushEx, push_ex },
	{ NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePushA, push },
	{ NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePushW, push_wide },
	{ NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePop, pop },
	{ NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangeStartEx, start_ex },
	{ NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangeStartA, start },
	{ NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangeStartW, start_wide },
	{ NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangeEnd, end },
	{ NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_NameOsThreadA, name_thread },
	{ NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainMarkEx, domain_mark },
	{ NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRangePushEx, domain_push },
	{ NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRangePop, domain_pop },
	{ NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRangeStartEx, domain_start },
	{ NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRangeEnd, domain_end },
#ifndef FEW
	{ NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainCreateA, domain_create },
	{ NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainCreateW, domain_create_wide },
	{ NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRegisterStringA, string },
	{ NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRegisterStringW, string_wide },
	{ NVTX_CB_MODULE_SYNC, NVTX_CBID_SYNC_DomainSyncUserCreate, sync_create },
#endif
	{ NVTX_CB_MODULE_SYNC, NVTX_CBID_SYNC_DomainSyncUserDestroy, sync_destroy },
	{ NVTX_CB_MODULE_SYNC, NVTX_CBID_SYNC_DomainSyncUserAcquireStart, sync_start },
	{ NVTX_CB_MODULE_SYNC, NVTX_CBID_SYNC_DomainSyncUserAcquireFailed, sync_failed },
	{ NVTX_CB_MODULE_SYNC, NVTX_CBID_SYNC_DomainSyncUserAcquireSuccess, sync_success },
	{ NVTX_CB_MODULE_SYNC, NVTX_CBID_SYNC_DomainSyncUserReleasing, sync_releasing },
};

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export);

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export)
{
	const NvtxExportTableCallbacks *callbacks = get_export(NVTX_ETID_CALLBACKS);
	const char *path = getenv("XSPROF_TEST_COUNTS");
	NvtxFunctionTable table;
	unsigned int size;

	if (fd < 0 && path)
		fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	line("copy");
	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
		if (callbacks->GetModuleFunctionTable(slots[i].module, &table, &size) &&
		    slots[i].slot < size)
			*table[slots[i].slot] = (NvtxFunctionPointer)slots[i].func;
	return 1;
}
