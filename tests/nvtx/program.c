// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with NVTX calls and without xsprof, compiled with NVIDIA's header of version 3, or with
 * V2 of version 2, and its library. With COPY it is a library that calls one function, with its own
 * copy of NVTX. On standard output it prints only wrong levels returned by pushes.
 */
#define _GNU_SOURCE
#ifdef V2
#include <nvToolsExt.h>
#include <nvToolsExtSync.h>
#else
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtSync.h>
#endif
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void level(int got, int want)
{
	if (got != want && got != NVTX_NO_PUSH_POP_TRACKING)
		printf("level %d, not %d\n", got, want);
}

#ifdef COPY
void COPY(int n);

void COPY(int n)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("of a copy");
	nvtxEventAttributes_t e = { .version = NVTX_VERSION, .size = sizeof(e) };

	e.messageType = NVTX_MESSAGE_TYPE_ASCII;
	e.message.ascii = __FILE__ + sizeof(__FILE__) - sizeof("program.c");
	while (n--) {
		level(nvtxDomainRangePushEx(domain, &e), 0);
		nvtxRangePushA("in a copy");
		nvtxMarkA("mark of a copy");
		nvtxRangePop();
		level(nvtxDomainRangePop(domain), 0);
	}
}
#else

void copy_one(int n);
void copy_two(int n);

static nvtxEventAttributes_t event(const char *text)
{
	nvtxEventAttributes_t e = { .version = NVTX_VERSION, .size = sizeof(e) };

	e.messageType = NVTX_MESSAGE_TYPE_ASCII;
	e.message.ascii = text;
	return e;
}

static void payloads(nvtxDomainHandle_t domain)
{
	nvtxEventAttributes_t e = event("payload");

	e.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
	e.payload.ullValue = 18446744073709551615ull;
	nvtxDomainMarkEx(domain, &e);
	e.payloadType = NVTX_PAYLOAD_TYPE_INT64;
	e.payload.llValue = -5000000000ll;
	nvtxDomainMarkEx(domain, &e);
	e.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
	e.payload.dValue = 0.125;
	nvtxDomainMarkEx(domain, &e);
	/* Only 32 bits of the payload are valid. */
	memset(&e.payload, 0x55, sizeof(e.payload));
	e.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
	e.payload.uiValue = 4000000000u;
	nvtxDomainMarkEx(domain, &e);
	e.payloadType = NVTX_PAYLOAD_TYPE_INT32;
	e.payload.iValue = -7;
	nvtxDomainMarkEx(domain, &e);
	e.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
	e.payload.fValue = 2.5f;
	level(nvtxDomainRangePushEx(domain, &e), 0);
	nvtxDomainRangePop(domain);
}

static void attributes(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("a domain");
	nvtxDomainHandle_t wide = nvtxDomainCreateW(L"dom\u00e4ne");
	nvtxStringHandle_t string = nvtxDomainRegisterStringA(domain, "registered");
	nvtxStringHandle_t strung = nvtxDomainRegisterStringW(wide, L"\U0001f600 registered");
	nvtxEventAttributes_t e = event("with all");

	nvtxDomainNameCategoryA(domain, 3, "third");
	nvtxDomainNameCategoryW(domain, 4, L"f\u00fcnf");
	nvtxNameCategoryA(3, "third of all");
	e.colorType = NVTX_COLOR_ARGB;
	e.color = 0x80ff0001;
	for (e.category = 0; e.category < 6; e.category++) {
		level(nvtxDomainRangePushEx(domain, &e), 0);
		level(nvtxRangePushEx(&e), 1);
		nvtxRangePop();
		nvtxDomainRangePop(domain);
	}
	e = event(NULL);
	nvtxMarkEx(&e);
	e.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	e.message.registered = string;
	for (int i = 0; i < 10; i++) {
		level(nvtxDomainRangePushEx(domain, &e), 0);
		level(nvtxDomainRangePushEx(domain, &e), 1);
		level(nvtxDomainRangePop(domain), 1);
		level(nvtxDomainRangePop(domain), 0);
	}
	nvtxDomainMarkEx(domain, &e);
	e.message.registered = strung;
	nvtxDomainMarkEx(wide, &e);
	payloads(domain);
	nvtxDomainDestroy(domain);
}

struct other {
	nvtxRangeId_t	ids[4];
	bool		names_itself;
	uint32_t	tid;
};

