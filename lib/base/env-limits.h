/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What sizes may be asked for in the environment or in a configuration, and the size of a ring
 * that nobody asked for.
 */
#ifndef XSP_ENV_LIMITS_H
#define XSP_ENV_LIMITS_H

#define XSP_RING_DEFAULT	(4ull << 20)
#define XSP_RING_MAX	(1ull << 40)
#define XSP_ARENA_MIN	4096
#define XSP_ARENA_MAX	(256ull << 20)

#endif /* XSP_ENV_LIMITS_H */
