/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Support for a library inside a foreign program: attributes that hide its symbols and move cold
 * code away, and descriptors, threads and messages that do not disturb the program.
 */
#ifndef XSP_BASE_OWN_H
#define XSP_BASE_OWN_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XSP_HIDDEN	__attribute__((visibility("hidden")))
#define XSP_COLD	__attribute__((cold, noinline))
/* Out of line, but not cold: every dropped marker passes here. */
#define XSP_NOINLINE	__attribute__((noinline))
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

/* Identifies a file of the library, if the program reuses the number of its descriptor. */
struct xsp_fd_id {
	uint64_t	dev;
	uint64_t	ino;
};

int xsp_fd_high(int fd) XSP_HIDDEN;
int xsp_fd_note(struct xsp_fd_id *id, int fd) XSP_HIDDEN;
bool xsp_fd_is(const struct xsp_fd_id *id, int fd) XSP_HIDDEN;

int xsp_thread_start(pthread_t *thread, const char *name, size_t stack, void *(*run)(void *data),
		     void *data) XSP_HIDDEN;

void xsp_wait_turn(const uint32_t *lock, uint32_t owner, unsigned int *turns) XSP_HIDDEN;

void xsp_vsay(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0))) XSP_HIDDEN;
void xsp_say(const char *fmt, ...) __attribute__((format(printf, 1, 2))) XSP_HIDDEN;

#endif /* XSP_BASE_OWN_H */
