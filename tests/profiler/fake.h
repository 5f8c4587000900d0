/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A daemon with dynolog's IPC protocol, in a thread of the test. It answers like the real one,
 * counts messages, delivers one configuration at a time, and sends invalid answers on request. Owns
 * its socket and its thread.
 */
#ifndef XSP_TEST_FAKE_H
#define XSP_TEST_FAKE_H

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>

#include "common/tap.h"

#define FAKE_PIDS	64
#define FAKE_PATIENCE	60	/* seconds: far longer than anything here */

struct fake_head {
	size_t	size;
	char	type[32];
};

struct fake {
	pthread_mutex_t		lock;
	pthread_cond_t		changed;
	pthread_t		thread;
	int			fd;
	bool			stop;
	bool			mute;		/* receives, but does not answer */
	bool			answered_zero;	/* it got a request without pids */
	const char		*dir;		/* folder of a path socket; NULL: abstract */
	unsigned int		contexts;
	unsigned int		requests;
	unsigned int		idle;		/* requests that accept activities */
	unsigned int		busy;		/* requests that accept nothing */
	unsigned int		handed;		/* configurations delivered */
	unsigned int		wrong;		/* invalid datagrams */
	int32_t			gpu;
	int32_t			pid;
	int64_t			job;
	int32_t			pids[FAKE_PIDS];
	unsigned int		nr_pids;
	char			name[108];	/* the client's socket */
	struct sockaddr_un	client;
	socklen_t		client_len;
	char			config[4096];	/* to be delivered */
	bool			has_config;
	/* If set, sent once in place of an answer: a hostile datagram. */
	const void		*lie;
	size_t			lie_len;
	bool			has_lie;
	bool			lie_with_fd;
};

static inline void fake_address(const struct fake *f, struct sockaddr_un *to, socklen_t *len)
{
	memset(to, 0, sizeof(*to));
	to->sun_family = AF_UNIX;
	if (f->dir) {
		snprintf(to->sun_path, sizeof(to->sun_path), "%s/dynolog", f->dir);
		*len = sizeof(sa_family_t) + strlen(to->sun_path) + 1;
	} else {
		strcpy(to->sun_path + 1, "dynolog");
		*len = sizeof(sa_family_t) + strlen("dynolog") + 2;
	}
}

/* Sends a message, or a lie of @len bytes unchanged. */
static inline void fake_send(struct fake *f, const char *type, const void *data, size_t len)
{
	struct fake_head h = { .size = len };
	struct iovec iov[2] = { { &h, sizeof(h) }, { (void *)data, len } };
	struct msghdr m = { .msg_name = &f->client, .msg_namelen = f->client_len, .msg_iov = iov,
		.msg_iovlen = 2 };

	strcpy(h.type, type);
	if (sendmsg(f->fd, &m, MSG_NOSIGNAL) < 0 && errno != ECONNREFUSED && errno != ENOENT)
		tap_wrong("fake: sendmsg: %s", strerror(errno));
}

static inline void fake_lie(struct fake *f)
{
	union {
		struct cmsghdr	c;
		char		room[CMSG_SPACE(2 * sizeof(int))];
	} u = { 0 };
	struct iovec iov = { (void *)f->lie, f->lie_len };
	struct msghdr m = { .msg_name = &f->client, .msg_namelen = f->client_len, .msg_iov = &iov,
		.msg_iovlen = 1 };
	int fds[2] = { 0, 1 };

	if (f->lie_with_fd) {
		m.msg_control = &u;
		m.msg_controllen = sizeof(u);
		u.c.cmsg_level = SOL_SOCKET;
		u.c.cmsg_type = SCM_RIGHTS;
		u.c.cmsg_len = CMSG_LEN(sizeof(fds));
		memcpy(CMSG_DATA(&u.c), fds, sizeof(fds));
	}
	if (sendmsg(f->fd, &m, MSG_NOSIGNAL) < 0)
		tap_wrong("fake: a lie of %zu bytes: %s", f->lie_len, strerror(errno));
	f->has_lie = false;
}

static inline void fake_request(struct fake *f, const char *data, size_t len)
{
	int32_t type, n;
	size_t text;

	if (len < 16) {
		f->wrong++;
		return;
	}
	memcpy(&type, data, 4);
	memcpy(&n, data + 4, 4);
	memcpy(&f->job, data + 8, 8);
	if (n <= 0 || n > FAKE_PIDS || len != 16 + 4 * (size_t)n) {
		f->wrong++;
		return;
	}
	f->nr_pids = n;
	memcpy(f->pids, data + 16, 4 * (size_t)n);
	f->requests++;
	f->idle += type == 2;
	f->busy += type == 0;
	f->wrong += type != 0 && type != 2;
	if (f->mute)
		return;
	if (f->has_lie) {
		fake_lie(f);
		return;
	}
	text = f->has_config && type & 2 ? strlen(f->config) : 0;
	fake_send(f, "req", f->config, text);
	if (text) {
		f->has_config = false;
		f->handed++;
	}
}

