// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The thread that asks dynolog's daemon whether a trace is wanted, and moves on what it was asked
 * for.  Owns the thread: its beginning, its end with the program, and that a forked child has
 * none.  What a request means is request.c's, what the daemon hears dynolog.c's.
 *
 * It waits on a condition and on its socket alone, with all signals blocked: it costs the
 * program a few system calls every few seconds.
 */
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profiler/dynolog.h"
#include "profiler/kineto-env.h"
#include "profiler/log.h"
#include "profiler/ondemand.h"

#define STACK_SIZE	(1u << 20)	/* clients save in it */
#define DEAF_MAX	3		/* unanswered questions until the socket is made anew */

static struct {
	pthread_mutex_t		lock;
	pthread_cond_t		wake;
	pthread_t		thread;
	pid_t			pid;	/* whose @thread is; 0 for none */
	bool			stop;
	bool			kicked;
	bool			forks;	/* the C library tells us of children */
	bool			by_hand; /* the program has said so itself */
} od = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The thread's alone; after a fork, the child's. */
static struct {
	struct xsp_dynolog	d;
	bool			registered;
	unsigned int		deaf;
	int			told;	/* the last error that was told of, so that it is once */
	bool			quiet;	/* another asks; it was told of */
	char			text[XSP_DYNOLOG_TEXT_MAX];
} peer = { .d = { .fd = -1 } };

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ll + ts.tv_nsec / 1000000;
}

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
	/* Made anew also where nobody answers: its name may have been removed from the folder. */
	xsp_dynolog_close(&peer.d);
	peer.registered = false;
	peer.deaf = 0;
	err = xsp_dynolog_open(&peer.d);
	if (err)
		tell("no socket to ask by", err);
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
 * PyTorch's own profiler asks as well, for the same process, and whichever is first has the
 * request: it is meant for that one, unless the program has said otherwise.
 */
static bool another_asks(void)
{
	if (__atomic_load_n(&od.by_hand, __ATOMIC_RELAXED) || xsp_client_is_custom() ||
	    !dl_iterate_phdr(is_kineto, NULL)) {
		peer.quiet = false;
		return false;
	}
	if (!peer.quiet)
		xsp_log(XSP_LOG_INFO, "on-demand: Kineto is in the process, and asks by itself");
	peer.quiet = true;
	return true;
}

/* Ask once, and take what comes. */
static void ask(void)
{
	int32_t pids[XSP_DYNOLOG_PIDS], instances;
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
	 * While a request is under way this only says that we are there: the daemon keeps the
	 * next one, and tells who asks for more that we are busy.
	 */
	err = xsp_dynolog_poll(&peer.d, types, pids, n, peer.text, sizeof(peer.text),
			       &len);
	if (peer.d.bad != bad)
		xsp_log(XSP_LOG_WARNING, "dynolog: %llu messages that are none, or that are not "
			"from a daemon of root's, ours or XSPROF_DAEMON_UID's",
			(unsigned long long)(peer.d.bad - bad));
	if (err) {
		tell("no answer of the daemon", err);
		peer.registered = false;
		peer.deaf++;
		return;
	}
	peer.told = 0;
	peer.deaf = 0;
	if (len)
		xsp_request_take(peer.text, len);
}

static int64_t interval_ms(void)
{
	static struct xsp_kineto_config base;	/* too large for the stack, and one thread's */
	struct xsp_kineto_error error;
	int err = xsp_kineto_config_base(&base, &error);

	if (err)
		xsp_log(XSP_LOG_WARNING, "KINETO_CONFIG: line %u: %s; the file is passed by",
			error.line, error.what);
	return base.poll_ms;
}

/* With the lock. */
static void sleep_ms(int64_t ms)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_sec += ms / 1000;
	ts.tv_nsec += ms % 1000 * 1000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	while (!od.stop && !od.kicked)
		if (pthread_cond_timedwait(&od.wake, &od.lock, &ts))
			break;
	od.kicked = false;
}

static void *run(void *unused)
{
	int64_t interval = interval_ms(), next = now_ms(), due, now;

	(void)unused;
	pthread_mutex_lock(&od.lock);
	while (!od.stop) {
		pthread_mutex_unlock(&od.lock);
		if (now_ms() >= next) {
			ask();
			next = now_ms() + interval;
		}
		due = xsp_request_run();
		now = now_ms();
		if (due > next - now)
			due = next - now;
		pthread_mutex_lock(&od.lock);
		if (due > 0)
			sleep_ms(due);
	}
	pthread_mutex_unlock(&od.lock);
	xsp_request_end();
	xsp_dynolog_close(&peer.d);
	return NULL;
}

/* Something is to be done before the thread would look. */
void xsp_ondemand_wake(void)
{
	pthread_mutex_lock(&od.lock);
	od.kicked = true;
	pthread_cond_signal(&od.wake);
	pthread_mutex_unlock(&od.lock);
}

static void init_wake(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&od.wake, &attr);
	pthread_condattr_destroy(&attr);
}

/* There is one thread here, and the locks are as the fork found them: made anew. */
static void after_fork_child(void)
{
	int err = errno;

	pthread_mutex_init(&od.lock, NULL);
	od.pid = 0;
	xsp_request_forget();
	xsp_dynolog_forget(&peer.d);
	peer.registered = false;
	errno = err;
}

static int begin(void)
{
	int err = errno, ret = 0;

	pthread_mutex_lock(&od.lock);
	/* After the end of the program's work there is no beginning any more. */
	if (__atomic_load_n(&od.pid, __ATOMIC_RELAXED) != getpid() && !od.stop) {
		if (!od.forks)
			od.forks = !pthread_atfork(NULL, NULL, after_fork_child);
		init_wake();
		xsp_kineto_env_read();
		od.kicked = false;
		ret = xsp_thread_start(&od.thread, "xsprof-daemon", STACK_SIZE, run, NULL);
		if (!ret)
			__atomic_store_n(&od.pid, getpid(), __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&od.lock);
	errno = err;
	return ret;
}

int xsprof_ondemand_init(void)
{
	__atomic_store_n(&od.by_hand, true, __ATOMIC_RELAXED);
	return begin();
}

__attribute__((constructor)) static void ondemand_begin(void)
{
	if (xsp_kineto_env.ask && begin())
		xsp_log(XSP_LOG_ERROR, "on-demand: no thread for it can be made");
}

/*
 * Before the library's own end (producer.c): what is saved here is still to be read.  A child by
 * a raw clone() has no thread to wait for, and the thread itself, or a client that ends the
 * program, cannot.
 */
__attribute__((destructor)) static void ondemand_end(void)
{
	int err = errno;

	if (__atomic_load_n(&od.pid, __ATOMIC_ACQUIRE) != getpid())
		return;
	if (pthread_equal(od.thread, pthread_self())) {
		xsp_dynolog_close(&peer.d);
		return;
	}
	if (xsp_client_calls_us())
		return;
	pthread_mutex_lock(&od.lock);
	od.stop = true;
	pthread_cond_signal(&od.wake);
	pthread_mutex_unlock(&od.lock);
	pthread_join(od.thread, NULL);
	od.pid = 0;
	errno = err;
}