static void *other_thread(void *data)
{
	struct other *self = data;
	nvtxRangeId_t *ids = self->ids;
	char text[32];

	self->tid = (uint32_t)syscall(SYS_gettid);
	if (self->names_itself)
		nvtxNameOsThreadA(self->tid, "a named thread");
	for (int i = 0; i < 300; i++) {
		/* The same address has a different text each time. */
		snprintf(text, sizeof(text), "text %d", i % 10);
		level(nvtxRangePushA(text), 0);
		nvtxRangePop();
	}
	for (int i = 0; i < 4; i++)
		nvtxRangeEnd(ids[i]);
	return NULL;
}

static void threads(void)
{
	struct other others[4] = { { .names_itself = true }, { .names_itself = true } };
	pthread_t thread[4];

	for (int t = 0; t < 4; t++) {
		nvtxEventAttributes_t e = event("started with a payload");

		e.payloadType = NVTX_PAYLOAD_TYPE_INT32;
		e.payload.iValue = t;
		others[t].ids[0] = nvtxRangeStartA("started");
		others[t].ids[1] = nvtxRangeStartW(L"started wide");
		others[t].ids[2] = nvtxRangeStartEx(&e);
		others[t].ids[3] = nvtxRangeStartA(NULL);
	}
	for (int t = 0; t < 4; t++)
		pthread_create(&thread[t], NULL, other_thread, &others[t]);
	for (int t = 0; t < 4; t++)
		pthread_join(thread[t], NULL);
	for (int t = 2; t < 4; t++)
		nvtxNameOsThreadA(others[t].tid, "a named thread");
}

static void objects(void)
{
	nvtxResourceAttributes_t r = { .version = NVTX_VERSION,
				       .size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE };
	nvtxSyncUserAttributes_t s = { .version = NVTX_VERSION,
				       .size = NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE };
	nvtxDomainHandle_t domain = nvtxDomainCreateA("objects");
	nvtxResourceHandle_t resource;
	nvtxSyncUser_t sync;

	r.identifierType = NVTX_RESOURCE_TYPE_GENERIC_POINTER;
	r.identifier.ullValue = 0x7777;
	r.messageType = NVTX_MESSAGE_TYPE_ASCII;
	r.message.ascii = "a buffer";
	resource = nvtxDomainResourceCreate(domain, &r);
	nvtxDomainResourceDestroy(resource);
	s.messageType = NVTX_MESSAGE_TYPE_ASCII;
	s.message.ascii = "a mutex";
	sync = nvtxDomainSyncUserCreate(domain, &s);
	for (int i = 0; i < 3; i++) {
		nvtxDomainSyncUserAcquireStart(sync);
		nvtxDomainSyncUserAcquireFailed(sync);
		nvtxDomainSyncUserAcquireStart(sync);
		nvtxDomainSyncUserAcquireSuccess(sync);
		nvtxDomainSyncUserReleasing(sync);
	}
	nvtxDomainSyncUserDestroy(sync);
}

static volatile sig_atomic_t handled;

static void handler(int signal)
{
	int saved = errno;

	(void)signal;
	if (handled < 200) {
		nvtxRangeEnd(nvtxRangeStartA("started by a signal"));
		handled++;
	}
	errno = saved;
}

/* A signal during a call, which may hold a lock that the call in its handler needs. */
static void signals(void)
{
	struct sigaction action = { .sa_handler = handler };
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };

	nvtxRangeEnd(nvtxRangeStartA("started by a signal"));
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 5000; i++)
		nvtxRangeEnd(nvtxRangeStartA("interrupted"));
	while (handled < 200)
		pause();
	setitimer(ITIMER_REAL, &never, NULL);
}

static void children(const char *self)
{
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < 10; i++) {
			level(nvtxRangePushA("in a child"), 1);
			nvtxRangePop();
		}
		/* Pops its parent's range. */
		level(nvtxRangePop(), 0);
		nvtxMarkA("before the exec");
		execl(self, self, "executed", (char *)NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		nvtxMarkA("executed");
		return 0;
	}
	level(nvtxRangePushA("main"), 0);
	level(nvtxRangePushW(L"w\u00efde"), 1);
	nvtxMarkW(L"mark w\u00efde");
	nvtxMarkA("mark");
	nvtxMarkA(NULL);
	level(nvtxRangePop(), 1);
	attributes();
	threads();
	objects();
	signals();
	copy_one(20);
	copy_two(30);
	children(argv[0]);
	level(nvtxRangePop(), 0);
	return 0;
}
#endif