static inline void fake_hear(struct fake *f)
{
	char buf[4096];
	struct fake_head h;
	int32_t one = 1;
	ssize_t n;

	f->client_len = sizeof(f->client);
	memset(&f->client, 0, sizeof(f->client));
	n = recvfrom(f->fd, buf, sizeof(buf), MSG_DONTWAIT, (struct sockaddr *)&f->client,
		     &f->client_len);
	if (n < 0)
		return;
	memcpy(&h, buf, sizeof(h));
	if (n < (ssize_t)sizeof(h) || h.size != n - sizeof(h)) {
		f->wrong++;
		return;
	}
	/* The zero after an abstract name is part of the name. */
	if (f->dir ? f->client.sun_path[0] != '/' :
	    f->client.sun_path[0] || f->client.sun_path[f->client_len - 3])
		f->wrong++;
	snprintf(f->name, sizeof(f->name), "%s", f->dir ? strrchr(f->client.sun_path, '/') + 1 :
		 f->client.sun_path + 1);
	if (!strcmp(h.type, "ctxt") && h.size == 16) {
		memcpy(&f->gpu, buf + sizeof(h), 4);
		memcpy(&f->pid, buf + sizeof(h) + 4, 4);
		f->contexts++;
		if (!f->mute)
			fake_send(f, "ctxt", &one, sizeof(one));
	} else if (!strcmp(h.type, "req")) {
		fake_request(f, buf + sizeof(h), h.size);
	} else {
		f->wrong++;
	}
}

static void *fake_run(void *arg)
{
	struct fake *f = arg;
	struct pollfd p = { .fd = f->fd, .events = POLLIN };

	for (;;) {
		if (poll(&p, 1, 20) < 0 && errno != EINTR)
			tap_bail("fake: poll: %s", strerror(errno));
		pthread_mutex_lock(&f->lock);
		if (f->stop)
			break;
		if (p.revents & POLLIN)
			fake_hear(f);
		pthread_cond_broadcast(&f->changed);
		pthread_mutex_unlock(&f->lock);
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

/* Return: false if another daemon already runs on this machine. */
__attribute__((unused)) static bool fake_start(struct fake *f, const char *dir)
{
	struct sockaddr_un to;
	socklen_t len;

	memset(f, 0, sizeof(*f));
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	f->dir = dir;
	fake_address(f, &to, &len);
	f->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (dir)
		unlink(to.sun_path);
	if (bind(f->fd, (struct sockaddr *)&to, len)) {
		close(f->fd);
		return false;
	}
	if (dir)
		chmod(to.sun_path, 0666);
	if (pthread_create(&f->thread, NULL, fake_run, f))
		tap_bail("fake: no thread");
	return true;
}

__attribute__((unused)) static void fake_end(struct fake *f)
{
	struct sockaddr_un to;
	socklen_t len;

	pthread_mutex_lock(&f->lock);
	f->stop = true;
	pthread_mutex_unlock(&f->lock);
	pthread_join(f->thread, NULL);
	close(f->fd);
	fake_address(f, &to, &len);
	if (f->dir)
		unlink(to.sun_path);
}

/* Waits until a count has reached @n, or has grown by @n. */
__attribute__((unused)) static void fake_until(struct fake *f, const unsigned int *count,
					       unsigned int n)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += FAKE_PATIENCE;
	pthread_mutex_lock(&f->lock);
	while (*count < n)
		if (pthread_cond_timedwait(&f->changed, &f->lock, &end)) {
			tap_wrong("fake: %u and not %u of what was to come", *count, n);
			break;
		}
	pthread_mutex_unlock(&f->lock);
}

__attribute__((unused)) static unsigned int fake_count(struct fake *f, const unsigned int *count)
{
	unsigned int n;

	pthread_mutex_lock(&f->lock);
	n = *count;
	pthread_mutex_unlock(&f->lock);
	return n;
}

__attribute__((unused)) static void fake_more(struct fake *f, const unsigned int *count,
					      unsigned int n)
{
	fake_until(f, count, fake_count(f, count) + n);
}

/* Sets a configuration as `dyno gputrace` does. Return: its number, for fake_until(). */
__attribute__((unused, format(printf, 2, 3))) static unsigned int
fake_configure(struct fake *f, const char *fmt, ...)
{
	unsigned int n;
	va_list ap;

	pthread_mutex_lock(&f->lock);
	va_start(ap, fmt);
	vsnprintf(f->config, sizeof(f->config), fmt, ap);
	va_end(ap);
	f->has_config = true;
	n = f->handed + 1;
	pthread_mutex_unlock(&f->lock);
	return n;
}

/* The next answer consists of these bytes. */
__attribute__((unused)) static void fake_lies(struct fake *f, const void *data, size_t len, bool fd)
{
	pthread_mutex_lock(&f->lock);
	f->lie = data;
	f->lie_len = len;
	f->lie_with_fd = fd;
	f->has_lie = true;
	pthread_mutex_unlock(&f->lock);
}

/*
 * Moves to a new network namespace, which has its own abstract names, so that this machine's daemon
 * and other tests do not interfere. If that fails, stays in this one.
 */
__attribute__((unused)) static void fake_alone(void)
{
	char map[40];
	uid_t uid = geteuid();
	int fd;

	if (!unshare(CLONE_NEWNET) || unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return;
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, map, strlen(map)) < 0)
		tap_note("no name for user %u in a namespace of its own", uid);
	if (fd >= 0)
		close(fd);
}

#endif /* XSP_TEST_FAKE_H */
