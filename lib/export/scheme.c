// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Registered handlers of "scheme://..." paths: a list that any thread may extend. No handler is
 * called with the lock held.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <xsprof/result.h>

#include "export/scheme.h"

struct handler {
	struct handler	*next;
	int		(*save)(void *data, const char *path, int fd);
	void		*data;
	size_t		len;
	char		scheme[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct handler *handlers;

/* RFC 3986: a letter, then letters, digits, '+', '-', '.'. */
static size_t scheme_len(const char *s)
{
	size_t n = 0;

	for (;; n++) {
		char c = s[n] | 0x20;

		if ((c >= 'a' && c <= 'z' && s[n] >= 'A') ||
		    (n && ((s[n] >= '0' && s[n] <= '9') || s[n] == '+' || s[n] == '-' ||
			   s[n] == '.')))
			continue;
		return n;
	}
}

size_t xsr_scheme(const char *path)
{
	size_t len = scheme_len(path);

	return len && !strncmp(path + len, "://", 3) ? len : 0;
}

static struct handler **find(const char *scheme, size_t len)
{
	struct handler **h;

	for (h = &handlers; *h; h = &(*h)->next)
		if ((*h)->len == len && !memcmp((*h)->scheme, scheme, len))
			break;
	return h;
}

int xsr_scheme_find(const char *path, int (**save)(void *data, const char *path, int fd),
		    void **data)
{
	struct handler *h;

	pthread_mutex_lock(&lock);
	h = *find(path, xsr_scheme(path));
	if (h) {
		*save = h->save;
		*data = h->data;
	}
	pthread_mutex_unlock(&lock);
	return h ? 0 : -EPROTONOSUPPORT;
}

int xsprof_result_register_handler(const char *scheme,
				   int (*save)(void *data, const char *path, int fd), void *data)
{
	size_t len = scheme ? scheme_len(scheme) : 0;
	struct handler *new = NULL, *old = NULL, **h;
	int ret = 0;

	if (!len || scheme[len] || len > 64)
		return -EINVAL;
	if (save) {
		new = malloc(sizeof(*new) + len + 1);
		if (!new)
			return -ENOMEM;
		*new = (struct handler){ .save = save, .data = data, .len = len };
		memcpy(new->scheme, scheme, len + 1);
	}
	pthread_mutex_lock(&lock);
	h = find(scheme, len);
	if (*h && new) {
		old = new;
		ret = -EEXIST;
	} else if (new) {
		*h = new;
	} else if (*h) {
		old = *h;
		*h = old->next;
	}
	pthread_mutex_unlock(&lock);
	free(old);
	return ret;
}
