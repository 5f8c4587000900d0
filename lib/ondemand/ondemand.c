// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The thread that listens to `xsprof ctl`, polls dynolog's daemon for requests, and drives the
 * current request. Owns the thread: its start, its end with the program, and its absence in forked
 * children. request.c interprets requests, listen.c has the control page, dynolog.c the daemon's
 * messages.
 *
 * It sleeps on the page's bell, with all signals blocked: polling the daemon costs a few system
 * calls every few seconds, listening costs nothing.
 */
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "ondemand/bell.h"
#include "ondemand/client.h"
#include "ondemand/dynolog.h"
#include "ondemand/kineto-env.h"
#include "ondemand/listen.h"
#include "ondemand/ondemand-client.h"
#include "ondemand/ondemand.h"
#include "ondemand/request.h"
#include "profiler/log.h"
#include "profiler/schedule.h"

#define STACK_SIZE	(1u << 20)	/* clients save on it */
#define RING_NS		100000000
#define DEAF_MAX	3		/* unanswered polls before the socket is recreated */

static struct {
	pthread_mutex_t		lock;
	pthread_t		thread;
	pid_t			pid;	/* process of @thread; 0: no thread */
	bool			stop;
	bool			forks;	/* the C library notifies us of children */
	bool			by_hand; /* the program called xsprof_ondemand_init() */
	bool			asks;	/* the daemon is polled */
	bool			check;	/* the page's descriptor may be closed */
} od = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Used by the thread only; after a fork, by the child. */
static struct {
	struct xsp_dynolog	d;
	bool			registered;
	unsigned int		deaf;
	int			told;	/* last error reported, to report it once */
	bool			quiet;	/* PyTorch's profiler polls; reported */
	char			text[XSP_DYNOLOG_TEXT_MAX];
} peer = { .d = { .fd = -1 } };

static uint32_t orphan;	/* a forked child that must start listening */
static uint32_t own_steps;	/* the program makes steps itself */

static void tell(const char *what, int err)
{
	char why[80];

	if (err == peer.told)
		return;
	peer.told = err;
	xsp_log(XSP_LOG_WARNING, "dynolog: %s: %s", what,
		strerror_r(-err, why, sizeof(why)));
}

static bool has_socket(void)
{
	int err;

	if (xsp_dynolog_usable(&peer.d) && peer.deaf < DEAF_MAX)
		return true;
	/* Recreated even without an answer: its name may have been removed from the folder. */
	xsp_dynolog_close(&peer.d);
	peer.registered = false;
	peer.deaf = 0;
	err = xsp_dynolog_open(&peer.d);
	if (err)
		tell("no socket for requests", err);
	return !err;
}

static int is_kineto(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *name = strrchr(info->dlpi_name, '/');

	(void)size;
	(void)data;
	name = name ? name + 1 : info->dlpi_name;
	return !strncmp(name, "libtorch_cpu.so", 15) || !strncmp(name, "libkineto.so", 12);
}

/*
 * PyTorch's own profiler polls too, for the same process, and the first to poll gets the request:
 * leave requests to PyTorch, unless the user chose otherwise.
 */
static bool another_asks(void)
{
	if (__atomic_load_n(&od.by_hand, __ATOMIC_RELAXED) || xsp_kineto_env.ask_first ||
	    xsp_client_is_custom() || !dl_iterate_phdr(is_kineto, NULL)) {
		peer.quiet = false;
		return false;
	}
	if (!peer.quiet)
		xsp_log(XSP_LOG_INFO, "on-demand: Kineto is in the process and polls itself");
	peer.quiet = true;
	return true;
}

/* Polls once, and handles the result. */
static void ask(void)
{
	int32_t pids[XSP_DYNOLOG_PIDS], instances;
	char why[XSP_DEMAND_WHY];
	uint32_t n, types = xsp_request_idle() ? XSP_DYNOLOG_ACTIVITIES : 0;
	uint64_t bad;
	size_t len;
	int err;

	if (another_asks() || !has_socket())
		return;
	bad = peer.d.bad;
	if (!peer.registered && !xsp_dynolog_register(&peer.d, xsp_kineto_env.gpu, &instances)) {
		peer.registered = true;
		xsp_log(XSP_LOG_INFO, "dynolog: registered; %d processes of job %lld use GPU %d",
			(int)instances, (long long)peer.d.job, (int)xsp_kineto_env.gpu);
	}
	n = xsp_dynolog_pids(pids, XSP_DYNOLOG_PIDS);
	/*
	 * While a request is in progress this only announces us: the daemon keeps the next one, and
	 * reports to others that we are busy.
	 */
	err = xsp_dynolog_poll(&peer.d, types, pids, n, peer.text, sizeof(peer.text),
			       &len);
	if (peer.d.bad != bad)
		xsp_log(XSP_LOG_WARNING, "dynolog: dropped %llu messages: damaged, or not from a "
			"daemon of root, this user or XSPROF_DAEMON_UID",
			(unsigned long long)(peer.d.bad - bad));
	if (err) {
		tell("no answer from the daemon", err);
		peer.registered = false;
		peer.deaf++;
		return;
	}
	peer.told = 0;
	peer.deaf = 0;
	if (len)
		xsp_request_take(peer.text, len, XSP_DEMAND_BY_DAEMON, why);
}

static int64_t interval_ms(void)
{
	static struct xsp_kineto_config base;	/* used by one thread, too large for the stack */
	struct xsp_kineto_error error;
	int err = xsp_kineto_config_base(&base, &error);

	if (err)
		xsp_log(XSP_LOG_WARNING, "KINETO_CONFIG: line %u: %s; the file is ignored",
			error.line, error.what);
	return base.poll_ms;
}

static bool is_set(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void *run(void *unused)
{
	int64_t interval = interval_ms(), next = xsp_clock_ms(CLOCK_MONOTONIC), due, now;

	(void)unused;
	/* The program may cancel threads that it does not know. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	for (;;) {
		/* First: what is stored before the bell is rung after this is not missed. */
		uint32_t seen = xsp_bell_read();

		if (is_set(&od.stop))
			break;
		if (__atomic_exchange_n(&od.check, false, __ATOMIC_ACQ_REL))
			xsp_listen_check();
		if (is_set(&od.asks) && xsp_clock_ms(CLOCK_MONOTONIC) >= next) {
			xsp_listen_check();
			ask();
			next = xsp_clock_ms(CLOCK_MONOTONIC) + interval;
		}
		xsp_listen_run();
		due = xsp_request_run();
		xsp_listen_tell();
		now = xsp_clock_ms(CLOCK_MONOTONIC);
		if (is_set(&od.asks) && due > next - now)
			due = next - now;
		if (due > 0)
			xsp_bell_wait(seen, due);
	}
	xsp_request_end();
	xsp_listen_tell();
	xsp_listen_close();
	xsp_dynolog_close(&peer.d);
	return NULL;
}

/* The child has one thread, and locks in any state: recreate them. */
static void after_fork_child(void)
{
	int err = errno;

	pthread_mutex_init(&od.lock, NULL);
	od.pid = 0;
	od.asks = false;
	xsp_listen_forget();
	xsp_request_forget();
	xsp_dynolog_forget(&peer.d);
	peer.registered = false;
	/*
	 * Start no thread here: a program that forks to enter a namespace must have a single
	 * thread.
	 */
	__atomic_store_n(&orphan, xsp_kineto_env.listen, __ATOMIC_RELAXED);
	errno = err;
}

static int begin(bool asks)
{
	bool ran = __atomic_load_n(&od.pid, __ATOMIC_ACQUIRE) == getpid();
	int err = errno, ret = 0;
	char why[80];

	pthread_mutex_lock(&od.lock);
	__atomic_store_n(&orphan, 0, __ATOMIC_RELAXED);
	if (asks)
		__atomic_store_n(&od.asks, true, __ATOMIC_RELEASE);
	/* No start after the end of the program's work. */
	if (__atomic_load_n(&od.pid, __ATOMIC_RELAXED) != getpid() && !od.stop) {
		if (!od.forks)
			od.forks = !pthread_atfork(NULL, NULL, after_fork_child);
		xsp_kineto_env_read();
		xsp_client_begin(&xsp_default_client);
		(void)xsp_listen_open();
		ret = xsp_thread_start(&od.thread, "xsprof-daemon", STACK_SIZE, run, NULL);
		if (!ret)
			__atomic_store_n(&od.pid, getpid(), __ATOMIC_RELEASE);
		else
			xsp_listen_drop();
	}
	if (ran) {
		__atomic_store_n(&od.check, true, __ATOMIC_RELEASE);
		xsp_ondemand_wake();
	}
	pthread_mutex_unlock(&od.lock);
	if (ret)
		xsp_log(XSP_LOG_ERROR, "on-demand: its thread cannot be created: %s",
			strerror_r(-ret, why, sizeof(why)));
	errno = err;
	return ret;
}

int xsprof_ondemand_init(void)
{
	__atomic_store_n(&od.by_hand, true, __ATOMIC_RELAXED);
	return begin(true);
}

/*
 * Called between two iterations, in the program's thread. A forked child whose environment asks for
 * it starts to listen at its first step.
 */
static void step(void)
{
	if (unlikely(__atomic_load_n(&orphan, __ATOMIC_RELAXED)))
		(void)begin(false);
	xsp_request_step();
}

void xsp_ondemand_step(void)
{
	__atomic_store_n(&own_steps, 1, __ATOMIC_RELAXED);
	step();
}

void xsprof_ondemand_iteration(void)
{
	if (!__atomic_load_n(&own_steps, __ATOMIC_RELAXED))
		step();
}

/* Before main(): iterations are counted from the program's first step. */
__attribute__((constructor(102))) static void see_steps(void)
{
	xsp_schedule_at_step(xsp_ondemand_step);
}

__attribute__((constructor)) static void ondemand_begin(void)
{
	if (xsp_kineto_env.ask || xsp_kineto_env.listen)
		(void)begin(xsp_kineto_env.ask);
}

/*
 * Another process with the page open could reset the bell, and the program must end nevertheless:
 * ring until the thread reacts.
 */
static void join(void)
{
	struct timespec ts;

	do {
		xsp_ondemand_wake();
		clock_gettime(CLOCK_REALTIME, &ts);
		ts.tv_nsec += RING_NS;
		ts.tv_sec += ts.tv_nsec / 1000000000;
		ts.tv_nsec %= 1000000000;
	} while (pthread_timedjoin_np(od.thread, NULL, &ts) == ETIMEDOUT);
}

/*
 * Before the library's destructor (process/life.c): what is saved here must still be read. A child
 * by a raw clone() has no thread to wait for; the thread itself, or a client that ends the program,
 * cannot wait.
 */
__attribute__((destructor)) static void ondemand_end(void)
{
	int err = errno;

	if (__atomic_load_n(&od.pid, __ATOMIC_ACQUIRE) != getpid())
		return;
	if (pthread_equal(od.thread, pthread_self())) {
		xsp_listen_close();
		xsp_dynolog_close(&peer.d);
		return;
	}
	if (xsp_client_calls_us())
		return;
	__atomic_store_n(&od.stop, true, __ATOMIC_RELEASE);
	join();
	od.pid = 0;
	errno = err;
}
